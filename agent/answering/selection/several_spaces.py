"""One selection of what several spaces gave to a question. Pure.

Each space is searched alone; only what was chosen there comes together here, under ids that name
its space. Nothing of this is stored in any of them (``agent.session.reply.kept``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.answering.retrieve import Part, Retrieved
from policies.selection import Choice, Selection, Step


def joined(parts: Sequence[Part], k: int) -> Retrieved:
    """What was chosen in the spaces, nearest to the question first; the first is one's own.

    There are no more than ``k``, or than the longest selection where that is longer.
    """
    shown = [_shown(part) for part in parts]
    answering = [one for one in shown if one.selection.chosen]
    lead = max(answering or shown, key=_likely)
    near = {name: score for one in shown for name, score in one.near.items()}
    chosen = [choice for one in shown for choice in one.selection.chosen]
    chosen.sort(key=lambda choice: -near.get(choice.memory.id, choice.score))
    listed = tuple(name for one in shown for name in one.listed)
    most = max(k, len(listed), *(len(one.selection.chosen) for one in shown))
    kept = {choice.memory.id for choice in chosen[:most]}
    steps = (step for one in shown for step in one.selection.trace)
    return replace(
        lead,
        selection=Selection(
            shown[0].selection.policy,
            tuple(chosen[:most]),
            tuple(step if step.memory in kept else _displaced(step) for step in steps),
        ),
        asked=lead.asked if answering else shown[0].asked,
        marks={name: mark for one in shown for name, mark in one.marks.items()},
        near=near,
        listed=listed,
        inferred=shown[0].inferred,
        parts=tuple(parts),
    )


def _likely(found: Retrieved) -> float:
    """How likely a space holds the answer; what was found exactly needed no estimate."""
    if found.likely is None:
        return 1.0 if found.selection.chosen else 0.0
    return found.likely


def _displaced(step: Step) -> Step:
    if not step.chosen:
        return step
    return replace(step, chosen=False, reason="another space has something nearer")


def _shown(part: Part) -> Retrieved:
    """What a space gave, by ids that name it."""
    found, named = part.found, part.named
    if part.space is None:
        return found
    selection = found.selection
    chosen = (Choice(part.shown(one.memory), one.score) for one in selection.chosen)
    trace = (
        replace(step, memory=named(step.memory), via=step.via and named(step.via))
        for step in selection.trace
    )
    return replace(
        found,
        selection=replace(selection, chosen=tuple(chosen), trace=tuple(trace)),
        marks={named(name): mark for name, mark in found.marks.items()},
        near={named(name): score for name, score in found.near.items()},
        listed=tuple(map(named, found.listed)),
        inferred=(),
    )
