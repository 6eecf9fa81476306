"""Merge of an export into a home with memories, without duplicates.

Ids are given anew and references follow them. Memories come in through ``MemoryGraph.apply``, a
chunk a transaction, each chunk told by the journal, so that the whole import can be undone as one
run. Importing the same file again changes nothing. The history of the other home (its journal)
stays in the file: a memory's own times, status and what replaced it come along.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from agent.io.transfer.records import Record, Rejected, Row, Value
from agent.io.transfer.report import Tally
from agent.io.transfer.validate import check
from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Edit, Entry, Expire, Forget, Insert, Replace
from store.maintenance.backup import Rebuild
from store.tables.sources import Turn
from store.tables.taxonomy_edits import put_subclass
from store.types import Draft, Memory, Source, SourceKind, SourceStatus, Status, Subclass

_COMING = "m0"
"""Stands for the id of a memory that is planned and not yet applied."""
CHUNK = 500
"""Memories a transaction: small enough that others wait for it only a moment."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A memory that may come in, as the file has it."""

    draft: Draft
    line: int
    raw: str
    id: str | None = None
    """Its id in the file, where others refer to it."""
    status: Status = Status.CURRENT
    replaced_by: str | None = None


@dataclass(slots=True)
class _Chunk:
    sources: list[Record] = field(default_factory=list)
    memories: list[Incoming] = field(default_factory=list)
    turns: list[Record] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sources) + len(self.memories) + len(self.turns)


