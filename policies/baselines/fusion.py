"""Score fusion of similarity and words; start memories of walks.

What is asked is seldom answered in one breath: one turn of a conversation names the thing, the next
says what happened to it. So the words of the question are looked for in a memory and in what was
told around it, less the further away; its meaning is looked for in the memory alone. Each part is
standardised over the view, so that a cosine and a sum of word weights can be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.baselines.bm25 import WordRows, held, lexical, scored
from policies.scoring.memory_flags import asking, on_days_of
from policies.scoring.pca_search import exactly, roughly
from policies.scoring.ranking import best, similar, top
from policies.selection import Selection
from store.derived.view import GraphView

FAR = 6.0
"""Standard deviations beyond which a policy that learned in small homes is told no more."""
AROUND = (0.3, 0.6)
"""What a word counts that was said two turns away, and next to the memory; in it, it counts 1."""
ASKS = 0.5
"""Standard deviations by which a memory falls back that asks something itself: it tells nothing."""
SAME_DAY = 0.5
"""What one weighs that is of a day, month or year which the question names."""
LOOKED_AT = 400
"""Candidates that are looked at closely in a large home."""
_Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FusedCandidate:
    """A row that may be worth choosing; the parts are in standard deviations of the view.

    None is more than ``FAR``: its place among the candidates says the rest.
    """

    row: int
    score: float
    """All together, standardised."""
    dense: float
    """Similarity of meaning with the question."""
    lexical: float
    """Words shared with the question, rare ones counting more (BM25)."""
    dense_near: float
    """Similarity of the memory with what was told just before and after it."""
    lexical_near: float
    """How much of the question's words the memory and what was told around it hold together."""


@dataclass(frozen=True, slots=True, eq=False)
class FusionScores:
    """What ``FusedCandidate`` says, of every row: arrays of shape (rows,)."""

    score: _Array
    dense: _Array
    lexical: _Array
    dense_near: _Array
    lexical_near: _Array

    def candidate(self, row: int) -> FusedCandidate:
        parts = (self.score, self.dense, self.lexical, self.dense_near, self.lexical_near)
        return FusedCandidate(row, *(min(FAR, max(-FAR, float(part[row]))) for part in parts))


def scores(question: Question, view: GraphView) -> FusionScores:
    """The parts of every row of the view and what they come to."""
    asked = held(question.text, view)
    weights, whole = view.weights, view.whole
    around = standard(covered(asked, view), weights, _of_words(asked, view))
    days = standard(on_days_of(question.text, view), weights)
    told = around + SAME_DAY * days - ASKS * view.once(_asking)
    cosine, rough = roughly(question, view)
    moments = None if whole is None else whole.of_cosines(question.vector)
    if rough:
        rows = best(standard(cosine, weights, moments) + told, LOOKED_AT)
        cosine = exactly(question, view, cosine, rows)
    dense = standard(cosine, weights, moments)
    return FusionScores(
        score=standard(dense + told, weights),
        dense=dense,
        lexical=standard(scored(asked, view), weights),
        dense_near=standard(with_near(dense, view), weights),
        lexical_near=around,
    )


def activate(question: Question, view: GraphView, count: int) -> list[FusedCandidate]:
    """The ``count`` rows with the highest scores, best first."""
    found = scores(question, view)
    return [found.candidate(int(row)) for row in best(found.score, count)]


def covered(words: Sequence[WordRows], view: GraphView) -> _Array:
    """The weight of the question's words that each row and what was told around it hold.

    A word counts by how rare it is and by how near it was told, once for all its occurrences.
    """
    told = [(word.rarity, word.rows) for word in words]
    return _covered(told, len(view.memories), view.once(_neighbours))


