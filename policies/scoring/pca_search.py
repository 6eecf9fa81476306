"""Two-stage cosine search: PCA prefilter, then exact scores.

Reading 100,000 vectors of 384 numbers takes longer than a selection may. So each has an outline:
its part in the ``AXES`` directions in which this person's memories differ most, which hold most of
what tells them apart. Outlines decide only which memories are looked at closely
(``policies.baselines.fusion``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.scoring.ranking import similar
from store.derived.view import GraphView
from store.tables.vectors import product
from store.types import Memory

AXES = 128
"""Directions of an outline."""
CLOSELY = 20_000
"""Memories up to which all are looked at closely."""
_SAMPLE = 8192
_BLOCK = 8192


class PcaVectors:
    """Outlines by number, kept in a cache.

    Their directions are those of the memories there were when they were first needed, so two
    processes may make other outlines of the same home; both look closely at what they find.
    """

    def __init__(self) -> None:
        self.axes: NDArray[np.float32] | None = None
        """Shape (dimension, AXES)."""
        self._rows = np.zeros((0, AXES), np.float32)
        self._made = np.zeros(0, bool)

    def catch_up(self, memories: Sequence[Memory]) -> None:
        """Vectors are the view's, not the memory's: ``of`` catches up."""

    def of(self, view: GraphView) -> NDArray[np.float32]:
        """The outlines of a view, a row each."""
        numbers = view.numbers
        if self.axes is None:
            sample = view.vectors[:: max(1, len(view.vectors) // _SAMPLE)]
            _, directions = np.linalg.eigh(sample.T @ sample)  # rising by how much they hold
            self.axes = np.ascontiguousarray(directions[:, -AXES:], np.float32)
        self._reserve(int(numbers.max()) + 1)
        new = np.flatnonzero(~self._made[numbers])
        for start in range(0, len(new), _BLOCK):
            rows = new[start : start + _BLOCK]
            self._rows[numbers[rows]] = view.vectors[rows] @ self.axes
        self._made[numbers[new]] = True
        first, count = int(numbers[0]), len(numbers)
        if np.array_equal(numbers, np.arange(first, first + count)):
            return self._rows[first : first + count]  # nothing was edited: no copy is needed
        return self._rows[numbers]

    def _reserve(self, count: int) -> None:
        if count > len(self._made):
            room = count + count // 8
            rows = np.zeros((room, AXES), np.float32)
            rows[: len(self._rows)] = self._rows
            made = np.zeros(room, bool)
            made[: len(self._made)] = self._made
            self._rows, self._made = rows, made


def roughly(question: Question, view: GraphView) -> tuple[NDArray[np.float32], bool]:
    """The similarity of every row, and whether it is that of outlines only."""
    if len(view.memories) <= CLOSELY or len(question.vector) <= AXES:
        return similar(question, view), False
    outlines = view.once(_outlines)
    axes = view.index(PcaVectors).axes
    assert axes is not None  # made with the outlines
    return product(outlines, question.vector @ axes), True


def exactly(
    question: Question,
    view: GraphView,
    found: NDArray[np.float32],
    rows: NDArray[np.intp],
) -> NDArray[np.float32]:
    """The similarities found, looked at closely in some rows and in what was told beside them."""
    closely = np.concatenate([rows, *(beside[rows] for beside in view.neighbours)])
    closely = np.unique(closely[closely >= 0])
    found[closely] = product(view.vectors[closely], question.vector)
    return found


def _outlines(view: GraphView) -> NDArray[np.float32]:
    return view.index(PcaVectors).of(view)
