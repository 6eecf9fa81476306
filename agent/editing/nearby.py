"""The memories that a draft may be about: nearest partitions and same slots, kept between edits.

Building the partition index reads every memory and vector of the home; an edit changes one or two.
So a ``Nearby`` holds what it once read and takes the edits made since on top: what was taken out is
skipped, what came in is compared directly, and after ``REBUILD`` changes, or when something else
wrote, it is built anew. Invariants: it never writes; it is used only while the last line of the
journal is the one it knows and no memory has expired since. Derived, like every index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from weakref import WeakKeyDictionary

import numpy as np

from agent.editing.compare import slot
from agent.ports import Vectors
from store.graph import MemoryGraph
from store.journal import Entry
from store.partitions import Match, PartitionIndex
from store.types import Draft, Memory

PROBES = 3
"""How many nearest partitions are searched for the memory that a draft is about."""
CANDIDATES = 5
"""How many memories of those partitions are compared with the draft."""
MOST_OF_A_SLOT = 20
"""How many memories with the same head and relation are compared beside the nearest."""
REBUILD = 256
"""Changed memories after which the index is built anew."""


class Nearby:
    """What holds in a graph at one line of its journal, searchable."""

    def __init__(self, graph: MemoryGraph, model: str, now: datetime) -> None:
        self.model = model
        self._built_at = now
        self._last = _last_line(graph)
        self._view = graph.view(now, model)
        self._index = PartitionIndex(self._view)
        self._gone: set[str] = set()
        self._new: dict[str, tuple[Memory, Vectors]] = {}
        self._by_slot: dict[tuple[str, str], dict[str, None]] = {}
        self._ends: datetime | None = None
        for memory in self._view.memories:
            self._hang(memory)

    @classmethod
    def of(
        cls, graph: MemoryGraph, model: str, now: datetime, prepare: Callable[[], object]
    ) -> Nearby:
        """The one kept for this graph where it still holds, else a new one.

        ``prepare`` makes missing vectors; it is called only before building.
        """
        known = _kept.get(graph)
        if known is None or known.model != model or not known._holds(graph, now):
            prepare()
            known = cls(graph, model, now)
            _kept[graph] = known
        return known

    def _holds(self, graph: MemoryGraph, now: datetime) -> bool:
        return (
            self._built_at <= now
            and (self._ends is None or now < self._ends)
            and len(self._gone) + len(self._new) <= REBUILD
            and self._last == _last_line(graph)
        )

    def _hang(self, memory: Memory) -> None:
        for triple in memory.triples:
            self._by_slot.setdefault(slot(triple), {})[memory.id] = None
        ends = memory.valid_until
        if ends is not None and ends > self._built_at:
            self._ends = ends if self._ends is None else min(ends, self._ends)

    def advance(self, entries: Iterable[Entry], vectors: Mapping[str, Vectors]) -> None:
        """Take over entries that were just applied; ``vectors`` are those of the new texts."""
        for entry in entries:
            number = int(entry.id[1:])
            if number != self._last + 1:
                return  # somebody else wrote in between: the next use builds anew
            for change in entry.changes:
                after = change.after
                vector = None if after is None else vectors.get(after.text)
                if after is not None and after.holds_at(self._built_at) and vector is None:
                    return
                self._gone.add(change.memory)
                self._new.pop(change.memory, None)
                if after is not None and vector is not None and after.holds_at(self._built_at):
                    self._new[after.id] = (after, vector)
                    self._hang(after)
            self._last = number

    def vector(self, memory: str) -> Vectors | None:
        """The stored vector of a memory that holds."""
        if memory in self._new:
            return self._new[memory][1]
        row = self._view.row.get(memory)
        return None if row is None else np.asarray(self._view.vectors[row])

    def to(self, draft: Draft, vector: Vectors) -> list[Match]:
        """The memories that the draft may be about, best first."""
        wanted = CANDIDATES + len(self._gone)
        probed = self._index.nearest(vector, probes=PROBES, count=wanted, also=(draft.subclass,))
        found = [match for match in probed if match.memory.id not in self._gone][:CANDIDATES]
        fresh = [Match(memory, float(own @ vector)) for memory, own in self._new.values()]
        found += sorted(fresh, key=lambda match: -match.score)[:CANDIDATES]
        # 'I live in Bedok' need not be near 'My home is in Jurong West' to speak of the same.
        known = {match.memory.id for match in found}
        same = dict.fromkeys(m for t in draft.triples for m in self._by_slot.get(slot(t), ()))
        # The latest come last; of the thousand things that I like only some need comparing.
        for memory in list(same)[-MOST_OF_A_SLOT:]:
            if memory not in known and (match := self._match(memory, vector)) is not None:
                found.append(match)
        return sorted(found, key=lambda match: -match.score)

    def _match(self, memory: str, vector: Vectors) -> Match | None:
        if memory in self._new:
            fresh, own = self._new[memory]
            return Match(fresh, float(own @ vector))
        row = None if memory in self._gone else self._view.row.get(memory)
        if row is None:
            return None
        return Match(self._view.memories[row], float(self._view.vectors[row] @ vector))

    def holding(self) -> list[Memory]:
        """Every memory that holds, oldest first."""
        kept = [memory for memory in self._view.memories if memory.id not in self._gone]
        return kept + [memory for memory, _ in self._new.values()]


_kept: WeakKeyDictionary[MemoryGraph, Nearby] = WeakKeyDictionary()


def _last_line(graph: MemoryGraph) -> int:
    last = graph.journal.list(1)
    return int(last[-1].id[1:]) if last else 0
