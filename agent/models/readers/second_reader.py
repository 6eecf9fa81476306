"""The language model as a second reader of statements.

What the model has made of a pair of texts is read off its hidden state by a linear classifier,
which was learned together with the adapter with which it reads (``adapters.reading_adapter``);
``benchmarks.adapter_fit`` writes the weights. It knows more of the world than the statement reader,
makes other mistakes and is a hundred times as slow, so it is asked about few pairs, and both
opinions count. So does how near the two texts are, of which neither reader knows
(``benchmarks.pair_mix``).

How much they count depends on the home. Where two things were told, the same opinions mean a change
far more often than among a hundred, and the cosine tells nothing. So there are weights for homes of
little and of much, and of much the number of older texts is a sign, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeGuard

import numpy as np

from agent.language.injection import as_data
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, HiddenStateModel, LanguageModel, Vectors
from policies.weight_file import read_arrays

WEIGHTS = Path(__file__).parent / "data" / "second_reader.npz"
BEGIN = fixed(
    "A person tells an assistant things over time. You see a new message and an old note of "
    "the same person. Does the new message mean that the old note is no longer true?"
)
"""The instruction. The states depend on every word of it."""


def about_change(old: str, new: str) -> str:
    """What is asked about an older and a newer text."""
    return f"New message: {as_data(new)}\nOld note: {as_data(old)}"


TWO, FEW = 2, 5
"""Older texts up to which a home is of little, from which of much. Between the two the weights of
both count."""
MANY = 20
"""Older texts from which their number says nothing."""


class Beside(NamedTuple):
    """What is known of a pair beside its words."""

    rivals: float
    """How likely the other older texts are that the same new one may change (``rivals``): they
    compete."""
    there: int
    """How many older texts there are, this one among them."""
    near: float | None
    """Cosine of the two, the new one in its context (``candidates.in_context``). None where it
    tells nothing: of another encoder the weights know nothing, and to the built-in one all that is
    not English is alike."""


class SecondReader:
    """Both opinions about pairs, weighed.

    :param weights: how a state is read (``weight``, ``bias``), and for homes of much and of little
        (first and second row) how the signs are mixed, with the cosine (``mix``) and without
        (``mix_of_words``); ``layer`` of the model.
    """

    def __init__(self, model: HiddenStateModel, weights: dict[str, Vectors]) -> None:
        self._model = model
        self._weights = weights
        self._layer = int(weights["layer"])

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[Beside]
    ) -> Vectors:
        """Of each (older, newer) pair the probability of a change; ``first`` is the statement
        reader's.
        """
        if not pairs:
            return np.zeros(0, np.float32)
        asked = [ChatTurn("user", about_change(old, new)) for old, new in pairs]
        states = self._model.states([(*BEGIN, turn) for turn in asked], layer=self._layer)
        return both_mixed(first, beside, self._weights, states)


def logit(chances: Sequence[float] | Vectors) -> Vectors:
    """Log-odds of probabilities; certainty counts as one in a thousand."""
    held = np.clip(np.asarray(chances, np.float32), 1e-3, 1 - 1e-3)
    odds: Vectors = np.log(held / (1 - held))
    return odds


def rivals(chances: Sequence[float] | Vectors) -> Vectors:
    """Of each of several probabilities, the logarithm of one and the odds of all others."""
    odds = np.exp(logit(chances))
    beside: Vectors = np.log1p(odds.sum() - odds)
    return beside


def both_mixed(
    first: Sequence[float],
    beside: Sequence[Beside],
    weights: Mapping[str, Vectors],
    states: Vectors | None = None,
) -> Vectors:
    """The probability of a change by the weights of both kinds of home.

    With the hidden ``states`` of pairs (n, width), else by the statement reader alone.
    """
    there = np.array([one.there for one in beside], np.float32)
    near = np.array([one.near if one.near is not None else np.nan for one in beside], np.float32)
    others = np.array([one.rivals for one in beside], np.float32)
    signs = [logit(first), others, size(there)]
    if states is not None:
        signs.insert(1, states @ weights["weight"] + weights["bias"])
    mix = "alone" if states is None else "mix"
    score = np.where(
        np.isnan(near),
        of_homes(there, signs, weights[f"{mix}_of_words"]),
        of_homes(there, [*signs, near], weights[mix]),
    )
    return np.asarray(1 / (1 + np.exp(-score)), np.float32)


def size(there: Sequence[float] | Vectors) -> Vectors:
    """The number of older texts, as a sign: the logarithm of how many fewer than ``MANY``."""
    held: Vectors = np.log(MANY / np.clip(np.asarray(there, np.float32), TWO, MANY))
    return held


def of_homes(there: Vectors, signs: Sequence[Sequence[float] | Vectors], mix: Vectors) -> Vectors:
    """Log-odds by the weights of homes of much and of little."""
    much = np.clip((there - TWO) / (FEW - TWO), 0, 1)
    both = much * log_odds(signs, mix[0]) + (1 - much) * log_odds(signs, mix[1])
    return np.asarray(both, np.float32)


def mixed(signs: Sequence[Sequence[float] | Vectors], mix: Vectors) -> Vectors:
    """The probability by several signs."""
    return np.asarray(1 / (1 + np.exp(-log_odds(signs, mix))), np.float32)


def log_odds(signs: Sequence[Sequence[float] | Vectors], mix: Vectors) -> Vectors:
    """Signs weighed: ``mix`` is the weight of each and the bias."""
    return np.asarray(np.asarray(signs, np.float32).T @ mix[:-1] + mix[-1], np.float32)


def alone(first: Sequence[float], beside: Sequence[Beside]) -> Vectors:
    """The probability of a change where nobody asks the language model.

    The statement reader learned from pairs that were chosen for it. Among all that a person tells
    a change is rarer than there, so its probability is weighed.
    """
    weights = _weights()
    if weights is None or not first:
        return np.asarray(first, np.float32)
    return both_mixed(first, beside, weights)


def knows_nearness(encoder: str) -> bool:
    """Whether the weights know what a cosine of this encoder means."""
    weights = _weights()
    return weights is not None and encoder == str(weights["encoder"])


def second_reader(model: LanguageModel) -> SecondReader | None:
    """The second reader; None where no weights fit the model, or it is not in memory."""
    weights = _weights()
    if weights is None or not tells_states(model) or not model.loaded:
        return None
    # Only now: to know the identity of a model its file has to be there.
    return SecondReader(model, weights) if model.identity == str(weights["model"]) else None


def tells_states(model: LanguageModel) -> TypeGuard[HiddenStateModel]:
    """Whether the model has hidden states to read; asks its class, so nothing is loaded."""
    return callable(getattr(type(model), "states", None))


@cache
def _weights() -> dict[str, Vectors] | None:
    return read_arrays(WEIGHTS) if WEIGHTS.exists() else None
