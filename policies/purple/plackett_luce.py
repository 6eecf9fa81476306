"""Plackett-Luce model: ordered draws without replacement (PURPLE, equation 3).

``scores`` are logarithms of propensities, shape (records,). A draw takes one record after another,
each time among those left and in proportion to its propensity, so an ordered profile
``<p1 ... pK>`` has the probability ``prod_k f(p_k) / (S - sum_{j<k} f(p_j))``.
"""

from __future__ import annotations

import numpy as np

from policies.training.mlp import Floats, Ints


def sample(scores: Floats, count: int, draws: int, rng: np.random.Generator) -> Ints:
    """``draws`` ordered profiles of ``count`` records (of all, if there are fewer): row numbers.

    The ``count`` largest scores with Gumbel noise are such a draw (Yellott, 1977).
    """
    noisy = scores + rng.gumbel(size=(draws, len(scores)))
    return np.argsort(-noisy, axis=1, kind="stable")[:, :count]


def log_probability(scores: Floats, profile: Ints) -> float:
    """The logarithm of the probability of drawing just these records in just this order."""
    return float(sum(scores[profile] - _left(scores, profile)))


def gradient(scores: Floats, profile: Ints) -> Floats:
    """Of ``log_probability`` in the scores, shape (records,)."""
    found = np.zeros(len(scores))
    open_ = np.ones(len(scores), bool)
    for taken, total in zip(profile, _left(scores, profile), strict=True):
        found[open_] -= np.exp(scores[open_] - total)
        found[taken] += 1.0
        open_[taken] = False
    return found


def z_scores(rewards: Floats) -> Floats:
    """Rewards in standard deviations from their mean (appendix A); zeros where all are alike."""
    apart = rewards - rewards.mean()
    spread = float(apart.std())
    return apart / spread if spread > 1e-8 else np.zeros_like(apart)


def _left(scores: Floats, profile: Ints) -> Floats:
    """Before each choice, the logarithm of the sum of propensities of what is left."""
    left = scores.astype(np.float64, copy=True)
    totals = np.empty(len(profile))
    for place, taken in enumerate(profile):
        top = left.max()
        totals[place] = top + np.log(np.exp(left - top).sum())
        left[taken] = -np.inf
    return totals
