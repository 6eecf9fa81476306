"""The local models behind the RUMS tables, with every reward kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agent.answering.selection import policy_factory
from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.lazy import reward_weights
from agent.models.reward_cache import RewardCache
from agent.ports import LanguageModel
from benchmarks.shared.common import ROOT
from policies.rums.selectors import Asking, Texts

SMALL, LARGE = "smollm2-135m", "qwen2.5-coder-1.5b"
CACHE = ROOT / "build" / "benchmarks" / "probe.db"
"""The probe's: many of its prompts are asked here again."""


@contextmanager
def open_rewards(name: str, threads: int | None = None) -> Iterator[LlamaRewards]:
    """A reward model by its name or path; an interrupted run goes on where it stopped."""
    config = load_config()
    path, sha256 = reward_weights(name, config)
    identity = f"{path.name}@{sha256}"
    with LlamaRewards(
        path, identity=identity, n_threads=threads or config.threads, cache=RewardCache(CACHE)
    ) as rewards:
        yield rewards


class Counted:
    """A way of asking that counts the prompts and the tokens that were read for it."""

    def __init__(self, inner: Asking, rewards: LlamaRewards) -> None:
        self._inner = inner
        self._rewards = rewards
        self.prompts = self.tokens = 0

    def __call__(self, question: str, lists: Sequence[Texts]) -> Sequence[Sequence[float]]:
        self.prompts += len(lists)
        self.tokens += sum(
            len(self._rewards.tokens(" ".join([question, *texts]))) for texts in lists
        )
        return self._inner(question, lists)


class CountedPick:
    """A language model that picks from a list, with the tokens of the lists counted."""

    def __init__(self, llm: LanguageModel, count: Callable[[str], int]) -> None:
        self._llm = llm
        self._count = count
        self.tokens = 0

    def __call__(self, question: str, texts: Sequence[str]) -> list[int]:
        self.tokens += sum(map(self._count, (question, *texts)))
        return policy_factory.pick(question, texts, self._llm)
