"""The index of a large home: arrays on disk, and in memory what was written since they were made.

To whoever edits or asks it is a ``MemoryIndex``. What the journal has touched since is read again
into the partitions of that class; the arrays' rows of it are passed over. When that has become
much, the arrays are made anew.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from store.database.connection import Connection, is_encrypted
from store.database.notices import notify
from store.derived.large import search
from store.derived.large.arrays import Arrays, Taken, load, save
from store.derived.large.build import build
from store.derived.partitions import HISTORY, NearMemory
from store.derived.vector_index import NO_LINE, REREAD, MemoryIndex, named
from store.row_codecs import moment
from store.tables.memories import MemoryTable
from store.tables.vectors import Vector, VectorTable, highest
from store.types import Memory

LARGE = 200_000
"""Vectors from which a home is large: reading all of them takes longer than a question may."""
LOOKED_AT = 8
"""For each memory that is asked for so many are looked at closely."""
LATEST = 200
"""Vectors that were made last, of many that come in the background."""
ALL = 1 << 30


def is_large(vectors: VectorTable, model: str) -> bool:
    """Whether a home has so many vectors that its index is kept on disk."""
    # Their last number tells at once that there are fewer; counting a million takes a while.
    return vectors.last() >= LARGE and vectors.count(model) >= LARGE


class LargeIndex(MemoryIndex):
    """Vectors of one model in a large home."""

    arrays: Arrays
    most_met = 50_000  # what a question finds, and everything that is new, is met again

    def __init__(
        self, rows: Connection, memories: MemoryTable, vectors: VectorTable, model: str
    ) -> None:
        super().__init__(rows, memories, vectors, model)
        self._fresh: set[int] = set()
        self._late = 0
        """Vectors that came and are not taken over yet."""
        self._alive = np.zeros(0, bool)
        self._holding: NDArray[np.bool_] | None = None
        self._same = 0.0, 0.0
        """From when to when ``_holding`` says what holds."""

    # ---- in step --------------------------------------------------------------------------

    def _read_all(self, now: datetime) -> None:
        home = self._rows.path.parent
        # The line comes first: what others write while we read is read once more by ``advance``.
        last = self._rows.query("SELECT id, at, changes FROM journal ORDER BY id DESC LIMIT 1")
        line = _stored(last[0]) if last else (0, "", "")
        taken = Taken(self.model, line, self._vectors.last(), 0.0)
        found = load(home, self.model)
        if found is not None and self._begins_with(found.taken.line):
            self._take(found, now)
            touched = self._touched()
            if touched is not None and len(touched := touched | self._arrived()) <= REREAD:
                self._read(touched, now)
                return
        count = self._vectors.count(self.model)
        notify(f"Building the search index of {count:,} memories. This can take a minute or two.")
        made = build(self._rows, self._vectors, taken)
        # Nothing of an encrypted home lies on the disk in plain.
        self._take(made if is_encrypted(home) else save(made, home), now)

    def _begins_with(self, line: tuple[int, str, str]) -> bool:
        """Whether a line is in the journal as it was read."""
        rows = self._rows.query("SELECT id, at, changes FROM journal WHERE id = ?", [line[0]])
        return bool(rows) and _stored(rows[0]) == line

    def _take(self, arrays: Arrays, now: datetime) -> None:
        """Begin with these arrays."""
        self._clear(now, arrays.centres.shape[1])
        number = arrays.taken.line[0]
        lines = self._rows.query("SELECT id, at, changes FROM journal WHERE id = ?", [number])
        self._line = named(lines[0]) if lines else NO_LINE
        self._last_vector = arrays.taken.last_vector
        self._bare = set(arrays.bare.tolist())
        self.arrays = arrays
        self._fresh.clear()
        self._late = 0
        self._alive = np.ones(len(arrays.keys), bool)
        self._holding = None

    def _arrived(self) -> set[int]:
        known, self._last_vector = self._last_vector, self._vectors.last()
        if not self._bare or known == self._last_vector:
            return set()
        if len(self._bare) <= REREAD:
            # Few wait, and all that came since some number may be all there are.
            return self._vectors.of_some(self.model, sorted(self._bare)).keys() & self._bare
        # After a large import vectors come for hours. Those that a question has just made are the
        # last; the others are taken over together, when they are worth new arrays.
        newest = self._vectors.since(self.model, known, LATEST) & self._bare
        self._late += max(0, self._last_vector - known - LATEST)
        if self._late > len(self.arrays.keys) // 10:
            return set(range(REREAD + 1))  # more than are read one by one
        return newest

    def _read(self, keys: Iterable[int], now: datetime) -> None:
        keys = set(keys)
        if len(self._fresh | keys) > REREAD:
            self._read_all(now)
            return
        last = self._last_vector
        super()._read(keys, now)
        if len(self._bare) > REREAD:
            self._last_vector = last  # all that came since the first are not looked through again
        self._fresh |= keys
        self._alive[self.arrays.rows_of(keys)] = False
        self._holding = None

    # ---- what may be used -----------------------------------------------------------------

    def usable(self, now: datetime, *, history: bool = False) -> NDArray[np.bool_]:
        """Of each row of the arrays, whether it holds (with ``history``: or held) and is as it was
        when they were made."""
        if history:
            return self._alive
        at, (since, until) = now.timestamp(), self._same
        if self._holding is None or not since <= at < until:
            ends = self.arrays.ends
            self._holding = self._alive & self.arrays.current & (ends > at)
            self._same = at, float(ends[self._holding].min(initial=np.inf))
        return self._holding

    def fresh(self, *, history: bool = False) -> list[int]:
        """The memories that are not in the arrays as they are now."""
        held = list(self._partitions.keys())
        return sorted((*held, *self._partitions.keys(HISTORY))) if history else sorted(held)

    # ---- asking ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(np.count_nonzero(self.usable(self._now))) + super().__len__()

    def vector(self, memory: str) -> Vector | None:
        key = int(memory[1:])
        found = self.vectors_of([key]).get(key)
        return None if found is None else found.copy()

    def vectors_of(self, keys: Sequence[int]) -> dict[int, Vector]:
        """The vectors of some memories by number; those without one are left out."""
        stored = [key for key in keys if key not in self._partitions]
        found = self._vectors.of_some(self.model, stored) if stored else {}
        for key in keys if self._fresh else ():
            if (own := self._partitions.vector(key)) is not None:
                found[key] = own
        return found

    def nearest(
        self, vector: Vector, *, probes: int, count: int, also: Sequence[str] = ()
    ) -> list[NearMemory]:
        """The nearest of all that hold: the lists are finer than partitions."""
        return self._nearest(vector, count, self.usable(self._now), ())

    def nearest_over(self, vector: Vector, *, count: int) -> list[NearMemory]:
        over = self._alive & ~self.usable(self._now)
        return self._nearest(vector, count, over, (HISTORY,))

    def nearest_to_each(
        self,
        vectors: Vector,
        *,
        probes: int,
        count: int,
        also: Sequence[Sequence[str]] | None = None,
        without: Iterable[str] = (),
    ) -> list[list[NearMemory]]:
        mask, hidden = self.usable(self._now), [int(memory[1:]) for memory in without]
        if hidden:
            mask = mask.copy()
            mask[self.arrays.rows_of(hidden)] = False
        return [self._nearest(vector, count, mask, (), hidden) for vector in vectors]

    def _nearest(
        self,
        vector: Vector,
        count: int,
        mask: NDArray[np.bool_],
        fresh: Sequence[str],
        without: Sequence[int] = (),
    ) -> list[NearMemory]:
        rows, cosines = search.nearest(self.arrays, vector, mask)
        keys = self.arrays.keys[rows[highest(cosines, LOOKED_AT * count)]].tolist()
        scored = [(key, float(own @ vector)) for key, own in self.vectors_of(keys).items()]
        # Those in memory: of what holds every partition, of what is over that one alone.
        probes = 0 if fresh else ALL
        scored += self._partitions.nearest(
            vector, probes=probes, count=count, also=fresh, without=without
        )
        return self._matches(heapq.nlargest(count, scored, key=lambda pair: pair[1]))

    def matches(self, memories: Iterable[str], vector: Vector) -> list[NearMemory]:
        keys = [key for key in (int(memory[1:]) for memory in memories) if self._holds(key)]
        found = self.vectors_of(keys)
        return self._matches([(key, float(found[key] @ vector)) for key in keys if key in found])

    def _holds(self, key: int) -> bool:
        if key in self._partitions:
            return self._partitions.partition_of(key) != HISTORY
        return bool(self.usable(self._now)[self.arrays.rows_of([key])].any())

    def newest(self, subclasses: Iterable[str], count: int) -> tuple[Memory, ...]:
        found: list[int] = []
        for name in subclasses:  # one by one: off the index, without sorting
            rows = self._rows.tuples(
                """SELECT id, valid_until FROM memories WHERE subclass = ? AND status = 'current'
                   ORDER BY id DESC LIMIT ?""",
                [name, 2 * count],
            )
            ends = ((key, moment(until)) for key, until in rows)
            found += [key for key, end in ends if end is None or end > self._now]
        return self.memories_of(sorted(found)[-count:])

    @property
    def has_history(self) -> bool:
        return super().has_history or bool((self._alive & ~self.usable(self._now)).any())


def _stored(line: dict[str, object]) -> tuple[int, str, str]:
    """A line of the journal as the arrays keep it."""
    digest = hashlib.blake2b(str(line["changes"]).encode(), digest_size=16).hexdigest()
    return int(str(line["id"])), str(line["at"]), digest
