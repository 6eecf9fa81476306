"""``memlane predict``: predicted rating of an item, with evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.applications.ratings.calibration import (
    CALIBRATION,
    SHOWN,
    Guess,
    Signs,
    ask,
    prompt_for,
    signs_of,
)
from agent.applications.ratings.similarity import Nearness, compared, encoded, nearness
from agent.extraction.ratings.items import STARS, Item, Rated, checked_item, lowest
from agent.memory.home import Home
from agent.memory.ratings import Kept, find_item, ratings_of
from policies.selection import Choice
from store.errors import UnknownId

ALIKE = 0.4
"""Cosine similarity of two descriptions from which one tells something of the other, where the
item comes without kind and genres: two film titles that share nothing are below it."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the person would give an item, from 1 to 5."""

    item: Item
    stars: float
    """The expectation, calibrated; the rating itself where the item is rated."""
    guess: Guess | None
    """The model's own word; None where it was not asked."""
    signs: Signs | None
    """What it was made of; None where the item is rated."""
    evidence: tuple[Choice, ...]
    """The ratings nearest to it, best first, with how near they are."""
    ratings: tuple[Rated, ...]
    """The same as fields."""
    of: int
    """How many ratings the person has given."""
    given: Rated | None = None
    """What the person gave it, where she did."""

    @property
    def whole(self) -> int:
        """In whole stars."""
        return max(1, min(STARS, int(self.stars + 0.5)))

    @property
    def score(self) -> str:
        """On the scale of most of the ratings shown with it: '7.3 of 10'."""
        scale = Counter(rated.scale for rated in self.ratings).most_common(1)[0][0]
        low = lowest(scale)
        return f"{low + (self.stars - 1) * (scale - low) / (STARS - 1):.1f} of {scale}"


def predict(home: Home, item: Item, *, use_llm: bool = True) -> Prediction:
    """What the person would give this item.

    :raises UnknownId: if nothing is rated yet, or nothing is known of the item.
    :raises InvalidInput: if it has no name, or several rated things have it.
    """
    item = checked_item(item)
    now = home.config.now()
    kept = ratings_of(home.graph, now)
    if not kept:
        raise UnknownId("You have rated nothing yet. Begin with: memlane rate Heat 4")
    if (own := find_item(item, kept)) is not None:
        evidence = (Choice(own.memory, 1.0),)
        return Prediction(
            own.rated, own.rated.stars, None, None, evidence, (own.rated,), len(kept), own.rated
        )
    kept = in_order(kept)
    kept = tuple(kept[i] for i in compared(item, [one.rated for one in kept]))
    history = [one.rated for one in kept]
    near = nearness(item, history, *encoded(item, history, home.embedder))
    if not (item.kind or item.genres) and near.meaning.max() < ALIKE:
        raise UnknownId(
            f"I know nothing about {item.name!r}, and you rated nothing similar. Say what it is: "
            f"memlane predict {item.name!r} --kind film --genres crime,thriller"
        )
    nearest = near.nearest(SHOWN)
    guess = None
    if use_llm:
        shown = [history[i] for i in reversed(nearest)]  # the nearest stands next to the item
        (guess,) = ask(home.rewards, [prompt_for(item, shown)])
    signs = signs_of(history, near, guess, CALIBRATION)
    return Prediction(
        item,
        CALIBRATION.predict(signs),
        guess,
        signs,
        choices(kept, near, nearest),
        tuple(history[i] for i in nearest),
        len(history),
    )


def in_order(kept: Sequence[Kept]) -> tuple[Kept, ...]:
    """Ratings in the order they were given."""
    return tuple(sorted(kept, key=lambda one: (one.memory.created, int(one.memory.id[1:]))))


def choices(kept: Sequence[Kept], near: Nearness, rows: Sequence[int]) -> tuple[Choice, ...]:
    """Ratings as an answer shows its evidence."""
    return tuple(Choice(kept[i].memory, float(min(1.0, near.score[i]))) for i in rows)
