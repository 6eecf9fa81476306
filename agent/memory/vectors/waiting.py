"""Embedding of memories: all that wait, a few in the background, or what one text needs.

Vectors are stored batch by batch, so that what was made stays when the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.ports import Embedder
from store.graph import MemoryGraph

BATCH = 1000
"""Memories that are encoded and stored together."""
AT_ONCE = 2000
"""Memories that one request waits for. More wait after a large import, for minutes or hours."""
LOOKED_UP = 20_000
"""Memories without a vector that are looked up together for the background."""
FOUND = 200
"""Memories found by the words of a text that are encoded then, before it is looked at."""


def ensure_vectors(graph: MemoryGraph, embedder: Embedder) -> int:
    """Embed what has no vector of this encoder yet; returns how many were."""
    missing = graph.vectors.missing(embedder.identity)
    for start in range(0, len(missing), BATCH):
        _encode(missing[start : start + BATCH], graph, embedder)
    return len(missing)


class Waiting:
    """Memories that wait for their vector, the newest first; for work in the background."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def encode(self, count: int, graph: MemoryGraph, embedder: Embedder) -> int:
        """Embed the next ``count``; returns how many were, 0 where none wait."""
        if not self._ids:
            # Many at a time: each look passes over all that have their vector.
            self._ids.extend(graph.vectors.missing(embedder.identity, newest=LOOKED_UP))
        some = self._ids[:count]
        _encode(some, graph, embedder)
        del self._ids[:count]
        return len(some)


def ensure_vectors_for(words: Iterable[str], graph: MemoryGraph, embedder: Embedder) -> None:
    """Embed what has no vector yet, before a text with these words is compared with memories.

    Trigger: more than ``AT_ONCE`` wait. Why: nobody waits an hour for an answer. Outcome: those
    that the words find best are embedded now; the others are made in the background.
    """
    missing = graph.vectors.missing(embedder.identity, newest=AT_ONCE + 1)
    if len(missing) > AT_ONCE:
        found = graph.memories.search(" ".join(words), FOUND)
        keys = [int(memory.id[1:]) for memory in found]
        known = graph.vectors.of_some(embedder.identity, keys)
        missing = tuple(memory.id for memory in found if int(memory.id[1:]) not in known)
    _encode(missing, graph, embedder)


def _encode(ids: Sequence[str], graph: MemoryGraph, embedder: Embedder) -> None:
    texts = {memory.id: memory.text for memory in graph.memories.found(ids).values()}
    if texts:
        vectors = embedder.encode(list(texts.values()))
        graph.vectors.put_of_texts(
            embedder.identity,
            (
                (key, text, vector)
                for (key, text), vector in zip(texts.items(), vectors, strict=True)
            ),
        )
