"""What a training costs: wall time, model calls, cache hits (EMG-RAG, section 5.1).

``--warm`` episodes of warm start and ``--gradient`` of policy gradient from fresh weights, with the
configured reward model on an empty cache, and the policy gradient *again* on the full one. A *call*
is a prompt that the model worked on, a *hit* a value that the cache held (of a likelihood or an
entropy it is one a selection). The bar is 30 minutes on 2 cores.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from agent.learning.cost_counters import Count
from agent.learning.rewards import KINDS, needs_reference
from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_policies import benchmark_config
from benchmarks.papers.emg_rag.learning.qa_training import (
    TRAIN_LIVES,
    Lessons,
    Rewards,
    fresh,
    watch,
)
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_metrics import over_seeds
from benchmarks.shared.questions.qa_views import names_of
from policies.training.reinforce import (
    GRADIENT_EPISODES,
    WARM_EPISODES,
    LearnedPolicy,
    policy_gradient,
    warm_start,
)

BAR_MINUTES = 30


def main() -> None:
    options = parser("training_cost", __doc__ or "")
    options.add_argument("--walk", default="scout")
    options.add_argument("--reward", nargs="+", choices=KINDS, default=["likelihood", "entropy"])
    options.add_argument("--reward-model", help="name or GGUF path; by default the configured one")
    options.add_argument("--warm", type=int, default=WARM_EPISODES)
    options.add_argument("--gradient", type=int, default=GRADIENT_EPISODES)
    options.set_defaults(seeds=1)
    given = options.parse_args()
    if given.quick:
        given.seeds, given.warm, given.gradient = 1, 100, 1
        given.reward, given.reward_model = given.reward[:1], given.reward_model or "smollm2-135m"
    config = benchmark_config()
    with open_session(config) as models:
        lessons = Lessons.of_lives(models, 1 if given.quick else TRAIN_LIVES)
        names = names_of(models)
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as home:
        rewards = Rewards(replace(config, home=Path(home)), given.reward_model)
        for kind in given.reward:
            runs = [
                train(
                    fresh(given.walk, seed, names), lessons, rewards, kind, seed,
                    warm=given.warm, gradient=given.gradient,
                )
                for seed in range(given.seeds)
            ]  # fmt: skip
            figures |= {f"{given.walk}.{kind}.{key}": v for key, v in over_seeds(runs).items()}
    told = {
        "quick": given.quick, "walk": given.walk, "warm": given.warm, "gradient": given.gradient,
        "reward_model": given.reward_model or config.reward_model,
        "episodes": len(lessons.episodes),
        "bar_minutes": BAR_MINUTES,
        "tables": {"Cost": list(dict.fromkeys(key.rpartition(".")[2] for key in figures))},
    }  # fmt: skip
    write_results("training_cost", told, list(range(given.seeds)), figures)
    for key, figure in figures.items():
        if figure is not None:
            print(f"{key:50} {figure:.2f}")


def train(
    begun: LearnedPolicy, lessons: Lessons, rewards: Rewards, kind: str, seed: int, *,
    warm: int, gradient: int,
) -> Figures:  # fmt: skip
    """One training on an empty cache, and its policy gradient once more on the full one."""
    count = Count(rewards.cache)
    value = rewards.value(kind, lessons, count)
    # The model loads before the clock starts: whoever trains has it loaded for answers.
    value(lessons.answered[0], [()])
    rewards.cache.clear()
    began = time.perf_counter()
    warmed = warm_start(begun, lessons.episodes, count=warm, seed=seed)
    warm_minutes = (time.perf_counter() - began) / 60
    paid = lessons.answered if needs_reference(kind) else lessons.episodes
    figures: Figures = {"warm_minutes": warm_minutes}
    for turn in ("gradient", "again"):
        calls, hits = count.calls, count.hits
        began = time.perf_counter()
        policy_gradient(
            warmed, paid, value, count=gradient, seed=seed, on_step=watch(f"{kind} {turn}")
        )
        minutes = (time.perf_counter() - began) / 60
        figures[f"{turn}_minutes"] = minutes
        figures[f"{turn}_calls"] = count.calls - calls
        figures[f"{turn}_hits"] = count.hits - hits
        if turn == "gradient":
            figures["total_minutes"] = warm_minutes + minutes
            figures["of_the_bar"] = (warm_minutes + minutes) / BAR_MINUTES
        progress(f"{kind} {turn}: {minutes:.1f} minutes for {gradient} episodes")
    return figures


if __name__ == "__main__":
    main()
