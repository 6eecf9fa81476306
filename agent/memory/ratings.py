"""Storage of ratings; a later rating replaces the earlier one (MAP 4.4).

Plan first, then apply: ``plan_ratings`` writes nothing; what is planned is written through
``MemoryGraph.apply`` like every other edit, so undo, history, forgetting and export hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent.extraction.ratings.items import RATED, Item, Rated, rated_of, same_item, triples_of
from agent.extraction.ratings.parse import one_rating
from agent.memory.editing.conflicts import ConflictQuestion
from agent.memory.editing.plan import EditPlan
from agent.memory.entities.identity import Identities
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Edit, Insert, Replace
from store.types import Draft, Memory


@dataclass(frozen=True, slots=True)
class Kept:
    """A rating that holds, with its memory."""

    rated: Rated
    memory: Memory
    names: tuple[str, ...] = ()
    """What else the item is called, as other memories say."""


def ratings_of(graph: MemoryGraph, now: datetime) -> tuple[Kept, ...]:
    """Everything that the person has rated, as it holds at ``now``, oldest first.

    Where a text was edited by hand its rating counts, not the one of the relation.
    """
    found = []
    known = Identities.of(graph, now)
    for memory in graph.memories.with_relations((RATED,)):
        rated = rated_of(memory) if memory.holds_at(now) else None
        if rated is None:
            continue
        said = one_rating(memory.text)
        if said is not None and same_item(said, rated):
            rated = replace(rated, rating=said.rating, scale=said.scale)
        found.append(Kept(rated, memory, known.names(known.who(rated.name))))
    return tuple(found)


def of_item(item: Item, kept: Iterable[Kept]) -> tuple[Kept, ...]:
    """The ratings that may be of this item: by any of its names."""
    return tuple(
        one
        for one in kept
        if same_item(item, replace(one.rated, aliases=(*one.rated.aliases, *one.names)))
    )


def plan_ratings(
    drafts: Sequence[Draft], graph: MemoryGraph, now: datetime
) -> tuple[EditPlan, tuple[Draft, ...]]:
    """The edits of the drafts that are ratings, and the drafts that are not.

    What may be one of several things of that name is stored beside them, with a question.
    """
    if not any(triple.relation == RATED for draft in drafts for triple in draft.triples):
        return EditPlan((), ()), tuple(drafts)
    kept = ratings_of(graph, now)
    edits: list[Edit] = []
    unchanged: list[str] = []
    questions: list[ConflictQuestion] = []
    others: list[Draft] = []
    for draft, rated in _last_of_each(drafts):
        if rated is None:
            others.append(draft)
            continue
        same = of_item(rated, kept)
        if len(same) != 1:
            edits.append(Insert(draft))
            questions += [ConflictQuestion(same[-1].memory.id, draft.text)] if same else []
            continue
        old = same[0]
        both = merged(rated, old.rated)
        if both == replace(old.rated, memory=None):
            unchanged.append(old.memory.id)
        else:
            edits.append(Replace(old.memory.id, replace(draft, triples=triples_of(both))))
    return EditPlan(tuple(edits), tuple(unchanged), tuple(questions)), tuple(others)


def _last_of_each(drafts: Sequence[Draft]) -> list[tuple[Draft, Rated | None]]:
    """Drafts with their ratings; of two ratings of one item in one text the later counts."""
    found: list[tuple[Draft, Rated | None]] = []
    for draft in drafts:
        rated = rated_of(draft)
        if rated is not None:
            found = [(d, r) for d, r in found if r is None or not same_item(rated, r)]
        found.append((draft, rated))
    return found


def with_ratings(plan: EditPlan, ratings: EditPlan) -> EditPlan:
    """Both plans as one, the ratings first."""
    return EditPlan(
        (*ratings.edits, *plan.edits),
        (*ratings.unchanged, *plan.unchanged),
        (*ratings.questions, *plan.questions),
    )


def merged(new: Rated, old: Rated) -> Rated:
    """The new rating of a known item: what it does not say of the item stays as it was known."""
    names = dict.fromkeys((old.name, *old.aliases, new.name, *new.aliases))
    longest = max(old.name, new.name, key=len) if _one_name(old, new) else old.name
    same = (new.rating, new.scale) == (old.rating, old.scale)
    spelt = {old.name, new.name} if _one_name(old, new) else {longest}
    return Rated(
        longest,
        new.kind or old.kind,
        new.genres or old.genres,
        tuple(name for name in names if name not in spelt),
        rating=new.rating,
        scale=new.scale,
        reason=new.reason or (old.reason if same else None),
    )


def _one_name(one: Item, other: Item) -> bool:
    """Whether the two are spelt as one: 'Heat' and 'Heat (1995)' need no alias."""
    return same_item(replace(one, aliases=()), replace(other, aliases=()))


def find_item(item: Item, kept: Sequence[Kept]) -> Kept | None:
    """The one rating that is of this item; None where there is none.

    :raises InvalidInput: if several things go by that name.
    """
    same = of_item(item, kept)
    if len(same) <= 1:
        return same[0] if same else None
    listed = ", ".join(
        f"{replace(one.rated, genres=()).described} ({one.memory.id})" for one in same
    )
    raise InvalidInput(
        f"{item.name!r} may be one of {len(same)}: {listed}. Say which: its whole name, or --kind"
    )
