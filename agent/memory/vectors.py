"""Embedding of memories on first use."""

from __future__ import annotations

from agent.ports import Embedder
from store.graph import MemoryGraph


def ensure_vectors(graph: MemoryGraph, embedder: Embedder) -> int:
    """Embed what has no vector of this encoder yet; returns how many were."""
    missing = graph.vectors.missing(embedder.identity)
    if missing:
        memories = [graph.memories.get(memory) for memory in missing]
        vectors = embedder.encode([memory.text for memory in memories])
        graph.vectors.put(embedder.identity, dict(zip(missing, vectors, strict=True)))
    return len(missing)
