"""A network of two layers in numpy: tanh units, then one logit an action (EMG-RAG section 5.1).

The paper's has 20 units and 2 outputs. Weights never change in place: training makes new networks,
so whoever holds one can go on using it. ``FlatWeights`` is what every network here is to files, to
homes and to Adam: its numbers in a row, and three sizes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from policies.weight_file import REINSTALL, read_arrays
from store.database.whole_files import whole_file
from store.errors import InvalidInput, WeightsDamaged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HIDDEN = 20
OUTPUTS = 2
N = TypeVar("N", bound="FlatWeights")


@dataclass(frozen=True, slots=True, eq=False)
class FlatWeights(ABC):
    """The weights of some network. What it computes with them is a subclass's."""

    inputs: int
    hidden: int
    outputs: int
    flat: Floats

    @property
    @abstractmethod
    def size(self) -> int:
        """How many weights a network of these sizes has."""

    def save(self, path: Path, kind: type[np.floating] = np.float64) -> None:
        """Write an npz of plain arrays, whole or not at all; ``kind`` is that of the numbers."""
        shape = np.array([self.inputs, self.hidden, self.outputs])
        with whole_file(path) as file:
            np.savez(file, shape=shape, flat=self.flat.astype(kind))

    @classmethod
    def load(cls, path: Path, *, inputs: int | None = None) -> Self:
        """A saved network; ``inputs`` is how many numbers its states must have.

        :raises WeightsDamaged: if the file is missing or damaged.
        :raises InvalidInput: if the network is of another shape.
        """
        remedy = REINSTALL if path.parent == _SHIPPED else _REMEDY
        held = read_arrays(path, ("shape", "flat"), remedy=remedy)
        try:
            inner, hidden, outputs = (int(size) for size in held["shape"])
            flat = held["flat"].astype(np.float64)
            made = cls(inner, hidden, outputs, flat)
            if min(inner, hidden, outputs) < 1 or flat.shape != (made.size,):
                raise ValueError(flat.shape)
            if not np.isfinite(flat).all():
                raise ValueError("not finite")
        except (ValueError, TypeError) as error:
            raise WeightsDamaged(
                f"The weights at {path} are damaged (wrong numbers). {remedy}"
            ) from error
        return made if inputs is None else made.for_states(inputs, f"weights at {path}")

    def for_states(self, inputs: int, what: str = "weights") -> Self:
        """Itself. :raises InvalidInput: if it is for states of another length."""
        if self.inputs != inputs:
            raise InvalidInput(
                f"The {what} are for states of {self.inputs} numbers, "
                f"this policy's have {inputs}. {_REMEDY}"
            )
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Mlp(FlatWeights):
    """``tanh(x W1 + b1) W2 + b2``; ``flat`` holds W1, b1, W2, b2 in this order, row by row."""

    @classmethod
    def fresh(
        cls, inputs: int, hidden: int = HIDDEN, outputs: int = OUTPUTS, *, seed: int = 0
    ) -> Self:
        """Small weights drawn with ``seed`` (Glorot and Bengio, 2010); no bias yet."""
        rng = np.random.default_rng(seed)
        first = rng.normal(0.0, np.sqrt(2 / (inputs + hidden)), inputs * hidden)
        second = rng.normal(0.0, np.sqrt(2 / (hidden + outputs)), hidden * outputs)
        flat = np.concatenate([first, np.zeros(hidden), second, np.zeros(outputs)])
        return cls(inputs, hidden, outputs, flat)

    @property
    def layers(self) -> tuple[Floats, Floats, Floats, Floats]:
        """W1 (inputs, hidden), b1 (hidden,), W2 (hidden, outputs), b2 (outputs,); views."""
        inner = self.inputs * self.hidden
        outer = inner + self.hidden
        last = outer + self.hidden * self.outputs
        return (
            self.flat[:inner].reshape(self.inputs, self.hidden),
            self.flat[inner:outer],
            self.flat[outer:last].reshape(self.hidden, self.outputs),
            self.flat[last:],
        )

    def logits(self, states: Floats) -> Floats:
        """One a state and action: (n, inputs) -> (n, outputs)."""
        first, bias, second, out = self.layers
        made: Floats = np.tanh(states @ first + bias) @ second + out
        return made

    def probabilities(self, states: Floats) -> Floats:
        """Of each action: (n, inputs) -> (n, outputs); rows sum to 1."""
        return _softmax(self.logits(states))

    def loss_and_gradient(
        self, states: Floats, actions: Ints, weights: Floats | None = None
    ) -> tuple[float, Floats]:
        """The mean of ``-weight * ln P(action | state)`` and its gradient, in ``flat``'s order.

        With weights of 1 it is the cross-entropy of the warm start (equation 5); with returns as
        weights the loss of REINFORCE (equation 6). No states: 0 and zeros.
        """
        count = len(states)
        if not count:
            return 0.0, np.zeros_like(self.flat)
        given = np.ones(count) if weights is None else weights
        first, bias, second, out = self.layers
        units = np.tanh(states @ first + bias)  # (n, hidden)
        chances = _softmax(units @ second + out)  # (n, outputs)
        rows = np.arange(count)
        loss = float(-(given * np.log(chances[rows, actions] + 1e-300)).mean())
        wrong = chances.copy()
        wrong[rows, actions] -= 1.0
        wrong *= given[:, None] / count  # of the logits
        back = (wrong @ second.T) * (1.0 - units**2)  # of the units' sums
        parts = (states.T @ back, back.sum(axis=0), units.T @ wrong, wrong.sum(axis=0))
        return loss, np.concatenate([part.ravel() for part in parts])

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.hidden * (self.inputs + 1) + self.outputs * (self.hidden + 1)


_SHIPPED = Path(__file__).parent.parent / "data"
_REMEDY = "Train anew (memlane train) or go back to earlier ones (memlane train --rollback)."


@dataclass(frozen=True, slots=True, eq=False)
class Adam:
    """Kingma and Ba (2015): the moments of the gradient so far, and how many steps were taken."""

    mean: Floats
    square: Floats
    count: int = 0

    @classmethod
    def fresh(cls, network: FlatWeights) -> Self:
        return cls(np.zeros_like(network.flat), np.zeros_like(network.flat))

    def step(self, network: N, gradient: Floats, rate: float) -> tuple[N, Self]:
        """The network one step down the gradient, and the moments after it."""
        count = self.count + 1
        mean = _BETA1 * self.mean + (1 - _BETA1) * gradient
        square = _BETA2 * self.square + (1 - _BETA2) * gradient**2
        straight = mean / (1 - _BETA1**count)
        spread = np.sqrt(square / (1 - _BETA2**count))
        moved = network.flat - rate * straight / (spread + 1e-8)
        return replace(network, flat=moved), replace(self, mean=mean, square=square, count=count)


_BETA1, _BETA2 = 0.9, 0.999


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    made: Floats = raised / raised.sum(axis=1, keepdims=True)
    return made
