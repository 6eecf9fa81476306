"""What was done in this home since it was last told to the others, as operations.

Everything here runs inside the caller's transaction. A memory is compared with what was last told
of it, so it does not matter how many edits lie between, nor whether some of them are erased.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from store.graph import MemoryGraph
from store.journal import Entry
from store.row_codecs import iso
from store.sync.fold import merged
from store.sync.operations import REGISTERS, WHAT, Operation, Value, registers_of
from store.sync.tables import Known
from store.types import Memory


@dataclass(frozen=True, slots=True)
class JournalState:
    """A memory as the journal last left it."""

    memory: Memory | None
    """None where it was taken back."""
    entry: Entry


def standing(graph: MemoryGraph, memory: str) -> JournalState | None:
    """The last state of a memory; None where it is forgotten for good."""
    last = graph.journal.of_memory(memory)[-1]
    change = [change for change in last.changes if change.memory == memory][-1]
    return None if change.redacted else JournalState(change.after, last)


def registers(graph: MemoryGraph, memory: Memory | None) -> dict[str, Value]:
    """The registers of a memory of this home, with global ids."""
    return registers_of(memory, graph.sync.memory_name, graph.shared_sources.name)


def digests(graph: MemoryGraph, values: Mapping[str, Value]) -> dict[str, str]:
    """A digest of each register, by which a change is told."""
    return {name: graph.sync.digest(name, value) for name, value in values.items()}


def capture(graph: MemoryGraph) -> None:
    """Turn everything that was done here since the last time into operations."""
    tables = graph.sync
    touched = tables.touched()
    for memory in touched:
        _name(graph, memory)  # all of them first: one may name another as what took its place
    for memory in touched:
        _capture(graph, memory)
    for known in tables.untold():
        if known.memory is not None:
            _capture(graph, known.memory)
        tables.set_told(known.gid)
    if touched:
        graph.shared_sources.look_for_blanks()
    tables.read_journal()


def _name(graph: MemoryGraph, memory: str) -> None:
    """Give a memory its global id, unless it has one or other homes need not hear of it."""
    if graph.sync.by_memory(memory) is not None:
        return
    now = standing(graph, memory)
    if now is None or now.memory is None:
        return  # taken back, or forgotten, before anybody else knew of it
    first = next(_versions(graph, memory), now.memory)
    number = 0
    while True:
        # The same in every copy of this home, so that copies do not double what they have.
        gid = graph.sync.digest("memory", first.text, first.created.timestamp(), number)
        known = graph.sync.by_name(gid)
        if known is None or (known.memory is None and not graph.sync.forgotten(gid)):
            break
        number += 1
    graph.sync.put(gid, memory, {}, graph.sync.says(now.memory.text))


def _versions(graph: MemoryGraph, memory: str) -> Iterator[Memory]:
    """Every state of a memory that its journal still tells, oldest first."""
    for entry in graph.journal.of_memory(memory):
        for change in entry.changes:
            if change.memory == memory and change.after is not None:
                yield change.after


def _capture(graph: MemoryGraph, memory: str) -> None:
    known, now = graph.sync.by_memory(memory), standing(graph, memory)
    if known is None or now is None:
        return
    values = registers(graph, now.memory)
    prints = digests(graph, values)
    ids = graph.sync.ids(known.gid)
    changed = [
        name
        for name in REGISTERS
        if name in values and (not ids.get(WHAT) or prints[name] != known.digests[name])
    ]
    if not changed:
        return
    if WHAT in changed:
        _keep_copies(graph, known)
    for operation in _operations(graph, known, now, {name: values[name] for name in changed}, ids):
        graph.sync.record(operation, None)
    says = None if now.memory is None else graph.sync.says(now.memory.text)
    graph.sync.put(known.gid, memory, {**told_digests(known), **prints}, says)
    # Told for the first time, it may be known elsewhere in another state.
    graph.sync.set_dirty(known.gid, True)


def told_digests(known: Known) -> dict[str, str]:
    """The digests of what was last told of a memory."""
    return {name: kept for name, kept in known.digests.items() if kept is not None}


def _operations(
    graph: MemoryGraph,
    known: Known,
    now: JournalState,
    values: Mapping[str, Value],
    ids: Mapping[str, list[str]],
) -> list[Operation]:
    heads = graph.sync.heads(known.gid)
    first = not ids
    # The first operation of a register is the same in every copy of this home.
    new = {
        name: graph.sync.digest("first", known.gid, name, value)[:16]
        if first
        else secrets.token_hex(8)
        for name, value in values.items()
    }
    at_ms = int(now.entry.at.timestamp() * 1000)
    made = []
    for name, value in values.items():
        seen = {head.id for head in heads if head.register != name}
        seen |= {other for register, other in new.items() if register != name}
        past = ids.get(name, _earlier(graph, known, name, new[name]) if first else [])
        says = graph.sync.says(value["text"]) if name == WHAT else None
        made.append(
            Operation(
                new[name],
                known.gid,
                name,
                max([at_ms, *(head.ms + 1 for head in heads if head.register == name)]),
                tuple(past),
                tuple(sorted(seen)),
                value,
                says,
                graph.sync.forgettings_of(says) if says else (),
                iso(now.memory.valid_until) if name == WHAT and now.memory else None,
                str(iso(now.entry.at)),
                now.entry.actor,
            )
        )
    return made


def _earlier(graph: MemoryGraph, known: Known, name: str, own: str) -> list[str]:
    """What a copy of this home, made earlier, may have told of a memory."""
    assert known.memory is not None
    versions = list(_versions(graph, known.memory))[:-1]
    found = {
        graph.sync.digest("first", known.gid, name, registers(graph, version)[name])[:16]
        for version in versions
    }
    return sorted(found - {own})


def _keep_copies(graph: MemoryGraph, known: Known) -> None:
    """The memory says something new: what stood against it becomes a memory of its own."""
    if merged(graph.sync.heads(known.gid)).losers:
        for copy in graph.sync.copies_of(known.gid):
            if copy.memory is not None and not graph.sync.ids(copy.gid):
                _capture(graph, copy.memory)
