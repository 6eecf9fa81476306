"""The walk without its parts (EMG-RAG, Table 4).

- *full*: a warm start and policy gradient, as the paper has it.
- *no_activation*: the search starts from the root instead of from activated nodes. It goes through
  types, subclasses and the memories below them in the order told, as many as a walk may visit.
- *no_warm_start*: policy gradient alone. *no_gradient*: the warm start alone.
- *shipped*: the weights of the repository, for comparison; they do not depend on the seed.

All learn from the training bank of simulated lives (``qa_training``) and are measured on other
sets. The reward of policy gradient is ``--reward`` by ``--reward-model``; a small model keeps this
table within an hour and takes part in nothing that is measured. Rewards are kept on disk, so an
interrupted run goes on. With ``--answers``, the configured model's answers are measured too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from agent.learning.rewards import KINDS, needs_reference
from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_policies import Run, benchmark_config, puts_of
from benchmarks.papers.emg_rag.learning.qa_training import (
    TRAIN_LIVES,
    Lessons,
    Rewards,
    fresh,
    shipped,
    watch,
)
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import SETS
from benchmarks.shared.questions.qa_judge import (
    ANSWERED,
    SELECTED,
    Figures,
    judge_selections,
    select,
)
from benchmarks.shared.questions.qa_metrics import over_seeds
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.questions.qa_views import Put, names_of, sample
from policies.base import Policy, Question
from policies.selection import Selection
from policies.training.mlp import Floats, Ints, Mlp
from policies.training.reinforce import (
    GRADIENT_EPISODES,
    WARM_EPISODES,
    LearnedPolicy,
    Rollout,
    policy_gradient,
    warm_start,
)
from policies.walk.scout import Scout
from policies.walk.walk import Walk
from store.derived.view import GraphView

SEEN_FROM_ROOT = 64
"""As many as ``policies.walk.walk`` visits at most."""


@dataclass(frozen=True, slots=True, eq=False)
class FromRoot:
    """A learned policy whose walk starts from the root, whatever is asked."""

    inner: LearnedPolicy

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def network(self) -> Mlp:
        return self.inner.network

    def with_network(self, network: Mlp) -> Self:
        return replace(self, inner=self.inner.with_network(network))

    def select(self, question: Question, view: GraphView) -> Selection:
        return self.inner.select(question, from_root(view))

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        return self.inner.lesson(question, from_root(view), required)

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        return self.inner.roll(question, from_root(view), rng)


def from_root(view: GraphView) -> GraphView:
    """What a search from the root meets: by type, subclass and time, up to its bound."""
    order = sorted(
        range(len(view.memories)),
        key=lambda row: (view.memories[row].type, view.memories[row].subclass, row),
    )
    return view.narrowed(sorted(order[:SEEN_FROM_ROOT]))


def without_activation(policy: LearnedPolicy) -> FromRoot:
    """The policy with every memory that it meets from the root as a start."""
    assert isinstance(policy, Walk | Scout)
    return FromRoot(replace(policy, activated=SEEN_FROM_ROOT))


def main() -> None:
    options = parser("emg_ablation", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=["locomo", "lives_test"])
    options.add_argument("--walks", nargs="+", default=["walk", "scout"])
    options.add_argument("--lives", type=int, default=4, help="simulated lives that are measured")
    options.add_argument("--warm", type=int, default=WARM_EPISODES, help="episodes of warm start")
    options.add_argument("--gradient", type=int, default=GRADIENT_EPISODES, help="and of gradient")
    options.add_argument("--reward", choices=KINDS, default="likelihood")
    options.add_argument("--reward-model", default="smollm2-135m", help="name or GGUF path")
    options.add_argument("--answers", type=int, default=0, help="questions a seed and set")
    given = options.parse_args()
    given.policies = []
    if given.quick:
        given.sets, given.seeds, given.walks = ["lives_test"], 1, given.walks[-1:]
        given.warm, given.gradient, given.answers = min(given.warm, 100), 1, 0
    config = benchmark_config()
    with open_session(config) as models:
        run, names = Run(given, models, TokenCount(config)), names_of(models)
        lessons = Lessons.of_lives(models, 1 if given.quick else TRAIN_LIVES)
        puts = {name: puts_of(name, given, models) for name in given.sets}
        rewards = Rewards(config, given.reward_model)
        value = rewards.value(given.reward, lessons)
        paid = lessons.answered if needs_reference(given.reward) else lessons.episodes

        def warm(policy: LearnedPolicy, seed: int) -> LearnedPolicy:
            return warm_start(policy, lessons.episodes, count=given.warm, seed=seed)

        def gradient(policy: LearnedPolicy, seed: int) -> LearnedPolicy:
            tell = watch(f"{policy.name}, seed {seed}")
            return policy_gradient(
                policy, paid, value, count=given.gradient, seed=seed, on_step=tell
            )

        variants: Mapping[str, Callable[[str, int], Policy]] = {
            "full": lambda name, seed: gradient(warm(fresh(name, seed, names), seed), seed),
            "no_activation": lambda name, seed: gradient(
                warm(without_activation(fresh(name, seed, names)), seed), seed
            ),
            "no_warm_start": lambda name, seed: gradient(fresh(name, seed, names), seed),
            "no_gradient": lambda name, seed: warm(fresh(name, seed, names), seed),
            "shipped": lambda name, seed: shipped(name, names),
        }
        figures: Figures = {}
        for name in given.walks:
            for variant, make in variants.items():
                progress(f"{name} {variant}")
                made = [make(name, seed) for seed in range(given.seeds)]
                for of, asked in puts.items():
                    found = measure(run, made, asked)
                    figures |= {f"{of}.{name} {variant}.{key}": v for key, v in found.items()}
    told = {
        "quick": given.quick, "warm": given.warm, "gradient": given.gradient,
        "reward": given.reward, "reward_model": given.reward_model, "lives": given.lives,
        "train_lives": TRAIN_LIVES, "answers_a_seed": given.answers, "sets": given.sets,
        "tables": tables(),
    }  # fmt: skip
    write_results("emg_ablation", told, list(range(given.seeds)), figures)
    for key, figure in figures.items():
        if key.endswith((".f1", ".f1_sd", ".token_f1")) and figure is not None:
            print(f"{key:50} {figure:.3f}")


def tables() -> dict[str, list[str]]:
    """Columns of what was selected and answered, for the report."""
    return {
        "Selections": [each for one in SELECTED for each in (one, f"{one}_sd")],
        "Answers": [each for one in ANSWERED for each in (one, f"{one}_sd")],
    }


def measure(run: Run, policies: Sequence[Policy], puts: Sequence[Put]) -> Figures:
    """One policy of each seed on the same questions: means and deviations over seeds."""
    runs = []
    for seed, policy in enumerate(policies):
        rows = select(policy, puts)
        found = judge_selections(rows, run.tokens)
        if run.given.answers:
            chosen = {row.put.item.key: row for row in rows}
            drawn = sample(puts, run.given.answers, seed)
            found |= run.answered([chosen[put.item.key] for put in drawn])
        runs.append(found)
    return over_seeds(runs)


if __name__ == "__main__":
    main()
