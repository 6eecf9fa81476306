"""Readers of statements that say what a test tells them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.models.readers.second_reader import Beside, SecondReader
from agent.ports import KINDS, ORDERS, RELATIONS, Probabilities, Vectors


class ScriptedReader:
    """Says of a pair what the words of the newer text promise; everything is relevant."""

    def __init__(
        self, changes: Sequence[str] = (), relation: str = "supersedes", relevant: float = 0.9
    ) -> None:
        self.changes = changes
        self.relation = relation
        self.relevant = relevant

    def kinds(self, statements: Sequence[str]) -> Probabilities:
        return _one_hot([KINDS.index("state")] * len(statements), len(KINDS))

    def relations(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        rows = [
            RELATIONS.index(self.relation if any(w in new for w in self.changes) else "unrelated")
            for _, new in pairs
        ]
        return _one_hot(rows, len(RELATIONS))

    def orders(self, messages: Sequence[str]) -> Probabilities:
        return _one_hot([0] * len(messages), len(ORDERS))

    def relevance(self, question: str, statements: Sequence[str]) -> Probabilities:
        return np.full((len(statements), 1), self.relevant, dtype=np.float32)


def _one_hot(rows: Sequence[int], size: int) -> Probabilities:
    made = np.zeros((len(rows), size), dtype=np.float32)
    made[range(len(rows)), list(rows)] = 1.0
    return made


class ScriptedSecond(SecondReader):
    """Gives every pair the same probability of a change."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def changes(
        self, pairs: Sequence[tuple[str, str]], first: Sequence[float], beside: Sequence[Beside]
    ) -> Vectors:
        return np.full(len(pairs), self.chance, np.float32)
