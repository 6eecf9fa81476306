"""Question -> selection, through the configured policy, among the memories that held then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from agent.asof import About, Asked, anchored, read_question
from agent.entities.asking import choose
from agent.entities.events import event_of
from agent.entities.identity import Identities
from agent.grounding import names, terms
from agent.held_then import eligible, falls_in
from agent.periods import Mark, Timeline
from agent.ports import Embedder, Vectors
from agent.slots import in_slot
from policies.base import Choice, Policy, Question, Selection, Step
from store.graph import MemoryGraph
from store.types import Memory
from store.view import GraphView

FRONT = 3
"""How many memories are taken because they fill the place or fall on the day asked for."""
ANCHOR = 0.45
"""Cosine similarity from which a memory is what a question tells its time by."""
_OF_NOW = frozenset((About.NOW, About.HAPPENED, About.PLANNED))
"""Questions in which names and roles mean whom they mean today."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was chosen, the time that the question asks about, and each chosen memory's own."""

    selection: Selection
    asked: Asked
    marks: Mapping[str, Mark]


def ensure_vectors(graph: MemoryGraph, embedder: Embedder) -> int:
    """Embed what has no vector of this encoder yet; returns how many were."""
    missing = graph.vectors.missing(embedder.identity)
    if missing:
        memories = [graph.memories.get(memory) for memory in missing]
        vectors = embedder.encode([memory.text for memory in memories])
        graph.vectors.put(embedder.identity, dict(zip(missing, vectors, strict=True)))
    return len(missing)


def retrieve(
    question: str, graph: MemoryGraph, policy: Policy, embedder: Embedder, now: datetime
) -> Retrieved:
    """The memories that the policy chooses for the question, among those that held when it asks.

    What was replaced or has expired takes part only where the question asks about such a time.
    """
    if graph.index(embedder.identity, now).lacks_vectors:
        ensure_vectors(graph, embedder)
    asked = read_question(question, now)
    history = asked.needs_history
    view = graph.view(now, embedder.identity, history=history)
    if not history and any(m.valid_from and m.valid_from > now for m in view.memories):
        # What a plan will replace still holds, though its row is marked replaced.
        history = True
        view = graph.view(now, embedder.identity, history=True)
    vector = embedder.encode([question])[0]
    asked, anchor = _anchor(asked, view, vector, embedder)
    if anchor is not None:  # 'Where did I work when I lived in Oslo?' asks about work
        question, vector = asked.core, embedder.encode([asked.core])[0]
    held = _narrowed(view, asked, anchor) if history else view
    put = Question(question, vector, now)
    if asked.about in _OF_NOW:
        known = Identities.of(graph, now)
        chosen = choose(
            put, policy, held, known, embedder.encode, lambda memory: event_of(memory, graph, known)
        )
    else:
        # Who 'my boss' is today says nothing of whom a question about the past means.
        chosen = policy.select(put, held)
    found = in_slot(put.text, held.memories) or falls_in(held.memories, asked)
    chosen = _with_front(chosen, put, held, found)
    # Without history nothing in the view was replaced, and each memory tells its time alone.
    line = Timeline(view.memories if history else [c.memory for c in chosen.chosen])
    marks = {c.memory.id: line.mark(c.memory, now) for c in chosen.chosen}
    return Retrieved(chosen, asked, marks)


def _with_front(
    chosen: Selection, question: Question, view: GraphView, found: Sequence[Memory]
) -> Selection:
    """The selection with what exactly answers in front, the most similar ``FRONT`` of it."""
    score = {
        m.id: float(np.clip(view.vectors[view.row[m.id]] @ question.vector, 0, 1)) for m in found
    }
    found = sorted(found, key=lambda memory: -score[memory.id])[:FRONT]
    first = {memory.id for memory in found}
    known = {choice.memory.id for choice in chosen.chosen}
    added = [m for m in found if m.id not in known]
    steps = {m.id: Step(m.id, score[m.id], True, "says just what is asked for") for m in added}
    return replace(
        chosen,
        chosen=(
            *(Choice(memory, score[memory.id]) for memory in found),
            *(choice for choice in chosen.chosen if choice.memory.id not in first),
        ),
        trace=(*(step for step in chosen.trace if step.memory not in steps), *steps.values()),
    )


def _narrowed(view: GraphView, asked: Asked, anchor: Memory | None) -> GraphView:
    """The view without what did not hold at the time that is asked about."""
    allowed = eligible(view.memories, asked, anchor)
    rows = [row for row, memory in enumerate(view.memories) if memory.id in allowed]
    if len(rows) == len(view.memories):
        return view
    return replace(
        view, memories=tuple(view.memories[row] for row in rows), vectors=view.vectors[rows]
    )


def _anchor(
    asked: Asked, view: GraphView, vector: Vectors, embedder: Embedder
) -> tuple[Asked, Memory | None]:
    """The memory that a question tells its time by ('before Mr Tan'), and the time it gives.

    Its names decide where it has some, and the question which of the memories about them; without
    a name the nearest in meaning is it, if it is near. A question whose anchor nobody knows asks
    about what was, at no known time.
    """
    if not asked.anchor:
        return asked, None
    known = names(asked.anchor) - {"i", "my", "we", "our", "the"}
    own = embedder.encode([asked.anchor])[0]
    scores = view.vectors @ own if view.memories else np.zeros(0)
    rows = range(len(view.memories))
    if known:
        rows_named = [row for row in rows if known <= names(view.memories[row].text)]
        best = max(rows_named, key=lambda row: scores[row] + view.vectors[row] @ vector, default=-1)
    else:
        said = terms(asked.anchor)
        best = max(
            rows,
            key=lambda row: scores[row] + 0.1 * len(said & terms(view.memories[row].text)),
            default=-1,
        )
        if best >= 0 and scores[best] < ANCHOR:
            best = -1
    if best < 0:
        about = About.FORMER if asked.link == "before" else About.PAST
        return replace(asked, about=about, anchor=""), None
    memory = view.memories[best]
    return anchored(asked, Timeline(view.memories).periods[memory.id]), memory


def people(memories: Sequence[Memory], limit: int = 8) -> tuple[str, ...]:
    """Short sentences on who is who, against which a new text's names are resolved."""
    known = [m.text for m in memories if m.type == "Relationship" and len(m.text.split()) <= 12]
    return tuple(known[-limit:])
