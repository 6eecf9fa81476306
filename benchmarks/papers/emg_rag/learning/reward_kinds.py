"""Which reward teaches a walk most: the answer's metric, likelihood, entropy alone, a mixture.

The same policy, episodes, seeds and number of policy gradient steps; only the reward differs.
*answer* (EMG-RAG) and *likelihood* (PURPLE) need reference answers; *entropy* (RUMS) is told none
and knows no required memory either; *both* mixes answer and entropy. A training begins

- from *fresh* weights, without any warm start: what a reward teaches by itself, or
- from *shipped* weights: what it adds for a person who has just begun.

It learns from the training bank of simulated lives and is measured on others (``qa_training``):
the gain of evidence F1 and, with ``--answers``, of the answers over the same weights untrained.
``entropy_share`` is entropy's gain over that of the best reward that needs references; the bar is
0.5. Where that gain is not above 0 there is nothing to share, and it is left out.

The answering model also gives the rewards (``--reward-model`` names another). Rewards are kept on
disk: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.learning.rewards import KINDS, needs_reference
from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_policies import Run, benchmark_config, puts_of
from benchmarks.papers.emg_rag.learning.emg_ablation import measure, tables
from benchmarks.papers.emg_rag.learning.qa_training import (
    TRAIN_LIVES,
    Lessons,
    Rewards,
    fresh,
    shipped,
    watch,
)
from benchmarks.shared.common import parser, write_results
from benchmarks.shared.questions.qa_data import SETS
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.questions.qa_views import names_of
from policies.scoring.question_entities import NameVectors
from policies.training.reinforce import RATE, LearnedPolicy, policy_gradient

STARTS: Mapping[str, Callable[[str, int, NameVectors | None], LearnedPolicy]] = {
    "fresh": fresh,
    "shipped": lambda name, seed, names: shipped(name, names),
}
GAINS = ("f1", "token_f1", "right")


def main() -> None:
    options = parser("reward_kinds", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=["lives_test"])
    options.add_argument("--walk", default="scout")
    options.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options.add_argument("--starts", nargs="+", choices=list(STARTS), default=list(STARTS))
    options.add_argument("--lives", type=int, default=4, help="simulated lives that are measured")
    options.add_argument("--gradient", type=int, default=30, help="episodes of policy gradient")
    options.add_argument("--rate", type=float, default=RATE, help="Adam's step")
    options.add_argument("--reward-model", help="name or GGUF path; by default the configured one")
    options.add_argument("--answers", type=int, default=0, help="questions a seed and set")
    given = options.parse_args()
    given.policies = []
    if given.quick:
        given.seeds, given.gradient, given.answers = 1, 1, 0
        given.kinds, given.starts = ["likelihood", "entropy"], ["fresh"]
        given.reward_model = given.reward_model or "smollm2-135m"
    config = benchmark_config()
    figures: Figures = {}
    with open_session(config) as models:
        run = Run(given, models, TokenCount(config))
        lessons = Lessons.of_lives(models, 1 if given.quick else TRAIN_LIVES)
        puts = {name: puts_of(name, given, models) for name in given.sets}
        rewards = Rewards(config, given.reward_model)
        for start in given.starts:
            begun = [
                STARTS[start](given.walk, seed, names_of(models)) for seed in range(given.seeds)
            ]
            learned = {"untrained": begun}
            for kind in given.kinds:
                value = rewards.value(kind, lessons)
                # All learn from the same episodes; entropy is not told their references.
                paid = lessons.answered
                learned[kind] = [
                    policy_gradient(
                        policy, paid, value, count=given.gradient, rate=given.rate, seed=seed,
                        on_step=watch(f"{start} {kind}, seed {seed}"),
                    )
                    for seed, policy in enumerate(begun)
                ]  # fmt: skip
            for of, asked in puts.items():
                rows = {kind: measure(run, made, asked) for kind, made in learned.items()}
                figures |= {f"{of}.{start} {kind}.{key}": value
                            for kind, row in (rows | gains(rows)).items()
                            for key, value in row.items()}  # fmt: skip
    told = {
        "quick": given.quick, "walk": given.walk, "gradient": given.gradient, "rate": given.rate,
        "reward_model": given.reward_model or config.reward_model, "lives": given.lives,
        "train_lives": TRAIN_LIVES, "answers_a_seed": given.answers, "sets": given.sets,
        "tables": tables() | {"Gains over the untrained": [
            each for one in GAINS for each in (f"gain_{one}", f"entropy_share_{one}")
        ]},
    }  # fmt: skip
    write_results("reward_kinds", told, list(range(given.seeds)), figures)
    for key, figure in figures.items():
        if ("gain" in key or "share" in key or key.endswith(".f1")) and figure is not None:
            print(f"{key:55} {figure:.3f}")


def gains(rows: Mapping[str, Figures]) -> dict[str, Figures]:
    """Each kind's row with its gain over the untrained, and entropy's share of the best other."""
    found: dict[str, Figures] = {kind: dict(row) for kind, row in rows.items()}
    for name in GAINS:
        before = rows["untrained"].get(name)
        after = {kind: row.get(name) for kind, row in rows.items() if kind != "untrained"}
        gained = {kind: value - before for kind, value in after.items()
                  if value is not None and before is not None}  # fmt: skip
        for kind, gain in gained.items():
            found[kind][f"gain_{name}"] = gain
        labelled = max((gain for kind, gain in gained.items() if needs_reference(kind)), default=0)
        if labelled > 0 and "entropy" in gained:
            found["entropy"][f"entropy_share_{name}"] = gained["entropy"] / labelled
    return found


if __name__ == "__main__":
    main()
