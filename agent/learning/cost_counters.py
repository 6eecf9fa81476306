"""Cost counters: models that count their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from agent.models.reward_cache import RewardCache
from agent.ports import ChatTurn, Decoding, Entropy, LanguageModel, Prompt, RewardModel, Sampling


@dataclass(slots=True)
class Count:
    """Prompts that models worked on, and rewards that were known."""

    cache: RewardCache
    calls: int = 0
    _before: int = -1

    def __post_init__(self) -> None:
        self._before, _ = self.cache.totals()

    @property
    def hits(self) -> int:
        # Of the file, not of this object: rewards are looked up in the reward model's own process.
        hits, _ = self.cache.totals()
        return hits - self._before


@dataclass(frozen=True, slots=True)
class CountedModel:
    """A language model whose calls are counted."""

    inner: LanguageModel
    count: Count

    @property
    def identity(self) -> str:
        return self.inner.identity

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        self.count.calls += 1
        return self.inner.chat(turns, **decoding)


@dataclass(frozen=True, slots=True)
class CountedRewards:
    """A reward model whose prompts are counted, but for those that the cache knew."""

    inner: RewardModel
    count: Count

    @property
    def identity(self) -> str:
        return self.inner.identity

    def entropy(self, prompts: Sequence[Prompt], **sampling: Unpack[Sampling]) -> list[Entropy]:
        known = self.count.hits
        found = self.inner.entropy(prompts, **sampling)
        self._counted(prompts, known)
        return found

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        known = self.count.hits
        found = self.inner.log_likelihood(prompts, continuations)
        self._counted(prompts, known)
        return found

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        known = self.count.hits
        found = self.inner.choose(prompts, options, by=by)
        self._counted(prompts, known)
        return found

    def _counted(self, prompts: Sequence[Prompt], known: int) -> None:
        asked = len({prompt if isinstance(prompt, str) else tuple(prompt) for prompt in prompts})
        self.count.calls += max(0, asked - (self.count.hits - known))
