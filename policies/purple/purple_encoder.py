"""The record encoder of PURPLE (section 3.2): how much each record should be in the profile.

Frozen token embeddings of the question and of each record go through one projection. Every record
attends to the question token by token (*cross-attention*), is pooled to one vector, and meets the
other records in a small transformer without positions, so the order in which records are listed
changes nothing but the order of their propensities. A last layer gives one number a record.

Beyond the paper, a record also brings the *signs* of the retriever that made it a candidate
(``policies.baselines.fusion.FusedCandidate``). They start as the propensity, so an untrained
encoder ranks as the retriever does; ``Propensities.fresh(signs=False)`` leaves them out.

The arithmetic is written once, for arrays of numpy (inference; no other package is needed) and for
tensors that keep gradients (training; ``agent.models.adapters.torch_gradients``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from policies.training.mlp import FlatWeights, Floats

WIDTH = 64
"""Numbers of a token and of a record inside."""
LAYERS = 2
"""Of the transformer over records. The paper's has 12, 768 wide; this one is for 2 cores."""
HEADS = 4
SIGNS = 5
TEMPER = -3.0
"""First value of the last bias: a propensity is a sigmoid, and near its middle the sigmoids of two
good candidates would be as good as equal."""
_SMALL = 1e-5
Array = Any
"""A numpy array or a tensor: the operators used here mean the same for both."""
Single = NDArray[np.float32]


class Maths(Protocol):
    """The functions that arrays and tensors do not share as methods."""

    def exp(self, x: Array) -> Array: ...

    def log1p(self, x: Array) -> Array: ...

    def highest(self, x: Array) -> Array:
        """The highest of the last axis, which stays."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A question and its candidates as the encoder reads them."""

    question: Single
    """Token embeddings, shape (tokens, inputs)."""
    tokens: Single
    """Token embeddings of each record, padded: (records, tokens, inputs)."""
    there: Single
    """1 where a record has a token, 0 for padding: (records, tokens)."""
    signs: Single
    """What the retriever says of each record, in standard deviations: (records, SIGNS)."""


@dataclass(frozen=True, eq=False)
class Propensities(FlatWeights):
    """``inputs`` numbers a token, ``hidden`` inside, ``outputs`` transformer layers."""

    cross: bool = True
    """Whether records attend to the question (section 5.2 measures without)."""
    signs: bool = True
    """Whether the retriever's signs take part."""

    @classmethod
    def fresh(
        cls,
        inputs: int,
        width: int = WIDTH,
        layers: int = LAYERS,
        *,
        cross: bool = True,
        signs: bool = True,
        seed: int = 0,
    ) -> Self:
        """Small weights drawn with ``seed`` (Glorot and Bengio, 2010); the retriever's order."""
        rng = np.random.default_rng(seed)
        made: dict[str, Floats] = {}
        for name, shape in _shapes(inputs, width, layers):
            if name.endswith("norm"):
                made[name] = np.ones(shape)
            elif len(shape) < 2:
                made[name] = np.zeros(shape)
            else:
                made[name] = rng.normal(0.0, np.sqrt(2 / sum(shape)), shape)
        made["score.w"] *= 0.1  # the candidates' own order is the start
        made["score.b"][:] = TEMPER
        made["signs.score"][0] = float(signs)
        flat = np.concatenate([part.ravel() for part in made.values()])
        return cls(inputs, width, layers, flat, cross, signs)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(int(np.prod(shape)) for _, shape in _shapes(*self.sizes))

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.inputs, self.hidden, self.outputs

    @cached_property
    def _single(self) -> dict[str, Single]:
        return named(self.flat.astype(np.float32), self)

    def scores(self, records: Records) -> Floats:
        """The logarithm of each record's propensity, shape (records,)."""
        # On some processors a BLAS product of few small rows reports an invalid value in a lane
        # that it never uses (seen with two records); what came out was right.
        with np.errstate(invalid="ignore"):
            scores = np.asarray(forward(self._single, records, self, _Numpy()), np.float64)
        if not np.isfinite(scores).all():
            raise FloatingPointError("a record's propensity is not a number")
        return scores


def named(flat: Array, of: Propensities) -> dict[str, Array]:
    """The weights by name, as views of the row of numbers."""
    found, at = {}, 0
    for name, shape in _shapes(*of.sizes):
        size = int(np.prod(shape))
        found[name] = flat[at : at + size].reshape(shape)
        at += size
    return found


