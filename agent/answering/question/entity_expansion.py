"""Question expansion by aliases, entities and events.

'What does Kenji drink?' finds what was said of 'my boss', together with the memory that says that
the two are one, so that the answer can rest on it. A question about an event gets all that is told
of it. Deterministic; the policy chooses as it always does, once for each wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from agent.memory.entities.aliases import also_said, mixed_up
from agent.memory.entities.event_features import kinds_of
from agent.memory.entities.events import Event
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import key_of
from agent.ports import Vectors
from policies.base import Policy, Question
from policies.selection import Choice, Selection, Step
from store.derived.view import GraphView
from store.types import Memory

LINKS = 2
"""How many memories that say who is who are added."""
MATES = 6
"""How many memories of the event asked about are added."""


def wordings(
    question: Question, variants: Sequence[str], encode: Callable[[Sequence[str]], Vectors]
) -> tuple[Question, ...]:
    """The question and, under other names of those it mentions, the same again."""
    if not variants:
        return (question,)
    asked = zip(variants, encode(variants), strict=True)
    return (question, *(Question(text, vector, question.now) for text, vector in asked))


def choose(
    asked: Sequence[Question],
    means: Mapping[str, str],
    policy: Policy,
    view: GraphView,
    known: Identities,
    event_of: Callable[[Memory], Event | None],
) -> Selection:
    """The policy's selection for a question in all its ``wordings``.

    ``means`` tells whom the names in them mean, as ``aliases.also_said`` gives it.
    """
    question = asked[0]
    view = _about_the_right_ones(view, means, known)
    selection = policy.select(question, view)
    if len(asked) > 1:
        selection = _merged([selection, *(policy.select(other, view) for other in asked[1:])])
    chosen = list(selection.chosen)
    links = list(_links(chosen, question.text, means, view, known))
    mates = list(_mates([*chosen, *links], question.text, view, event_of))
    steps = (
        *(Step(c.memory.id, c.score, True, "says who is who") for c in links),
        *(Step(c.memory.id, c.score, True, "about the same event") for c in mates),
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
    return view.narrowed(rows)


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
        replace(step, chosen=False, reason="not in the top k over all names")
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


def with_former_links(
    chosen: Selection,
    question: str,
    now: datetime,
    known: Identities,
    look_up: Callable[[Sequence[str]], Sequence[Memory]],
) -> Selection:
    """The selection with what once said who the asked-about is, where nothing chosen says it now.

    'Kenji is my boss' has been replaced; without it nobody can tell that 'my boss drinks tea', said
    then, answers what Kenji drinks. It comes marked as over.
    """
    means, _ = also_said(question, now, known)
    asked = {key_of(m.text) for m in known.mentions(question)}
    taken = {choice.memory.id for choice in chosen.chosen}
    added: list[Choice] = []
    for choice in chosen.chosen:
        for mention in known.mentions(choice.memory.text, choice.memory.created):
            if mention.who not in means.values() or key_of(mention.text) in asked:
                continue
            told = known.joined_by(mention.who)
            if taken.isdisjoint(told):
                found = look_up(told)[-LINKS:]
                taken.update(memory.id for memory in found)
                added += [Choice(memory, choice.score) for memory in found]
    steps = tuple(Step(c.memory.id, c.score, True, "said who is who") for c in added)
    return replace(chosen, chosen=(*chosen.chosen, *added), trace=(*chosen.trace, *steps))


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
