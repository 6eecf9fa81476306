"""Persona lines in the context of an answer (``persona_share``).

A line stands among the chosen memories as a sentence that says it is inferred, in place of the last
of them. What an answer makes of it says so too: a line is a guess about the person, never a fact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.answering.retrieve import Retrieved
from agent.memory.home import Home
from agent.ports import Vectors
from agent.results import Inference, Mark, Reply
from agent.results import Standing as Holding
from policies.selection import Choice
from store.tables.side_tables.personas import LineStatus, PersonaLayer, PersonaLine
from store.types import Memory, Trust

_TIMELESS = Mark(Holding.HOLDS, None, None, None, lasts=False)
NEAR = 0.4
"""Cosine similarity with the question from which a line has anything to do with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectored:
    """A line with its unit vector."""

    line: PersonaLine
    vector: Vectors


def usable(home: Home) -> tuple[Vectored, ...]:
    """The fresh distilled and induced lines of this home that have a vector."""
    graph, now = home.graph, home.config.now()
    vectors = graph.personas.vectors(home.embedder.identity)
    lines = graph.personas.lines(now, PersonaLayer.DISTILLED, PersonaLayer.INDUCED)
    return tuple(
        Vectored(line, vectors[line.id])
        for line in lines
        if line.standing is LineStatus.FRESH and line.id in vectors
    )


def with_persona(found: Retrieved, question: str, home: Home, k: int) -> Retrieved:
    """The same selection with the share of ``k`` that the person gives to persona lines."""
    room = math.ceil(home.config.persona_share / 100 * k)
    lines = usable(home) if room else ()
    if not lines:
        return found
    vector = home.embedder.encode([question])[0]
    scored = sorted(((float(one.vector @ vector), one.line) for one in lines), key=lambda s: -s[0])
    near = [(score, line) for score, line in scored[:room] if score >= NEAR]
    if not near:
        return found
    selection = found.selection
    kept = selection.chosen[: max(0, k - len(near))]
    gone = {choice.memory.id for choice in selection.chosen[len(kept) :]}
    trace = tuple(
        replace(step, chosen=False, reason="displaced by a persona line")
        if step.memory in gone
        else step
        for step in selection.trace
    )
    added = tuple(Choice(_as_memory(line), score) for score, line in near)
    return replace(
        found,
        selection=replace(selection, chosen=(*kept, *added), trace=trace),
        near={**found.near, **{line.id: score for score, line in near}},
        marks={**found.marks, **{line.id: _TIMELESS for _, line in near}},
        inferred=tuple(Inference(line.id, line.text, line.evidence) for _, line in near),
    )


def _as_memory(line: PersonaLine) -> Memory:
    # Trusted least: where it contradicts what was told, that is what holds.
    return Memory(
        line.id, f"(Inferred) {line.text}", "Attribute", "persona", line.made, trust=Trust.RELAYED
    )


def told_apart(reply: Reply) -> Reply:
    """The reply with memories and persona lines apart, and with words that say what is inferred."""
    lines = {inference.id: inference for inference in reply.inferred}
    if not lines:
        return reply
    used = [lines[c.memory.id] for c in reply.memories if c.memory.id in lines]
    text = f"{reply.text} {_said(used)}".strip() if used and reply.text else reply.text
    return replace(
        reply,
        text=text,
        memories=tuple(c for c in reply.memories if c.memory.id not in lines),
        inferred=tuple(used),
    )


def _said(used: Sequence[Inference]) -> str:
    return f"(Inferred, not something you said: {', '.join(one.id for one in used)}.)"
