"""The forms of prompt that rewards are measured with."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.answer import EXAMPLES, SYSTEM
from agent.answering.selection.utility import plain as plain
from agent.ports import ChatTurn, Prompt


def chat(question: str, memories: Sequence[str] = ()) -> Prompt:
    """The model's own chat template."""
    known = (ChatTurn("system", f"About the user: {' '.join(memories)}"),) if memories else ()
    return (*known, ChatTurn("user", question))


def answering(question: str, memories: Sequence[str]) -> Prompt:
    """The product's own few-shot prompt, with what all sets of memories share standing first."""
    turns = [ChatTurn("system", SYSTEM)]
    for asked, said in EXAMPLES:
        turns += [ChatTurn("user", asked), ChatTurn("assistant", said)]
    notes = "\n".join(f"- {memory}" for memory in memories)
    turns.append(ChatTurn("user", f"Question: {question}\nNotes:\n{notes}"))
    return tuple(turns)
