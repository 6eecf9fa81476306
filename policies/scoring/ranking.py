"""Selection from scores, shared by all ranking policies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.selection import Choice, Selection, Step
from store.derived.view import GraphView
from store.tables.vectors import product

SHOWN = 5
"""Memories beyond the chosen ones that the trace names."""


def best(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Rows of the ``count`` highest scores, best first; of equals the earlier row."""
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        rows = np.flatnonzero(scores >= least)
    else:
        rows = np.arange(len(scores))
    return rows[np.argsort(-scores[rows], kind="stable")][:count]


def similar(question: Question, view: GraphView) -> NDArray[np.float32]:
    """The cosine similarity of every row with the question."""
    if not view.memories:
        return np.zeros(0, np.float32)
    return product(view.vectors, question.vector)


def selection(
    name: str,
    question: Question,
    view: GraphView,
    chosen: Sequence[int],
    beyond: Sequence[int],
    why: str,
    why_not: str,
) -> Selection:
    """The selection of some rows, best first, and the trace of it.

    A choice's score is the cosine similarity with the question, whatever the policy ranks by: what
    is shown beside a memory, and checked against a floor, means the same for all policies.
    """
    rows = np.array([*chosen, *beyond], np.intp)
    scores = np.clip(view.vectors[rows] @ question.vector, 0.0, 1.0) if len(rows) else rows
    listed = [(view.memories[row], float(s)) for row, s in zip(rows, scores, strict=True)]
    taken, left = listed[: len(chosen)], listed[len(chosen) :]
    return Selection(
        name,
        tuple(Choice(memory, score) for memory, score in taken),
        tuple(
            [Step(memory.id, score, True, why) for memory, score in taken]
            + [Step(memory.id, score, False, why_not) for memory, score in left]
        ),
    )


def top(
    name: str,
    question: Question,
    view: GraphView,
    scores: NDArray[np.floating],
    k: int,
    why: str,
    *,
    above: float | None = None,
) -> Selection:
    """The ``k`` rows of the highest scores; with ``above`` only those that have more."""
    rows = best(scores, k + SHOWN)
    if above is not None:
        rows = rows[scores[rows] > above]
    return selection(
        name, question, view, rows[:k].tolist(), rows[k:].tolist(), why, f"beyond the first {k}"
    )
