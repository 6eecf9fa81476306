"""Operations: what one home did to one memory, as frozen values that every home understands.

A memory has three registers, which are merged each on its own: ``what`` it says, how it ``ends``,
and whether it is ``pinned``. An operation sets one of them. Memories and sources are named by their
global ids (``SyncTables.digest``), since ids such as m12 mean something else in each home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from store.row_codecs import iso, moment, of_a_row
from store.types import Memory, Span, Status, Triple, Trust

WHAT, ENDS, PINNED = "what", "ends", "pinned"
REGISTERS = (WHAT, ENDS, PINNED)
GONE = "gone"
"""The status of a memory whose insertion was undone."""

Value = dict[str, Any]
Naming = Callable[[str | None], str | None]
"""An id of this home -> the global one, or back; None for None and for what is not there."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One register of one memory, set by one home."""

    id: str
    memory: str
    register: str
    ms: int
    """When, in milliseconds since 1970, and later than all of ``past``: the newest one holds."""
    past: tuple[str, ...]
    """Every operation on the same register that its home knew: it takes the place of those."""
    seen: tuple[str, ...] = ()
    """What stood in the other registers of the memory when it was made."""
    value: Value | None = None
    """None where its text is forgotten."""
    says: str | None = None
    """Of ``what``: the keyed digest of its text."""
    despite: tuple[str, ...] = ()
    """Forgettings of the same text that its home knew: it was told again after them."""
    until: str | None = None
    """Of ``what``: when the memory ended then, for a copy of it (``store.sync.fold``)."""
    at: str = ""
    actor: str = "auto"


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A memory forgotten for good. It wins over every operation on it, before and after."""

    id: str
    memory: str | None
    """None where no other home ever knew of it."""
    says: str | None
    """Digest of the text that it said last; other memories that say the same are forgotten too."""
    said: tuple[str, ...]
    """Digests of what it said before."""
    at: str


@dataclass(frozen=True, slots=True)
class SharedSource:
    """The raw text of a memory, without what of it is forgotten."""

    id: str
    blanks: tuple[tuple[int, int], ...]
    """Stretches of the text that are forgotten, in characters."""
    row: Value | None
    """Its columns; None where only the forgotten stretches are known."""


@dataclass(frozen=True, slots=True)
class SharedPair:
    """A question about two memories, or a possible change between them."""

    kind: str
    first: str
    second: str
    value: Value


Shared = Operation | Forgetting | SharedSource | SharedPair


def registers_of(
    memory: Memory | None, memory_name: Naming, source_name: Naming
) -> dict[str, Value]:
    """The three registers of a memory of this home; of one that was taken back its end alone."""
    if memory is None:
        return {ENDS: {"status": GONE, "valid_until": None, "replaced_by": None}}
    what = {
        "text": memory.text,
        "type": memory.type,
        "subclass": memory.subclass,
        "created": iso(memory.created),
        "triples": [[t.head, t.relation, t.tail] for t in memory.triples],
        "valid_from": iso(memory.valid_from),
        "place": memory.place,
        "source": source_name(memory.source),
        "span": None if memory.span is None else [memory.span.start, memory.span.end],
        "trust": None if memory.trust is None else memory.trust.value,
    }
    ends = {
        "status": memory.status.value,
        "valid_until": iso(memory.valid_until),
        "replaced_by": memory_name(memory.replaced_by),
    }
    return {WHAT: what, ENDS: ends, PINNED: {"pinned": memory.pinned}}


@of_a_row
def memory_of(
    public: str,
    what: Mapping[str, Any],
    ends: Mapping[str, Any],
    pinned: bool,
    memory_here: Naming,
    source_here: Naming,
) -> Memory:
    """The memory that three registers describe, with the ids of this home."""
    start, end = moment(what["valid_from"]), moment(ends["valid_until"])
    source = source_here(what["source"])
    return Memory(
        id=public,
        text=what["text"],
        type=what["type"],
        subclass=what["subclass"],
        created=datetime.fromisoformat(what["created"]),
        triples=tuple(Triple(*triple) for triple in what["triples"]),
        valid_from=start,
        # Its begin and its end may come from two homes: it never ends before it begins.
        valid_until=max(start, end) if start and end else end,
        place=what["place"],
        source=source,
        status=Status(ends["status"]),
        replaced_by=memory_here(ends["replaced_by"]),
        span=Span(*what["span"]) if what["span"] and source else None,
        trust=None if what["trust"] is None else Trust(what["trust"]),
        pinned=pinned,
    )


_KINDS: dict[str, type[Shared]] = {
    "operation": Operation, "forgetting": Forgetting, "source": SharedSource, "pair": SharedPair,
}  # fmt: skip


def to_document(shared: Shared) -> dict[str, Any]:
    """The JSON object of a value; its key ``is`` says what it is."""
    name = next(name for name, kind in _KINDS.items() if isinstance(shared, kind))
    return {"is": name} | {field.name: getattr(shared, field.name) for field in fields(shared)}


def from_document(document: Mapping[str, Any]) -> Shared:
    """:raises ValueError: if it is no such object, or of a newer memlane."""
    try:
        kind = _KINDS[document["is"]]
        given: dict[str, Any] = {
            key: _frozen(item) for key, item in document.items() if key != "is"
        }
        return kind(**given)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a record of memlane sync ({error})") from error


def _frozen(item: object) -> object:
    """Lists as tuples, all the way down; objects stay as they are."""
    return tuple(map(_frozen, item)) if isinstance(item, list) else item
