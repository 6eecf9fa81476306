"""Possible changes: what a new memory may do to older ones, judged by the statement reader.

The reader gives each pair of passages a probability for each relation. What is likely enough is
kept as an edge (``side_tables.change_edges``): it hides nothing, and an answer that uses the
older memory sees the newer one beside it. Which automatic replacement may be made at all says
``agent.memory.editing.replacing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from agent.language.identify import is_english
from agent.memory.editing.candidates import Compared, to_compare
from agent.memory.editing.changes.restated import Told, as_restated, restated_day, restated_time
from agent.memory.editing.judges.by_reader import CHANGES, Judged, judged_as
from agent.memory.editing.plan import EditPlan
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Models
from agent.memory.passages import as_told, goes_on, passage_of
from agent.memory.time.changed import CHANGED
from agent.models.readers.second_reader import (
    Beside,
    SecondReader,
    alone,
    knows_nearness,
    rivals,
)
from agent.ports import RELATIONS, Embedder, Probabilities, StatementReader, Vectors
from store.graph import MemoryGraph
from store.journal import Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, Memory, Trust

REPLACES = 0.5
"""Probability, by both readers, that what a plan replaces is changed or said again; below it the
plan only inserts. The statement reader alone was sure already (``editing.replacing``)."""
LEAST = 0.1
"""Probability of a change from which an edge is kept."""
TOGETHER = 0.5
"""Probability of ``adds`` from which two memories are kept together."""
SECOND = 8
"""Likeliest changes of a message that the second reader is asked about."""
WORTH_ASKING = 0.05
"""The statement reader's probability below which it is not asked. Of the people learned from, each
judged by weights that did not know them, it leaves out 62 % of the pairs and 2 of 188 changes that
were found."""
CORRECTS_SOON = 8.0
"""How much likelier a correction is in the same conversation than among all pairs, as odds: 'oh no
wait, it's 16:40' (docs/decisions/0018-second-reader.md)."""
TextPair = tuple[str, str]
"""An older text and a newer one."""


class Views(NamedTuple):
    """The ways to look at a pair of memories."""

    read: TextPair
    """The words, as the reader reads them."""
    extracted: TextPair
    words: TextPair
    """The words alone, in their own language."""
    soon: bool
    """Whether the newer one was told in the same conversation."""


@dataclass(slots=True)
class Judgements:
    """What the readers said of pairs, so that nothing is judged twice: chances of ``RELATIONS``."""

    read: dict[TextPair, Probabilities] = field(default_factory=dict)
    """By the statement reader alone."""
    weighed: dict[Views, Probabilities] = field(default_factory=dict)
    """By both readers, beside what else the newer one may change."""


def possible_changes(
    new: Sequence[Memory],
    replaced: Sequence[tuple[str, str]],
    graph: MemoryGraph,
    models: Models,
    now: datetime,
    known: Judgements,
) -> tuple[ChangeEdge, ...]:
    """Edges between new memories and those that hold, from what was said earlier to what is later.

    ``replaced`` are the pairs that an edit has replaced: their edge tells how sure that was. What
    ``judge_ahead`` has put into ``known`` is not judged again.
    """
    reader = models.statements
    if reader is None or not new:
        return ()
    index = graph.index(models.embedder.identity, now)
    told = [(memory, index.vector(memory.id)) for memory in new]
    pairs = to_compare(told, [graph.memories.of(pair) for pair in replaced], graph, index)
    texts = _texts(pairs, graph, models)
    near = _nearness(pairs, texts, models.embedder)
    _judge(texts, near, reader, known, len(index) - len(new))
    return tuple(_edges(texts, [judged_as(known.weighed[views]) for views in texts.values()]))


def judge_ahead(
    plan: EditPlan,
    vectors: Mapping[str, Vectors],
    graph: MemoryGraph,
    models: Models,
    now: datetime,
    known: Judgements,
    second: SecondReader | None = None,
) -> EditPlan:
    """Judge what ``possible_changes`` will ask once the plan is applied, into ``known``.

    Of the likeliest changes ``second`` is asked as well. What it takes for no change replaces
    nothing in the plan that is given back: it is inserted, and an edge tells of the doubt. What
    probably changes something has the days that it means beside that.

    The reader takes half a second of a processor, in which nobody else could write: what is applied
    under the write lock finds its judgements here, but for what others wrote in between.
    """
    reader = models.statements
    edits = [edit for edit in plan.edits if isinstance(edit, Insert | Replace)]
    if reader is None or not edits:
        return plan
    made = [_ahead(edit.draft, number) for number, edit in enumerate(edits)]
    index = graph.index(models.embedder.identity, now)
    told = [(memory, vectors[memory.text]) for memory in made]
    replaced = [
        (graph.memories.get(edit.memory), memory)
        for edit, memory in zip(edits, made, strict=True)
        if isinstance(edit, Replace)
    ]
    pairs = to_compare(told, replaced, graph, index)
    texts = _texts(pairs, graph, models)
    near = _nearness(pairs, texts, models.embedder)
    _judge(texts, near, reader, known, len(index), second)
    judged: dict[str, list[tuple[Memory, Views, Judged]]] = {one.id: [] for one in made}
    for ids, views in texts.items():
        older, newer, _ = pairs[ids]
        if newer.id in judged:
            judged[newer.id].append((older, views, judged_as(known.weighed[views])))
    if second is not None:
        plan = _without_unlikely(plan, replaced, judged)
    plan = _with_days_meant(plan, judged)
    drafts = (edit.draft for edit in plan.edits if isinstance(edit, Insert | Replace))
    now_said = {one.id: draft.text for one, draft in zip(made, drafts, strict=True)}
    stored = {
        ids: pair._replace(newer=replace(pair.newer, text=now_said[pair.newer.id]))
        for ids, pair in pairs.items()
        if pair.newer.id in now_said and pair.newer.text != now_said[pair.newer.id]
    }
    for ids, views in _texts(stored, graph, models).items():
        # What was judged of a draft counts for the sentence that is stored.
        known.weighed[views] = known.weighed[texts[ids]]
        known.read[views.read] = known.read[texts[ids].read]
        known.read[views.extracted] = known.read[texts[ids].extracted]
    return plan


def _without_unlikely(
    plan: EditPlan,
    replaced: Iterable[tuple[Memory, Memory]],
    judged: Mapping[str, Sequence[tuple[Memory, Views, Judged]]],
) -> EditPlan:
    """The plan without the replacements that both readers take for no change."""
    unlikely = {
        old.id
        for old, memory in replaced
        for other, _, one in judged[memory.id]
        if other.id == old.id and one.changed + one.same < REPLACES
    }
    edits = (
        Insert(edit.draft) if isinstance(edit, Replace) and edit.memory in unlikely else edit
        for edit in plan.edits
    )
    return replace(plan, edits=tuple(edits))


def _with_days_meant(
    plan: EditPlan, judged: Mapping[str, Sequence[tuple[Memory, Views, Judged]]]
) -> EditPlan:
    """The plan, each draft with the days that it means beside what it changes."""
    pairs = iter(judged.values())
    edits = (
        replace(edit, draft=_restated(edit.draft, next(pairs)))
        if isinstance(edit, Insert | Replace)
        else edit
        for edit in plan.edits
    )
    return replace(plan, edits=tuple(edits))


def _restated(draft: Draft, judged: Sequence[tuple[Memory, Views, Judged]]) -> Draft:
    """The draft with the day and time that it means beside the likeliest memory that it changes.

    Only what the user told says the day of something else that the user told.
    """
    for older, views, one in sorted(judged, key=lambda found: -found[2].changed):
        if one.changed < CHANGED or one.change not in (ChangeKind.SUPERSEDES, ChangeKind.CORRECTS):
            continue
        if not {older.trust, draft.trust} <= {None, Trust.TOLD}:
            continue
        before, after = Told(older.text, older.created), Told(views.words[1], draft.created)
        corrects = views.soon and one.change is ChangeKind.CORRECTS
        meant = restated_day(before, after, corrects=corrects) or restated_time(before, after)
        if meant is not None:
            return as_restated(draft, meant)
    return draft


def _ahead(draft: Draft, number: int) -> Memory:
    """The memory that a draft becomes, under a number beyond all that are stored."""
    return Memory(
        f"m{10**15 + number}",
        draft.text,
        "",
        draft.subclass,
        draft.created,
        source=draft.source,
        span=draft.span,
    )


def _texts(
    pairs: Mapping[tuple[str, str], Compared], graph: MemoryGraph, models: Models
) -> dict[tuple[str, str], Views]:
    """The views of each pair that the reader can read."""
    sources = as_told([m for pair in pairs.values() for m in (pair.older, pair.newer)], graph)
    glosses = Glosses(graph.path.parent, models.llm)
    texts: dict[tuple[str, str], Views] = {}
    for ids, (older, newer, _) in pairs.items():
        before, after = passage_of(older, sources), passage_of(newer, sources)
        old, new = in_english(before, glosses), in_english(after, glosses)
        if old is None or new is None:
            continue  # nobody can read it
        extracted = (
            older.text if is_english(older.text) else old,
            newer.text if is_english(newer.text) else new,
        )
        texts[ids] = Views(
            (old, new), extracted, (before.words, after.words), goes_on(older, newer)
        )
    return texts


def _nearness(
    pairs: Mapping[tuple[str, str], Compared],
    texts: Mapping[tuple[str, str], Views],
    embedder: Embedder,
) -> dict[Views, float | None]:
    """Cosine of each pair; None where the second reader's weights do not know what it means."""
    known = knows_nearness(embedder.identity)
    return {
        views: pairs[ids].near if known and all(map(is_english, views.words)) else None
        for ids, views in texts.items()
    }


