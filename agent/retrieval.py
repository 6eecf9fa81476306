"""Question -> selection, through the configured policy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from agent.ports import Embedder
from policies.base import Policy, Question, Selection
from store.graph import MemoryGraph
from store.types import Memory

_PAST = re.compile(
    r"\b(before|previous(?:ly)?|former(?:ly)?|used to|in the past|back then|earlier|no longer"
    r"|old (?:job|address|phone|number|flat|home|car))\b|\b(?:did|was|were) (?:i|my|we)\b",
    re.IGNORECASE,
)


def asks_about_the_past(question: str) -> bool:
    """Whether what no longer holds may answer the question too."""
    return _PAST.search(question) is not None


def ensure_vectors(graph: MemoryGraph, embedder: Embedder) -> int:
    """Embed what has no vector of this encoder yet; returns how many were."""
    missing = graph.vectors.missing(embedder.identity)
    if missing:
        memories = [graph.memories.get(memory) for memory in missing]
        vectors = embedder.encode([memory.text for memory in memories])
        graph.vectors.put(embedder.identity, dict(zip(missing, vectors, strict=True)))
    return len(missing)


def select(
    question: str, graph: MemoryGraph, policy: Policy, embedder: Embedder, now: datetime
) -> Selection:
    """The memories that the policy chooses for the question, among those that hold now.

    Replaced and expired memories take part only where the question asks about the past.
    """
    ensure_vectors(graph, embedder)
    view = graph.view(now, embedder.identity, history=asks_about_the_past(question))
    vector = embedder.encode([question])[0]
    return policy.select(Question(question, vector, now), view)


def people(memories: Sequence[Memory], limit: int = 8) -> tuple[str, ...]:
    """Short sentences on who is who, against which a new text's names are resolved."""
    known = [m.text for m in memories if m.type == "Relationship" and len(m.text.split()) <= 12]
    return tuple(known[-limit:])
