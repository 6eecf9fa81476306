"""Cost counters: models that count their prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent.models.reward_cache import RewardCache
from agent.ports import ChatTurn, Entropy, LanguageModel, Prompt, RewardModel


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

    def chat(
        self,
        turns: Sequence[ChatTurn],
        *,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> str:
        self.count.calls += 1
        return self.inner.chat(
            turns,
            max_tokens=max_tokens,
            grammar=grammar,
            temperature=temperature,
            seed=seed,
            stop=stop,
            on_text=on_text,
        )


@dataclass(frozen=True, slots=True)
class CountedRewards:
    """A reward model whose prompts are counted, but for those that the cache knew."""

    inner: RewardModel
    count: Count

    @property
    def identity(self) -> str:
        return self.inner.identity

    def entropy(
        self,
        prompts: Sequence[Prompt],
        *,
        samples: int = 5,
        max_tokens: int = 20,
        temperature: float = 0.7,
        seed: int = 0,
        tempered: bool = False,
    ) -> list[Entropy]:
        known = self.count.hits
        found = self.inner.entropy(
            prompts,
            samples=samples,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            tempered=tempered,
        )
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