def _covered(
    words: Sequence[tuple[float, NDArray[np.integer]]],
    size: int,
    neighbours: tuple[NDArray[np.integer], NDArray[np.integer]],
) -> _Array:
    """What ``covered`` says, of words by rarity and rows; both neighbours have one more place."""
    weights = np.zeros(size, np.float32)
    # One more place, to which -1 leads: what is assigned for 'nobody' lands there and stays.
    before, after = neighbours
    nearest = np.zeros(size + 1, np.float32)
    for rarity, rows in words:
        rings = [(rows, rows)]
        for _ in AROUND:
            one, other = rings[-1]
            rings.append((before[one], after[other]))
        nearest[:] = 0.0
        for weight, (one, other) in zip((*AROUND, 1.0), reversed(rings), strict=True):
            nearest[one] = nearest[other] = weight  # the nearer comes later and is larger
        weights += rarity * nearest[:size]
    return weights


def _of_words(words: Sequence[WordRows], view: GraphView) -> tuple[float, float] | None:
    """Mean and spread of ``covered`` in the large home that the view is a part of."""
    if view.whole is None:
        return None
    sample = view.whole.sample
    told = [(word.rarity, sample.holding(word.word)) for word in words]
    values = _covered(told, sample.size, sample.neighbours)
    return float(values.mean(dtype=np.float64)), float(values.std(dtype=np.float64))


def _asking(view: GraphView) -> _Array:
    return standard(asking(view), view.weights)


def _neighbours(view: GraphView) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    before, after = (np.append(rows, -1) for rows in view.neighbours)
    return before, after


def standard(
    values: _Array,
    weights: _Array | None = None,
    moments: tuple[float, float] | None = None,
) -> _Array:
    """In standard deviations from the mean; zeros where all are alike.

    ``weights`` are how many each stands for (``GraphView.weights``); None: one each. ``moments``
    are mean and spread where they are known better.

    Without a bound: in a home of 10,000 hundreds lie further off than any number that seems large
    in a small one, and bounded they would all be alike.
    """
    if not len(values):
        return values
    if moments is not None:
        mean, spread = moments
        apart: _Array = values - values.dtype.type(mean)
    elif weights is None:
        apart = values - values.mean(dtype=np.float64).astype(values.dtype)
        spread = float(np.sqrt(np.einsum("i,i->", apart, apart) / len(apart)))
    else:
        total = float(weights.sum(dtype=np.float64))
        apart = values - values.dtype.type(np.average(values, weights=weights))
        spread = float(np.sqrt(np.einsum("i,i,i->", weights, apart, apart) / total))
    if spread < 1e-6:
        return np.zeros_like(values)
    apart /= spread
    return apart


def with_near(values: _Array, view: GraphView) -> _Array:
    """Standardised values of each row with half of those told just before and after it.

    Where nothing was, the mean stands in: being the first of a conversation is no merit.
    """
    padded = np.append(values, np.float32(0))
    before, after = view.neighbours  # -1 leads to the zero
    return values + np.float32(0.5) * (padded[before] + padded[after])


# ---- policies -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rrf:
    """Ranks by meaning and by words, joined (reciprocal-rank fusion; Cormack et al., 2009)."""

    k: int = 5
    constant: int = 60
    name: str = "rrf"

    def select(self, question: Question, view: GraphView) -> Selection:
        joined = np.zeros(len(view.memories))
        for values in (similar(question, view), lexical(question.text, view)):
            order = np.argsort(-values, kind="stable")
            joined[order] += 1 / (self.constant + 1 + np.arange(len(order)))
        return top(self.name, question, view, joined, self.k, "ranked high by both")


@dataclass(frozen=True, slots=True)
class FusedPlain:
    """Meaning and BM25, each of the memory and of it with its neighbours, equally weighted."""

    k: int = 5
    name: str = "fused-plain"

    def select(self, question: Question, view: GraphView) -> Selection:
        weights = view.weights
        parts = similar(question, view), lexical(question.text, view)
        own = [standard(part, weights) for part in parts]
        near = (standard(with_near(part, view), weights) for part in own)
        found = np.sum([*own, *near], axis=0)
        return top(self.name, question, view, found, self.k, "fits in meaning and words")


@dataclass(frozen=True, slots=True)
class Fused:
    """The ``k`` memories that ``activate`` puts first."""

    k: int = 5
    name: str = "fused"

    def select(self, question: Question, view: GraphView) -> Selection:
        found = scores(question, view).score
        return top(self.name, question, view, found, self.k, "fits in meaning and words")
