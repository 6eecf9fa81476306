"""Result types of requests, as frozen dataclasses.

Nothing here imports a model, an array or the database: the command line can hold, show and decode a
result that the resident process worked out (``agent.server.resident``) without loading any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from policies.selection import Choice, Selection
from store.journal import Entry
from store.tables.side_tables.form_consents import FormConsent
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Memory, Source, Trust

PARTS = (
    "loading models",
    "encoder",
    "statement reader",
    "language model",
    "text reader",
    "database",
)
"""Of what the time is told beside that of the stages, within which it is (``Reply.timing_ms``)."""


class Route(StrEnum):
    """What a message is."""

    RETRIEVE = "retrieve"
    """Answering it well needs what is remembered."""
    UPDATE = "update"
    """It tells, corrects or takes back something worth remembering."""
    NEITHER = "neither"


class Standing(StrEnum):
    """Where a memory stands at a moment."""

    HOLDS = "holds"
    REPLACED = "replaced"
    EXPIRED = "expired"
    PLANNED = "planned"

    @property
    def over(self) -> bool:
        return self in (Standing.REPLACED, Standing.EXPIRED)


@dataclass(frozen=True, slots=True)
class Mark:
    """What an answer shows of a memory's time."""

    standing: Standing
    start: datetime | None
    """None where its beginning was never told."""
    since: datetime | None
    """The same, with the beginning guessed where none was told."""
    end: datetime | None
    lasts: bool
    """Whether it is a state; what happens on a day has no period worth telling."""

    def __str__(self) -> str:
        """'until 2024-05-03', 'from 2024-03-01 until 2024-05-03', 'from 2024-06-01 on'."""
        start = f"from {_day_of(self.start)}" if self.start else ""
        if self.end is None:
            return f"{start} on" if start else ""
        return f"{start} until {_day_of(self.end)}".strip()


def _day_of(moment: datetime) -> str:
    clock = "" if (moment.hour, moment.minute) == (0, 0) else f" {moment:%H:%M}"
    return f"{moment:%Y-%m-%d}{clock}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two memories that cannot both hold; ``first`` is trusted at least as far as ``second``."""

    first: Memory
    second: Memory


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a source."""

    source: Source
    entries: tuple[Entry, ...]
    unchanged: tuple[str, ...]
    """Ids of memories that already said it."""
    open: tuple[tuple[Memory, Memory], ...] = ()
    """Old and new memory of each contradiction that could not be decided: both stand."""
    note: str = ""
    """What else to tell the person."""
    queued: bool = False
    """Whether it is only stored so far: the resident process makes memories of it in a moment."""
    questions: tuple[str, ...] = ()
    """What to ask the person about what is ``open``."""


@dataclass(frozen=True, slots=True)
class Inference:
    """A persona line that an answer rests on: a guess about the person, never a fact."""

    id: str
    text: str
    evidence: tuple[str, ...]
    """Memories that it was refined from, by id."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes of one message."""

    route: Route
    text: str
    memories: tuple[Choice, ...] = ()
    entries: tuple[Entry, ...] = ()
    abstained: bool = False
    timing_ms: Mapping[str, float] | None = None
    """By stage; ``total``; and what in these each of the ``PARTS`` took."""
    turn: str | None = None
    selection: Selection | None = None
    """None where the resident process answered: ``memlane why`` reads what was kept of it."""
    likely: float | None = None
    """Probability that memory holds the answer, estimated from the selection."""
    open: tuple[tuple[str, str], ...] = ()
    """Ids of the old and the new memory where both cannot hold; a question asks which does."""
    questions: tuple[str, ...] = ()
    """Those questions in words, and what else waited to be asked."""
    suggested: tuple[QuestionKind, str, str] | None = None
    """Whether names are one, or one name two, where that is asked: by two memories of them."""
    marks: Mapping[str, Mark] = field(default_factory=dict)
    """When each of the memories held or will hold, by id."""
    doubts: tuple[Doubt, ...] = ()
    """What was read for the answer that cannot all hold, and touches what it rests on."""
    inferred: tuple[Inference, ...] = ()
    """Persona lines that the answer rests on, where the person lets answers use them."""
    read_as: str = ""
    """What the conversation made the message mean; empty where it meant what it said."""
    answer: str = ""
    """The answer where a message tells something and asks as well; ``text`` begins with it."""

    @property
    def noted(self) -> str:
        """The text without the answer: what became of what the message told."""
        return self.text.removeprefix(self.answer).removeprefix("\n")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the person said, and what memlane answered; empty where it did not know."""

    said: str
    answered: str = ""
    idle: bool = False
    """Whether neither needed anything remembered."""


FileStatus = Literal["new", "changed", "unchanged", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file."""

    path: str
    status: FileStatus
    memories: int = 0
    reason: str | None = None
    source: str | None = None
    entries: tuple[Entry, ...] = ()
    run: str | None = None
    """The ingest it was part of, by which all of that can be undone; None if nothing was done."""
    timing_ms: Mapping[str, float] | None = field(default=None, compare=False)
    """As of a ``Reply``."""


Value = str | int | float | bool
"""What goes into a field of a form."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another value that memory offers for a field."""

    value: Value
    confidence: float
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilledField:
    """What goes into a field, how sure that is, and which memories say so."""

    name: str
    label: str
    value: Value | None
    confidence: float
    memories: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    key: str | None = None
    """What the field was taken to ask for; None for a question in its own words."""
    sensitive: bool = False
    """An identity or card number or health: it goes to a site only with the person's consent."""
    consent: FormConsent | None = None
    """What the person said to that; until they agree the value is withheld, and so are others."""
    note: str = ""
    """What else to tell the person about this field, in one line."""
    unmatched: bool = False
    """Empty although memory may hold it: no memory was surely about what the field asks."""


_PHRASES = {
    Trust.TOLD: "you said so",
    Trust.NOTED: "from your note",
    Trust.RECORDED: "from a calendar or contact card",
    Trust.SEEN: "from a screenshot",
    Trust.READ: "from a document or mail",
    Trust.RELAYED: "in somebody else's words",
}


def phrase(trust: Trust | None, *, mine: bool = False) -> str:
    """A memory's origin in a few words; ``mine`` as the person would say it, as notes do."""
    said = _PHRASES[trust or Trust.TOLD]
    return said.replace("you ", "I ").replace("your ", "my ") if mine else said
