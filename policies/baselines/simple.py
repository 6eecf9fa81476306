"""Baseline policies without learning.

BM25 is in ``bm25`` beside this, fusions in ``fusion``, what asks others in ``llm_and_oracle``,
questions taken apart in ``query_decomposition``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.scoring.ranking import best, selection, similar
from policies.selection import Choice, Selection, Step
from store.derived.cache import TellingTimes
from store.derived.view import GraphView
from store.tables.vectors import product


@dataclass(frozen=True, slots=True)
class TopK:
    """The ``k`` memories most similar to the question (the paper's Naive; Ma et al., 2023)."""

    k: int = 5
    floor: float = 0.2
    """Cosine similarity below which a memory is noise rather than evidence."""
    name: str = "top-k"

    def select(self, question: Question, view: GraphView) -> Selection:
        if not view.memories:
            return Selection(self.name, (), ())
        scores = similar(question, view)
        chosen: list[Choice] = []
        trace: list[Step] = []
        for row in best(scores, max(2 * self.k, self.k + 5)):
            memory, score = view.memories[row], float(np.clip(scores[row], 0.0, 1.0))
            if score < self.floor:
                reason = f"below the floor of {self.floor}"
            elif len(chosen) == self.k:
                reason = f"beyond the first {self.k}"
            else:
                reason = "among the most similar"
                chosen.append(Choice(memory, score))
            trace.append(Step(memory.id, score, reason == "among the most similar", reason))
        return Selection(self.name, tuple(chosen), tuple(trace))


@dataclass(frozen=True, slots=True)
class AllMemories:
    """Everything, oldest first (the paper's NiaH; Briakou et al., 2023)."""

    name: str = "all"

    def select(self, question: Question, view: GraphView) -> Selection:
        rows = range(len(view.memories))
        return selection(self.name, question, view, rows, (), "all are taken", "")


@dataclass(frozen=True, slots=True)
class Recency:
    """The ``k`` memories told last, whatever is asked."""

    k: int = 5
    name: str = "recency"

    def select(self, question: Question, view: GraphView) -> Selection:
        order = view.once(_latest_first)
        return selection(
            self.name,
            question,
            view,
            order[: self.k].tolist(),
            order[self.k : self.k + 5].tolist(),
            "among those told last",
            f"told before the last {self.k}",
        )


def _latest_first(view: GraphView) -> NDArray[np.intp]:
    told = np.array(view.index(TellingTimes).at)[view.numbers]
    return np.argsort(told, kind="stable")[::-1]


@dataclass(frozen=True, slots=True)
class Chance:
    """``k`` memories drawn at random: the same ones whenever the same is asked."""

    k: int = 5
    seed: int = 0
    name: str = "random"

    def select(self, question: Question, view: GraphView) -> Selection:
        rng = np.random.default_rng((self.seed, zlib.crc32(question.text.encode())))
        count = len(view.memories)
        rows = rng.choice(count, min(self.k, count), replace=False) if count else np.zeros(0, int)
        return selection(self.name, question, view, rows.tolist(), (), "drawn at random", "")


@dataclass(frozen=True, slots=True)
class Partitioned:
    """The ``k`` most similar memories of the nearest partition (M-RAG; Wang et al., ACL 2024).

    Of M-RAG only Agent-S is here, which selects a partition of the database. Agent-R, which
    rewrites what was retrieved, is left out as EMG-RAG section 5.1 leaves it out: an answer has to
    rest on the person's own memories, which nobody may alter. Agent-S is a trained network there;
    here the partition with the nearest centre is selected, so that nothing but partitioning is
    compared. Partitions are the subclasses; memories that nobody placed are clustered instead,
    which is another of M-RAG's ways of making them.
    """

    k: int = 5
    name: str = "partitioned"

    def select(self, question: Question, view: GraphView) -> Selection:
        if not view.memories:
            return Selection(self.name, (), ())
        groups, centres = view.once(_partitions)
        rows = groups[int(np.argmax(centres @ question.vector))]
        scores = product(view.vectors[rows], question.vector)
        order = rows[best(scores, self.k + 5)].tolist()
        return selection(
            self.name,
            question,
            view,
            order[: self.k],
            order[self.k :],
            "among the most similar of the nearest partition",
            f"beyond the first {self.k}",
        )


def _partitions(view: GraphView) -> tuple[list[NDArray[np.intp]], NDArray[np.float32]]:
    """Rows and unit centre of each partition."""
    names = np.array([memory.subclass for memory in view.memories])
    found, labels = np.unique(names, return_inverse=True)
    if len(found) == 1:
        labels = _clustered(view.vectors)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    centres = np.stack([view.vectors[rows].mean(axis=0) for rows in groups])
    return groups, centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)


def _clustered(vectors: NDArray[np.float32], rounds: int = 10) -> NDArray[np.intp]:
    """Labels by spherical k-means with as many clusters as usually have twenty members."""
    count = max(1, len(vectors) // 20)
    rng = np.random.default_rng(0)
    centres = vectors[rng.choice(len(vectors), count, replace=False)]
    labels = np.zeros(len(vectors), np.intp)
    for _ in range(rounds):
        labels = np.argmax(vectors @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 1e-9, sums / np.maximum(lengths, 1e-9), centres)
    return labels
