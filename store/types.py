"""Core data types, as frozen dataclasses.

Everything that crosses a room's border is one of these. They hold no connection and no model;
times are aware datetimes, ids are short stable strings (``m12`` a memory, ``s3`` a source,
``e45`` an edit, ``t7`` a turn).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """What a stored memory is now. Expiry is not a status: it follows from ``valid_until``."""

    CURRENT = "current"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


class EditKind(StrEnum):
    """EMG-RAG section 4.2 names insert, delete (with a date: expire) and replace."""

    INSERT = "insert"
    EXPIRE = "expire"
    REPLACE = "replace"
    AMEND = "amend"
    FORGET = "forget"
    ERASE = "erase"
    """Forgotten for good: the texts of its memories are gone from every line of the journal."""
    UNDO = "undo"


class SourceKind(StrEnum):
    """Where raw text came from."""

    CHAT = "chat"
    NOTE = "note"
    SCREENSHOT = "screenshot"
    CALENDAR = "calendar"
    CONTACT = "contact"
    DOCUMENT = "document"
    """A PDF, a Word file, a book or a web page: written by anybody."""
    MAIL = "mail"
    MANUAL = "manual"


class SourceStatus(StrEnum):
    """How far a raw source has come on its way to memories."""

    PENDING = "pending"
    """Stored, not yet extracted (or a crash interrupted the extraction)."""
    EXTRACTED = "extracted"
    """Extracted; it may have given no memories, which is an answer too."""
    FAILED = "failed"
    """The model or parser failed; the raw text is kept and ``ingest --retry`` tries again."""
    SUPERSEDED = "superseded"
    """A newer version of the same file has taken its place."""


class Trust(StrEnum):
    """How far a memory's origin is trusted (docs/trust.md): best first, the last three equal."""

    TOLD = "told"
    """The person said or typed it."""
    NOTED = "noted"
    """The person's own note."""
    RECORDED = "recorded"
    """A calendar or a contact card: kept by programs, often filled in by others."""
    SEEN = "seen"
    """Read off a screenshot."""
    READ = "read"
    """Read in a document or a mail, which anybody may have written."""
    RELAYED = "relayed"
    """Somebody else's words inside a text: a quoted or forwarded message."""

    @property
    def rank(self) -> int:
        """A larger number is trusted more."""
        return _RANKS[self]


_RANKS = {
    Trust.TOLD: 4,
    Trust.NOTED: 3,
    Trust.RECORDED: 2,
    Trust.SEEN: 1,
    Trust.READ: 1,
    Trust.RELAYED: 1,
}
_OF_KIND = {
    SourceKind.CHAT: Trust.TOLD,
    SourceKind.MANUAL: Trust.TOLD,
    SourceKind.NOTE: Trust.NOTED,
    SourceKind.CALENDAR: Trust.RECORDED,
    SourceKind.CONTACT: Trust.RECORDED,
    SourceKind.SCREENSHOT: Trust.SEEN,
    SourceKind.DOCUMENT: Trust.READ,
    SourceKind.MAIL: Trust.READ,
}


def trust_of_kind(kind: SourceKind | None) -> Trust:
    """The trust of what a source of this kind says; without a source it was typed by hand."""
    return Trust.TOLD if kind is None else _OF_KIND[kind]


def lowest(trusts: Iterable[Trust]) -> Trust:
    """What a memory derived from others may claim: the lowest trust of its evidence.

    :raises ValueError: without evidence nothing can be derived.
    """
    return min(trusts, key=lambda trust: trust.rank)


def may_replace(new: Trust | None, old: Trust | None) -> bool:
    """Whether something of trust ``new`` may change or end a memory of trust ``old`` unasked.

    The person's own words, told or noted, may change anything. Everything else may change only
    what is trusted no more than itself: a screenshot never overrules what the person said. Where
    this is False the new stands beside the old, and the two are asked about. None is the trust of
    a draft or memory that says nothing of its origin: typed by hand.
    """
    new, old = new or Trust.TOLD, old or Trust.TOLD
    return new.rank >= min(old.rank, Trust.NOTED.rank)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a source's text: characters ``start`` up to, not including, ``end``."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The stretch itself."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Triple:
    """A directed edge of layer 3: ``head -> tail`` by ``relation``."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory extracted from raw text, not yet stored."""

    text: str
    subclass: str
    created: datetime
    """When it was said or written."""
    triples: tuple[Triple, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    place: str | None = None
    source: str | None = None
    span: Span | None = None
    """Where in the source's text it was read; None where nothing there matches it."""
    trust: Trust | None = None
    """None: as the kind of its source says."""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """One standalone first-person sentence, with its time, place, source and status."""

    id: str
    text: str
    type: str
    subclass: str
    created: datetime
    triples: tuple[Triple, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    place: str | None = None
    source: str | None = None
    status: Status = Status.CURRENT
    replaced_by: str | None = None
    span: Span | None = None
    trust: Trust | None = None
    """Read from the rows it is always there; None only in journal lines older than trust."""
    pinned: bool = False
    """The person wants it kept: memlane never takes it out and never proposes to."""

    def holds_at(self, now: datetime) -> bool:
        """Whether the memory may be stated as current at ``now``."""
        return self.status is Status.CURRENT and (
            self.valid_until is None or now < self.valid_until
        )


@dataclass(frozen=True, slots=True)
class TextBox:
    """Where on its picture a stretch of a source's text stands."""

    span: Span
    left: float
    top: float
    right: float
    bottom: float
    """In pixels of the upright picture."""
    confidence: float


@dataclass(frozen=True, slots=True)
class Source:
    """Raw text as it arrived, kept whatever becomes of its extraction."""

    id: str
    kind: SourceKind
    text: str
    content_hash: str
    captured: datetime
    locator: str | None = None
    """The path of the file it came from, where there is one."""
    place: str | None = None
    status: SourceStatus = SourceStatus.PENDING
    error: str | None = None
    expires: datetime | None = None
    """When what it says stops being true, where the person gave that with it."""


@dataclass(frozen=True, slots=True)
class Subclass:
    """A row of layer 2 under one of the four types of layer 1 (EMG-RAG Table 8)."""

    id: str
    type: str
    name: str
    single: bool
    """True where only one memory per subject and relation can hold at a time (one home address)."""
    examples: tuple[str, ...] = field(default=())
