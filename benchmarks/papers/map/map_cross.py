"""MAP Table 3: what a person gives a thing of one kind, by what she gave things of another.

``python -m benchmarks.map_cross --data DIR [--quick] [--models NAME ...]`` measures two pairs of
domains, after 5, 9, 13 and 17 ratings of the first and none of the second:

- ``genres``: the films of movielens100k whose genres all lie on one side (action, adventure, crime,
  horror, mystery, noir, sci-fi, thriller, war, western), and those whose genres all lie on the
  other. No genre is shared, so likeness is that of meaning alone, as the paper's.
- ``books``: books by films on amazon_books_movies. Its items have no titles, so a book is like a
  film as far as other people gave them alike: the cosine of their ratings, less each person's
  mean, shrunk where few rated both. The prompts can say no more than 'film 3 = 5'.

The first 18 ratings are a person's history (by time there, in an order drawn by seed here), and one
rating of the other domain, drawn by seed, is foretold. Other people are those that calibrations are
fitted on; they are never measured. Methods, readings and floors as in ``map_ratings``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.applications.ratings.calibration import SHOWN
from agent.applications.ratings.similarity import Nearness, nearness
from agent.extraction.ratings.items import Item, Rated
from agent.models.reward_cache import RewardCache
from benchmarks.papers.map.map_data import HISTORY, Person, amazon, apart, movielens
from benchmarks.papers.map.map_floors import Errors, Known, note, told_by_others, triples
from benchmarks.papers.map.map_measuring import (
    Case,
    Key,
    guess,
    item_vectors,
    measured,
    opened,
    summed,
)
from benchmarks.shared.common import ROOT, parser, write_results

SIZES = (5, 9, 13, 17)
FIRST = frozenset(
    "action adventure crime horror mystery film-noir sci-fi thriller war western".split()
)
SHRUNK = 10.0
"""How many people who rated both a likeness by co-rating counts as none for."""


class Crossed:
    """A pair of domains: people with a history in the first and a target in the second."""

    def __init__(
        self, people: Sequence[Person], targets: Mapping[str, tuple[str, Item, float]]
    ) -> None:
        self.people = [person.first(HISTORY) for person in people]
        self.targets = targets

    def cases(self, sizes: Sequence[int], near: Mapping[str, Nearness]) -> dict[Key, Case]:
        """``near`` is the likeness of each person's whole history to her target."""
        found: dict[Key, Case] = {}
        for person in self.people:
            _, item, truth = self.targets[person.key]
            for size in sizes:
                all_of = near[person.key]
                part = Nearness(all_of.genres[:size], all_of.meaning[:size])
                found[person.key, size] = Case(person.ratings[:size], item, truth, part)
        return found

    def floors(self, rest: Sequence[str], known: Known, sizes: Sequence[int], seed: int) -> Errors:
        """Means and recommenders that know ``known`` of other people."""
        errors: Errors = {}
        people = [person for person in self.people if person.key in set(rest)]
        asked = [(person.key, self.targets[person.key][0]) for person in people]
        truths = np.array([self.targets[person.key][2] for person in people])
        for size in sizes:
            first = [person.first(size) for person in people]
            own = [[rated.stars for rated in person.ratings] for person in first]
            told = told_by_others([*known, *triples(first)], asked, own, seed)
            note(errors, size, truths, told)
        return errors


def main() -> None:
    options = parser("map_cross", __doc__ or "")
    options.add_argument("--models", nargs="+", default=["smollm2-135m"], help="names or GGUFs")
    options.add_argument("--people", type=int, default=0, help="measure so many; 0: all")
    given = options.parse_args()
    sizes = SIZES[:1] if given.quick else SIZES
    seeds = range(1 if given.quick else given.seeds)
    count = 12 if given.quick else given.people
    figures: dict[str, float | int | None] = {}
    for name in given.models:
        cache = RewardCache(ROOT / "build" / "benchmarks" / "map.db")
        with opened(name, cache) as rewards:
            for domain, make in (("genres", by_genres), ("books", by_co_rating)):
                runs: list[Errors] = []
                floors: list[Errors] = []
                for seed in seeds:
                    crossed, cases, split, known = make(given.data, count, sizes, seed)
                    guesses = {
                        "filtered": guess(rewards, cases, lambda c: c.filtered(SHOWN), domain),
                        "unfiltered": guess(rewards, cases, Case.unfiltered, domain),
                    }
                    runs.append(measured(*split, sizes, cases, guesses))
                    floors.append(crossed.floors(split[1], known, sizes, seed))
                    figures[f"{domain} people"] = len(crossed.people)
                figures |= summed(runs, f"{domain}, {name}")
                figures |= summed(floors, f"{domain}, floors")
    config = {
        "quick": given.quick, "data": given.data, "models": given.models, "shown": SHOWN,
        "tables": {
            "Table 3, mean absolute error by the size of the history":
                [c for n in SIZES for c in (f"mae_{n}", f"mae_{n}_sd")],
            "Share of the unfiltered history's error that is saved":
                [f"gain_{n}" for n in SIZES],
        },
    }  # fmt: skip
    write_results("map_cross", config, list(seeds), figures)
    for key, value in figures.items():
        print(f"{key:60} {value:.4f}" if value is not None else key)


