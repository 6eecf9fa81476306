"""People, items and ratings as the MAP benchmarks read them; no row of them is kept here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.extraction.ratings.items import Item, Rated, clean_name, genres_of

HISTORY = 18
"""The longest history (MAP 5.3): each person has 19 ratings, the last of them only predicted."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody's ratings in the order they were given."""

    key: str
    ratings: tuple[Rated, ...]
    items: tuple[str, ...]
    """The item behind each rating, as its data set numbers it."""

    def first(self, count: int) -> Person:
        """The person with the first ratings alone."""
        return Person(self.key, self.ratings[:count], self.items[:count])


def movielens(data: Path) -> tuple[Person, ...]:
    """The people of movielens100k, each with all ratings by time; ties by the item's number."""
    folder = data / "movielens100k"
    names = [
        line.split("|")[0]
        for line in (folder / "u.genre").read_text("latin-1").splitlines()
        if "|" in line
    ]
    films: dict[str, Item] = {}
    for line in (folder / "u.item").read_text("latin-1").splitlines():
        number, title, *rest = line.split("|")
        marks = rest[-len(names) :]
        genres = [n for n, mark in zip(names, marks, strict=True) if mark == "1" and n != "unknown"]
        films[number] = Item(clean_name(title), "film", genres_of(genres))
    rows: dict[str, list[tuple[int, int, str, float]]] = defaultdict(list)
    for line in (folder / "u.data").read_text().splitlines():
        person, item, stars, at = line.split("\t")
        rows[person].append((int(at), int(item), item, float(stars)))
    return tuple(
        Person(
            person,
            tuple(_given(films[item], stars) for _, _, item, stars in sorted(found)),
            tuple(item for _, _, item, _ in sorted(found)),
        )
        for person, found in sorted(rows.items(), key=lambda row: int(row[0]))
    )


def _given(film: Item, stars: float) -> Rated:
    return Rated(film.name, film.kind, film.genres, rating=stars)


def amazon(data: Path, domain: str) -> dict[str, dict[str, float]]:
    """``Books`` or ``Movies``: person -> item -> rating; of several of one item the last counts."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    lines = (data / "amazon_books_movies" / f"{domain}.inter").read_text().splitlines()[1:]
    for line in lines:
        person, item, stars = line.split("\t")[:3]
        found[person][item] = float(stars)
    return dict(found)


def apart(people: Sequence[Person], tuned: int, seed: int) -> tuple[list[Person], list[Person]]:
    """People to tune on and people to measure, drawn by seed, none in both."""
    order = np.random.default_rng(seed).permutation(len(people))
    return [people[i] for i in order[:tuned]], [people[i] for i in order[tuned:]]
