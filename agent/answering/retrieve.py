"""Selection of memories for a question, with time filter and policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import numpy as np

from agent.answering.grounding import STOP, content_words, names, terms
from agent.answering.question.entity_expansion import choose, with_former_links, wordings
from agent.answering.question.question_time import (
    About,
    Asked,
    anchored,
    asking_sentence,
    read_question,
)
from agent.answering.question.slot_lookup import in_slot
from agent.answering.question.time_filter import asks_of_days, eligible, falls_in, of_few_days
from agent.language.dates import find_times
from agent.memory.entities.aliases import also_said, also_said_then
from agent.memory.entities.events import event_of
from agent.memory.entities.identity import Identities
from agent.memory.home import Home
from agent.memory.time.changed import CHANGED, probably_ended
from agent.memory.time.timeline import Telling, Tellings, Timeline
from agent.memory.vectors.waiting import ensure_vectors_for
from agent.ports import Embedder, Vectors
from agent.results import Inference, Mark
from policies.abstain import AbstentionJudge, SelectionSigns, TextReaders, signs_of
from policies.base import Policy, Question
from policies.selection import Choice, Selection, Step
from store.derived.large.part import Sought
from store.derived.tokenize import words
from store.derived.view import GraphView
from store.graph import MemoryGraph
from store.spaces import Space, as_seen, named_in
from store.types import Memory

FRONT = 3
"""How many memories are taken because they fill the place or fall on the day asked for."""
LISTED = 10
"""The same where all that falls on these days is the answer."""
ANCHOR = 0.45
"""Cosine similarity from which a memory is what a question tells its time by."""
PAST_ASKED = 0.3
"""Of the judge's threshold, where a question takes for granted that there was something."""
_GRANTED = frozenset((About.FORMER, About.AT, About.CHANGE))
OF_NOW = frozenset((About.NOW, About.HAPPENED, About.PLANNED))
"""Questions about what holds, in which names and roles mean whom they mean today."""
_STOP = frozenset(words(" ".join(STOP)))
READING = TextReaders(lambda text: frozenset(words(text)) - _STOP, names)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was chosen, the time that the question asks about, and each chosen memory's own."""

    selection: Selection
    asked: Asked
    marks: Mapping[str, Mark]
    near: Mapping[str, float]
    """Cosine similarity of each chosen memory with the question, whatever the policy scores by."""
    signs: SelectionSigns | None = None
    """What the judge looked at; None where nothing was chosen, or what was is exact."""
    likely: float | None = None
    """Probability that memory holds the answer; None where nobody estimated it."""
    listed: tuple[str, ...] = ()
    """Ids of what falls on the days asked for, where the question says nothing but its time."""
    inferred: tuple[Inference, ...] = ()
    """Persona lines among the chosen (``agent.applications.personas.persona_in_answers``)."""
    parts: tuple[Part, ...] = ()
    """What each space gave, where several were asked; the ids above name the other spaces."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one space gave to a question, by its own ids."""

    home: Home
    found: Retrieved
    space: Space | None = None
    """None for the space that the question is asked in."""

    def shown(self, memory: Memory) -> Memory:
        """A memory of this space as the answer has it."""
        return memory if self.space is None else as_seen(memory, self.space)

    def named(self, public: str) -> str:
        """The id of a memory of this space as the answer has it."""
        return public if self.space is None else named_in(self.space.name, public)


def retrieve(
    question: str,
    graph: MemoryGraph,
    policy: Policy,
    embedder: Embedder,
    now: datetime,
    *,
    k: int = 0,
    judge: AbstentionJudge | None = None,
) -> Retrieved:
    """The memories that the policy chooses for the question, among those that held when it asks.

    What was replaced or has expired takes part only where the question asks about such a time.
    What exactly answers comes in front, in place of what else the policy took beyond ``k``. With
    ``judge`` nothing is chosen where memory hardly holds the answer.
    """
    if graph.index(embedder.identity, now).lacks_vectors:
        ensure_vectors_for(content_words(question).values(), graph, embedder)
    asked = read_question(question, now)
    history = asked.needs_history
    vector = embedder.encode([question])[0]
    look = partial(graph.view, now, embedder.identity)
    view = look(history=history, asked=_sought(asked, Question(question, vector, now)))
    if not history and view.begins_last is not None and view.begins_last > now:
        # What a plan will replace still holds, though its row is marked replaced.
        history = True
        view = look(history=True, asked=_sought(asked, Question(question, vector, now)))
    asked, anchor = _anchor(asked, view, vector, embedder)
    if anchor is not None:  # 'Where did I work when I lived in Oslo?' asks about work
        question, vector = asked.core, embedder.encode([asked.core])[0]
    put = Question(question, vector, now)
    known = Identities.of(graph, now)
    of_now = asked.about in OF_NOW
    # Who 'my boss' is today says nothing of whom a question about the past means.
    means, variants = (
        also_said(put.text, now, known)
        if of_now
        else also_said_then(put.text, asked.start, asked.end, known)
    )
    worded = wordings(put, variants, embedder.encode)
    if anchor is not None or len(worded) > 1:
        view = look(history=history, asked=_sought(asked, *worded))
    held = _narrowed(view, asked, anchor, graph) if history else view
    chosen = choose(
        worded, means, policy, held, known, lambda memory: event_of(memory, graph, known)
    )
    found = in_slot(put.text, held.memories)
    # 'What is on tomorrow?' says nothing but its time: all that falls into it is the answer.
    asking = replace(put, text=asking_sentence(put.text))
    left = timeless(asking).text
    bare = of_few_days(asked) and not terms(left) and left != asking.text
    listed: tuple[str, ...] = ()
    if not found and (bare or asks_of_days(asked)):
        found = falls_in(held.memories, tellings(held), asked)
        listed = tuple(memory.id for memory in found) if bare else ()
    chosen = _with_front(chosen, put, held, found, k, LISTED if listed else min(FRONT, k or FRONT))
    signs = likely = None
    if judge is not None and judge.encoder == embedder.identity and not found:
        # 'What does Kenji drink?' is as likely to be answered as 'What does my boss drink?'.
        # How far something stands out is told beside the whole home, not beside the few that ended.
        read = (signs_of(timeless(one), view, chosen.chosen, READING) for one in worded)
        signs = max(filter(None, read), key=judge.likely, default=None)
        likely = None if signs is None else judge.likely(signs)
        # 'Where did I do yoga before?' takes for granted that there was such a thing.
        least = judge.threshold * (PAST_ASKED if asked.about in _GRANTED else 1.0)
        if likely is not None and likely < least:
            chosen = _nothing(chosen)
    near = _nearness(put, held, [choice.memory for choice in chosen.chosen])
    if of_now:
        chosen = with_former_links(chosen, put.text, now, known, graph.memories.of)
    # Without history nothing in the view was replaced, and each memory tells its time alone.
    told = [choice.memory for choice in chosen.chosen]
    inside = history and all(memory.id in view.row for memory in told)
    line = view.once(timeline) if inside else Timeline(told)
    marks = {memory.id: line.mark(memory, now) for memory in told}
    return Retrieved(chosen, asked, marks, near, signs, likely, listed=listed)


