"""Memories for a text without an answer, in hundredths of a second: for hooks of coding agents.

What is chosen for a question, and likely changes that are stored already. Nothing is read again by
the statement reader, which for an answer takes most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.answering.notes.candidates import BOTH_HOLD
from agent.answering.retrieve import Part
from agent.applications.personas.persona_in_answers import told_apart
from agent.language.validation import checked_message
from agent.memory.home import Home
from agent.memory.time.changed import CHANGED
from agent.results import Reply, Route
from agent.session.respond import Responder
from policies.selection import Choice
from store.types import Memory, Status, may_replace


def recall(home: Responder, text: str, k: int) -> Reply:
    """The memories chosen for a text, ``k`` at most; nothing of it is stored.

    :raises InvalidInput: if the text or ``k`` is unusable.
    """
    found = home.retrieve(checked_message(text), k=k, use_llm=False)
    newer: dict[str, Memory] = {}
    for part in found.parts or (Part(home, found),):
        for older, memory in _newer(part.home, part.found.selection.chosen).items():
            newer[part.named(older)] = part.shown(memory)
    kept = [
        replace(choice, memory=newer.get(choice.memory.id, choice.memory))
        for choice in found.selection.chosen
    ]
    chosen = tuple({choice.memory.id: choice for choice in reversed(kept)}.values())[::-1]
    return told_apart(
        Reply(
            Route.RETRIEVE, "", chosen, abstained=not chosen, likely=found.likely,
            marks=found.marks, inferred=found.inferred,
        )
    )  # fmt: skip


def _newer(home: Home, chosen: Sequence[Choice]) -> dict[str, Memory]:
    """What likely takes the place of each choice that likely holds no longer, by its id."""
    memories = {choice.memory.id: choice.memory for choice in chosen}
    now = home.config.now()
    newer: dict[str, Memory] = {}
    for edge in home.graph.change_edges.of(memories):  # likeliest first
        if edge.older not in memories or edge.older in newer:
            continue
        if edge.change in BOTH_HOLD or edge.probability < CHANGED:
            continue
        (memory,) = home.graph.memories.of([edge.newer])
        holds = memory.status is Status.CURRENT and memory.holds_at(now)
        if holds and may_replace(memory.trust, memories[edge.older].trust):
            newer[edge.older] = memory
    return newer
