"""Operations: what one home did to one memory, as frozen values that every home understands.

A memory has three registers, which are merged each on its own: ``what`` it says, how it ``ends``,
and whether it is ``pinned``. An operation sets one of them. Memories and sources are named by their
global ids (``SyncTables.digest``), since ids such as m12 mean something else in each home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from store.row_codecs import memory_from_payload, memory_payload
from store.types import Memory

WHAT, ENDS, PINNED = "what", "ends", "pinned"
REGISTERS = (WHAT, ENDS, PINNED)
GONE = "gone"
"""The status of a memory whose insertion was undone."""

COLUMNS = {
    WHAT: (
        "text", "type", "subclass", "created", "triples", "valid_from", "place", "source", "span",
        "trust",
    ),
    ENDS: ("status", "valid_until", "replaced_by"),
    PINNED: ("pinned",),
}  # fmt: skip
"""What each register holds of a memory, by the names of the journal's lines."""

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
    told = memory_payload(memory) | {
        "source": source_name(memory.source),
        "replaced_by": memory_name(memory.replaced_by),
    }
    return {register: {name: told[name] for name in COLUMNS[register]} for register in REGISTERS}


def memory_of(
    public: str,
    what: Mapping[str, Any],
    ends: Mapping[str, Any],
    pinned: bool,
    memory_here: Naming,
    source_here: Naming,
) -> Memory:
    """The memory that three registers describe, with the ids of this home."""
    source = source_here(what["source"])
    memory = memory_from_payload(
        {
            **what,
            **ends,
            "id": public,
            "pinned": pinned,
            "source": source,
            "span": what["span"] if source else None,
            "replaced_by": memory_here(ends["replaced_by"]),
        }
    )
    start, end = memory.valid_from, memory.valid_until
    # Its begin and its end may come from two homes: it never ends before it begins.
    return replace(memory, valid_until=start) if start and end and end < start else memory


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
