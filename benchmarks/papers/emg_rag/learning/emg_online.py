"""Before and after learning from corrected answers (EMG-RAG section 4.4, Table 6: cold start).

Each person begins with the weights that memlane ships. They ask, and correct what was answered. As
after ``memlane feedback answer``, the memories that say the answer are looked for (no key names
them), and the policy learns from the latest few questions: from the memories found, and by policy
gradient with the likelihood of the answer as the reward (``--reward`` names another). Then their
*other* questions are asked with the weights before and after. ``found`` is the share of corrected
answers for which memories were found, ``right`` the share of those that the key names too.
``value`` is what the reward itself says of ``--valued`` of the other questions.

Of a simulated life the questions of the first two weeks are corrected and those of the last two
measured; of a conversation half of the questions, drawn by seed, and the other half. What is
measured is never learned from, and no weights go from one person to another. Rewards are kept on
disk: an interrupted run goes on. ``better`` and ``worse`` are shares of persons whose evidence F1
rose or fell.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from agent.learning.feedback import JUDGED_BY, LATEST, STEPS, would_rest_on
from agent.learning.rewards import KINDS
from agent.learning.training import HeldBackVerdict, Plan, compare, train
from agent.ports import Embedder
from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_policies import Run, benchmark_config, puts_of
from benchmarks.papers.emg_rag.learning.emg_ablation import tables
from benchmarks.papers.emg_rag.learning.qa_training import Lessons, Rewards, shipped
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import SETS
from benchmarks.shared.questions.qa_judge import Figures, judge_selections, select
from benchmarks.shared.questions.qa_metrics import over_seeds
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.questions.qa_views import Put, names_of, sample
from benchmarks.shared.simulated_lives.lives import BANKS
from policies.base import Policy
from policies.training.reinforce import LearnedPolicy


def main() -> None:
    options = parser("emg_online", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=["lives_test", "locomo"])
    options.add_argument("--walk", default="scout")
    options.add_argument("--lives", type=int, default=3, help="simulated lives of each bank")
    options.add_argument("--corrected", type=int, default=40, help="questions a person corrects")
    options.add_argument("--valued", type=int, default=40, help="other questions that are valued")
    options.add_argument("--reward", choices=KINDS, default="likelihood")
    options.add_argument("--reward-model", default="smollm2-135m", help="name or GGUF path")
    options.add_argument("--answers", type=int, default=0, help="questions a person and seed")
    given = options.parse_args()
    given.policies = []
    if given.quick:
        given.sets, given.seeds, given.corrected, given.answers = ["lives_test"], 1, 1, 0
        given.valued = 2
    config = benchmark_config()
    figures: Figures = {}
    with open_session(config) as models:
        run = Run(given, models, TokenCount(config))
        rewards = Rewards(config, given.reward_model)
        begun = shipped(given.walk, names_of(models))
        for name in given.sets:
            puts = puts_of(name, given, models)
            before: list[Figures] = []
            after: list[Figures] = []
            moved: list[float] = []
            sought: list[tuple[frozenset[str], frozenset[str] | None]] = []
            for seed in range(given.seeds):
                for person in dict.fromkeys(put.collection for put in puts):
                    own = [put for put in puts if put.collection == person]
                    corrected, asked = halves(own, name, seed)
                    corrected = sample(corrected, given.corrected, seed)
                    progress(f"{person}, seed {seed}: {len(corrected)} corrected")
                    say = [rested(put, models.embedder) for put in corrected]
                    learned = corrected_by(begun, corrected, say, rewards, given.reward, seed)
                    sought += zip(say, (put.episode.required for put in corrected), strict=True)
                    drawn = sample(asked, given.answers, seed)
                    before.append(measured(run, begun, asked, drawn))
                    after.append(measured(run, learned, asked, drawn))
                    worth = valued(begun, learned, asked, given, rewards, seed)
                    before[-1]["value"], after[-1]["value"] = worth.before, worth.after
                    moved.append((after[-1]["f1"] or 0.0) - (before[-1]["f1"] or 0.0))
            known = [(say, required) for say, required in sought if say]
            right = sum(len(say & (required or frozenset())) for say, required in known)
            shares = {"better": sum(m > 0 for m in moved) / len(moved),
                      "worse": sum(m < 0 for m in moved) / len(moved),
                      "trainings": len(moved),
                      "found": len(known) / max(1, len(sought)),
                      "right": right / max(1, sum(len(say) for say, _ in known))}  # fmt: skip
            rows = {"before": over_seeds(before), "after": over_seeds(after) | shares}
            figures |= {f"{name}.{row}.{key}": value
                        for row, found in rows.items() for key, value in found.items()}  # fmt: skip
    told = {
        "quick": given.quick, "walk": given.walk, "lives": given.lives,
        "corrected": given.corrected, "valued": given.valued, "reward": given.reward,
        "reward_model": given.reward_model, "answers_a_seed": given.answers, "sets": given.sets,
        "tables": tables() | {
            "Persons": ["value", "better", "worse", "trainings", "found", "right"]
        },
    }  # fmt: skip
    write_results("emg_online", told, list(range(given.seeds)), figures)
    for key, figure in figures.items():
        if figure is not None and "_sd" not in key:
            print(f"{key:50} {figure:.3f}")


def halves(own: Sequence[Put], name: str, seed: int) -> tuple[list[Put], list[Put]]:
    """What a person corrects, and what is asked afterwards; only what has an answer is corrected.

    Of a life, the earlier and the later half of its time.
    """
    if name.removeprefix("lives_") in BANKS:
        moments = sorted({put.item.asked for put in own})
        middle = moments[len(moments) // 2]
        first = [put for put in own if put.item.asked < middle]
    else:
        first = sample(own, len(own) // 2, seed)
    taken = {put.item.key for put in first}
    rest = [put for put in own if put.item.key not in taken]
    return [put for put in first if put.item.answerable], rest


def rested(put: Put, embedder: Embedder) -> frozenset[str]:
    """The memories that say the corrected answer, as the product finds them."""
    asked = put.question
    found = would_rest_on(asked.text, put.item.answers[0], put.view, embedder, asked.now)
    return frozenset(memory.id for memory in found)


def corrected_by(
    begun: LearnedPolicy,
    corrected: Sequence[Put],
    told: Sequence[frozenset[str]],
    rewards: Rewards,
    kind: str,
    seed: int,
) -> LearnedPolicy:
    """The policy after learning as ``agent.learning.feedback`` does, a few corrections at a time.

    A step is kept if it wins on the latest corrected questions and ones before them, or changes
    nothing there yet.
    """
    policy = begun
    for first in range(0, len(corrected), LATEST):
        latest = slice(first, first + LATEST)
        lessons = Lessons.of(corrected[latest])
        episodes = [
            replace(episode, required=found or None)
            for episode, found in zip(lessons.episodes, told[latest], strict=True)
        ]
        value = rewards.value(kind, lessons)
        warm = STEPS * sum(bool(episode.required) for episode in episodes)
        plan = Plan(policy.name, kind, warm, STEPS * len(episodes), seed)
        learned = train(policy, episodes, value, plan)
        lately = Lessons.of(corrected[max(0, first + LATEST - JUDGED_BY) : first + LATEST])
        judge = rewards.value(kind, lately)
        verdict = compare(policy, learned, lately.episodes, judge, seed=seed)
        progress(f"{first} corrected before: value {verdict.before:.3f} -> {verdict.after:.3f}")
        if verdict.wins or verdict.after == verdict.before:
            policy = learned
    return policy


def valued(
    begun: LearnedPolicy, learned: LearnedPolicy, asked: Sequence[Put], given: Namespace,
    rewards: Rewards, seed: int,
) -> HeldBackVerdict:  # fmt: skip
    """What the reward itself says of both on questions that nobody corrected."""
    lessons = Lessons.of(sample([put for put in asked if put.item.answers], given.valued, seed))
    value = rewards.value(given.reward, lessons)
    return compare(begun, learned, lessons.episodes, value, seed=seed)


def measured(run: Run, policy: Policy, asked: Sequence[Put], drawn: Sequence[Put]) -> Figures:
    """Selections on all questions, answers on those drawn."""
    rows = select(policy, asked)
    found = judge_selections(rows, run.tokens)
    if drawn:
        chosen = {row.put.item.key: row for row in rows}
        found |= run.answered([chosen[put.item.key] for put in drawn])
    return found


if __name__ == "__main__":
    main()
