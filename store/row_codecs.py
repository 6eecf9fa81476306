"""Conversion between rows, journal payloads and frozen values; the base of what reads rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, wraps
from sys import intern
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from store.errors import CorruptStore, UnknownId
from store.types import (
    Memory,
    Source,
    SourceKind,
    SourceStatus,
    Span,
    Status,
    Subclass,
    Triple,
    Trust,
    trust_of_kind,
)

if TYPE_CHECKING:
    from store.database.connection import Connection

PAYLOAD_VERSION = 3
"""Of a memory in a journal line: 2 added span and trust, 3 the pin; without ``v`` it is of 1."""

_ID = re.compile(r"([a-z])([1-9][0-9]{0,17})")


P = ParamSpec("P")
R = TypeVar("R")


class Table:
    """The rows of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._rows = connection


def of_a_row(read: Callable[P, R]) -> Callable[P, R]:
    """A function that reads a stored row; one that holds no value of ours is damaged."""

    @wraps(read)
    def reading(*given: P.args, **named: P.kwargs) -> R:
        try:
            return read(*given, **named)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise CorruptStore(
                f"A row of the database is damaged ({type(error).__name__}: {error!s:.80}). It was "
                "not changed. Save what can be read: memlane rescue FOLDER, or restore a backup."
            ) from error

    return reading


def public_id(prefix: str, row_id: int) -> str:
    """``public_id("m", 12) == "m12"``."""
    return f"{prefix}{row_id}"


def row_id(prefix: str, public: str, noun: str) -> int:
    """The integer behind a public id.

    :raises UnknownId: if the id has not the form of this kind of id.
    """
    match = _ID.fullmatch(public.strip().lower())
    if match is None and ":" in public:
        raise UnknownId(
            f"{public!r:.60} is of another space. Work there, with the id behind the colon: "
            f"memlane --space {public.partition(':')[0]:.40} ..."
        )
    if match is None or match[1] != prefix:
        raise UnknownId(f"{public!r} is not a valid {noun} id; ids look like {prefix}12.")
    return int(match[2])


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 with offset, seconds kept; None stays None."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"naive time {moment!r}: every stored time has an offset")
    return moment.isoformat()


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


@lru_cache(maxsize=4096)  # an edit compares the same few names many times
def entity_key(name: str) -> str:
    """What makes two entity names the same entity: case, spacing and a leading article do not."""
    folded = " ".join(name.casefold().split())
    return re.sub(r"^(the|a|an|my) (?=\S)", "", folded)


def memory_payload(memory: Memory) -> dict[str, Any]:
    """A memory as the journal keeps it; ``memory_from_payload`` gives it back unchanged."""
    return {
        "id": memory.id,
        "text": memory.text,
        "type": memory.type,
        "subclass": memory.subclass,
        "created": iso(memory.created),
        "triples": [[t.head, t.relation, t.tail] for t in memory.triples],
        "valid_from": iso(memory.valid_from),
        "valid_until": iso(memory.valid_until),
        "place": memory.place,
        "source": memory.source,
        "status": memory.status.value,
        "replaced_by": memory.replaced_by,
        "span": None if memory.span is None else [memory.span.start, memory.span.end],
        "trust": None if memory.trust is None else memory.trust.value,
        "pinned": memory.pinned,
        "v": PAYLOAD_VERSION,
    }


@of_a_row
def memory_from_payload(payload: Mapping[str, Any]) -> Memory:
    """The memory of a journal line of any version; what the line lacks is None."""
    span, trust = payload.get("span"), payload.get("trust")
    return Memory(
        id=payload["id"],
        text=payload["text"],
        type=payload["type"],
        subclass=payload["subclass"],
        created=datetime.fromisoformat(payload["created"]),
        triples=tuple(Triple(*triple) for triple in payload["triples"]),
        valid_from=moment(payload["valid_from"]),
        valid_until=moment(payload["valid_until"]),
        place=payload["place"],
        source=payload["source"],
        status=Status(payload["status"]),
        replaced_by=payload["replaced_by"],
        span=None if span is None else Span(*span),
        trust=None if trust is None else Trust(trust),
        pinned=payload.get("pinned", False),
    )


ROW = (
    "memories.id", "memories.text", "subclasses.type", "memories.subclass", "memories.created",
    "memories.valid_from", "memories.valid_until", "memories.place", "memories.source",
    "memories.status", "memories.replaced_by", "memories.span_start", "memories.span_end",
    "memories.trust", "sources.kind", "memories.pinned",
)  # fmt: skip
"""The columns that ``memory_from_row`` reads, in their order."""
_STATUSES = {status.value: status for status in Status}
_TRUSTS = {trust.value: trust for trust in Trust} | {None: None}


@of_a_row
def memory_from_row(row: Sequence[Any], triples: tuple[Triple, ...]) -> Memory:
    """A memory of a row with the columns ``ROW``. Positions and tables: homes hold very many."""
    (
        key, text, type_, subclass, created, valid_from, valid_until, place, source, status,
        replaced_by, span_start, span_end, trust, kind, pinned,
    ) = row  # fmt: skip
    told = _TRUSTS[trust] or trust_of_kind(None if kind is None else SourceKind(kind))
    return Memory(
        f"m{key}",
        text,
        intern(type_),
        intern(subclass),
        datetime.fromisoformat(created),
        triples,
        moment(valid_from),
        moment(valid_until),
        place,
        None if source is None else f"s{source}",
        _STATUSES[status],
        None if replaced_by is None else f"m{replaced_by}",
        None if span_start is None else Span(span_start, span_end),
        told,
        bool(pinned),
    )


@of_a_row
def source_from_row(row: Mapping[str, Any]) -> Source:
    return Source(
        id=public_id("s", row["id"]),
        kind=SourceKind(row["kind"]),
        text=row["text"],
        content_hash=row["content_hash"],
        captured=datetime.fromisoformat(row["captured"]),
        locator=row["locator"],
        place=row["place"],
        status=SourceStatus(row["status"]),
        error=row["error"],
        expires=moment(row["expires"]),
    )


@of_a_row
def subclass_from_row(row: Mapping[str, Any]) -> Subclass:
    """Layer 2 as its table holds it."""
    return Subclass(
        row["id"], row["type"], row["name"], bool(row["single"]), tuple(json.loads(row["examples"]))
    )


def dumps(value: object) -> str:
    """Compact JSON, the same bytes for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
