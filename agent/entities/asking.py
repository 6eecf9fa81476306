"""A question about somebody or some event, asked under every name and answered with what belongs.

'What does Kenji drink?' finds what was said of 'my boss', together with the memory that says that
the two are one, so that the answer can rest on it. A question about an event gets all that is told
of it. Deterministic; the policy chooses as it always does, once for each wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from agent.entities.event_words import kinds_of
from agent.entities.events import Event
from agent.entities.identity import Identities
from agent.entities.names import key_of
from agent.entities.wording import also_said, mixed_up
from agent.ports import Vectors
from policies.base import Choice, Policy, Question, Selection, Step
from store.types import Memory
from store.view import GraphView

LINKS = 2
"""How many memories that say who is who are added."""
MATES = 6
"""How many memories of the event asked about are added."""


def choose(
    question: Question,
    policy: Policy,
    view: GraphView,
    known: Identities,
    encode: Callable[[Sequence[str]], Vectors],
    event_of: Callable[[Memory], Event | None],
) -> Selection:
    """The policy's selection for the question under all names of those it mentions."""
    means, variants = also_said(question.text, question.now, known)
    view = _about_the_right_ones(view, means, known)
    selection = policy.select(question, view)
    if variants:
        asked = zip(variants, encode(variants), strict=True)
        more = [policy.select(Question(text, vector, question.now), view) for text, vector in asked]
        selection = _merged([selection, *more])
    chosen = list(selection.chosen)
    links = list(_links(chosen, question.text, means, view, known))
    mates = list(_mates([*chosen, *links], question.text, view, event_of))
    steps = (
        *(Step(c.memory.id, c.score, True, "says who is who") for c in links),
        *(Step(c.memory.id, c.score, True, "tells of the same event") for c in mates),
    )
    added = {step.memory for step in steps}
    trace = (*(step for step in selection.trace if step.memory not in added), *steps)
    return replace(selection, chosen=(*chosen, *links, *mates), trace=trace)


def _about_the_right_ones(
    view: GraphView, means: Mapping[str, str], known: Identities
) -> GraphView:
    """The view without what was said of an earlier 'my boss' than the one asked about."""
    contested = [key for key in means if known.contested(key)]
    if not contested:
        return view
    rows = [
        row
        for row, memory in enumerate(view.memories)
        if not any(key in memory.text.casefold() for key in contested)
        or not mixed_up(means, memory, known)
    ]
    return replace(
        view, memories=tuple(view.memories[row] for row in rows), vectors=view.vectors[rows]
    )


def _merged(selections: Sequence[Selection]) -> Selection:
    """Each memory with its best score over all wordings, as many as one wording chose."""
    count = max(len(selection.chosen) for selection in selections)
    best: dict[str, Choice] = {}
    steps: dict[str, Step] = {}
    for selection in selections:
        for choice in selection.chosen:
            known = best.get(choice.memory.id)
            if known is None or choice.score > known.score:
                best[choice.memory.id] = choice
        for step in selection.trace:
            seen = steps.get(step.memory)
            if seen is None or step.score > seen.score:
                steps[step.memory] = step
    chosen = sorted(best.values(), key=lambda choice: -choice.score)[:count]
    kept = {choice.memory.id for choice in chosen}
    trace = tuple(
        replace(step, chosen=False, reason="beyond the best of all names")
        if step.chosen and step.memory not in kept
        else step
        for step in sorted(steps.values(), key=lambda step: -step.score)
    )
    return Selection(selections[0].policy, tuple(chosen), trace)


def _links(
    chosen: Sequence[Choice],
    question: str,
    means: Mapping[str, str],
    view: GraphView,
    known: Identities,
) -> Iterator[Choice]:
    """Memories that say that who is asked about is who the chosen ones speak of."""
    taken = {choice.memory.id for choice in chosen}
    asked = {key_of(m.text) for m in known.mentions(question)}
    left = LINKS
    for choice in chosen:
        for mention in known.mentions(choice.memory.text, choice.memory.created):
            other = mention.who in means.values() and key_of(mention.text) not in asked
            for memory in known.joined_by(mention.who) if other else ():
                row = view.row.get(memory)
                if row is not None and memory not in taken and left:
                    taken.add(memory)
                    left -= 1
                    yield Choice(view.memories[row], choice.score)


def _mates(
    chosen: Sequence[Choice],
    question: str,
    view: GraphView,
    event_of: Callable[[Memory], Event | None],
) -> Iterator[Choice]:
    """What else is told of the event that the question names by its number or kind."""
    asked = kinds_of(question)
    said = question.replace(" ", "").casefold()
    for choice in chosen[:3]:
        event = event_of(choice.memory)
        if event is None:
            continue
        if event.kinds & asked or any(code.casefold() in said for _, code in event.ids):
            taken = {other.memory.id for other in chosen}
            rows = [view.row[m] for m in event.memories if m in view.row and m not in taken]
            for row in rows[:MATES]:
                yield Choice(view.memories[row], float(np.clip(choice.score, 0.0, 1.0)))
            return
