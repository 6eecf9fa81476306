"""Closed questions: how likely a language model answers yes.

The probability says more than the word: a small model says yes to most things, but not as surely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp

from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel

YES, NO = "yes", "no"


def worked(system: str, examples: Iterable[tuple[str, bool]]) -> tuple[ChatTurn, ...]:
    """The instruction and worked examples, with which the question begins."""
    return fixed(system, ((asked, YES if verdict else NO) for asked, verdict in examples))


def chance_of_yes(begin: Sequence[ChatTurn], asked: str, llm: LanguageModel) -> float | None:
    """The probability of yes; None from a model that tells no probabilities."""
    told: list[Sequence[float]] = []
    turns = (*begin, ChatTurn("user", asked))
    said = llm.chat(turns, max_tokens=1, on_scores=told.append).strip().lower()
    if not told:
        return None
    chance = exp(sum(told[-1]))
    return chance if said == YES else 1 - chance
