"""Ratings into memory: drafts with fields, a later rating in place of the earlier (MAP 4.4).

Plan first, then apply: ``plan_ratings`` writes nothing; what is planned is written through
``MemoryGraph.apply`` like every other edit, so undo, history, forgetting and export hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent.editing import EditPlan, Unchanged
from agent.editing.questions import Question
from agent.entities.identity import Identities
from agent.ports import LanguageModel
from agent.ratings.items import (
    RATED,
    Item,
    Rated,
    checked,
    rated_of,
    same_item,
    sentence_of,
    triples_of,
)
from agent.ratings.reading import one_rating
from agent.triples import triples_for
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Edit, Entry, Insert, Replace
from store.types import Draft, Memory, Triple

if TYPE_CHECKING:
    from agent.session import Session


@dataclass(frozen=True, slots=True)
class Kept:
    """A rating that holds, with its memory."""

    rated: Rated
    memory: Memory
    names: tuple[str, ...] = ()
    """What else the item is called, as other memories say."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What ``rate`` did."""

    rated: Rated
    before: Rated | None
    entries: tuple[Entry, ...]


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


def relations_of(
    sentences: Sequence[str], texts: Sequence[str], llm: LanguageModel | None
) -> list[tuple[Triple, ...]]:
    """The relations of memories: the fields of what is a rating, else as ``triples_for`` has it.

    ``sentences`` are as they were said, ``texts`` with absolute dates.
    """
    rated = [one_rating(sentence) for sentence in sentences]
    others = [text for text, one in zip(texts, rated, strict=True) if one is None]
    rest = iter(triples_for(others, llm))
    return [next(rest) if one is None else triples_of(one) for one in rated]


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
    unchanged: list[Unchanged] = []
    questions: list[Question] = []
    others: list[Draft] = []
    for draft, rated in _last_of_each(drafts):
        if rated is None:
            others.append(draft)
            continue
        same = of_item(rated, kept)
        if len(same) != 1:
            edits.append(Insert(draft))
            questions += [Question(same[-1].memory.id, draft.text)] if same else []
            continue
        old = same[0]
        merged = _merged(rated, old.rated)
        if merged == replace(old.rated, memory=None):
            unchanged.append(Unchanged(draft, old.memory.id))
        else:
            edits.append(Replace(old.memory.id, replace(draft, triples=triples_of(merged))))
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


def _merged(new: Rated, old: Rated) -> Rated:
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


# ---- by hand ------------------------------------------------------------------------------


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


def rate(session: Session, given: Rated) -> Rating:
    """Store a rating by hand; a later one of the same item takes the earlier one's place.

    :raises InvalidInput: if it is out of its scale, has no name, or several items have that name.
    """
    given = checked(
        replace(
            given,
            name=session.without_secrets(given.name),
            reason=session.without_secrets(given.reason) if given.reason else None,
        )
    )
    now = session.config.now()
    old = find_item(given, ratings_of(session.graph, now))
    rated = _merged(given, old.rated) if old else given
    if old is not None and replace(rated, memory=None) == replace(old.rated, memory=None):
        return Rating(old.rated, old.rated, ())

    def make(draft: Draft) -> Edit:
        draft = replace(draft, triples=triples_of(rated))
        return Replace(old.memory.id, draft) if old else Insert(draft)

    entries = session.edit_by_hand(sentence_of(rated), make)
    return Rating(replace(rated, memory=entries[-1].memory), old.rated if old else None, entries)
