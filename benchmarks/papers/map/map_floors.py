"""Floors of the MAP benchmarks: means and recommenders, which know other people's ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from surprise import SVD, BaselineOnly, Dataset, KNNBaseline, Reader

from benchmarks.papers.map.map_data import Person, apart

Errors = dict[str, dict[int, NDArray[np.float64]]]
"""By method and size, the error for each person measured."""
Known = Sequence[tuple[str, str, float]]
"""Who gave what how many stars."""


def whole(stars: float) -> float:
    """In whole stars, half ones up."""
    return float(int(min(5.0, max(1.0, stars)) + 0.5))


def floors(people: Sequence[Person], tuned: int, seed: int, sizes: Sequence[int]) -> Errors:
    """Errors of means and recommenders that know other people's ratings."""
    tuning, rest = apart(people, tuned, seed)
    errors: Errors = {}
    for size in sizes:
        known = triples((*tuning, *(person.first(size) for person in rest)))
        asked = [(person.key, person.items[size]) for person in rest]
        truths = np.array([person.ratings[size].stars for person in rest])
        own = [[rated.stars for rated in person.ratings[:size]] for person in rest]
        note(errors, size, truths, told_by_others(known, asked, own, seed))
    return errors


def triples(people: Iterable[Person]) -> list[tuple[str, str, float]]:
    """Their ratings as ``Known``."""
    return [
        (one.key, item, rated.stars)
        for one in people
        for item, rated in zip(one.items, one.ratings, strict=True)
    ]


def told_by_others(
    known: Known, asked: Sequence[tuple[str, str]], own: Sequence[Sequence[float]], seed: int
) -> dict[str, list[float]]:
    """What each floor foretells of each (person, item); ``own`` are the person's ratings so far."""
    return {
        "user mean": [float(np.mean(stars)) for stars in own],
        "item mean": _item_means(known, [item for _, item in asked]),
        **recommenders(known, asked, seed),
    }


def note(
    errors: Errors, size: int, truths: NDArray[np.float64], told: Mapping[str, Sequence[float]]
) -> None:
    """The errors of each floor, and of the same in whole stars."""
    for method, predictions in told.items():
        errors.setdefault(method, {})[size] = np.abs(np.array(predictions) - truths)
        rounded = np.array([whole(stars) for stars in predictions])
        errors.setdefault(f"{method}, whole", {})[size] = np.abs(rounded - truths)


def _item_means(known: Known, items: Sequence[str]) -> list[float]:
    of: dict[str, list[float]] = {}
    for _, item, stars in known:
        of.setdefault(item, []).append(stars)
    everything = float(np.mean([stars for _, _, stars in known]))
    return [float(np.mean(of[item])) if item in of else everything for item in items]


def recommenders(
    known: Known, asked: Sequence[tuple[str, str]], seed: int
) -> dict[str, list[float]]:
    """What scikit-surprise's biases, factors and neighbours foretell."""
    data = Dataset(Reader(rating_scale=(1, 5)))
    train = data.construct_trainset([(person, item, stars, None) for person, item, stars in known])
    told = {}
    for name, one in (
        ("surprise biases", BaselineOnly(verbose=False)),
        ("surprise SVD", SVD(random_state=seed)),
        ("surprise neighbours", KNNBaseline(verbose=False, sim_options={"user_based": False})),
    ):
        one.fit(train)
        told[name] = [float(one.predict(*pair).est) for pair in asked]
    return told
