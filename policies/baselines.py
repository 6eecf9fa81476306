"""Policies without learning: what every learned one is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from policies.base import Choice, Question, Selection, Step
from store.view import GraphView


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
        scores = view.vectors @ question.vector  # (n,)
        order = np.argsort(-scores, kind="stable")[: max(2 * self.k, self.k + 5)]
        chosen: list[Choice] = []
        trace: list[Step] = []
        for row in order:
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
        scores = view.vectors @ question.vector if view.memories else np.zeros(0)
        chosen = tuple(
            Choice(memory, float(np.clip(score, 0.0, 1.0)))
            for memory, score in zip(view.memories, scores, strict=True)
        )
        trace = tuple(Step(c.memory.id, c.score, True, "all are taken") for c in chosen)
        return Selection(self.name, chosen, trace)
