"""Abstention: probability that the chosen memories contain the answer.

A few signs of a selection go through a logistic function whose weights were fitted to questions
that memory could and could not answer (``python -m benchmarks.abstention_train``); its output is
a calibrated probability, so the threshold is a matter of what mistakes cost and of nothing else.
The signs rest on the question and the chosen memories, not on the policy that chose them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np

from policies.base import Question
from policies.selection import Choice
from policies.weight_file import read_json, write_json
from store.derived.view import GraphView
from store.types import Memory

WEIGHTS = Path(__file__).parent / "data" / "abstain.json"
SAMPLE = 2000
"""Memories that the best one is compared with; a larger home is sampled evenly."""


@dataclass(frozen=True, slots=True)
class SelectionSigns:
    """What a selection looks like to the judge."""

    best: float
    """Largest cosine similarity of a chosen memory with the question."""
    stands_out: float
    """How far that is above the home's mean, in standard deviations, at most 6."""
    covered: float
    """Share of the question's content words that the chosen memories hold together."""
    unnamed: float
    """Share of the question's names and numbers that no chosen memory holds."""
    personal: float
    """1 where the question speaks of the person (I, my, we), else 0."""
    advice: float
    """1 where it asks for advice, which a memory may bear on that says little of the same."""


@dataclass(frozen=True, slots=True)
class TextReaders:
    """How texts are read; the agent gives its own."""

    content: Callable[[str], AbstractSet[str]]
    """Words that say something, folded and stemmed."""
    names: Callable[[str], AbstractSet[str]]
    """Names, codes and numbers."""

    def about(self, memory: Memory) -> AbstractSet[str]:
        """Content words of a memory and its relations: 'I moved to X' is about where I live."""
        relations = " ".join(f"{t.head} {t.relation} {t.tail}" for t in memory.triples)
        return self.content(f"{memory.text} {relations.replace('_', ' ')}")


_ADVICE = re.compile(
    r"\b(?:should|shall|could|would|might|recommend\w*|suggest\w*|advi[cs]e|ideas?|tips?|plan|help)\b",
    re.IGNORECASE,
)
_PERSONAL = frozenset("i me my mine we us our ours i'm i've i'd i'll".split())


def signs_of(
    question: Question, view: GraphView, chosen: Sequence[Choice], reading: TextReaders
) -> SelectionSigns | None:
    """The signs of a selection from ``view``; None where nothing is chosen."""
    if not chosen:
        return None
    rows = [view.row[choice.memory.id] for choice in chosen]
    best = float((view.vectors[rows] @ question.vector).max())
    others = view.vectors[view.evenly(SAMPLE)] @ question.vector
    spread = float(others.std())
    # One memory alone stands out from nothing.
    stands_out = (best - float(others.mean())) / spread if spread > 1e-6 else 0.0
    asked = reading.content(question.text)
    held = asked & set().union(*(reading.about(choice.memory) for choice in chosen))
    # The first letter is large without a name.
    names = reading.names(question.text[:1].lower() + question.text[1:])
    named = names & set().union(*(reading.names(choice.memory.text) for choice in chosen))
    said = question.text.casefold().replace("’", "'").split()
    return SelectionSigns(
        best=best,
        stands_out=min(stands_out, 6.0),
        covered=len(held) / max(1, len(asked)),
        unnamed=1 - len(named) / len(names) if names else 0.0,
        personal=float(any(word.strip(".,;:!?") in _PERSONAL for word in said)),
        advice=float(_ADVICE.search(question.text) is not None),
    )


@dataclass(frozen=True, slots=True)
class AbstentionJudge:
    """Signs -> probability that memory holds the answer."""

    bias: float
    weights: tuple[float, ...]
    """One of each field of ``SelectionSigns``."""
    threshold: float
    """Below this probability nothing is chosen."""
    encoder: str
    """Identity of the encoder whose cosines it was fitted to; it says nothing about others'."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """From a file of ``save``.

        :raises WeightsDamaged: if it is missing or damaged.
        :raises ValueError: if it is of other signs than these.
        """
        told = read_json(path)
        names = [field.name for field in fields(SelectionSigns)]
        if list(told["weights"]) != names:
            raise ValueError(f"{path} weighs {list(told['weights'])}, not {names}")
        return cls(
            told["bias"], tuple(told["weights"].values()), told["threshold"], told["encoder"]
        )

    def save(self, path: Path) -> None:
        named = dict(
            zip((field.name for field in fields(SelectionSigns)), self.weights, strict=True)
        )
        told = {"bias": self.bias, "weights": named, "threshold": self.threshold,
                "encoder": self.encoder}  # fmt: skip
        write_json(path, told)

    def likely(self, signs: SelectionSigns) -> float:
        """Probability in [0, 1]."""
        total = self.bias + float(np.dot(self.weights, astuple(signs)))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))


@cache
def shipped() -> AbstentionJudge:
    """The judge that memlane comes with."""
    return AbstentionJudge.load(WEIGHTS)