def _sought(asked: Asked, *worded: Question) -> list[Sought]:
    """What a view of a large home has to hold: what the wordings find, and the days asked about."""
    days = ""
    if asked.start is not None and asked.end is not None and of_few_days(asked):
        count = max(1, (asked.end - asked.start).days)
        each = (asked.start + timedelta(days=n) for n in range(count))
        days = " ".join(f"{day:%A %d %B %Y %Y-%m-%d} {day.day}" for day in each)
    return [Sought(f"{one.text} {days}", one.vector) for one in worded]


def _nearness(question: Question, view: GraphView, memories: Sequence[Memory]) -> dict[str, float]:
    rows = [view.row[memory.id] for memory in memories]
    cosines = np.clip(view.vectors[rows] @ question.vector, 0, 1) if rows else ()
    return {memory.id: float(c) for memory, c in zip(memories, cosines, strict=True)}


def timeless(question: Question) -> Question:
    """The question without its dates: no memory need say the day it is asked about."""
    text = question.text
    for span in reversed(find_times(text, question.now)):
        text = text[: span.start_char] + text[span.end_char :]
    return replace(question, text=text)


def _nothing(chosen: Selection) -> Selection:
    """The same trace with nothing chosen, because memory hardly holds the answer."""
    steps = (
        replace(step, chosen=False, reason="below the abstention threshold")
        if step.chosen
        else step
        for step in chosen.trace
    )
    return replace(chosen, chosen=(), trace=tuple(steps))


def _with_front(
    chosen: Selection,
    question: Question,
    view: GraphView,
    found: Sequence[Memory],
    k: int,
    most: int,
) -> Selection:
    """The selection with what exactly answers in front, the most similar ``most`` of it.

    It takes the place of the last chosen ones where there would be more than ``k``.
    """
    score = _nearness(question, view, found)
    found = sorted(found, key=lambda memory: -score[memory.id])[:most]
    first = {memory.id for memory in found}
    known = {choice.memory.id for choice in chosen.chosen}
    added = [m for m in found if m.id not in known]
    steps = {m.id: Step(m.id, score[m.id], True, "exact match for the question") for m in added}
    rest = [choice for choice in chosen.chosen if choice.memory.id not in first]
    room = max(k, len(chosen.chosen)) if k else len(chosen.chosen) + len(added)
    kept = rest[: max(0, room - len(found))]
    gone = {choice.memory.id for choice in rest[len(kept) :]}
    return replace(
        chosen,
        chosen=(*(Choice(memory, score[memory.id]) for memory in found), *kept),
        trace=(
            *(
                replace(step, chosen=False, reason="displaced by an exact match")
                if step.memory in gone
                else step
                for step in chosen.trace
                if step.memory not in steps
            ),
            *steps.values(),
        ),
    )


def timeline(view: GraphView) -> Timeline:
    """When each memory of a view held; a view is never of anything forgotten."""
    return Timeline(view.memories, tellings(view))


def tellings(view: GraphView) -> list[Telling]:
    """What each memory of a view says of times."""
    known = view.index(Tellings).by_number
    return [known[number] for number in view.numbers.tolist()]


def _narrowed(
    view: GraphView, asked: Asked, anchor: Memory | None, graph: MemoryGraph
) -> GraphView:
    """The view without what did not hold at the time that is asked about.

    What probably changed is there as well where the question asks for what was before: else it
    would have no answer where no edit was sure of the change.
    """
    line = view.once(timeline)
    allowed = eligible(line, asked, anchor)
    if asked.about is About.FORMER:
        ended = probably_ended(line.memory, graph, least=CHANGED)
        allowed |= eligible(line.with_ended(ended), asked, anchor)
    rows = [row for row, memory in enumerate(view.memories) if memory.id in allowed]
    return view.narrowed(rows)


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
    known = names(asked.anchor)
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
    return anchored(asked, view.once(timeline).periods[memory.id]), memory