Made = tuple[Crossed, dict[Key, Case], tuple[list[str], list[str]], Known]
"""Domains, cases, people to tune on and to measure, and what floors know of the former."""


def by_genres(data: Path, count: int, sizes: Sequence[int], seed: int) -> Made:
    """Two domains of films that share no genre."""
    rng = np.random.default_rng(seed)
    people: list[Person] = []
    targets: dict[str, tuple[str, Item, float]] = {}
    everybody = movielens(data)
    for person in everybody:
        sides: tuple[list[int], list[int]] = ([], [])
        for row, rated in enumerate(person.ratings):
            own = set(rated.genres)
            if own and (own <= FIRST or not own & FIRST):
                sides[0 if own <= FIRST else 1].append(row)
        first, second = sides
        if len(first) < HISTORY or not second:
            continue
        target = second[int(rng.integers(len(second)))]
        rated = person.ratings[target]
        targets[person.key] = (person.items[target], rated, rated.stars)
        rows = first[:HISTORY]
        people.append(
            Person(
                person.key,
                tuple(person.ratings[i] for i in rows),
                tuple(person.items[i] for i in rows),
            )
        )
    people = people[:count] if count else people
    crossed = Crossed(people, targets)
    vectors = item_vectors(
        [r for p in people for r in p.ratings] + [targets[p.key][1] for p in people]
    )
    near = {
        p.key: nearness(
            targets[p.key][1],
            p.ratings,
            vectors[targets[p.key][1].described],
            np.array([vectors[rated.described] for rated in p.ratings]),
        )
        for p in people
    }
    tuning, rest = apart(people, len(people) // 3, seed)
    keys = {person.key for person in tuning}
    known = triples(person for person in everybody if person.key in keys)
    split = [p.key for p in tuning], [p.key for p in rest]
    return crossed, crossed.cases(sizes, near), split, known


def by_co_rating(data: Path, count: int, sizes: Sequence[int], seed: int) -> Made:
    """Books by films; likeness from what the people to tune on gave both."""
    rng = np.random.default_rng(seed)
    films, books = amazon(data, "Movies"), amazon(data, "Books")
    people: list[Person] = []
    targets: dict[str, tuple[str, Item, float]] = {}
    for person in sorted(films.keys() & books.keys()):
        if len(films[person]) < HISTORY:
            continue
        seen = rng.permutation(sorted(films[person]))[:HISTORY]
        target = str(rng.choice(sorted(books[person])))
        targets[person] = (f"book {target}", Item("a book", "book"), books[person][target])
        ratings = tuple(
            Rated(f"film {number}", rating=films[person][str(item)])
            for number, item in enumerate(seen, 1)
        )
        people.append(Person(person, ratings, tuple(f"film {item}" for item in seen)))
    people = people[:count] if count else people
    tuning, rest = apart(people, len(people) // 2, seed)
    measured_ones = {person.key for person in rest}
    known = [
        (person, f"{kind} {item}", stars)
        for kind, domain in (("film", films), ("book", books))
        for person, rated in domain.items()
        if person not in measured_ones
        for item, stars in rated.items()
        # What a tuning person gives her target is foretold in the fit: its likeness must not know.
        if not (person in targets and targets[person][0] == f"{kind} {item}")
    ]
    centred = _centred(known)
    crossed = Crossed(people, targets)
    near = {
        p.key: Nearness(
            np.zeros(len(p.items)),
            np.array([_alike(centred, targets[p.key][0], film, p.key) for film in p.items]),
        )
        for p in people
    }
    split = [p.key for p in tuning], [p.key for p in rest]
    return crossed, crossed.cases(sizes, near), split, known


def _centred(known: Known) -> dict[str, dict[str, float]]:
    """Item -> person -> rating less the person's mean."""
    of: dict[str, list[float]] = defaultdict(list)
    for person, _, stars in known:
        of[person].append(stars)
    means = {person: float(np.mean(stars)) for person, stars in of.items()}
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for person, item, stars in known:
        found[item][person] = stars - means[person]
    return found


def _alike(centred: Mapping[str, Mapping[str, float]], book: str, film: str, but: str) -> float:
    """How alike others gave two items, from 0 to 1; ``but`` is the person that it is asked for."""
    one, other = centred.get(book, {}), centred.get(film, {})
    both = [person for person in one if person in other and person != but]
    if not both:
        return 0.0
    a: NDArray[np.float64] = np.array([one[person] for person in both])
    b: NDArray[np.float64] = np.array([other[person] for person in both])
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    cosine = float(a @ b) / size if size else 0.0
    return max(0.0, cosine) * len(both) / (len(both) + SHRUNK)


if __name__ == "__main__":
    main()
