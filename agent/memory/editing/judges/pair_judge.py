"""Pair judge: classifier for a new message and an older memory.

Four verdicts: it says the same, denies it, gives another value, or is about other things; beside
them the chance that what the memory states has one value at a time. Both are linear models: the
verdict over features of the wording (``agent.memory.editing.judges.wording_features``) and the
cosine similarity, the chance over the memory's stored vector. Weights come from
``benchmarks.editing_train``, which learns from sentences we wrote ourselves; here only numpy is
needed. No database, no language model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.language.relation_names import MANY_VALUED, is_single
from agent.memory.editing.judges.wording_features import (
    averse,
    common,
    counts,
    coverage,
    denied,
    folded,
    value_and_slot,
    yes_or_no,
)
from agent.ports import Vectors
from policies.weight_file import read_arrays
from store.types import Memory, Triple

WEIGHTS = Path(__file__).parent.parent / "data" / "editing.npz"
FEATURES = 1
"""Version of ``wording``; weights made for another one are refused."""

_NAME = re.compile(r"\b[A-Z][\w'&]*")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)?")
_GRAM = 4
"""Letters of the pieces by which a value is found in another inflection or inside a compound."""
_KEPT = 2048
"""Texts whose reading is kept."""


class Verdict(StrEnum):
    """What a message does to a memory."""

    SAME = "same"
    NEGATED = "negated"
    OTHER = "other"
    APART = "apart"


VERDICTS = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Probabilities of the four verdicts, and that the memory holds one value at a time."""

    same: float
    negated: float
    other: float
    apart: float
    single: float

    @property
    def verdict(self) -> Verdict:
        """The likeliest of the four."""
        chances = (self.same, self.negated, self.other, self.apart)
        return VERDICTS[chances.index(max(chances))]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A message beside an older memory."""

    new: str
    old: Memory
    cosine: float
    """Of the two."""
    vector: Vectors | None
    """The memory's."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Both linear models: inputs are standardised by ``mean`` and ``scale``."""

    mean: NDArray[np.float32]  # (F,)
    scale: NDArray[np.float32]  # (F,)
    weights: NDArray[np.float32]  # (4, F)
    bias: NDArray[np.float32]  # (4,)
    single: NDArray[np.float32]  # (D + 2,)
    single_bias: NDArray[np.float32]  # ()
    encoder: str


class PairJudge:
    """Judges pairs; without weights of this encoder it knows no cardinality and says 0.5."""

    def __init__(self, layers: Layers, encoder: str) -> None:
        self._layers = layers
        self._same_encoder = layers.encoder == encoder

    @classmethod
    def shipped(cls, encoder: str) -> PairJudge:
        """The judge with the weights that memlane ships.

        :raises WeightsDamaged: if they are missing or damaged.
        :raises ValueError: if they were made for other features.
        """
        saved = read_arrays(WEIGHTS)
        if int(saved["features"]) != FEATURES:
            raise ValueError(f"{WEIGHTS} is for other features: python -m benchmarks.editing_train")
        named = {k: array.astype(np.float32) for k, array in saved.items() if k not in _NO_ARRAYS}
        return cls(Layers(**named, encoder=str(saved["encoder"])), encoder)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """What each message does to its memory."""
        if not pairs:
            return []
        layers = self._layers
        inputs = np.stack([pair_inputs(p.old.text, p.old.triples, p.new, p.cosine) for p in pairs])
        logits = ((inputs - layers.mean) / layers.scale) @ layers.weights.T + layers.bias
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return [
            Judgement(same, negated, other, apart, single)
            for (same, negated, other, apart), single in zip(
                chances.tolist(), self._single(pairs), strict=True
            )
        ]

    def _single(self, pairs: Sequence[Pair]) -> list[float]:
        """For each memory the chance that it states what has one value at a time."""
        found = [0.5] * len(pairs)
        asked = {
            row: single_inputs(pair.vector, pair.old.triples)
            for row, pair in enumerate(pairs)
            if pair.vector is not None and self._same_encoder
        }
        if asked:
            logits = np.stack(list(asked.values())) @ self._layers.single
            for row, chance in zip(
                asked, 1 / (1 + np.exp(-(logits + self._layers.single_bias))), strict=True
            ):
                found[row] = float(chance)
        return found


_NO_ARRAYS = frozenset({"features", "encoder"})


def single_inputs(vector: Vectors, triples: Sequence[Triple]) -> NDArray[np.float32]:
    """The memory's vector, and whether its relations are known to be of one or several values."""
    relations = [triple.relation for triple in triples]
    known = [any(map(is_single, relations)), any(r in MANY_VALUED for r in relations)]
    return np.concatenate([vector, np.array(known, np.float32)]).astype(np.float32)


def pair_inputs(
    old: str, triples: Sequence[Triple], new: str, cosine: float
) -> NDArray[np.float32]:
    """Features of a pair: what of the memory's value and slot the message names, and its cues."""
    value, slot = value_and_slot(old, triples)
    v, s, t, o = (folded(text) for text in (value, slot, new, old))
    v, s, t_own = common(v) or v, common(s), common(t)
    named, of_slot = coverage(v, t), coverage(s, t)
    beyond = 1 - coverage(t_own, o) if t_own else 0.0
    denials, no_longer, changes, adds, again = counts(new)
    denies = float(denials > 0)
    aversion, choice = averse(old), yes_or_no(value)
    old_denies = float(counts(old)[0] > 0)
    opposed = float((denials > 0) != bool(old_denies or aversion))
    of_value, of_slot_denied = denied(new, value), denied(new, slot)
    names = _names(" ".join(new.split()[1:])) - {"I"}
    own_names = _names(value)
    numbers, own_numbers = _numbers(new), _numbers(value)
    letters = _grams(value)
    alike = len(letters & _grams(new)) / max(1, len(letters))
    decided = float(choice != 0)
    return np.array(
        [
            cosine, named, of_slot, beyond, alike,
            denials, no_longer, changes, adds, again,
            old_denies, float(choice > 0), float(choice < 0), aversion, of_value, of_slot_denied,
            float(any(name not in old for name in names)),
            sum(name in new for name in own_names) / len(own_names) if own_names else 0.5,
            (1.0 if numbers & own_numbers else -1.0) if numbers and own_numbers else 0.0,
            named * of_value, named * denies, named * (1 - denies),
            (1 - named) * denies, (1 - named) * (1 - denies),
            opposed, named * opposed, named * (1 - opposed), (1 - named) * opposed,
            aversion * denies, aversion * named, aversion * denies * named,
            decided * denies, decided * opposed, choice * denies, choice * of_slot,
            decided * of_slot,
            min(len(v), 8) / 8, min(len(t), 20) / 20,
            float(named == 1), float(named == 0), float(alike > 0.5) * denies,
            float(changes > 0) * (1 - named), float(adds > 0) * (1 - named),
            float(no_longer > 0) * named,
            min(sum(word not in o for word in t_own), 6) / 6,
        ],
        dtype=np.float32,
    )  # fmt: skip


# A message is judged beside several memories, and a memory beside many messages.


@lru_cache(maxsize=_KEPT)
def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


@lru_cache(maxsize=_KEPT)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


@lru_cache(maxsize=_KEPT)
def _grams(text: str) -> frozenset[str]:
    padded = f" {text.casefold()} "
    return frozenset(padded[i : i + _GRAM] for i in range(len(padded) - _GRAM + 1))
