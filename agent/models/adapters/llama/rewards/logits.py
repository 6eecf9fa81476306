"""Entropies, log-probabilities and samples from logits.

Sums run in one order on one thread, so a row gives the same numbers wherever it was decoded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]
_BLOCK = 512


class RowReader:
    """Scratch arrays for rows of one vocabulary; a row of 150,000 logits stays in the cache."""

    def __init__(self, size: int) -> None:
        self._shifted = np.zeros(size, np.float32)
        self._weights = np.zeros(size, np.float32)
        self._product = np.zeros(size, np.float32)

    def log_probability(self, row: Row, token: int) -> float:
        """Natural logarithm of the token's probability."""
        np.subtract(row, row.max(), out=self._shifted)
        np.exp(self._shifted, out=self._weights)
        return float(self._shifted[token]) - math.log(float(self._weights.sum()))

    def entropies(self, row: Row, temperature: float) -> tuple[float, float]:
        """Entropy in nats of the model's distribution, and of it at ``temperature``.

        At temperature 0 the second is 0: all probability lies on one token. Leaves the tempered
        weights for ``draw``.
        """
        np.subtract(row, row.max(), out=self._shifted)
        plain = self._entropy()
        if temperature <= 0:
            return plain, 0.0
        if temperature == 1:
            return plain, plain
        np.multiply(self._shifted, np.float32(1 / temperature), out=self._shifted)
        return plain, self._entropy()

    def _entropy(self) -> float:
        np.exp(self._shifted, out=self._weights)
        total = float(self._weights.sum())
        # A logit of minus infinity has no probability, and 0 * -inf is no number.
        np.maximum(self._shifted, np.float32(-1e30), out=self._product)
        np.multiply(self._weights, self._product, out=self._product)
        return max(0.0, math.log(total) - float(self._product.sum()) / total)

    def draw(self, uniform: float) -> int:
        """The token at ``uniform`` of the cumulative distribution that ``entropies`` left."""
        weights = self._weights
        whole = len(weights) // _BLOCK * _BLOCK
        blocks = weights[:whole].reshape(-1, _BLOCK).sum(axis=1, dtype=np.float64)
        if whole < len(weights):
            blocks = np.append(blocks, weights[whole:].sum(dtype=np.float64))
        ends = np.cumsum(blocks)
        target = uniform * ends[-1]
        block = min(int(np.searchsorted(ends, target, side="right")), len(ends) - 1)
        start = block * _BLOCK
        within = np.cumsum(weights[start : start + _BLOCK], dtype=np.float64)
        target -= ends[block - 1] if block else 0.0
        place = int(np.searchsorted(within, target, side="right"))
        # Rounding may carry the target past the last token that has any weight.
        last = int(np.flatnonzero(within < within[-1])[-1]) + 1 if within[0] < within[-1] else 0
        return start + min(place, last)
