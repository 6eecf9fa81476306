"""The form reader: which words of a memory go into a field, or none of them.

Both halves are small networks on the frozen sentence encoder. One says what kind of thing a field
asks for, the other what kind of thing each run of words of a memory is; "" is the kind of what
stays empty and of what is no value. ``benchmarks.forms_train`` makes the weights; they fit one
encoder only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.ports import Vectors, WordEncoder, Words
from policies.weight_file import read_arrays

WEIGHTS = Path(__file__).parent / "data" / "forms.npz"
LONGEST = 9
"""Most words, as people part them by spaces, of a value."""
SHAPES = 10
PARTS = ("first", "last", "mean", "before", "after")
_EDGES = ".,;:!?()[]{}\"'“”‘’"


@dataclass(frozen=True, slots=True)
class Run:
    """Whole words of a text that may be a value: from, to; rows of its states."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BestRun:
    """The best run for a field, and how likely it is right."""

    start: int
    end: int
    chance: float


@dataclass(frozen=True, slots=True)
class KindMatch:
    """Of a field and a value: how likely each is of a known kind, and both of the same one."""

    field: float
    value: float
    both: float


def runs(text: str, words: Words) -> list[Run]:
    """All runs of whole words, without the marks around them; none is a part of a word."""
    chunks: list[tuple[int, int, int, int]] = []
    at = 0
    for piece in text.split():
        start = text.index(piece, at)
        at = start + len(piece)
        inner = piece.lstrip(_EDGES)
        left = start + len(piece) - len(inner)
        right = left + len(inner.rstrip(_EDGES))
        rows = [n for n, (a, b) in enumerate(words.places) if a >= left and b <= right]
        if rows and left < right:
            chunks.append((left, right, rows[0], rows[-1]))
    return [
        Run(chunks[i][0], chunks[j][1], chunks[i][2], chunks[j][3])
        for i in range(len(chunks))
        for j in range(i, min(len(chunks), i + LONGEST))
    ]


@dataclass(frozen=True, slots=True)
class EncodedRuns:
    """What the network sees of a text's runs: states with a blank row on both sides, where each
    run begins and ends in them, and its shape."""

    states: Vectors
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    shape: Vectors


def seen(text: str, words: Words, found: Sequence[Run]) -> EncodedRuns:
    """The runs of a text, for the network."""
    blank = np.zeros((1, words.states.shape[1]), np.float32)
    return EncodedRuns(
        np.concatenate([blank, words.states, blank]),
        np.array([run.first + 1 for run in found], np.intp),
        np.array([run.last + 1 for run in found], np.intp),
        np.array([_shape(text[run.start : run.end]) for run in found], np.float32),
    )


def _shape(value: str) -> tuple[float, ...]:
    count = len(value)
    digits = sum(c.isdigit() for c in value)
    upper = sum(c.isupper() for c in value)
    return (
        digits / count,
        upper / count,
        float(value[0].isupper()),
        float(value[0].isdigit()),
        float("@" in value),
        float(" " in value),
        min(count, 40) / 40,
        float("." in value),
        float(any(c in "+-/" for c in value)),
        float(digits >= 4),
    )


class FormReader:
    """The trained reader, on the word states of an encoder."""

    def __init__(self, encoder: WordEncoder, weights: Path = WEIGHTS) -> None:
        self._encoder = encoder
        self._w, self.kinds, self.keys = _stored(weights)

    def kinds_of(self, asked: Sequence[str]) -> Vectors:
        """Of each field the probability of each of ``kinds``; the kind "" stays empty."""
        return softmax(_layers(self._encoder.encode(asked), self._w, "kind"))

    def read(self, texts: Sequence[str], asked: Vectors) -> list[list[BestRun | None]]:
        """Of each text, for each field of ``kinds_of`` the run that fills it best.

        The chance is that of both being of one kind, whichever.
        """
        said = self._encoder.encode_words(texts)
        return [self._one(t, w, asked) for t, w in zip(texts, said, strict=True)]

    def match(self, text: str, start: int, end: int, asked: Vectors) -> KindMatch:
        """Whether words of a text are of the kind that a field asks for, a row of ``kinds_of``."""
        (words,) = self._encoder.encode_words([text])
        found = runs(text, words)
        valued = self._valued()
        field = asked[valued]
        if not found:
            return KindMatch(float(field.sum()), 0.0, 0.0)
        run = min(found, key=lambda one: abs(one.start - start) + abs(one.end - end))
        value = softmax(_spans(seen(text, words, [run]), self._w))[0][valued]
        return KindMatch(float(field.sum()), float(value.sum()), float(field @ value))

    def _valued(self) -> NDArray[np.bool_]:
        """Which ``kinds`` are those of a value."""
        return np.array([kind != "" for kind in self.kinds])

    def _one(self, text: str, words: Words, asked: Vectors) -> list[BestRun | None]:
        found = runs(text, words)
        if not found:
            return [None] * len(asked)
        valued = self._valued()
        kinds = softmax(_spans(seen(text, words, found), self._w))
        chances = asked[:, valued] @ kinds[:, valued].T
        best = chances.argmax(axis=1)
        return [
            BestRun(found[n].start, found[n].end, float(chances[row, n]))
            for row, n in enumerate(best)
        ]


def softmax(logits: Vectors) -> Vectors:
    """Probabilities, row by row."""
    made: Vectors = np.exp(logits - logits.max(axis=1, keepdims=True))
    made /= made.sum(axis=1, keepdims=True)
    return made


def _spans(text: EncodedRuns, weights: dict[str, Vectors]) -> Vectors:
    """A vector a run: of its first and last word, the mean of all, those beside it, its shape."""
    first, last = text.first, text.last
    parts = {n: text.states @ weights[f"span.{n}.weight"].T for n in PARTS}
    sums = np.cumsum(parts["mean"], axis=0)
    inner = text.shape @ weights["span.shape.weight"].T + weights["span.shape.bias"]
    inner += parts["first"][first] + parts["last"][last]
    inner += parts["before"][first - 1] + parts["after"][last + 1]
    inner += (sums[last] - sums[first - 1]) / (last + 1 - first)[:, None]
    out: Vectors = np.maximum(inner, 0) @ weights["span.out.weight"].T + weights["span.out.bias"]
    return out


def _layers(x: Vectors, weights: dict[str, Vectors], name: str) -> Vectors:
    inner = x @ weights[f"{name}.0.weight"].T + weights[f"{name}.0.bias"]
    out: Vectors = np.maximum(inner, 0) @ weights[f"{name}.2.weight"].T
    out += weights[f"{name}.2.bias"]
    return out


@cache
def _stored(weights: Path) -> tuple[dict[str, Vectors], tuple[str, ...], tuple[str, ...]]:
    """The networks, the kinds, and the key of the form vocabulary that each kind has, or ""."""
    stored = read_arrays(weights)
    arrays = {name: array.astype(np.float32) for name, array in stored.items() if "." in name}
    return arrays, tuple(stored["kinds"].tolist()), tuple(stored["keys"].tolist())


@cache
def _made_for() -> str:
    if not WEIGHTS.exists():
        return ""
    return str(read_arrays(WEIGHTS, ("encoder",))["encoder"])


def form_reader(encoder: object) -> FormReader | None:
    """The reader on this encoder; None where no weights fit it."""
    if not isinstance(encoder, WordEncoder) or encoder.identity != _made_for():
        return None
    return FormReader(encoder)
