"""Secret reader: which words of a text open something, by what is said around them.

The sentence encoder with low-rank adapters (LoRA, Hu et al., 2022) in each layer, and a small
convolution over its tokens that gives each the probability of each kind of secret.
``benchmarks.secrets_train`` makes the weights; they fit one encoder only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.models.adapters.bert.encoder import Bert, Hidden
from agent.models.adapters.bert.onnx_graph import Graph
from agent.models.adapters.bert.safetensors_file import mapped_weights
from agent.models.timing import measured
from agent.ports import SecretsRead, Vectors
from policies.weight_file import read_arrays

KINDS = (
    "",
    "password",
    "PIN",
    "one-time code",
    "access token",
    "identity number",
    "card number",
    "card security code",
    "bank account",
)
"""What a token is part of; "" is what may be stored."""
MAX_TOKENS = 512
SCALE = 2.0
"""By what the product of an adapter's two matrices is multiplied."""
REACH = (1, 2)
"""Distance between the tokens that each convolution sees."""
SEEN = 5
"""How many tokens each convolution sees."""
SURE = 0.95
"""Probability from which a word is taken out: what is taken out is lost. Of a thousand everyday
messages of voices and chats held out two are touched (``benchmarks.secrets``)."""
MAYBE = 0.3
"""Probability from which something may be a secret: what a label calls one is taken out then, and a
token between two that are."""
WINDOW, BEFORE, INSIDE = 400, 100, 60
"""Most characters of a line that are read at once, of a line before it that is read with it, and of
a cut line that stand before its next piece."""
_EDGES = "\"'`.,;:!?()[]“”„«»"
Secret = tuple[int, int, str]
"""Start, end and kind."""


class TrainedSecretReader:
    """The trained reader; fulfils ``agent.ports.SecretReader``. Several threads may use it.

    :param folder: The encoder that the weights were trained on.
    :param weights: A npz file: the adapters by the name of the matrix that they change, the head.
    :param threads: Most threads that read at the same time; 0 is one a processor.
    """

    def __init__(self, folder: Path, weights: Path, *, threads: int = 0) -> None:
        stored = {
            name: array.astype(np.float32)
            for name, array in read_arrays(weights).items()
            if array.dtype.kind == "f"
        }
        self._bert = Bert(folder, threads=threads, changed=_adapted(folder, stored), int8=True)
        self._head = _head(
            {
                name.removeprefix("head."): array
                for name, array in stored.items()
                if name.startswith("head.")
            }
        )

    @measured("secret reader")
    def secrets(self, text: str) -> SecretsRead:
        """See ``agent.ports.SecretReader``."""
        # Where no letter is, nothing is said.
        told = [(start, piece) for start, piece in windows(text) if any(map(str.isalpha, piece))]
        starts, pieces = [start for start, _ in told], [piece for _, piece in told]
        sure: set[Secret] = set()
        perhaps: list[tuple[int, int]] = []
        for batch in self._bert.hidden(pieces, MAX_TOKENS):
            read = [pieces[row] for row in batch.rows]
            for row, text, places, chances in zip(
                batch.rows, read, batch.places, self._chances(read, batch), strict=True
            ):
                begin, own = starts[row], chances[: len(places)]
                sure |= {
                    (begin + start, begin + end, kind)
                    for start, end, kind in spans(text, places, own)
                }
                perhaps += [
                    (begin + start, begin + end)
                    for start, end, _ in spans(text, places, own, MAYBE)
                ]
        return SecretsRead(tuple(sorted(sure)), tuple(_joined(perhaps)))

    def _chances(self, texts: Sequence[str], batch: Hidden) -> Vectors:
        """Probabilities of the tokens of a batch, (batch, tokens, kinds)."""
        looks = np.zeros((*batch.mask.shape, SHAPES), np.float32)
        for row, (text, places) in enumerate(zip(texts, batch.places, strict=True)):
            looks[row, : len(places)] = shapes(text, places)
        tokens = np.concatenate([batch.states, looks], axis=2)
        (chances,) = self._head.run(None, {"tokens": tokens, "mask": batch.mask[:, None, :]})
        made: Vectors = chances
        return made


Places = Sequence[tuple[int, int]]


def _adapted(folder: Path, stored: dict[str, Vectors]) -> dict[str, Vectors]:
    """The encoder's matrices with their adapters added."""
    base = mapped_weights(folder / "model.safetensors")
    names = [name.removesuffix(".down") for name in stored if name.endswith(".down")]
    return {
        name: base[name] + SCALE * (stored[f"{name}.up"] @ stored[f"{name}.down"]) for name in names
    }


