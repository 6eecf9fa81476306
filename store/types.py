"""The words of memlane as frozen values.

Everything that crosses a room's border is one of these. They hold no connection and no model;
times are aware datetimes, ids are short stable strings (``m12`` a memory, ``s3`` a source,
``e45`` an edit, ``t7`` a turn).
"""

from __future__ import annotations

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
    UNDO = "undo"


class SourceKind(StrEnum):
    """Where raw text came from."""

    CHAT = "chat"
    NOTE = "note"
    SCREENSHOT = "screenshot"
    CALENDAR = "calendar"
    CONTACT = "contact"
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

    def holds_at(self, now: datetime) -> bool:
        """Whether the memory may be stated as current at ``now``."""
        return self.status is Status.CURRENT and (
            self.valid_until is None or now < self.valid_until
        )


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


@dataclass(frozen=True, slots=True)
class Subclass:
    """A row of layer 2 under one of the four types of layer 1 (EMG-RAG Table 8)."""

    id: str
    type: str
    name: str
    single: bool
    """True where only one memory per subject and relation can hold at a time (one home address)."""
    examples: tuple[str, ...] = field(default=())
