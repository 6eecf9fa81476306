"""The RUMS selectors that memlane ships: ``python -m benchmarks.rums_train --data DIR --seed 0``.

Makes utility labels with a local model and trains ``rums-binary`` and ``rums-multi`` on them. No
row of a set of licence B or C takes part: *advice* and lives of the training bank are ours, nq_open
(the questions that need no memory) is of licence A, and its rows are others than those measured on.

1. *Label* (``policies.rums.utility``): the worthiest subset of each question's candidates.
2. *Threshold*: Youden's J on a third of the questions held back, those of nq_open against the rest.
   Below it the label is the empty set; a question of nq_open above it is left out, as F.5 does.
3. *Train* by cross-entropy on what is left of the other two thirds.

``--labels`` says what a subset is worth, each kind a row of the table: ``reference`` (likelihood of
a good answer, known here), ``entropy`` (of sampled answers, RUMS equation 3), ``question``
(likelihood of the question). ``gold`` takes no model: the memories that were written to matter, the
upper bound; it ships.
``--need`` also fits when ``rums-direct`` speaks, to entropies of a few questions of each kind.

Rewards are kept in ``build/benchmarks``; an interrupted run goes on where it stopped. Only a full
run with gold labels writes the weights that ship; ``--out`` keeps those of other labels.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from agent.answering.selection.utility import sampled
from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.session.session import open_session
from benchmarks.papers.rums.likelihood_utilities import of_question, of_reference
from benchmarks.papers.rums.memory_need import Threshold, fit_need, youden
from benchmarks.papers.rums.rums_data import (
    Case,
    Told,
    advice,
    cases,
    drawn,
    factual,
    lives,
    wishes,
)
from benchmarks.papers.rums.rums_models import SMALL, open_rewards
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_metrics import evidence
from benchmarks.shared.simulated_lives.lives_train import BANK
from policies.base import Episode
from policies.rums import selectors
from policies.rums.selectors import Asking, RumsBinary, RumsMulti
from policies.rums.utility import FoundSubset, coarse, search
from policies.training.mlp import Mlp
from policies.training.reinforce import warm_start

PROFILES = 1
"""Profiles of each question of advice (the paper's 5, A.1); each takes as long again."""
LIVES, FROM_EACH, GENERAL = range(200, 206), 8, 72
CANDIDATES = 6
"""Candidates of a label: with 10 it takes twice as long (figure ``coarse.recall`` of each)."""
STEPS, BATCH, RATE, DECAY = 1000, 24, 0.002, 0.003
REQUIRED_WEIGHT = {"rums-binary": 2.0, "rums-multi": 6.0}
"""What a memory that matters counts in the loss; of kinds fewer matter than of memories."""
HELD_BACK = 3
"""One question of so many is held back for the threshold and the figures."""
NEEDING = 16
"""Questions of each kind that the need of ``rums-direct`` is fitted to."""
LABELS: dict[str, Callable[[LlamaRewards, Told], Asking]] = {
    "reference": lambda rewards, told: of_reference(rewards, told.reference),
    "entropy": lambda rewards, told: sampled(rewards, samples=3, max_tokens=10),
    "question": lambda rewards, told: of_question(rewards),
}

GOLD = "gold"
"""Its weights ship: those of labels by the 135M choose worse (docs/rums.md)."""
COLUMNS = ("f1", "f1_personal", "recall", "specificity", "auc", "threshold")


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """What the search says of a question."""

    case: Case
    worth: float
    chosen: frozenset[str]


def main() -> None:
    options = parser("rums_train", __doc__ or "")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--model", default=SMALL, help="name or GGUF path of the reward model")
    options.add_argument(
        "--labels", nargs="+", choices=(*LABELS, GOLD), default=[GOLD], help="each is a row"
    )
    options.add_argument("--need", action="store_true", help="fit when rums-direct speaks")
    options.add_argument("--out", type=Path, help="folder for the weights of every kind of label")
    given = options.parse_args()
    with open_session(load_config()) as models:
        asked = cases(questions(given), models)
    figures = filtered(asked)
    with ExitStack() as stack:
        rewards = None
        if given.need or set(given.labels) - {GOLD}:
            rewards = stack.enter_context(open_rewards(given.model))
        for kind in given.labels:
            labels = [label_of(case, kind, rewards) for case in watched(asked, kind)]
            figures |= {f"{kind}.{k}": v for k, v in trained(kind, labels, given).items()}
        if given.need and rewards is not None:
            figures |= need(asked, rewards, given)
    config = {
        "command": f"python -m benchmarks.rums_train --labels {' '.join(given.labels)}"
        + " --need" * given.need,
        "quick": given.quick, "model": given.model, "candidates": CANDIDATES,
        "profiles": PROFILES, "lives": len(LIVES), "from_each": FROM_EACH, "general": GENERAL,
        "steps": STEPS, "batch": BATCH, "rate": RATE, "decay": DECAY,
        "required_weight": REQUIRED_WEIGHT, "tables": {"RUMS labels": COLUMNS},
    }  # fmt: skip
    write_results("rums_train", config, [given.seed], figures)
    for key, value in figures.items():
        if value is not None:
            print(f"{key:40} {value:.3f}")


def trained(kind: str, labels: Sequence[Label], given: Namespace) -> Figures:
    """Both selectors taught by labels of one kind, and how well they and the labels do."""
    held = labels[::HELD_BACK]
    learned = [label for n, label in enumerate(labels) if n % HELD_BACK]
    threshold = youden(*by_kind(held))
    figures = {f"label.{k}": v for k, v in label_figures(held, threshold).items()}
    episodes = [one for one in (lesson(label, threshold) for label in learned) if one is not None]
    progress(f"{kind}: {len(episodes)} labelled questions to learn from")
    folders = [given.out / kind] if given.out else []
    if kind == GOLD and not given.quick:
        folders.append(selectors.DATA)
    for policy, path in fresh(given.seed):
        policy = warm_start(
            policy, episodes, count=50 if given.quick else STEPS, batch=BATCH, rate=RATE,
            decay=DECAY, required_weight=REQUIRED_WEIGHT[policy.name], seed=given.seed,
        )  # fmt: skip
        figures |= {f"{policy.name}.{k}": v for k, v in quality(policy, held).items()}
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            policy.network.save(folder / path.name)
    return figures


def questions(given: Namespace) -> list[Told]:
    """Of all kinds, mixed; the same for the same seed."""
    made = advice(given.seed, PROFILES) + lives(BANK, LIVES, FROM_EACH)
    made += drawn(factual(given.data, wishes(), learn=True), GENERAL, given.seed)
    if given.quick:
        made = drawn(made, 24, given.seed)
    order = np.random.default_rng(given.seed).permutation(len(made))
    return [made[n] for n in order]


def fresh(seed: int) -> tuple[tuple[RumsBinary, Path], tuple[RumsMulti, Path]]:
    """The selectors before they learned anything, and where their weights go."""
    return (
        (
            RumsBinary(Mlp.fresh(selectors.BINARY_INPUTS, selectors.HIDDEN, seed=seed)),
            selectors.BINARY,
        ),
        (
            RumsMulti(Mlp.fresh(selectors.MULTI_INPUTS, selectors.HIDDEN, seed=seed)),
            selectors.MULTI,
        ),
    )


# ---- labels -------------------------------------------------------------------------------------


def watched(asked: Sequence[Case], kind: str) -> Iterator[Case]:
    """The questions, with a word now and then on how many were labelled."""
    for n, case in enumerate(asked):
        if n % 20 == 0:
            progress(f"labels by {kind}: {n} of {len(asked)}")
        yield case


def label_of(case: Case, kind: str, rewards: LlamaRewards | None) -> Label:
    """The label of one question."""
    if rewards is None or kind == GOLD:
        gold = case.episode.required or frozenset()
        return Label(case, float(bool(gold)), gold)
    ids, found = searched(case, LABELS[kind](rewards, case.told))
    return Label(case, found.best.mean, frozenset(ids[i] for i in found.best.subset))


def searched(case: Case, asking: Asking) -> tuple[list[str], FoundSubset]:
    """The candidates' ids, and what the search finds among them."""
    view = case.episode.view
    memories = [view.memories[row] for row in coarse(case.episode.question, view, CANDIDATES)]
    found = search(
        lambda subsets: asking(
            case.told.question, [[memories[i].text for i in subset] for subset in subsets]
        ),
        len(memories),
        price=selectors.PRICE,
    )
    return [memory.id for memory in memories], found


def by_kind(labels: Sequence[Label]) -> tuple[list[float], list[float]]:
    """Worths of the questions that need memory, and of the others."""
    return (
        [label.worth for label in labels if label.case.personal],
        [label.worth for label in labels if not label.case.personal],
    )


def lesson(label: Label, threshold: Threshold) -> Episode | None:
    """What is learned of a question; None where the label is known to be wrong (F.5)."""
    above = label.worth >= threshold.value
    if above and not label.case.personal:
        return None
    return replace(label.case.episode, required=label.chosen if above else frozenset())


def label_figures(held: Sequence[Label], threshold: Threshold) -> Figures:
    """How well labels agree with what was written to matter."""
    needing, others = by_kind(held)
    agreed = [
        evidence(label.chosen, label.case.episode.required or ()).f1
        for label in held if label.case.personal
    ]  # fmt: skip
    return {
        "f1_personal": float(np.mean(agreed)),
        "auc": float(roc_auc_score([1] * len(needing) + [0] * len(others), needing + others)),
        "threshold": threshold.value,
        "recall": threshold.recall,
        "specificity": threshold.specificity,
    }


def filtered(asked: Sequence[Case]) -> Figures:
    """The share of what matters that the coarse filter leaves, at several sizes."""
    figures: Figures = {}
    for size in (CANDIDATES, 10):
        found = []
        for case in asked:
            if required := case.episode.required:
                rows = coarse(case.episode.question, case.episode.view, size)
                left = {case.episode.view.memories[row].id for row in rows}
                found.append(len(left & required) / len(required))
        figures[f"coarse.recall_at_{size}"] = float(np.mean(found))
    return figures


def quality(policy: RumsBinary | RumsMulti, held: Sequence[Label]) -> Figures:
    """Evidence F1 against what was written to matter, on questions held back."""
    f1: list[float] = []
    recall: list[bool] = []
    silent: list[bool] = []
    for label in held:
        episode = label.case.episode
        chosen = policy.select(episode.question, episode.view).chosen
        f1.append(evidence([c.memory.id for c in chosen], episode.required or ()).f1)
        (recall if label.case.personal else silent).append(bool(chosen))
    return {
        "f1": float(np.mean(f1)),
        "recall": float(np.mean(recall)),
        "specificity": 1 - float(np.mean(silent)),
    }


def need(asked: Sequence[Case], rewards: LlamaRewards, given: Namespace) -> Figures:
    """Fit when ``rums-direct`` speaks, by entropies of some questions of each kind.

    The paper's threshold ships: few questions and a small model say too little against it.
    """
    few = 3 if given.quick else NEEDING
    signals: list[list[tuple[float, float]]] = []
    for personal in (True, False):
        some = [case for case in asked if case.personal is personal][:few]
        signals.append([])
        for n, case in enumerate(some):
            _, found = searched(case, sampled(rewards))
            signals[-1].append((found.best.mean, found.none))
            progress(f"need: {n + 1} of {len(some)}")
    fitted = fit_need(*signals)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        # Named with the weights whose entropies it was fitted to.
        document = {"model": given.model, **asdict(fitted)}
        path = given.out / selectors.NEED.name
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return {
        "need.utility": fitted.utility, "need.none": fitted.none,
        "need.bias": fitted.bias, "need.threshold": fitted.threshold,
    }  # fmt: skip


if __name__ == "__main__":
    main()
