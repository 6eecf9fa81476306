"""Possible changes: what a new memory may do to older ones, judged by the statement reader.

The reader gives each pair of passages a probability for each relation. What is likely enough is
kept as an edge (``side_tables.change_edges``): it hides nothing, and an answer that uses the
older memory sees the newer one beside it. Which automatic replacement may be made at all says
``agent.memory.editing.replacing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from agent.language.identify import is_english
from agent.memory.editing.candidates import Compared, to_compare
from agent.memory.editing.judges.by_reader import CHANGES, Judged, judged_as
from agent.memory.editing.plan import EditPlan
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Models
from agent.memory.passages import as_told, goes_on, passage_of
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
from store.types import Draft, Memory, Status, may_replace

REPLACES = 0.5
"""Probability, by both readers, that what a plan replaces is changed or said again; below it the
plan only inserts. The statement reader alone was sure already (``editing.replacing``)."""
CHANGED = 0.5
"""Probability of a change from which the older memory is taken to hold no longer: it is calibrated,
so what more likely holds is not hidden."""
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
_REPLACING = (ChangeKind.SUPERSEDES, ChangeKind.CORRECTS, ChangeKind.ENDS)
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
    nothing in the plan that is given back: it is inserted, and an edge tells of the doubt.

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
    if second is None:
        return plan
    unlikely = {
        old.id
        for old, memory in replaced
        if (views := texts.get((old.id, memory.id))) is not None
        and not _replaces(judged_as(known.weighed[views]))
    }
    return replace(
        plan,
        edits=tuple(
            Insert(edit.draft) if isinstance(edit, Replace) and edit.memory in unlikely else edit
            for edit in plan.edits
        ),
    )


def _replaces(one: Judged) -> bool:
    return one.changed + one.same >= REPLACES


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


class Newer(NamedTuple):
    """A memory that may have changed an older one, and how."""

    memory: Memory
    change: ChangeKind
    probability: float


def probably_ended(
    known: Callable[[str], Memory | None], graph: MemoryGraph, *, least: float
) -> dict[str, Memory]:
    """By their ids, memories that another one probably ended, as they are if it did.

    For the timeline of a question about what was before; nothing is stored. Only edges of at least
    this probability count, between memories that no edit has ended.
    """
    ended: dict[str, Memory] = {}
    for edge in graph.change_edges.open():  # likeliest first
        if edge.probability < least or edge.change not in _REPLACING or edge.older in ended:
            continue
        old, new = known(edge.older), known(edge.newer)
        if old is None or new is None or not may_replace(new.trust, old.trust):
            continue
        ends = edge.change is ChangeKind.ENDS
        if not ends and new.valid_until is not None and new.valid_until <= new.created:
            continue  # 'I lived in Oslo until 2019' takes no other address's place
        end = new.valid_from or new.created
        until = end if old.valid_until is None else min(end, old.valid_until)
        after = None if ends else new.id
        ended[old.id] = replace(old, status=Status.REPLACED, valid_until=until, replaced_by=after)
    return ended


def possibly_newer(
    memories: Sequence[Memory], graph: MemoryGraph, *, least: float, by: datetime
) -> dict[str, tuple[Newer, ...]]:
    """By the id of each memory that may have been changed, what may have changed it ``by`` then.

    The likeliest comes first. Only edges of at least this probability count. What begins later has
    changed nothing yet; what is trusted too little changes nothing (``store.types.may_replace``).
    """
    known = {memory.id: memory for memory in memories}
    newer: dict[str, tuple[Newer, ...]] = {}
    for edge in graph.change_edges.of(known):  # likeliest first
        if edge.probability < least or edge.change not in _REPLACING:
            continue
        old, new = known.get(edge.older), known.get(edge.newer)
        if not (old and new and may_replace(new.trust, old.trust)):
            continue
        if (new.valid_from or new.created) <= by:
            newer[edge.older] = (
                *newer.get(edge.older, ()),
                Newer(new, edge.change, edge.probability),
            )
    return newer
