"""Policies that ask a language model, and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from policies.base import Question
from policies.baselines.fusion import activate
from policies.scoring.ranking import SHOWN, selection
from policies.selection import Selection
from store.derived.view import GraphView

Pick = Callable[[str, Sequence[str]], Sequence[int]]
"""From a question and the texts of memories to the indices of those that answer it, best first."""
Gold = Callable[[Question], Collection[str]]
"""From a question to the ids of the memories that its answer needs."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What a language model picks from a short list (RankGPT's way; Sun et al., 2023)."""

    pick: Pick
    k: int = 5
    listed: int = 20
    """How many memories the model is shown."""
    name: str = "picked"

    def select(self, question: Question, view: GraphView) -> Selection:
        rows = [c.row for c in activate(question, view, max(self.listed, self.k))]
        if not rows:
            return Selection(self.name, (), ())
        texts = [view.memories[row].text for row in rows]
        # A model may name a number twice, or one that is not in the list.
        said = (i for i in self.pick(question.text, texts) if 0 <= i < len(rows))
        chosen = [rows[i] for i in dict.fromkeys(said)][: self.k]
        left = [row for row in rows if row not in chosen][:SHOWN]
        return selection(
            self.name, question, view, chosen, left, "picked by the model", "not picked"
        )


@dataclass(frozen=True, slots=True)
class Oracle:
    """The memories that the answer needs, by the key of a data set: the upper bound."""

    gold: Gold
    name: str = "oracle"

    def select(self, question: Question, view: GraphView) -> Selection:
        needed = set(self.gold(question))
        chosen = [row for row, memory in enumerate(view.memories) if memory.id in needed]
        return selection(self.name, question, view, chosen, (), "the answer needs it", "")
