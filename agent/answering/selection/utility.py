"""Utilities of memory subsets by a local model, for ``policies.rums.utility``.

Each way gives numbers in nats a token that fall where a memory helps, so that one search serves
all of them:

==================  =========================================================  ==============
``sampled``         entropy of sampled answers (RUMS equation 3)               needs nothing
``of_reference``    cross-entropy of a known good answer (PURPLE equation 4)   needs an answer
``of_question``     cross-entropy of the question after the memories           needs nothing
==================  =========================================================  ==============

The prompt is plain dialogue, as base models know it: with a chat template the answers of small
models are so alike that memories hardly change their entropy (docs/rums.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.language.injection import as_data
from agent.ports import RewardModel
from policies.rums.selectors import Asking, Texts

SAMPLES, TOKENS, TEMPERATURE = 5, 20, 0.7
"""The paper's (sections 3.3 and 4.1, appendix A.1)."""


def plain(question: str, memories: Texts = ()) -> str:
    """A dialogue in plain text; memories stand before it."""
    return f"{known(memories)}User: {question}\nAssistant:"


def known(memories: Texts) -> str:
    """The line that tells of the user; nothing where there is nothing to tell."""
    return f"About the user: {' '.join(memories)}\n" if memories else ""


def sampled(
    rewards: RewardModel,
    *,
    samples: int = SAMPLES,
    max_tokens: int = TOKENS,
    temperature: float = TEMPERATURE,
    seed: int = 0,
    form: Callable[[str, Texts], str] = plain,
) -> Asking:
    """Entropies of answers that the model samples with each list of memories."""

    def entropies(question: str, lists: Sequence[Texts]) -> list[tuple[float, ...]]:
        prompts = [form(as_data(question), [as_data(text) for text in texts]) for texts in lists]
        found = rewards.entropy(
            prompts, samples=samples, max_tokens=max_tokens, temperature=temperature, seed=seed
        )
        return [entropy.samples for entropy in found]

    return entropies


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