@lru_cache(maxsize=8)
def _shapes(inputs: int, width: int, layers: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Names and shapes of the weights, in the order of the row of numbers."""

    def attention(of: str) -> list[tuple[str, tuple[int, ...]]]:
        return [(f"{of}.{part}", (width, width)) for part in ("q", "k", "v", "o")]

    def block(of: str) -> list[tuple[str, tuple[int, ...]]]:
        return [
            (f"{of}.norm", (width,)),
            (f"{of}.up", (width, 2 * width)),
            (f"{of}.up.b", (2 * width,)),
            (f"{of}.down", (2 * width, width)),
            (f"{of}.down.b", (width,)),
        ]

    shapes = [("in", (inputs, width)), ("in.b", (width,)), *attention("cross"), *block("cross")]
    shapes.append(("signs.in", (SIGNS, width)))
    for layer in range(layers):
        shapes += [(f"{layer}.first.norm", (width,)), *attention(f"{layer}"), *block(f"{layer}")]
    shapes += [("last.norm", (width,)), ("last", (width, width)), ("last.b", (width,))]
    shapes += [("score.w", (width, 1)), ("score.b", (1,)), ("signs.score", (SIGNS,))]
    return tuple(shapes)


# ---- the arithmetic -----------------------------------------------------------------------------


def forward(w: dict[str, Array], records: Records, of: Propensities, m: Maths) -> Array:
    """Log-propensities (records,) by the weights of these names."""
    asked = _even(records.question) @ w["in"] + w["in.b"]  # (question tokens, width)
    x = _even(records.tokens) @ w["in"] + w["in.b"]  # (records, tokens, width)
    if of.cross:
        x = x + _attention(w, "cross", x, asked, m)
    x = _block(w, "cross", x)
    there = records.there[:, :, None]
    pooled = (x * there).sum(1) / there.sum(1)  # (records, width)
    signs = records.signs if of.signs else records.signs * 0.0
    h = pooled + signs @ w["signs.in"]
    for layer in range(of.outputs):
        seen = _norm(h, w[f"{layer}.first.norm"])
        h = h + _attention(w, f"{layer}", seen, seen, m)
        h = _block(w, f"{layer}", h)
    last = _relu(_norm(h, w["last.norm"]) @ w["last"] + w["last.b"])
    logits = (last @ w["score.w"])[:, 0] + w["score.b"] + (signs * w["signs.score"]).sum(-1)
    return _log_sigmoid(logits, m)


def _attention(w: dict[str, Array], of: str, asking: Array, told: Array, m: Maths) -> Array:
    """``asking`` (..., n, width) attends to ``told`` (t, width) with HEADS heads."""
    q, k, v = (
        (asking @ w[f"{of}.q"]).reshape(*asking.shape[:-1], HEADS, -1).swapaxes(-2, -3),
        (told @ w[f"{of}.k"]).reshape(len(told), HEADS, -1).swapaxes(0, 1),
        (told @ w[f"{of}.v"]).reshape(len(told), HEADS, -1).swapaxes(0, 1),
    )  # (..., heads, n or t, width / heads)
    likeness = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    weights = m.exp(likeness - m.highest(likeness))
    seen = (weights / weights.sum(-1)[..., None]) @ v
    return seen.swapaxes(-2, -3).reshape(asking.shape) @ w[f"{of}.o"]


def _block(w: dict[str, Array], of: str, x: Array) -> Array:
    """The feed-forward part of a transformer layer, normalised before (Xiong et al., 2020)."""
    inner = _relu(_norm(x, w[f"{of}.norm"]) @ w[f"{of}.up"] + w[f"{of}.up.b"])
    return x + inner @ w[f"{of}.down"] + w[f"{of}.down.b"]


def _norm(x: Array, gain: Array) -> Array:
    return _even(x) * gain


def _even(x: Array) -> Array:
    """Mean 0 and variance 1 along the last axis."""
    apart = x - x.mean(-1)[..., None]
    return apart / ((apart * apart).mean(-1)[..., None] + _SMALL) ** 0.5


def _relu(x: Array) -> Array:
    return x * (x > 0)


def _log_sigmoid(x: Array, m: Maths) -> Array:
    """``-log(1 + exp(-x))`` without overflow."""
    return x * (x < 0) - m.log1p(m.exp(-abs(x)))


class _Numpy:
    """``Maths`` of numpy."""

    def exp(self, x: Array) -> Array:
        return np.exp(x)

    def log1p(self, x: Array) -> Array:
        return np.log1p(x)

    def highest(self, x: Array) -> Array:
        return x.max(-1, keepdims=True)
