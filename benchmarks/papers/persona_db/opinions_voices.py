"""What each voice of a prediction says of every case, and how loud each should be.

Voices add up line by line, so that what they say at every size and share is one running sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.applications.personas.cache_layer import cache_lines, matching_vector
from agent.applications.personas.join import Profile, composed, put_to
from agent.applications.personas.predict_option import Pool, joined_pool, spoken
from benchmarks.papers.persona_db.opinions_data import (
    EVERYBODY,
    Asked,
    Case,
    KeptVectors,
    Person,
    memories,
)
from store.derived.view import GraphView
from store.tables.side_tables.shared_homes import SharedViews

MOST = 20
"""Largest number of retrieved lines."""
FOLDS = 5
PRIOR = np.log([0.3, 0.25, 0.25, 0.05, 0.15])
"""Of belonging to each group before anything was said: rough shares of the population."""
TOLD = 0.6
"""How much one answer tells of the group; answers of one person are no independent draws."""
Scores = NDArray[np.float64]
FLOOR = 0.01


@dataclass(frozen=True, slots=True)
class Voices:
    """Of one case: running sums of votes, (options, lines + 1), and logarithms by group."""

    case: Case
    own: Scores
    joined: Scores
    own_texts: tuple[str, ...]
    """Nearest first; so for ``joined_texts``."""
    joined_texts: tuple[str, ...]
    logs: Mapping[str, Scores] = field(default_factory=dict)
    """Named voices that do not depend on size and share."""

    def said(self, size: int, share: float) -> dict[str, Scores]:
        """Votes of the person's own and of joined lines, ``size`` in all."""
        own, joined = composed(size, share, self.joined.shape[1] > 1)
        return {"own": _upto(self.own, own), "joined": _upto(self.joined, joined), **self.logs}

    def texts(self, size: int, share: float) -> tuple[list[str], list[str]]:
        """The lines themselves, for a prompt."""
        own, joined = composed(size, share, self.joined.shape[1] > 1)
        return list(self.own_texts[:own]), list(self.joined_texts[:joined])


def _upto(running: Scores, count: int) -> Scores:
    return running[:, min(count, running.shape[1] - 1)]


class Listener:
    """Makes the voices of cases; everybody on the machine agreed to join."""

    def __init__(self, people: Sequence[Person], encoder: KeptVectors) -> None:
        self._encoder = encoder
        asked = {q.id: q for person in people for q, _ in person.answers}.values()
        told = [q.said(i) for person in people for q, i in person.answers]
        options = [option.rstrip(".") for q in asked for option in q.options]
        encoder.encode([*(q.text for q in asked), *options, *told])  # all at once: batches
        self._views = [self._shared(person.answers) for person in people]
        self._keys = [matching_vector(v.cache or tuple(v.vectors)) for v in self._views]
        self._last: tuple[object, SharedViews, list[Profile]] | None = None

    def _shared(self, answers: Sequence[tuple[Asked, int]]) -> SharedViews:
        told = memories(answers)
        vectors = self._encoder.encode([memory.text for memory in told])
        view = GraphView(told, vectors)
        cache = [line.vector for line in cache_lines(view, self._encoder)]
        texts = tuple(memory.text for memory in told)
        return SharedViews(texts, vectors, tuple(v for v in cache if v is not None))

    def _home(self, case: Case) -> tuple[SharedViews, list[Profile]]:
        """What a person told and all other profiles; the same for all their cases."""
        if self._last is None or self._last[0] is not case.history:
            own = self._shared(case.history)
            key = matching_vector(own.cache or tuple(own.vectors))
            found = [
                Profile(Path(), views, float(key @ theirs))
                for number, (views, theirs) in enumerate(zip(self._views, self._keys, strict=True))
                if number != case.person.number and key is not None and theirs is not None
            ]
            self._last = (case.history, own, found)
        return self._last[1], self._last[2]

    def hear(self, case: Case) -> Voices:
        """All that is known of one case without a language model."""
        own, profiles = self._home(case)
        asked = case.asked
        vector = self._encoder.encode([asked.text])[0]
        mine = Pool(own.texts, own.vectors).nearest(vector, MOST)
        joined = joined_pool(put_to(vector, profiles), self._encoder.dimension)
        theirs = joined.nearest(vector, MOST)
        logs = {
            "majority": np.log(asked.groups[EVERYBODY] + FLOOR),
            "demographics": np.log(asked.groups[case.person.group] + FLOOR),
            "groups": np.log(leaning(case) @ asked.groups + FLOOR),
        }
        return Voices(
            case, self._running(mine, asked), self._running(theirs, asked),
            tuple(mine.texts), tuple(theirs.texts), logs,
        )  # fmt: skip

    def _running(self, pool: Pool, asked: Asked) -> Scores:
        each = spoken(pool, asked.text, asked.options, self._encoder.encode)
        return np.concatenate([np.zeros((len(asked.options), 1)), each.cumsum(axis=1)], axis=1)


def leaning(case: Case) -> Scores:
    """How likely the person belongs to each public group, by their own answers alone.

    An induced line in numbers: 'answers like Independents do'. The group that the person told is
    not looked at; that is the baseline 'demographics'.
    """
    scores = PRIOR.copy()
    for asked, option in case.history:
        scores += TOLD * np.log(asked.groups[:, option] + FLOOR)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum(), np.float64)


def predicted(
    voices: Sequence[Voices],
    names: Sequence[str],
    size: int = MOST,
    share: float = 0.25,
    folds: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Whether each case is predicted right by these voices, and the mean weight of each voice.

    One voice needs no weight. More are weighted by logistic regression on people apart from those
    that are predicted: ``folds`` says by person who is predicted together.
    """
    said = [one.said(size, share) for one in voices]
    width = max(len(one.case.asked.options) for one in voices)
    data = np.zeros((len(voices), width, len(names)))
    gone = np.full((len(voices), width), -np.inf)
    for row, values in enumerate(said):
        for column, name in enumerate(names):
            data[row, : len(values[name]), column] = values[name]
        gone[row, : len(values[names[0]])] = 0
    right = np.array([one.case.right for one in voices])
    who = np.array([one.case.person.number for one in voices])
    if len(names) == 1 or folds is None:
        return (data[:, :, 0] + gone).argmax(axis=1) == right, np.ones(len(names))
    good = np.zeros(len(voices), bool)
    weights = []
    for fold in range(FOLDS):
        test = folds[who] == fold
        if test.any() and not test.all():
            weights.append(_fitted(data[~test], gone[~test], right[~test]))
            good[test] = (data[test] @ weights[-1] + gone[test]).argmax(axis=1) == right[test]
    return good, np.mean(weights, axis=0)


def _fitted(data: Scores, gone: Scores, right: NDArray[np.int64]) -> Scores:
    scale = data.std(axis=(0, 1)) + 1e-9
    scaled, rows = data / scale, np.arange(len(right))

    def loss(weights: Scores) -> tuple[float, Scores]:
        scores = scaled @ weights + gone
        scores -= scores.max(axis=1, keepdims=True)
        chance = np.exp(scores)
        chance /= chance.sum(axis=1, keepdims=True)
        expected = np.einsum("nm,nmf->nf", chance, scaled)
        gradient = -(scaled[rows, right] - expected).mean(axis=0) + 0.002 * weights
        return float(
            -np.log(chance[rows, right] + 1e-12).mean() + 0.001 * weights @ weights
        ), gradient

    found = minimize(loss, np.zeros(data.shape[2]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / scale, np.float64)
