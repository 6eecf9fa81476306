"""Similarity of ratings to an item: genres and embeddings (MAP 4.3).

Pure functions over arrays; whoever calls them has the vectors of the descriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.extraction.ratings.items import Item
from agent.ports import Embedder, Vectors

COMPARED = 200
"""Ratings whose descriptions are encoded for one item: those that share most genres, then the
latest. It keeps a prediction quick where somebody has rated thousands of things."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near each rated thing is to an item, in [0, 1], in the order of the history."""

    genres: NDArray[np.float64]
    """Shared genres of all genres of the two (Jaccard); 0 where one has none."""
    meaning: NDArray[np.float64]
    """Cosine similarity of the descriptions, negative ones as 0."""

    @property
    def score(self) -> NDArray[np.float64]:
        """What the nearest are chosen by: the mean of both, the meaning alone without genres."""
        both = (self.genres + self.meaning) / 2
        return both if self.genres.any() else self.meaning

    def nearest(self, count: int) -> list[int]:
        """Positions of the nearest, best first; of equals the later rating first."""
        order = sorted(range(len(self.genres)), key=lambda i: (-self.score[i], -i))
        return order[:count]


def nearness(item: Item, history: Sequence[Item], vector: Vectors, vectors: Vectors) -> Nearness:
    """``vector`` is the item's, ``vectors`` (len(history), dimension) those of the history."""
    own = set(item.genres)
    genres = [
        len(own & set(other.genres)) / len(own | set(other.genres)) if own else 0.0
        for other in history
    ]
    meaning = np.clip(vectors @ vector, 0.0, 1.0) if len(history) else np.zeros(0)
    return Nearness(np.array(genres, np.float64), np.asarray(meaning, np.float64))


def compared(item: Item, history: Sequence[Item]) -> list[int]:
    """Positions of the ratings worth comparing with the item, in their order."""
    shared = [len(set(item.genres) & set(other.genres)) for other in history]
    first = sorted(range(len(history)), key=lambda i: (-shared[i], -i))[:COMPARED]
    return sorted(first)


def encoded(item: Item, history: Sequence[Item], embedder: Embedder) -> tuple[Vectors, Vectors]:
    """The vectors that ``nearness`` takes."""
    found = embedder.encode([item.described, *(other.described for other in history)])
    return found[0], found[1:]