def _judge(
    texts: Mapping[tuple[str, str], Views],
    near: Mapping[Views, float | None],
    reader: StatementReader,
    known: Judgements,
    there: int,
    second: SecondReader | None = None,
) -> None:
    """Judge pairs, by their ids, into ``known``; of the likeliest changes ``second`` is asked.

    ``there`` is how many older memories there are.
    """
    both = dict.fromkeys(view for views in texts.values() for view in (views.read, views.extracted))
    if missing := [view for view in both if view not in known.read]:
        known.read.update(zip(missing, reader.relations(missing), strict=True))
    rows = {views: _chances(views, known) for views in texts.values()}
    changed = {views: judged_as(row).changed for views, row in rows.items()}
    beside = _beside(texts, changed, near, there)
    fresh = [views for views in rows if views not in known.weighed]
    fresh.sort(key=lambda views: -changed[views])
    asked = [v for v in fresh[:SECOND] if changed[v] >= WORTH_ASKING] if second else []
    others = fresh[len(asked) :]
    chances = alone([changed[v] for v in others], [beside[v] for v in others]).tolist()
    if second is not None:
        chances += second.changes(
            [views.words for views in asked],
            [changed[views] for views in asked],
            [beside[views] for views in asked],
        ).tolist()
    for views, chance in zip((*others, *asked), chances, strict=True):
        row = _with_change(rows[views], chance)
        known.weighed[views] = _as_told_soon(row) if views.soon else row


