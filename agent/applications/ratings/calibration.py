"""Predicted rating: model expectation calibrated with the user's own ratings.

The model reads the nearest ratings and the item (MAP Figure 4) and gives probabilities for 1 to 5;
their expectation uses all it knows, where the single most likely answer throws most of it away. A
small model is badly calibrated, so its expectation is one of five signs of a linear calibration:
the others are the person's own mean, and how what is near in genre, near in meaning and latest
departs from it, each shrunk towards nothing where there is little of it. Without a single weight
it would be the model alone: that is an ablation of ``benchmarks.map_ratings``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.applications.ratings.similarity import Nearness
from agent.extraction.ratings.items import STARS, Item, Rated
from agent.language.injection import as_data
from agent.ports import RewardModel

SHOWN = 3
"""Ratings that the model reads: more cost tokens and were measured to serve a small one no better
(benchmarks.map_ratings)."""
HEAD = "One person's ratings from 1 (dislike) to 5 (like):"
_ANSWERS = tuple(f" {stars}" for stars in range(1, STARS + 1))
_STARS = np.arange(1, STARS + 1, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Guess:
    """The model's own word on a rating."""

    probabilities: NDArray[np.float64]
    """Of 1, 2, 3, 4 and 5."""

    @property
    def expected(self) -> float:
        return float(self.probabilities @ _STARS)

    @property
    def most_likely(self) -> int:
        return int(self.probabilities.argmax()) + 1


@dataclass(frozen=True, slots=True)
class Signs:
    """What a prediction is made of; all but the first are departures from it, in stars."""

    mean: float
    """The person's mean, pulled towards that of people."""
    genre: float
    """Of what shares genres, weighted by how many."""
    meaning: float
    """Of what is near in meaning."""
    recent: float
    """Of the latest ratings: moods and sessions last a while."""
    model: float
    """Of the model's expectation; 0 where no model was asked."""

    def row(self) -> NDArray[np.float64]:
        """The signs as numbers, in the order of ``Calibration.weights``."""
        return np.array([self.mean, self.genre, self.meaning, self.recent, self.model])


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of the signs, fitted on people apart from those measured."""

    intercept: float
    weights: tuple[float, float, float, float, float]
    prior: float = 3.6
    """The mean rating of people who have told nothing yet."""
    pull: float = 3.0
    """How many ratings the prior counts as."""
    shrink: float = 2.0
    """How much likeness, in wholly alike ratings, the departures are shrunk by."""
    memory: float = 3.0
    """Ratings after which an earlier one counts for a third of the latest (1 / e)."""

    def predict(self, signs: Signs) -> float:
        """Stars from 1 to 5."""
        return float(np.clip(self.intercept + signs.row() @ self.weights, 1.0, STARS))


CALIBRATION = Calibration(1.996, (0.454, 0.393, 0.317, 0.929, 0.0))
"""Without the model's expectation, whichever model it is. Written by ``python -m
benchmarks.map_ratings``: it prints what it fitted on the tuning people."""


def signs_of(
    history: Sequence[Rated], near: Nearness, guess: Guess | None, calibration: Calibration
) -> Signs:
    """The signs for an item, by the ratings in the order they were given."""
    stars = np.array([rated.stars for rated in history], np.float64)
    count = len(stars)
    mean = (stars.sum() + calibration.pull * calibration.prior) / (count + calibration.pull)

    def departure(weights: NDArray[np.float64]) -> float:
        if not count:
            return 0.0
        return float(weights @ (stars - mean) / (weights.sum() + calibration.shrink))

    return Signs(
        float(mean),
        departure(near.genres),
        departure(near.meaning**2),
        departure(np.exp((np.arange(count) - count + 1) / calibration.memory)),
        0.0 if guess is None else guess.expected - float(mean),
    )


def prompt_for(item: Item, shown: Sequence[Rated]) -> str:
    """The plain prompt whose continuation is the rating; base models read it as it stands."""
    lines = [f"{as_data(rated.described)} = {int(rated.stars + 0.5)}" for rated in shown]
    return "\n".join([HEAD, *lines, f"{as_data(item.described)} ="])


def ask(rewards: RewardModel, prompts: Sequence[str]) -> list[Guess]:
    """The model's probabilities for 1 to 5 behind each prompt, asked for in one piece.

    The logarithms of a continuation's tokens are summed: their mean, which ``choose`` compares,
    would halve the model's certainty where a space is a token of its own.
    """
    flat = [(prompt, answer) for prompt in prompts for answer in _ANSWERS]
    scores = rewards.log_likelihood([p for p, _ in flat], [a for _, a in flat])
    sums = np.array([float(score.sum()) for score in scores]).reshape(len(prompts), STARS)
    weights = np.exp(sums - sums.max(axis=1, keepdims=True))
    return [Guess(row / row.sum()) for row in weights]
