"""What a profile does to a question, as rewards and as figures (for ``benchmarks.purple``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.papers.purple.purple_tasks import Case
from benchmarks.shared.questions.qa_metrics import over_seeds
from policies.training.mlp import Floats

MAIN = "purple"
BASELINES = ("bm25", "dense", "ic-ralm", "replug", "prompted")
"""The paper's, but for attention ranking (``purple_selectors``)."""
CHOICE = ("prefer", "persona")
"""Sets that are one task together."""
Figures = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one profile does to one question; see ``benchmarks.purple``."""

    quality: float
    loglik: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One fold: outcomes by selector and case, and token F1 of written answers by selector."""

    outcomes: Mapping[str, Mapping[str, Outcome]]
    written: Mapping[str, Sequence[float]] = field(default_factory=dict)


def outcome(case: Case, scores: Sequence[Floats]) -> Outcome:
    """From the token log-probabilities of each option."""
    return Outcome(quality(case, scores), loglik(case, scores))


def quality(case: Case, scores: Sequence[Floats]) -> float:
    """Accuracy, minus the absolute error of a rating, or of free text the mean log-probability."""
    if len(case.options) == 1:
        return float(scores[0].mean())
    chances = probabilities(scores)
    if case.values:
        values = np.array(case.values)
        return -float(abs(chances @ values - values[case.right]))
    return float(int(np.argmax(chances)) == case.right)


def loglik(case: Case, scores: Sequence[Floats]) -> float:
    """Of the reference, over all its tokens (PURPLE equation 4)."""
    return float(scores[case.right].sum())


def chosen(case: Case, scores: Sequence[Floats]) -> float:
    """Log-probability of the reference among the options; of free text its likelihood."""
    if len(case.options) == 1:
        return loglik(case, scores)
    return float(np.log(probabilities(scores)[case.right]))


def probabilities(scores: Sequence[Floats]) -> Floats:
    """As ``RewardModel.choose`` by likelihood: softmax of the mean log-probability a token."""
    means = np.array([own.mean() for own in scores])
    raised = np.exp(means - means.max())
    return np.asarray(raised / raised.sum())


REWARDS: Mapping[str, Callable[[Case, Sequence[Floats]], float]] = {
    "likelihood": loglik,
    "metric": quality,
    "choice": chosen,
}
"""The paper's; the task's own metric (section 5.2); ours, what the metric of a choice rests on."""


# ---- figures ------------------------------------------------------------------------------------


def summary(found: Sequence[Measured]) -> Figures:
    """Means over folds with their spread, and the paired gaps of ``purple`` over the rest."""
    runs = []
    for one in found:
        run: dict[str, float | int | None] = {}
        for name, outcomes in one.outcomes.items():
            run[f"{name}.quality"] = float(np.mean([o.quality for o in outcomes.values()]))
            run[f"{name}.loglik"] = float(np.mean([o.loglik for o in outcomes.values()]))
        for name, scores in one.written.items():
            run[f"{name}.token_f1"] = float(np.mean(scores))
        runs.append(run)
    figures = over_seeds(runs)
    for name in found[0].outcomes:
        if name != MAIN:
            figures[f"{name}.gap"], figures[f"{name}.gap_se"] = gap(found, name)
    figures["all.questions"] = sum(len(one.outcomes[MAIN]) for one in found)
    return figures


def gap(found: Sequence[Measured], name: str) -> tuple[float, float]:
    """Quality of ``purple`` less another's over the same questions: mean and standard error."""
    apart = np.array(
        [
            ours.quality - one.outcomes[name][key].quality
            for one in found
            for key, ours in one.outcomes[MAIN].items()
        ]
    )
    return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


def verdicts(
    figures: Mapping[str, float | int | None], sets: Sequence[str], ours: Sequence[str] = (MAIN,)
) -> Figures:
    """On how many tasks each of ``ours`` beats every baseline; whether ``purple`` is ever well
    below dense.

    The two sets of choosing count as one task, by the mean of their qualities.
    """
    tasks = [[name] for name in sets if name not in CHOICE]
    if choice := [name for name in sets if name in CHOICE]:
        tasks.append(choice)

    def won(name: str) -> int:
        return sum(
            all(
                _mean(figures, names, name) > _mean(figures, names, other)
                for other in BASELINES
                if f"{names[0]}.{other}.quality" in figures
            )
            for names in tasks
        )

    below = [
        (figures[f"{name}.dense.gap"] or 0.0) < -(figures[f"{name}.dense.quality_sd"] or 0.0)
        for name in sets
    ]
    return {
        "tasks_won": won(MAIN),
        **{f"tasks_won by {name}": won(name) for name in ours if name != MAIN},
        "tasks": len(tasks),
        "sets_below_dense_by_more_than_the_spread": sum(below),
    }


def _mean(figures: Mapping[str, float | int | None], sets: Sequence[str], name: str) -> float:
    return float(np.mean([figures[f"{one}.{name}.quality"] or 0.0 for one in sets]))