def _beside(
    texts: Mapping[tuple[str, str], Views],
    changed: Mapping[Views, float],
    near: Mapping[Views, float | None],
    there: int,
) -> dict[Views, Beside]:
    """What else the newer one of each pair may change."""
    found: dict[Views, Beside] = {}
    newer = itemgetter(1)
    for _, group in groupby(sorted(texts, key=newer), key=newer):
        own = list(dict.fromkeys(texts[pair] for pair in group))
        odds = rivals([changed[views] for views in own]).tolist()
        found.update(
            (views, Beside(one, there, near[views])) for views, one in zip(own, odds, strict=True)
        )
    return found


def _chances(views: Views, known: Judgements) -> Probabilities:
    """The words and what was extracted of them are two views of one pair."""
    return np.asarray((known.read[views.read] + known.read[views.extracted]) / 2)


def _with_change(row: Probabilities, changed: float) -> Probabilities:
    """The probabilities, with those of all changes together ``changed``."""
    changes = np.array([name in CHANGES for name in RELATIONS])
    before = float(row[changes].sum())
    scale = np.where(changes, changed / max(before, 1e-6), (1 - changed) / max(1 - before, 1e-6))
    return np.asarray(row * scale)


def _as_told_soon(row: Probabilities) -> Probabilities:
    """The probabilities of a pair that was told in one conversation.

    What is no likely correction even there stays as it was: people tell many things in a row.
    """
    place = RELATIONS.index("corrects")
    chance = float(row[place])
    likelier = CORRECTS_SOON * chance / (CORRECTS_SOON * chance + 1 - chance)
    if likelier < CHANGED:
        return row
    others = (1 - likelier) / max(1 - chance, 1e-6)
    return np.asarray(np.where(np.arange(len(row)) == place, likelier, row * others))


def _edges(pairs: Iterable[tuple[str, str]], judgements: Sequence[Judged]) -> Iterable[ChangeEdge]:
    for (older, newer), one in zip(pairs, judgements, strict=True):
        if one.changed >= LEAST:
            yield ChangeEdge(older, newer, one.change, one.changed)
        elif one.added >= TOGETHER:
            yield ChangeEdge(older, newer, ChangeKind.ADDS, one.added)
