"""``memlane rate``: a manual rating."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.extraction.ratings.items import Rated, checked, sentence_of, triples_of
from agent.memory.home import Home
from agent.memory.ratings import find_item, merged, ratings_of
from agent.memory.remember import edit_by_hand, without_secrets
from store.journal import Edit, Entry, Insert, Replace
from store.types import Draft


@dataclass(frozen=True, slots=True)
class Rating:
    """What ``rate`` did."""

    rated: Rated
    before: Rated | None
    entries: tuple[Entry, ...]


def rate(home: Home, given: Rated) -> Rating:
    """Store a rating by hand; a later one of the same item takes the earlier one's place.

    :raises InvalidInput: if it is out of its scale, has no name, or several items have that name.
    """
    given = checked(
        replace(
            given,
            name=without_secrets(home, given.name),
            reason=without_secrets(home, given.reason) if given.reason else None,
        )
    )
    now = home.config.now()
    old = find_item(given, ratings_of(home.graph, now))
    rated = merged(given, old.rated) if old else given
    if old is not None and replace(rated, memory=None) == replace(old.rated, memory=None):
        return Rating(old.rated, old.rated, ())

    def make(draft: Draft) -> Edit:
        draft = replace(draft, triples=triples_of(rated))
        return Replace(old.memory.id, draft) if old else Insert(draft)

    entries = edit_by_hand(home, sentence_of(rated), make)
    return Rating(replace(rated, memory=entries[-1].memory), old.rated if old else None, entries)
