"""Utilities of memory subsets by a local model, for ``policies.rums.utility``.

What is asked for falls where a memory helps, in nats a token: the entropy of sampled answers (RUMS
equation 3). ``benchmarks.papers.rums.likelihood_utilities`` has two others to compare with.

The prompt is plain dialogue, as base models know it: with a chat template the answers of small
models are so alike that memories hardly change their entropy (docs/rums.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from agent.language.injection import as_data
from agent.ports import RewardModel, Sampling
from policies.rums.selectors import Asking, Texts


def plain(question: str, memories: Texts = ()) -> str:
    """A dialogue in plain text; memories stand before it."""
    return f"{known(memories)}User: {question}\nAssistant:"


def known(memories: Texts) -> str:
    """The line that tells of the user; nothing where there is nothing to tell."""
    return f"About the user: {' '.join(memories)}\n" if memories else ""


def sampled(rewards: RewardModel, **sampling: Unpack[Sampling]) -> Asking:
    """Entropies of answers that the model samples with each list of memories.

    By default as the paper samples (sections 3.3 and 4.1, appendix A.1).
    """

    def entropies(question: str, lists: Sequence[Texts]) -> list[tuple[float, ...]]:
        prompts = [plain(as_data(question), [as_data(text) for text in texts]) for texts in lists]
        return [entropy.samples for entropy in rewards.entropy(prompts, **sampling)]

    return entropies
