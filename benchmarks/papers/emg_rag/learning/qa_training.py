"""Training a walk on simulated lives and measuring it elsewhere, for the tables about training.

Lessons come from the training bank alone: every question of its first lives, with the gold
memories as what is required and the first right value as the reference. No set that is measured
(``lives_test``, locomo, memdaily_zh) is ever learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from agent.answering.selection.policy_weights import is_learned
from agent.config import Config
from agent.learning.cost_counters import Count, CountedModel, CountedRewards
from agent.learning.rewards import reward_of
from agent.models.lazy import LocalLanguageModel, LocalRewardModel, open_cache
from agent.models.reward_cache import RewardCache
from agent.ports import LanguageModel, RewardModel
from agent.session.session import Session
from benchmarks.shared.common import progress
from benchmarks.shared.questions.qa_views import Put, lived
from benchmarks.shared.simulated_lives.lives import BANKS
from policies.base import Episode, Value
from policies.registry import Tools, make_policy
from policies.scoring.question_entities import NameVectors
from policies.training.mlp import Mlp
from policies.training.reinforce import LearnedPolicy, Progress

TRAIN_LIVES = 6
PROBES = 12
"""Episodes by which a mixture of rewards finds what each part's unit is."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Episodes to learn from, and the answers known of some of them."""

    episodes: Sequence[Episode]
    references: Mapping[str, str]

    @classmethod
    def of(cls, puts: Sequence[Put]) -> Self:
        known = {put.item.key: put.item.answers[0] for put in puts if put.item.answers}
        return cls([put.episode for put in puts], known)

    @classmethod
    def of_lives(cls, models: Session, lives: int = TRAIN_LIVES) -> Self:
        """Those of the training bank's first lives."""
        return cls.of(list(lived(BANKS["train"], range(lives), models)))

    @property
    def answered(self) -> list[Episode]:
        """Those with a reference: what a reward by the answer can value."""
        return [episode for episode in self.episodes if episode.key in self.references]

    def probes(self) -> list[tuple[Episode, tuple[str, ...]]]:
        """Some episodes with just what they require."""
        found = [(one, tuple(sorted(one.required))) for one in self.answered if one.required]
        return found[:: max(1, len(found) // PROBES)][:PROBES]


class Rewards:
    """Values of selections by one local model, with all that was computed before kept on disk."""

    def __init__(self, config: Config, model: str | None) -> None:
        """``model`` takes the place of both the answering and the reward model."""
        self.config = config if model is None else replace(config, llm=model, reward_llm="")
        self.llm: LanguageModel = LocalLanguageModel(self.config)
        self.model: RewardModel = LocalRewardModel(self.config)

    @property
    def cache(self) -> RewardCache:
        """What was computed before."""
        return open_cache(self.config.home, self.config.reward_cache_mb)

    def value(self, kind: str, lessons: Lessons, count: Count | None = None) -> Value:
        """One of ``agent.learning.rewards.KINDS``; ``count`` counts what the models worked on."""
        return reward_of(
            kind,
            llm=self.llm if count is None else CountedModel(self.llm, count),
            rewards=self.model if count is None else CountedRewards(self.model, count),
            references=lessons.references,
            cache=self.cache,
            probes=lessons.probes() if kind == "both" else (),
        )


def fresh(name: str, seed: int, names: NameVectors | None) -> LearnedPolicy:
    """A policy that learned nothing yet, of the shape that memlane ships."""
    policy = shipped(name, names)
    of = policy.network
    return policy.with_network(Mlp.fresh(of.inputs, of.hidden, of.outputs, seed=seed))


def shipped(name: str, names: NameVectors | None) -> LearnedPolicy:
    """A policy with the weights that memlane ships; ``names`` encodes short names."""
    policy = make_policy(name, Tools(names=names))
    if not is_learned(policy):
        raise SystemExit(f"{name} does not learn. Choose from: walk, scout.")
    return policy


def watch(what: str) -> Callable[[Progress], None]:
    """Tells the running reward ten times."""

    def tell(at: Progress) -> None:
        if at.step % max(1, at.of // 10) == 0:
            progress(f"{what}: {at.step} of {at.of}, running reward {at.running:.3f}")

    return tell