def _head(weights: dict[str, Vectors]) -> Any:
    """The head as a session: states and shapes, (batch, tokens, numbers), to probabilities.

    Each convolution adds to the layer before; no text is longer than its ``mask``, (batch, 1,
    tokens).
    """
    graph = Graph()
    inner, outer = weights["first.weight"].T, weights["last.weight"].T
    x = graph.input("tokens", ("batch", "tokens", len(inner)), np.float32)
    mask = graph.input("mask", ("batch", 1, "tokens"), np.float32)

    def linear(x: str, name: str, matrix: Vectors) -> str:
        x = graph.add("MatMul", x, graph.weight(f"{name}.weight", matrix))
        return graph.add("Add", x, graph.weight(f"{name}.bias", weights[f"{name}.bias"]))

    x = graph.add("Relu", linear(x, "first", inner))
    layers = [graph.add("Mul", graph.add("Transpose", x, perm=[0, 2, 1]), mask)]
    for number, reach in enumerate(REACH):
        name = f"convolution{number}"
        own = (graph.weight(f"{name}.{part}", weights[f"{name}.{part}"]) for part in _PARTS)
        edge = reach * (SEEN // 2)
        made = graph.add("Conv", layers[-1], *own, dilations=[reach], pads=[edge, edge])
        x = graph.add("Add", layers[-1], graph.add("Relu", made))
        layers.append(graph.add("Mul", x, mask))
    x = graph.add("Transpose", graph.add("Concat", *layers, axis=1), perm=[0, 2, 1])
    x = graph.add("Softmax", linear(x, "last", outer), axis=-1)
    return graph.session(x, ("batch", "tokens", len(KINDS)))


_PARTS = ("weight", "bias")


def windows(text: str) -> Iterator[tuple[int, str]]:
    """Start and text of what is read at once: each line alone, as those that were learned from.

    A line below a short one is read with that too: it may be a label, or the sentence began there.
    Whole notes at once hid half of the secrets that single lines show.
    """
    start = before = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        if line.strip():
            yield from _pieces(text, start, end)
            if 0 < start - before <= BEFORE:
                yield before, text[before : min(end, start + WINDOW)]
            before = start  # of the last line that says something
        start = end


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """A line, or where it is longer than a window the pieces of it, cut at spaces."""
    before = start
    while end - start > WINDOW:
        cut = text.rfind(" ", start + 1, start + WINDOW) + 1 or start + WINDOW
        yield before, text[before:cut]
        start, before = cut, max(start, cut - INSIDE)
    yield before, text[before:end]


def shapes(text: str, places: Places) -> Vectors:
    """How each token looks in its text, and the run without spaces that it is part of."""
    runs = [(start, end, _of_run(text, start, end)) for start, end in _runs_of(text)]
    made = np.zeros((len(places), SHAPES), np.float32)
    at = 0
    for row, (start, end) in enumerate(places):
        if start == end or not runs:
            continue  # the marks around a text
        while runs[at][1] <= start and at + 1 < len(runs):
            at += 1
        first, last, run = runs[at]
        sign = text[start]
        of_token = (start == first, end == last, sign.isupper(), sign.isdigit(), not sign.isalnum())
        made[row] = (*run, *of_token)
    return made


SHAPES = 22
"""Numbers of a shape: of the run, and of the token in it."""


def _runs_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the runs without spaces stand."""
    at = 0
    for run in text.split():
        start = text.index(run, at)
        at = start + len(run)
        yield start, at


def _of_run(text: str, start: int, end: int) -> tuple[float, ...]:
    run = text[start:end]
    core = run.strip(_EDGES)
    digits, lower, upper = (
        any(map(kind, core)) for kind in (str.isdigit, str.islower, str.isupper)
    )
    signs = not core.isalnum() and bool(core)
    turns = sum(
        a.isdigit() != b.isdigit() or (a.islower() and b.isupper()) for a, b in pairwise(run)
    )
    capital = core[:1].isupper()
    begins = start == 0 or "\n" in text[max(0, start - 2) : start]
    return (
        digits, lower, upper, signs, digits and (lower or upper), lower and upper and not capital,
        capital, core.isupper() and len(core) > 1, min(len(core), 40) / 20, len(core) >= 12,
        len(core) >= 20, min(turns, 10) / 5, begins, core.isdigit(),
        core.isdigit() and len(core) == 4, core.isdigit() and len(core) == 6,
        ":" in run[:-1] or "=" in run,
    )  # fmt: skip


def spans(text: str, places: Places, chances: Vectors, sure: float = SURE) -> list[Secret]:
    """The runs of tokens that are a secret, each from the first to the last letter of its words."""
    secret = 1 - chances[:, 0]
    secret[[start == end for start, end in places]] = 0  # the marks around a text
    found: list[Secret] = []
    for first, last in _runs(secret >= sure, secret >= sure * MAYBE):
        start, end = _whole(text, places[first][0], places[last][1])
        kind = KINDS[1 + int(chances[first : last + 1, 1:].sum(axis=0).argmax())]
        if end - start >= _SHORTEST:
            found.append((start, end, kind))
    return found


_SHORTEST = 3


def _runs(sure: NDArray[np.bool_], maybe: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First and last of each run of tokens; what may be secret joins two that surely are."""
    first = last = -1
    for row, is_sure in enumerate(sure):
        if is_sure:
            if first < 0:
                first = row
            elif not maybe[last:row].all():
                yield first, last
                first = row
            last = row
    if first >= 0:
        yield first, last


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """In order, with those that overlap made one."""
    first = last = -1
    for start, end in sorted(spans):
        if start < last:
            last = max(last, end)
            continue
        if last >= 0:
            yield first, last
        first, last = start, end
    if last >= 0:
        yield first, last


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """With the rest of the words at both ends."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end
