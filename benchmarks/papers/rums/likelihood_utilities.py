"""Utilities of memory subsets by likelihood, to compare with the entropy of sampled answers.

Each gives numbers in nats a token that fall where a memory helps, so that one search serves both
and ``agent.answering.selection.utility.sampled``:

==================  =========================================================  ==============
``of_reference``    cross-entropy of a known good answer (PURPLE equation 4)   needs an answer
``of_question``     cross-entropy of the question after the memories           needs nothing
==================  =========================================================  ==============
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.selection.utility import known, plain
from agent.language.injection import as_data
from agent.ports import RewardModel
from policies.rums.selectors import Asking, Texts


def of_reference(rewards: RewardModel, reference: str) -> Asking:
    """How unlikely the model finds a good answer with each list: one number, no chance in it."""

    def entropies(question: str, lists: Sequence[Texts]) -> list[tuple[float, ...]]:
        prompts = [plain(as_data(question), [as_data(text) for text in texts]) for texts in lists]
        return _unlikely(rewards, prompts, f" {reference}")

    return entropies


def of_question(rewards: RewardModel) -> Asking:
    """How unlikely the model finds the question itself after each list (Sachan et al., 2022).

    By the symmetry of mutual information, what makes a question likely is what it is about.
    """

    def entropies(question: str, lists: Sequence[Texts]) -> list[tuple[float, ...]]:
        prompts = [f"{known([as_data(text) for text in texts])}User:" for texts in lists]
        return _unlikely(rewards, prompts, f" {as_data(question)}")

    return entropies


def _unlikely(
    rewards: RewardModel, prompts: Sequence[str], continuation: str
) -> list[tuple[float, ...]]:
    scores = rewards.log_likelihood(prompts, [continuation] * len(prompts))
    return [(-float(score.mean()),) for score in scores]