class Merge:
    """Takes records and memories in, chunk by chunk; ``finish`` at the end."""

    def __init__(self, target: Rebuild, tally: Tally, at: datetime, origin: str, text: str) -> None:
        self.target = target
        self.graph: MemoryGraph = target.graph
        self.tally = tally
        self.at = at
        self._origin, self._text = origin, text
        self._source: str | None = None
        self.run: str | None = None
        self._chunk = _Chunk()
        self._shown: Sequence[Subclass] | None = None
        self._known = {_key_of(m, at): m.id for m in self.graph.memories.list()}
        self._known_sources = {_source_key(s): s.id for s in self.graph.sources.list()}
        self._known_turns = {_turn_key(t) for t in self.graph.turns.last(limit=-1)}
        self._sources: dict[str, str] = {}
        """Ids of the file -> ids here; so for ``_memories``."""
        self._memories: dict[str, str] = {}
        self._waiting: dict[str, list[tuple[str, datetime | None]]] = {}
        """By the id in the file of what replaced them: memories here, and when they ended."""

    def take(self, items: Iterable[Record | Rejected]) -> None:
        """Every record of a file."""
        for item in items:
            if isinstance(item, Rejected):
                self.tally.reject(item)
                continue
            try:
                check(item.value)
            except ValueError as error:
                self.tally.reject(Rejected(item.line, str(error), item.raw))
                continue
            self._put(item)

    def _put(self, record: Record) -> None:
        value: Value | Row = record.value
        match value:
            case Memory():
                draft = draft_of(value)
                self.add(
                    Incoming(
                        draft, record.line, record.raw, value.id, value.status, value.replaced_by
                    ),
                    value,
                )
                return
            case Subclass():
                self._add_subclass(value)
            case Source():
                self._chunk.sources.append(record)
            case Turn():
                self._chunk.turns.append(record)
            case Entry() | Row():
                self.tally.left["edit" if isinstance(value, Entry) else "row"] += 1
        self._flush_if_full()

    def add(self, incoming: Incoming, memory: Memory | None = None) -> None:
        """One memory; ``memory`` as the file has it where there are more fields than a draft's."""
        if memory is not None and memory.subclass not in {s.id for s in self._subclasses()}:
            name = memory.subclass.rpartition(".")[2]
            self._add_subclass(Subclass(memory.subclass, memory.type, name, False))
        self._chunk.memories.append(incoming)
        self._flush_if_full()

    def _flush_if_full(self) -> None:
        if len(self._chunk) >= CHUNK:
            self._flush()

    def finish(self) -> None:
        """Write what is left, and end what was replaced by something that never came."""
        self._flush()
        ends = [end for waiting in self._waiting.values() for end in waiting]
        self._waiting.clear()
        with self.graph.writing():
            self._end(ends)

    # ---- layers 1 and 2 -------------------------------------------------------------------

    def _subclasses(self) -> Sequence[Subclass]:
        if self._shown is None:
            self._shown = self.graph.subclasses()
        return self._shown

    def _add_subclass(self, subclass: Subclass) -> None:
        if subclass.id in {known.id for known in self._subclasses()}:
            self.tally.unchanged["subclass"] += 1
            return
        with self.graph.writing():
            try:
                self.graph.add_subclass(subclass)
            except InvalidInput:
                # One of this name under another id, or without examples: kept by its id alone.
                put_subclass(self.target.connection, subclass)
        self.tally.new["subclass"] += 1
        self._shown = None

    # ---- a chunk --------------------------------------------------------------------------

    def _flush(self) -> None:
        chunk, self._chunk = self._chunk, _Chunk()
        if not len(chunk):
            return
        with self.graph.writing():
            for record in chunk.sources:
                assert isinstance(record.value, Source)
                self._add_source(record.value)
            self._add_memories(chunk.memories)
            for record in chunk.turns:
                assert isinstance(record.value, Turn)
                self._add_turn(record.value)

    def _add_source(self, source: Source) -> None:
        key = _source_key(source)
        known = self._known_sources.get(key)
        if known is not None:
            self.tally.unchanged["source"] += 1
        else:
            known = self._known_sources[key] = self.target.put_source(source, anew=True)
            self._in_run(known)
            self.tally.new["source"] += 1
        self._sources[source.id] = known

    def _add_turn(self, turn: Turn) -> None:
        if (key := _turn_key(turn)) in self._known_turns:
            self.tally.unchanged["turn"] += 1
            return
        self._known_turns.add(key)
        self.target.put_turn(replace(turn, trace=self._mapped_trace(turn.trace)), anew=True)
        self.tally.new["turn"] += 1

    def _mapped_trace(self, trace: dict[str, Any]) -> dict[str, Any]:
        """The trace with this home's ids; its edits are in the other home's journal."""
        mapped = {**trace}
        if isinstance(trace.get("memories"), list):
            mapped["memories"] = [self._memories.get(str(m), str(m)) for m in trace["memories"]]
        if isinstance(trace.get("steps"), list):
            mapped["steps"] = [
                {
                    **step,
                    **{
                        name: self._memories.get(str(step[name]), step[name])
                        for name in ("memory", "via")
                        if name in step
                    },
                }
                if isinstance(step, dict)
                else step
                for step in trace["steps"]
            ]
        if "edits" in trace:
            mapped["edits"] = []
        # What was asked there is not asked here: the next message answers nothing of it.
        for question in ("open", "suggested"):
            mapped.pop(question, None)
        return mapped

    # ---- memories -------------------------------------------------------------------------

    def _add_memories(self, memories: Sequence[Incoming]) -> None:
        """Inserts first, then in waves what replaces them: an edit names ids that are there."""
        wave = list(memories)
        while wave:
            edits: list[tuple[Edit, Incoming]] = []
            later: list[Incoming] = []
            ends: list[tuple[str, datetime | None]] = []
            here = {item.id for item in wave if item.id is not None}
            awaited = {item.replaced_by for item in wave if item.id in here}
            for item in wave:
                if item.id is not None and item.id in awaited:
                    later.append(item)  # what it replaces comes in first
                    continue
                key = _key(item.draft, item.status, self.at)
                waiting = self._waiting.pop(item.id, []) if item.id else []
                if known := self._known.get(key):
                    self.tally.unchanged["memory"] += 1
                    if item.id and known != _COMING:
                        self._memories[item.id] = known
                    ends += waiting
                    continue
                draft = replace(item.draft, source=self._sources.get(item.draft.source or ""))
                self._known[key] = _COMING
                if waiting:
                    edits.append((Replace(waiting[0][0], draft), item))
                    ends += waiting[1:]
                else:
                    edits.append((Insert(draft), item))
            self._apply(edits)
            self._end(ends)
            if len(later) == len(wave):  # replaced in a circle: no order is right
                later = [replace(item, replaced_by=None) for item in later]
            wave = later

    def _apply(self, edits: Sequence[tuple[Edit, Incoming]]) -> None:
        if not edits:
            return
        done: list[tuple[Incoming, str]] = []
        try:
            with self.graph.writing():
                entries = self._applied([edit for edit, _ in edits])
            pairs = zip(edits, entries, strict=True)
            done = [(item, entry.memory) for (_, item), entry in pairs]
        except (EditConflict, UnknownId, InvalidInput):
            # One of them cannot be: find it, and let the others in.
            for edit, item in edits:
                try:
                    with self.graph.writing():
                        done.append((item, self._applied([edit])[0].memory))
                except (EditConflict, UnknownId, InvalidInput) as error:
                    self._known.pop(_key(item.draft, item.status, self.at), None)
                    self.tally.reject(Rejected(item.line, str(error), item.raw))
        forget = []
        for item, memory in done:
            self.tally.new["memory"] += 1
            self._known[_key(item.draft, item.status, self.at)] = memory
            if item.id:
                self._memories[item.id] = memory
            if item.status is Status.FORGOTTEN:
                forget.append(Forget(memory))
            elif item.status is Status.REPLACED:
                end = item.draft.valid_until
                successor = self._memories.get(item.replaced_by or "")
                if item.replaced_by and successor is None:
                    self._waiting.setdefault(item.replaced_by, []).append((memory, end))
                else:
                    self._end([(memory, end)])
        if forget:
            self._applied(forget)

    def _end(self, memories: Sequence[tuple[str, datetime | None]]) -> None:
        """What was replaced by something this home has already: it has an end, as history."""
        edits: list[Edit] = []
        for memory, end in memories:
            standing = self.graph.memories.get(memory)
            # A replaced memory holds no longer, even where its own end lies ahead.
            until = min(end or self.at, self.at)
            if standing.valid_from is not None and standing.valid_from > until:
                edits.append(Forget(memory))  # it never began: there is no end to give it
            elif standing.valid_until is None or until < standing.valid_until:
                edits.append(Expire(memory, until))
        if edits:
            self._applied(edits)

    def _applied(self, edits: Sequence[Edit]) -> tuple[Entry, ...]:
        if self._source is None:
            source = self.graph.sources.add(
                SourceKind.MANUAL,
                self._text,
                self.at,
                locator=f"import:{self._origin}",
                digest=hashlib.sha256(
                    f"{self._origin}\n{self.at.isoformat()}".encode()
                ).hexdigest(),
            )
            self.graph.sources.mark(source.id, SourceStatus.EXTRACTED)
            self._source = source.id
            self._in_run(source.id)
        return self.graph.apply(edits, at=self.at, actor="user", source=self._source)

    def own_source(self, key: str, source: Source) -> None:
        """Store the file itself as a source, which drafts name by ``key``."""
        with self.graph.writing():
            self._add_source(replace(source, id=key))

    def _in_run(self, source: str) -> None:
        if self.run is None:
            self.run = self.graph.runs.start(self.at, f"import {self._origin}")
        self.graph.runs.add(self.run, source)


def draft_of(memory: Memory) -> Draft:
    """The memory as something not yet stored; every field that a draft has comes along."""
    return Draft(**{item.name: getattr(memory, item.name) for item in fields(Draft)})


def _digest(*parts: object) -> bytes:
    # 16 bytes and not the text: a million of them stay in memory.
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def statement(text: str) -> str:
    """What makes two sentences the same statement: case, spacing and a full stop do not."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(folded.split()).rstrip(".!。")


def _key(draft: Draft, status: Status, now: datetime) -> bytes:
    said = statement(draft.text)
    ended = draft.valid_until is not None and draft.valid_until <= now
    if status is Status.CURRENT and not ended:
        return _digest("holds", said)
    # The same may have been true twice, so the past is told apart by when it was said.
    return _digest("past", said, draft.created.timestamp())


def _key_of(memory: Memory, now: datetime) -> bytes:
    return _key(draft_of(memory), memory.status, now)


def _source_key(source: Source) -> bytes:
    return _digest(source.kind, source.content_hash, source.locator, source.captured.timestamp())


def _turn_key(turn: Turn) -> bytes:
    return _digest(turn.at.timestamp(), turn.text, turn.reply)
