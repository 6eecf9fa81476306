"""Request types of the web page, validated when decoded.

Everything is a ``POST /api/NAME`` with JSON: no memory and no question ever stands in an address.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from store.tables.paging import EntityPair, Month, Neighbour
from store.types import Memory, Subclass

Stand = Literal["holds", "replaced", "expired", "planned", "forgotten"]

# ---- asked --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Enter:
    """The code of a link, to get the key of the page for."""

    code: str


@dataclass(frozen=True, slots=True)
class Start:
    """What there is at all: counts, types, where to begin."""


@dataclass(frozen=True, slots=True)
class Around:
    """The entities beside one, a page of them."""

    entity: str
    limit: int = 30
    offset: int = 0
    type: str | None = None


@dataclass(frozen=True, slots=True)
class At:
    """The memories at an entity, or those that join it to another."""

    entity: str
    beside: str | None = None
    limit: int = 30
    offset: int = 0


@dataclass(frozen=True, slots=True)
class InTime:
    """Memories by the day that they are about: up to today the latest first, ahead the next."""

    before: str | None = None
    ahead: bool = False
    type: str | None = None
    limit: int = 60
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Search:
    """Words, the last one perhaps begun only."""

    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """One memory with its source and history."""

    memory: str


@dataclass(frozen=True, slots=True)
class Journal:
    """The last edits, memlane's and the person's."""

    before: str | None = None
    limit: int = 40
    grouped: bool = True
    """Whether what one ingest or import did is one line."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The last questions and what was answered, without what was told."""

    limit: int = 60


@dataclass(frozen=True, slots=True)
class Why:
    """How the memories behind an answer were chosen."""

    turn: str


@dataclass(frozen=True, slots=True)
class Edit:
    """What is wrong about a memory, put right; a field left null stays, an empty one is cleared."""

    memory: str
    seen: str
    """The last edit of the memory that the person saw: what changed since is never overwritten."""
    text: str | None = None
    subclass: str | None = None
    place: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """What has changed: a new memory in the place of an old one, which stays as history."""

    memory: str
    seen: str
    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Take a memory out of every answer; undo brings it back for 30 days."""

    memory: str
    seen: str


@dataclass(frozen=True, slots=True)
class Pin:
    """Keep a memory, or take its pin off again."""

    memory: str
    seen: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back an edit; an undo can be taken back as well."""

    entry: str


@dataclass(frozen=True, slots=True)
class UndoRun:
    """Take back all that one ingest or import did."""

    run: str


@dataclass(frozen=True, slots=True)
class Decide:
    """Say which of two memories holds, where the newer contradicts or may change the older."""

    older: str
    newer: str
    holds: Literal["old", "new", "both"]


@dataclass(frozen=True, slots=True)
class Tell:
    """One fact to keep as it stands."""

    text: str


# ---- given --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """What the page shows from now on."""

    key: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two memories that contradict each other, until the person says which holds."""

    older: Memory
    newer: Memory


@dataclass(frozen=True, slots=True)
class Overview:
    """What there is at all."""

    memories: int
    """How many hold now."""
    history: int
    """How many were replaced or are over."""
    types: tuple[tuple[str, int], ...]
    """The types of layer 1 in their order, each with how many memories hold."""
    subclasses: tuple[Subclass, ...]
    latest: str | None
    """The last line of the journal: another one means that something changed."""
    first: str | None
    """The entity with the most memories, to begin at; None where there is none."""
    undecided: tuple[Undecided, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A memory, and what it is at this moment."""

    memory: Memory
    stand: Stand
    day: str
    """The day that it is about, such as 2024-05-12."""


@dataclass(frozen=True, slots=True)
class Cards:
    """A page of memories, and how many there are in all."""

    cards: tuple[Card, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity and a page of what lies beside it."""

    entity: str
    neighbours: tuple[Neighbour, ...]
    pairs: tuple[EntityPair, ...]
    """How those are joined among themselves."""
    total: int


@dataclass(frozen=True, slots=True)
class Months:
    """Memories by day, with how much there is of each month."""

    cards: tuple[Card, ...]
    total: int
    months: tuple[Month, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found: entities by name, memories by their words."""

    entities: tuple[str, ...]
    cards: tuple[Card, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Where a memory was read: its source, and the stretch of it."""

    kind: str
    locator: str | None
    captured: datetime
    place: str | None
    before: str
    said: str
    """The stretch that the memory was read from; empty where none matches."""
    after: str
    more: bool
    """Whether the source goes on beyond what is shown."""
    part: str | None = None
    """The page, paragraph or message of a document that it is."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened to a fact."""

    at: datetime
    what: str
    memory: str
    detail: str
    before: str | None
    """What stood before and what after, where one sentence took the place of another."""
    after: str | None
    entry: str | None
    actor: str | None
    source: str | None
    undone_by: str | None
    undoable: bool


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One memory with its source and history."""

    card: Card
    seen: str
    source: Excerpt | None
    moments: tuple[Moment, ...]
    """Oldest first: of the whole fact, whatever ids it had."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the journal."""

    id: str
    at: datetime
    kind: str
    actor: str
    memory: str
    before: str | None
    after: str | None
    undoes: str | None
    undone_by: str | None
    redacted: bool
    run: str | None = None
    """The ingest or import that this line stands for; the other fields are of its last edit."""
    what: str = ""
    """What that took in."""
    edits: int = 1


@dataclass(frozen=True, slots=True)
class Lines:
    """A page of the journal, the last line first."""

    lines: tuple[Line, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and what was answered."""

    turn: str
    at: datetime
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class AnswerList:
    """The last exchanges, the last one first."""

    turns: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One step of a trace; without text where the memory is forgotten since."""

    memory: str
    text: str | None
    type: str | None
    score: float
    probability: float | None
    chosen: bool
    used: bool
    activated: bool
    via: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Reasons:
    """How the memories behind an answer were chosen."""

    turn: Answered
    words: str
    """The same in a sentence."""
    steps: tuple[Decision, ...]
    cut: int


@dataclass(frozen=True, slots=True)
class Done:
    """What an edit did: its lines of the journal, and the memory that stands now."""

    entries: tuple[str, ...]
    memory: str | None
    note: str = ""
