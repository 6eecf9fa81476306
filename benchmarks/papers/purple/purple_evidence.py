"""PURPLE without a language model: what the shipped weights choose, and how fast.

``python -m benchmarks.purple_evidence --data DIR [--quick]``. On the two tasks of
``benchmarks.purple`` whose gold records are known (``answers``: the turns that hold the answer;
``prefer``: the one preference that the question is about), every selector orders the fused
retriever's same 20 candidates and keeps 5. ``recall`` is the share of the gold records among the
five, ``first`` the share of questions whose first record is gold, ``reach`` what the 20 hold.
The shipped weights were trained on simulated worlds alone: nothing here was learned from.

``questions_per_s`` is selection from the text of a question, its vector made anew, with the
memories' vectors there; ``cold`` has read no candidate before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from benchmarks.papers.purple.purple_outcomes import Figures
from benchmarks.papers.purple.purple_selectors import ORDERS
from benchmarks.papers.purple.purple_speed import speed
from benchmarks.papers.purple.purple_tasks import Case, cases
from benchmarks.quality.answers.recall import remembering
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_metrics import over_seeds
from policies.purple.purple import CHOSEN, CandidateList, Purple
from policies.scoring.ranking import best

KNOWN = ("answers", "prefer")
QUESTIONS = 60


def main() -> None:
    options = parser("purple_evidence", __doc__ or "")
    options.add_argument("--questions", type=int, help=f"of a task and seed ({QUESTIONS})")
    given = options.parse_args()
    count = given.questions or (9 if given.quick else QUESTIONS)
    seeds = 1 if given.quick else given.seeds
    embedder = LocalEmbedder(load_config())
    encode = remembering(embedder)
    purple = Purple.shipped(embedder.encode_tokens)
    figures: Figures = {}
    seen: list[Case] = []
    for task in KNOWN:
        runs = []
        for seed in range(seeds):
            asked = cases(task, given.data, count, encode, seed)
            listed = [purple.listed(c.episode.question, c.episode.view) for c in asked]
            runs.append(measured(purple, asked, listed))
            seen += asked
            progress(f"{task} seed {seed}: {runs[-1]}")
        figures |= {f"{task}.{key}": value for key, value in over_seeds(runs).items()}
    figures |= speed(seen, embedder, None)
    config = {
        "quick": given.quick, "data": given.data, "questions": count,
        "tables": {
            "Gold records chosen": ["recall", "recall_sd", "first", "first_sd"],
            "Speed": ["questions_per_s"],
        },
    }  # fmt: skip
    write_results("purple_evidence", config, list(range(seeds)), figures)
    for key, value in figures.items():
        print(f"{key:40} {value}")


def measured(purple: Purple, asked: Sequence[Case], listed: Sequence[CandidateList]) -> Figures:
    """Means over the questions of one draw."""
    found: dict[str, list[float]] = {}
    for case, own in zip(asked, listed, strict=True):
        gold = case.episode.required or frozenset()
        ids = [case.episode.view.memories[row].id for row in own.rows]
        orders = {name: order(case, own) for name, order in ORDERS.items()}
        scores = purple.network.scores(own.records)
        orders["purple"] = best(scores, len(scores)).tolist()
        for name, places in orders.items():
            chosen = [ids[place] for place in places[:CHOSEN]]
            found.setdefault(f"{name}.recall", []).append(len(gold & set(chosen)) / len(gold))
            found.setdefault(f"{name}.first", []).append(float(chosen[0] in gold))
        found.setdefault("candidates.reach", []).append(len(gold & set(ids)) / len(gold))
    return {name: float(np.mean(values)) for name, values in found.items()}


if __name__ == "__main__":
    main()
