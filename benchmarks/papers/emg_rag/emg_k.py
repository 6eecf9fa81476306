"""K = 1 to 5 activated nodes, with the time each takes (EMG-RAG, Table 5).

The walks of the paper and of memlane with their shipped weights, which were trained with the K of
their modules (``policies/walk/walk.py``, ``policies/walk/scout.py``), begun from K memories; our
own walk at that K of its own too. Beside them ``top-k``, which takes exactly K. Same questions and
views as in ``emg_policies``; with ``--answers``, the language model's answers on so many questions
a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_policies import Run, benchmark_config, puts_of
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_data import SETS
from benchmarks.shared.questions.qa_judge import (
    ANSWERED,
    SELECTED,
    Figures,
    judge_selections,
    select,
)
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.questions.qa_views import names_of, sample
from policies.base import Policy
from policies.baselines.simple import TopK
from policies.registry import Tools, make_policy
from policies.walk.scout import ACTIVATED, Scout
from policies.walk.walk import Walk

KS = (1, 2, 3, 4, 5)


def main() -> None:
    options = parser("emg_k", __doc__ or "")
    options.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    options.add_argument("--lives", type=int, default=8, help="simulated lives of each bank")
    options.add_argument("--answers", type=int, default=0, help="questions a seed and set")
    given = options.parse_args()
    given.policies = []
    config = benchmark_config()
    figures: Figures = {}
    with open_session(config) as models:
        run = Run(given, models, TokenCount(config))
        tools = Tools(names=names_of(models))
        ways: dict[str, Callable[[int], Policy]] = {
            "walk": lambda k: begun_with(make_policy("walk", tools), k),
            "scout": lambda k: begun_with(make_policy("scout", tools), k),
            "top-k": lambda k: TopK(k=k),
        }
        for name in given.sets:
            puts = puts_of(name, given, models)
            drawn = [sample(puts, given.answers, seed) for seed in range(given.seeds)]
            for way, make in ways.items():
                for k in (*KS, ACTIVATED) if way == "scout" else KS:
                    rows = select(make(k), puts)
                    found = judge_selections(rows, run.tokens)
                    if given.answers:
                        chosen = {row.put.item.key: row for row in rows}
                        found |= run.answers([[chosen[p.item.key] for p in one] for one in drawn])
                    figures |= {f"{name}.{way}@{k}.{key}": v for key, v in found.items()}
                    progress(f"{name} {way}@{k}: F1 {found['f1'] or 0:.3f}, {found['ms']:.2f} ms")
    told = {
        "quick": given.quick, "ks": list(KS), "lives": given.lives,
        "answers_a_seed": given.answers, "sets": given.sets, "embedder": config.embedder,
        "tables": {"Selections": SELECTED,
                   "Answers": [each for one in ANSWERED for each in (one, f"{one}_sd")]},
    }  # fmt: skip
    write_results("emg_k", told, list(range(given.seeds)), figures)


def begun_with(policy: Policy, k: int) -> Policy:
    """A walk that begins from ``k`` memories."""
    assert isinstance(policy, Walk | Scout)
    return replace(policy, activated=k)


if __name__ == "__main__":
    main()
