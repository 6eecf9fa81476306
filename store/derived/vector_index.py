"""Vector index by partition, updated from the journal.

Reading all vectors of 100,000 memories takes a second, an edit changes one or two of them. So they
are read once; from then on every line of the journal is looked at once, whoever wrote it (an edit,
an undo, a hand edit, another process), and what it touched is read again. Derived, like every
index: what is in here is what the rows said at the last line that was looked at. Invariants: it
never writes; it is used only after ``advance``.
"""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from store.database.connection import Connection
from store.derived.partitions import HISTORY, NearMemory, PartitionIndex
from store.row_codecs import moment, public_id, row_id
from store.tables.memories import MemoryTable
from store.tables.vectors import Vector, VectorTable, product
from store.types import Memory, Status

MET = 5_000
"""Most memories that are kept because they were found lately."""
REREAD = 5000
"""Touched memories from which everything is read again at once."""

_STATE = "SELECT id, subclass, status, valid_until FROM memories WHERE status <> 'forgotten'"
_LAST = 1 << 62
_Line = tuple[object, ...]
NO_LINE: _Line = (0, None, None)


class MemoryIndex:
    """Vectors of one model: of what holds by subclass, of what no longer holds aside."""

    most_met = MET

    def __init__(
        self, rows: Connection, memories: MemoryTable, vectors: VectorTable, model: str
    ) -> None:
        self.model = model
        self.version = 0
        """Another number whenever something else may be searched."""
        self._rows = rows
        self._memories = memories
        self._vectors = vectors
        self._line: _Line | None = None
        """The journal's last line that is taken over: number, time and hash of its changes."""
        self._now = datetime.min.replace(tzinfo=UTC)
        self._partitions = PartitionIndex(0)
        self._subclass: dict[int, str] = {}
        """Of every memory that stands and has a vector, current or history."""
        self._ends: dict[int, datetime] = {}
        """Of those that are current by their status and end by themselves."""
        self._by_end: list[tuple[datetime, int]] = []
        """The same in the order of time; with leftovers of what ends otherwise now."""
        self._bare: set[int] = set()
        """Memories without a vector of this model."""
        self._last_vector = 0
        """The number of the vector that was stored last when ``_bare`` was found out."""
        self._whole: dict[int, Memory] | None = None
        """The memories themselves, once somebody asked for all of them."""
        self._met: dict[int, Memory] = {}
        """Memories told lately or found near something; the next draft of a text finds them."""
        self._standing = _NOTHING
        self._changed: set[int] = set()
        """Those of which something changed since ``standing`` was last asked for."""

    # ---- in step --------------------------------------------------------------------------

    def advance(self, now: datetime) -> MemoryIndex:
        """Take over what was written since, and what began or ended at ``now``."""
        touched = self._touched()
        if touched is None:
            self._read_all(now)
            return self
        touched |= self._arrived()
        if len(touched) > REREAD:
            self._read_all(now)
            return self
        if touched:
            self._read(touched, now)
        self._move_in_time(now)
        return self

    def _touched(self) -> set[int] | None:
        """Memories that new lines of the journal name; None where all has to be read anew."""
        if self._line is None:
            return None
        lines = self._rows.query(
            "SELECT id, kind, at, redacted, changes FROM journal WHERE id >= ? ORDER BY id",
            [self._line[0]],
        )
        # Another database was put in this one's place, or the line we know was redacted.
        if self._line != NO_LINE and (not lines or named(lines.pop(0)) != self._line):
            return None
        if not lines:
            return set()
        # Erasing changes more rows than it names.
        if any(line["kind"] == "erase" or line["redacted"] for line in lines):
            return None
        touched = {
            row_id("m", change["memory"], "memory")
            for line in lines
            for change in json.loads(line["changes"])
        }
        if len(touched) > REREAD:
            return None
        self._line = named(lines[-1])
        return touched

    def _arrived(self) -> set[int]:
        """Memories that got their vector since: that is no line of the journal."""
        if not self._bare:
            return set()
        known, self._last_vector = self._last_vector, self._vectors.last()
        if known == self._last_vector:
            return set()
        return self._bare & self._vectors.since(self.model, known)

    def _move_in_time(self, now: datetime) -> None:
        since, self._now = self._now, now
        low, high = min(since, now), max(since, now)
        first = bisect_right(self._by_end, (low, _LAST))
        for ends, key in self._by_end[first : bisect_right(self._by_end, (high, _LAST))]:
            if self._ends.get(key) == ends:
                self._file(key, now)

    def _file(self, key: int, now: datetime) -> None:
        """Put a vector that is here into the partition where it belongs at ``now``."""
        vector = self._partitions.vector(key)
        if vector is not None and (wanted := self._partition(key, now)) != (
            self._partitions.partition_of(key)
        ):
            self._partitions.put(key, wanted, vector)
            self._changed.add(key)
            self.version += 1

    def _partition(self, key: int, now: datetime) -> str:
        ends = self._ends.get(key)
        return HISTORY if ends is not None and ends <= now else self._subclass[key]

    # ---- reading --------------------------------------------------------------------------

    def _clear(self, now: datetime, dimension: int) -> None:
        """Know nothing, of a home at ``now``."""
        self.version += 1
        self._now = now
        self._whole = None
        self._met.clear()
        self._standing = _NOTHING
        self._subclass.clear()
        self._ends.clear()
        self._by_end.clear()
        self._partitions = PartitionIndex(dimension)

    def _read_all(self, now: datetime) -> None:
        # The line comes first: what others write while we read is read once more by ``advance``.
        last = self._rows.query("SELECT id, at, changes FROM journal ORDER BY id DESC LIMIT 1")
        self._line = named(last[0]) if last else NO_LINE
        self._last_vector = self._vectors.last()
        self._clear(now, self._vectors.dimension(self.model))
        for key, subclass, status, until in self._rows.tuples(_STATE):
            self._note(key, subclass, status, until)
        self._bare = set(self._subclass)
        sizes = Counter(self._partition(key, now) for key in self._subclass)
        self._partitions.reserve(sizes.items())
        for keys, vectors in self._vectors.blocks(self.model):
            known = [row for row, key in enumerate(keys) if key in self._subclass]
            if len(known) < len(keys):
                keys, vectors = [keys[row] for row in known], vectors[known]
            self._partitions.extend(keys, [self._partition(key, now) for key in keys], vectors)
            self._bare.difference_update(keys)
        for key in self._bare:
            del self._subclass[key]

    def _note(self, key: int, subclass: str, status: str, until: str | None) -> None:
        current = status == Status.CURRENT.value
        self._subclass[key] = subclass if current else HISTORY
        ends = moment(until) if current else None
        if ends is not None:
            self._ends[key] = ends
            insort(self._by_end, (ends, key))

    def _read(self, keys: Iterable[int], now: datetime) -> None:
        """Read some memories and their vectors again."""
        self.version += 1
        self._changed.update(keys)
        for some in _chunks(sorted(keys)):
            marks = ",".join(map(str, some))
            for key in some:
                if self._partitions.partition_of(key) is not None:
                    self._last_vector = 0  # its vector may be gone, and its number given again
                self._partitions.drop(key)
                self._subclass.pop(key, None)
                self._ends.pop(key, None)
                self._bare.discard(key)
                self._met.pop(key, None)
                if self._whole is not None:
                    self._whole.pop(key, None)
            for key, subclass, status, until in self._rows.tuples(f"{_STATE} AND id IN ({marks})"):
                self._note(key, subclass, status, until)
            vectors = self._vectors.of_some(self.model, some)
            for key in some:
                if key not in self._subclass:
                    continue
                if key not in vectors:
                    del self._subclass[key]
                    self._bare.add(key)
                    continue
                if not self._partitions.dimension:
                    self._partitions = PartitionIndex(vectors[key].size)
                self._partitions.put(key, self._partition(key, now), vectors[key])
            # What was told last is what the next draft is compared with first.
            standing = [key for key in some if key in self._subclass]
            memories = self.memories_of(standing)
            if self._whole is not None:
                self._whole.update(zip(standing, memories, strict=True))

    # ---- asking ---------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many memories hold."""
        return len(self._partitions) - len(self._partitions.keys(HISTORY))

    def vector(self, memory: str) -> Vector | None:
        """The stored vector of a memory."""
        return self._partitions.vector(_number(memory))

    def nearest(
        self, vector: Vector, *, probes: int, count: int, also: Sequence[str] = ()
    ) -> list[NearMemory]:
        """The memories that hold now and are nearest, best first, in the nearest partitions."""
        if not self._partitions.dimension:
            return []
        matches = self._partitions.nearest(vector, probes=probes, count=count, also=also)
        return self._matches(matches)

    def nearest_over(self, vector: Vector, *, count: int) -> list[NearMemory]:
        """The same of the memories that were replaced or have ended."""
        if not self._partitions.dimension:
            return []
        return self._matches(
            self._partitions.nearest(vector, probes=0, count=count, also=(HISTORY,))
        )

    def nearest_to_each(
        self,
        vectors: Vector,
        *,
        probes: int,
        count: int,
        also: Sequence[Sequence[str]] | None = None,
        without: Iterable[str] = (),
    ) -> list[list[NearMemory]]:
        """The same for several vectors; the memories ``without``, by id, are not found."""
        if not self._partitions.dimension:
            return [[] for _ in vectors]
        matches = self._partitions.nearest_to_each(
            vectors, probes=probes, count=count, also=also, without=[*map(_number, without)]
        )
        return [self._matches(own) for own in matches]

    def matches(self, memories: Iterable[str], vector: Vector) -> list[NearMemory]:
        """Those of the memories that hold now, each with its cosine, in the order given."""
        keys = [
            key
            for key in map(_number, memories)
            if self._partitions.partition_of(key) not in (None, HISTORY)
        ]
        scores = product(self._partitions.gather(keys), vector) if keys else ()
        return self._matches([(key, float(one)) for key, one in zip(keys, scores, strict=True)])

    def _matches(self, scored: Sequence[tuple[int, float]]) -> list[NearMemory]:
        memories = self.memories_of([key for key, _ in scored])
        return [
            NearMemory(memory, score) for memory, (_, score) in zip(memories, scored, strict=True)
        ]

    def memories_of(self, keys: Sequence[int]) -> tuple[Memory, ...]:
        """The memories of some keys, in the order given; those not met lately are read together."""
        if len(self._met) > self.most_met:
            self._met.clear()
        new = [key for key in keys if key not in self._met]
        if new:
            memories = self._memories.of([public_id("m", key) for key in new])
            self._met.update(zip(new, memories, strict=True))
        return tuple(self._met[key] for key in keys)

    def newest(self, subclasses: Iterable[str], count: int) -> tuple[Memory, ...]:
        """The newest memories of some subclasses that hold, oldest first."""
        keys = sorted(key for name in subclasses for key in self._partitions.keys(name))
        return self.memories_of(keys[-count:])

    @property
    def has_history(self) -> bool:
        """Whether something that can be searched no longer holds."""
        return bool(self._partitions.keys(HISTORY))

    @property
    def lacks_vectors(self) -> bool:
        """Whether memories that stand wait for their vector."""
        return bool(self._bare)

    def standing(self, *, history: bool) -> tuple[tuple[Memory, ...], Vector]:
        """Every memory that holds (with ``history``: or held), by id, and their vectors."""
        if self._whole is None:
            self._whole = {
                int(memory.id[1:]): memory
                for memory in self._memories.list(Status.CURRENT, Status.REPLACED)
            }
        kept = [*self._partitions.keys(), *(self._partitions.keys(HISTORY) if history else ())]
        keys = sorted(kept)
        last = self._standing
        shared = len(last.keys)
        if not shared or keys[:shared] != last.keys or not self._changed.isdisjoint(last.keys):
            self._standing = _NOTHING  # before the next is made: each is as large as all vectors
            memories = tuple(self._whole[key] for key in keys)
            vectors = self._partitions.gather(keys, room=_room(len(keys)))
            last = _Standing(keys, memories, vectors)
        elif new := keys[shared:]:
            # What was told last comes last: the most common edit moves no vector.
            memories = (*last.memories, *(self._whole[key] for key in new))
            last = _Standing(keys, memories, last.grown(self._partitions.gather(new)))
        self._standing = last
        self._changed.clear()
        return last.memories, last.vectors[: len(keys)]


@dataclass(frozen=True, slots=True, eq=False)
class _Standing:
    """What ``MemoryIndex.standing`` gave last."""

    keys: list[int]
    memories: tuple[Memory, ...]
    vectors: Vector
    """A row for each key, and room for more: rows that were given are never written again."""

    def grown(self, new: Vector) -> Vector:
        """The vectors with more behind them, in the same place where there is room."""
        filled, needed = len(self.keys), len(self.keys) + len(new)
        vectors = self.vectors
        if needed > len(vectors):
            vectors = np.empty((needed + _room(needed), new.shape[1]), np.float32)
            vectors[:filled] = self.vectors[:filled]
        vectors[filled:needed] = new
        return vectors


_NOTHING = _Standing([], (), np.zeros((0, 0), np.float32))


def _room(count: int) -> int:
    """Rows kept free behind so many."""
    return count // 16 + 64


def named(line: dict[str, object]) -> _Line:
    """A line of the journal as the index knows it again."""
    return (line["id"], line["at"], hash(line["changes"]))


def _number(memory: str) -> int:
    return row_id("m", memory, "memory")


def _chunks(keys: Sequence[int], size: int = 500) -> Iterable[list[int]]:
    left = iter(keys)
    while some := list(islice(left, size)):
        yield some
