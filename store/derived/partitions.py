"""Partitions of the graph by subclass, with their centres (EMG-RAG section 4.2).

Editing looks for the memory that a draft is about: the nearest partition centres first, then the
best inside them. Each partition keeps its vectors in one array that grows and shrinks with single
memories, so an edit costs the same however much is stored. Knows row numbers and vectors alone;
``store.derived.vector_index`` keeps it in step with the home.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from store.tables.vectors import Vector, highest
from store.types import Memory

HISTORY = ""
"""The partition of what no longer holds; editing does not search it."""
_SPARE = 16


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A stored memory near a draft, with the cosine similarity of the two."""

    memory: Memory
    score: float


class _Partition:
    """Vectors of one partition, dense: the last one moves to where another leaves."""

    def __init__(self, dimension: int) -> None:
        self.keys: list[int] = []
        self._vectors = np.zeros((0, dimension), np.float32)
        self._sum = np.zeros(dimension, np.float64)

    @property
    def vectors(self) -> Vector:
        return self._vectors[: len(self.keys)]

    @property
    def centre(self) -> Vector:
        """The mean of the vectors, of unit length."""
        length = float(np.linalg.norm(self._sum))
        return np.asarray(self._sum / (length or 1.0), dtype=np.float32)

    def extend(self, keys: Sequence[int], vectors: Vector) -> None:
        filled, needed = len(self.keys), len(self.keys) + len(keys)
        if needed > len(self._vectors):
            self.reserve(max(needed + _SPARE, filled + filled // 4))
        self._vectors[filled:needed] = vectors
        self._sum += vectors.sum(axis=0, dtype=np.float64)
        self.keys.extend(keys)

    def reserve(self, capacity: int) -> None:
        """Make room for this many vectors."""
        grown = np.empty((capacity, self._vectors.shape[1]), np.float32)
        grown[: len(self.keys)] = self.vectors
        self._vectors = grown

    def drop(self, place: int) -> int | None:
        """Take out one; returns the key that moved into its place."""
        self._sum -= self._vectors[place]
        last = self.keys.pop()
        if place == len(self.keys):
            return None
        self.keys[place] = last
        self._vectors[place] = self._vectors[len(self.keys)]
        return last


class PartitionIndex:
    """Vectors by partition, and the partitions' centres.

    >>> index = PartitionIndex(384)
    >>> index.extend([1, 2], ["event.life", "attribute.name"], vectors)
    >>> index.nearest(vector, probes=1)
    [(2, 0.83)]
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._partitions: dict[str, _Partition] = {}
        self._at: dict[int, tuple[str, int]] = {}
        self._centres: tuple[list[str], Vector] | None = None

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, key: object) -> bool:
        return key in self._at

    def partition_of(self, key: int) -> str | None:
        found = self._at.get(key)
        return None if found is None else found[0]

    def keys(self, partition: str | None = None) -> Sequence[int]:
        """Those of one partition, or all that are not history; in no order."""
        if partition is not None:
            found = self._partitions.get(partition)
            return found.keys if found else ()
        return [key for name, p in self._partitions.items() if name != HISTORY for key in p.keys]

    def names(self) -> list[str]:
        """Partitions that hold something, history aside."""
        return [name for name, p in self._partitions.items() if name != HISTORY and p.keys]

    def reserve(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Make room for what will come, so that nothing is copied while it comes."""
        for name, size in sizes:
            self._made(name).reserve(size + _SPARE)

    def extend(self, keys: Sequence[int], partitions: Sequence[str], vectors: Vector) -> None:
        """Put in many that are not here yet; ``vectors`` has a row for each."""
        by_name: dict[str, list[int]] = {}
        for row, name in enumerate(partitions):
            by_name.setdefault(name, []).append(row)
        for name, rows in by_name.items():
            partition = self._made(name)
            filled = len(partition.keys)
            own = [keys[row] for row in rows]
            partition.extend(own, vectors[rows])
            self._at.update((key, (name, filled + i)) for i, key in enumerate(own))
        self._centres = None

    def put(self, key: int, partition: str, vector: Vector) -> None:
        """Put in one, or put it elsewhere."""
        self.drop(key)
        self.extend([key], [partition], vector[None, :])

    def drop(self, key: int) -> None:
        """Take out one; nothing happens where it is not here."""
        found = self._at.pop(key, None)
        if found is not None:
            name, place = found
            moved = self._partitions[name].drop(place)
            if moved is not None:
                self._at[moved] = (name, place)
            self._centres = None

    def vector(self, key: int) -> Vector | None:
        """The vector of one, or None where it is not here."""
        found = self._at.get(key)
        if found is None:
            return None
        copied: Vector = self._partitions[found[0]].vectors[found[1]].copy()
        return copied

    def gather(self, keys: Sequence[int], *, room: int = 0) -> Vector:
        """The vectors of these, a row each, and behind them ``room`` rows that nobody wrote."""
        rows = np.empty((len(keys) + room, self.dimension), np.float32)
        wanted: dict[str, tuple[list[int], list[int]]] = {}
        for row, key in enumerate(keys):
            name, place = self._at[key]
            targets, places = wanted.setdefault(name, ([], []))
            targets.append(row)
            places.append(place)
        for name, (targets, places) in wanted.items():
            rows[targets] = self._partitions[name].vectors[places]
        return rows

    def nearest_partitions(self, vector: Vector, count: int) -> list[str]:
        """Subclasses by the similarity of their centre, nearest first."""
        if self._centres is None:
            names = self.names()
            if not names:
                return []
            self._centres = names, np.stack([self._partitions[n].centre for n in names])
        names, centres = self._centres
        return [names[i] for i in np.argsort(-(centres @ vector), kind="stable")[:count]]

    def nearest(
        self,
        vector: Vector,
        *,
        probes: int = 3,
        count: int = 1,
        also: Collection[str] = (),
        without: Collection[int] = (),
    ) -> list[tuple[int, float]]:
        """The best ``count`` of the ``probes`` nearest partitions, best first, with their cosine.

        ``also`` names partitions to look into in any case, such as the draft's own subclass. The
        keys ``without`` are not found.
        """
        (found,) = self.nearest_to_each(
            vector[None, :], probes=probes, count=count, also=[also], without=without
        )
        return found

    def nearest_to_each(
        self,
        vectors: Vector,
        *,
        probes: int,
        count: int,
        also: Sequence[Collection[str]] | None = None,
        without: Collection[int] = (),
    ) -> list[list[tuple[int, float]]]:
        """The same for several vectors; those that look into the same partitions do it at once."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for row, (vector, own) in enumerate(zip(vectors, also or [()] * len(vectors), strict=True)):
            alike.setdefault(self._searched(vector, probes, own), []).append(row)
        found: dict[int, list[tuple[int, float]]] = {}
        for names, rows in alike.items():
            best = self._best_of(names, vectors[rows], count, without)
            found.update(zip(rows, best, strict=True))
        return [found[row] for row in range(len(vectors))]

    def _searched(self, vector: Vector, probes: int, also: Collection[str]) -> tuple[str, ...]:
        if probes >= len(self._partitions):
            return tuple(self.names())
        near = self.nearest_partitions(vector, probes)
        return tuple(dict.fromkeys((*near, *(name for name in also if self.keys(name)))))

    def _best_of(
        self, names: Sequence[str], vectors: Vector, count: int, without: Collection[int]
    ) -> list[list[tuple[int, float]]]:
        searched = [self._partitions[name] for name in names]
        if not searched:
            return [[] for _ in vectors]
        # Not ``@``: for few queries BLAS is bound by memory, and its threads wait for each other
        # (2 to 20 ms for 30,000 vectors beside a busy model, against 2 to 3).
        scores = np.concatenate(
            [np.einsum("ij,kj->ki", p.vectors, vectors) for p in searched], axis=1
        )
        begins = np.cumsum([0, *(len(partition.keys) for partition in searched)])
        first = dict(zip(names, begins.tolist(), strict=False))
        at = [self._at[key] for key in without if key in self._at]
        scores[:, [first[name] + place for name, place in at if name in first]] = -np.inf

        def key(place: int) -> int:
            at = int(np.searchsorted(begins, place, side="right")) - 1
            return searched[at].keys[place - int(begins[at])]

        return [
            sorted(
                ((key(int(i)), float(own[i])) for i in highest(own, count) if own[i] > -np.inf),
                key=lambda match: -match[1],
            )
            for own in scores
        ]

    def _made(self, name: str) -> _Partition:
        return self._partitions.setdefault(name, _Partition(self.dimension))
