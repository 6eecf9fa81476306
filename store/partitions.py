"""Partitions of the graph by subclass, with their centres in FAISS (EMG-RAG section 4.2).

Derived from a ``GraphView``; rebuilt from SQLite whenever it changed. Editing looks for the memory
that a draft is about: the nearest partition centres first, then the top-1 inside them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from store.types import Memory
from store.vectors import Vector
from store.view import GraphView


@dataclass(frozen=True, slots=True)
class Match:
    """A stored memory near a draft, with the cosine similarity of the two."""

    memory: Memory
    score: float


class _Index(Protocol):
    """The part of a FAISS index that we use (faiss ships no types)."""

    def search(
        self, vectors: Vector, count: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...


class PartitionIndex:
    """One FAISS index a subclass, and one over the centres (the mean of a partition's vectors)."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._rows: dict[str, list[int]] = {}
        for row, memory in enumerate(view.memories):
            self._rows.setdefault(memory.subclass, []).append(row)
        self._names = list(self._rows)
        self._partitions = {name: _index(view.vectors[rows]) for name, rows in self._rows.items()}
        self._centres = (
            _index(np.stack([_centre(view.vectors[rows]) for rows in self._rows.values()]))
            if self._rows
            else None
        )

    def __len__(self) -> int:
        return len(self._view.memories)

    def nearest_partitions(self, vector: Vector, count: int) -> list[str]:
        """Subclasses by the similarity of their centre, nearest first."""
        if self._centres is None:
            return []
        _, found = self._centres.search(vector[None, :], min(count, len(self._names)))
        return [self._names[i] for i in found[0]]

    def nearest(
        self, vector: Vector, *, probes: int = 3, count: int = 1, also: Collection[str] = ()
    ) -> list[Match]:
        """The best ``count`` memories of the ``probes`` nearest partitions, best first.

        ``also`` names partitions to look into in any case, such as the draft's own subclass.
        """
        names = dict.fromkeys(self.nearest_partitions(vector, probes))
        names.update(dict.fromkeys(name for name in also if name in self._rows))
        found: list[Match] = []
        for name in names:
            rows = self._rows[name]
            scores, places = self._partitions[name].search(vector[None, :], min(count, len(rows)))
            found += [
                Match(self._view.memories[rows[place]], float(score))
                for score, place in zip(scores[0], places[0], strict=True)
            ]
        return sorted(found, key=lambda match: -match.score)[:count]


def _centre(vectors: Vector) -> Vector:
    mean = vectors.mean(axis=0)
    length = np.linalg.norm(mean)
    return np.asarray(mean / length if length > 0 else mean, dtype=np.float32)


def _index(vectors: Vector) -> _Index:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    made: _Index = index
    return made
