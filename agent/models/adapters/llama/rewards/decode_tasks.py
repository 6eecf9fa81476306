"""Decode tasks: score a continuation, or advance samples.

A task looks at rows and takes what was seen. Looking changes nothing, so rows of one batch are
looked at on several threads; taking happens on one, in the order of the batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.models.adapters.llama.prefix_tree import Node
from agent.models.adapters.llama.rewards.logits import Row, RowReader

Found = TypeVar("Found")
Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""Token ids of a prompt and of its continuation."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled continuation and the entropies (nats) of the distributions it was drawn from."""

    tokens: tuple[int, ...]
    plain: tuple[float, ...]
    """Of the model's own distribution, a number a token."""
    tempered: tuple[float, ...]
    """Of the distribution at the sampling temperature."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How samples are drawn: sample ``number`` takes the numbers of ``(seed, number)`` alone."""

    max_tokens: int
    temperature: float
    seed: int

    def uniforms(self, number: int) -> NDArray[np.float64]:
        """One number in [0, 1) a token. The same for every prompt: differences between prompts
        then owe less to chance (common random numbers)."""
        return np.random.default_rng([self.seed, number]).random(self.max_tokens)


@dataclass(slots=True)
class Stem:
    """Samples that have agreed so far: one sequence of ``length`` cells, one token a step."""

    path: int
    sequence: int
    members: list[int]
    length: int
    token: int = 0


@dataclass(frozen=True, slots=True)
class RowEntropies:
    """Of one row: entropies in nats, and the token each sample goes on with."""

    plain: float
    tempered: float
    tokens: tuple[int, ...]


class Task(Protocol[Found]):
    """What is wanted of the rows of one window."""

    pending: deque[Stem]
    """Samples to decode a token of."""

    def look(self, reader: RowReader, asking: Node | Stem, row: Row) -> Found: ...

    def take(self, asking: Node | Stem, seen: Found) -> None: ...


class Scoring:
    """Log-probabilities of given continuations. ``scores`` has an array for each pair."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pending: deque[Stem] = deque()
        self.scores = [np.zeros(len(continuation), np.float32) for _, continuation in pairs]
        self._pairs = pairs

    def look(self, reader: RowReader, asking: Node | Stem, row: Row) -> list[float]:
        assert isinstance(asking, Node)
        return [
            reader.log_probability(row, self._pairs[i][1][self._offset(i, asking)])
            for i in asking.wanting
        ]

    def take(self, asking: Node | Stem, seen: list[float]) -> None:
        assert isinstance(asking, Node)
        for i, number in zip(asking.wanting, seen, strict=True):
            self.scores[i][self._offset(i, asking)] = number

    def _offset(self, index: int, node: Node) -> int:
        return node.position - len(self._pairs[index][0]) + 1


@dataclass(slots=True)
class _Growing:
    tokens: list[int] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    tempered: list[float] = field(default_factory=list)


class Growth:
    """Samples ``numbers`` of each of ``paths`` paths, whose sequences have the paths' numbers.

    Samples of one prompt stay one sequence until they draw different tokens; then ``fork(source,
    length)`` makes another of the first ``length`` cells and names it.
    """

    def __init__(
        self,
        paths: int,
        numbers: Sequence[int],
        drawing: Drawing,
        ends: Callable[[int], bool],
        fork: Callable[[int, int], int],
    ) -> None:
        self.pending: deque[Stem] = deque()
        self._numbers = list(numbers)
        self._drawing = drawing
        self._uniforms = {number: drawing.uniforms(number) for number in numbers}
        self._growing = [{number: _Growing() for number in numbers} for _ in range(paths)]
        self._ends = ends
        self._fork = fork

    def look(self, reader: RowReader, asking: Node | Stem, row: Row) -> RowEntropies:
        plain, tempered = reader.entropies(row, self._drawing.temperature)
        members, step = self._numbers, 0
        if isinstance(asking, Stem):
            members = asking.members
            step = len(self._growing[asking.path][members[0]].tokens)
        if self._drawing.temperature > 0:
            tokens = tuple(reader.draw(self._uniforms[number][step]) for number in members)
        else:
            tokens = (int(row.argmax()),) * len(members)
        return RowEntropies(plain, tempered, tokens)

    def take(self, asking: Node | Stem, seen: RowEntropies) -> None:
        if isinstance(asking, Stem):
            self._advance(asking, seen)
            return
        for path in asking.wanting:
            self._advance(Stem(path, path, self._numbers, asking.position + 1), seen)

    def _advance(self, stem: Stem, seen: RowEntropies) -> None:
        taken: dict[int, list[int]] = {}
        for number, token in zip(stem.members, seen.tokens, strict=True):
            sample = self._growing[stem.path][number]
            sample.tokens.append(token)
            sample.plain.append(seen.plain)
            sample.tempered.append(seen.tempered)
            if not self._ends(token) and len(sample.tokens) < self._drawing.max_tokens:
                taken.setdefault(token, []).append(number)
        for index, (token, members) in enumerate(taken.items()):
            sequence = self._fork(stem.sequence, stem.length) if index else stem.sequence
            self.pending.append(Stem(stem.path, sequence, members, stem.length, token))

    def samples(self) -> list[list[Sample]]:
        """Of each path, in the order of ``numbers``."""
        return [
            [
                Sample(tuple(s.tokens), tuple(s.plain), tuple(s.tempered))
                for s in (of_path[number] for number in self._numbers)
            ]
            for of_path in self._growing
        ]
