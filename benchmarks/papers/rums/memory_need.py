"""When memory helps, set on scores of questions that need it and of others (appendix F.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from policies.rums.utility import MemoryNeed


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which score on memory is used, and how well that decided where it was set."""

    value: float
    recall: float
    """Share of the questions that need memory which reach it."""
    specificity: float
    """Share of the others which do not."""

    @property
    def j(self) -> float:
        """Youden's index."""
        return self.recall + self.specificity - 1

    def on(self, needing: Sequence[float], others: Sequence[float]) -> Threshold:
        """The same threshold on other scores, for measuring."""
        return Threshold(
            self.value,
            float((np.asarray(needing) >= self.value).mean()),
            float((np.asarray(others) < self.value).mean()),
        )


def youden(needing: Sequence[float], others: Sequence[float]) -> Threshold:
    """The threshold of the largest ``J = recall + specificity - 1`` (F.5), midway between scores.

    :raises ValueError: if one side is empty.
    """
    if not len(needing) or not len(others):
        raise ValueError("a threshold is set between scores of both kinds")
    seen = np.unique(np.concatenate([needing, others]).astype(np.float64))
    between = [float(seen[0]), *((seen[1:] + seen[:-1]) / 2).tolist()]
    return max((Threshold(v, 0.0, 0.0).on(needing, others) for v in between), key=lambda t: t.j)


def fit_need(
    needing: Sequence[tuple[float, float]],
    others: Sequence[tuple[float, float]],
    *,
    decay: float = 0.01,
) -> MemoryNeed:
    """A ``MemoryNeed`` fitted to (utility, entropy without memory) of questions of both kinds.

    Logistic regression by Newton's steps with a little weight ``decay``; its threshold is Youden's.
    """
    rows = np.array([*needing, *others], np.float64)
    signs = np.column_stack([np.ones(len(rows)), rows])
    right = np.repeat([1.0, 0.0], [len(needing), len(others)])
    weights = np.zeros(3)
    pull = decay * np.diag([0.0, 1.0, 1.0])
    for _ in range(25):
        said = 1 / (1 + np.exp(-np.clip(signs @ weights, -30, 30)))
        slope = signs.T @ (said - right) / len(rows) + pull @ weights
        curve = (signs * (said * (1 - said))[:, None]).T @ signs / len(rows) + pull
        weights -= np.linalg.solve(curve + 1e-9 * np.eye(3), slope)
    made = MemoryNeed(*map(float, weights))
    threshold = youden(
        [made.likely(*one) for one in needing], [made.likely(*one) for one in others]
    )
    return MemoryNeed(made.bias, made.utility, made.none, threshold.value)
