"""RUMS, hypothesis 2: which selector picks the memories that matter, and what a selection costs.

``python -m benchmarks.rums_h2 --data DIR [--quick]``. *prefeval+nq* asks questions of prefeval
(gold: the own preference among 20) and as many of nq_open (gold: nothing); *lives* asks simulated
lives of the test bank. Precision, recall and F1 are 1 where nothing was chosen and nothing was
needed; figures are means over questions, ``f1_personal`` over those that need something.

All questions meet what takes milliseconds; ``--few`` of each set, drawn by seed, also meet what
asks a language model (*utility*: the paper's entropy search; *question*: the same search by the
likelihood of the question; *prompted*), and rows ``few``-marked compare on just these.

Similarity chooses as many memories as ``rums-binary`` does, in two ways: *similarity at k*, the k
nearest of every question, k being what rums-binary takes where it takes something, rounded (what is
deployed today; it cannot keep silent); and *similarity, same total*, the nearest pairs of all
questions together until it has taken as many as rums-binary did (a floor on the cosine that no
deployed system could know, and the harder comparison). ``times`` are ratios of F1 to these.

*ms* is the median of a selection without encoding the question, *llm_tokens* what a language model
reads for it, *tokens* what the chosen memories add to the prompt.
"""

from __future__ import annotations

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from agent.answering.selection.utility import sampled
from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.session.session import Session, open_session
from benchmarks.papers.rums.likelihood_utilities import of_question
from benchmarks.papers.rums.rums_data import Case, cases, drawn, factual, lives, prefeval
from benchmarks.papers.rums.rums_models import SMALL, Counted, CountedPick, open_rewards
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_metrics import evidence, over_seeds
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST
from policies.base import Policy
from policies.baselines.bm25 import Bm25
from policies.baselines.llm_and_oracle import Picked
from policies.baselines.simple import Chance, TopK
from policies.rums.selectors import RumsBinary, RumsDirect, RumsMulti, shipped_need
from policies.rums.utility import MemoryNeed

COLUMNS = ("precision", "recall", "f1", "f1_personal", "memories", "tokens", "ms", "llm_tokens")
LIVES = range(4)
CANDIDATES = 5
"""Candidates of the direct searches; with 10 each takes twice as long."""
DECIDED = 0.02
"""Nats a token by which a memory has to make the question likelier."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one selector chose for one question."""

    case: Case
    ids: tuple[str, ...]
    ms: float
    llm_tokens: int = 0

    @property
    def texts(self) -> list[str]:
        """The chosen memories in words."""
        view = self.case.episode.view
        return [view.memories[view.row[memory]].text for memory in self.ids]


def main() -> None:
    options = parser("rums_h2", __doc__ or "")
    options.add_argument("--few", type=int, default=24, help="questions of a set and seed for llm")
    options.add_argument("--all", type=int, default=280, help="questions of a kind and seed")
    options.add_argument("--prompted", action="store_true", help="the 1.5B model picks, too")
    options.add_argument("--model", default=SMALL, help="of the direct searches")
    given = options.parse_args()
    if given.quick:
        given.seeds, given.all, given.few = 1, 8, 2
    runs: list[Figures] = []
    with ExitStack() as stack:
        models = stack.enter_context(open_session(load_config()))
        rewards = stack.enter_context(open_rewards(given.model)) if given.few else None
        count = TokenCount(load_config())
        for seed in range(given.seeds):
            runs.append(one_seed(seed, given, models, rewards, count))
    figures = over_seeds(runs)
    config = {
        "quick": given.quick, "all": given.all, "few": given.few, "prompted": given.prompted,
        "model": given.model, "candidates": CANDIDATES,
        "tables": {"RUMS H2": [each for c in COLUMNS for each in (c, f"{c}_sd")],
                   "RUMS H2, ratios of F1": ["times_f1", "times_f1_sd"]},
    }  # fmt: skip
    write_results("rums_h2", config, list(range(given.seeds)), figures)
    for key, value in figures.items():
        if value is not None and not key.endswith("_sd"):
            print(f"{key:60} {value:.3f}")


def one_seed(
    seed: int, given: Namespace, models: Session, rewards: LlamaRewards | None, count: TokenCount
) -> Figures:
    """All selectors on the questions of one seed."""
    own = prefeval(given.data, seed)
    pool = list(dict.fromkeys(text for told in own for text in told.memories))
    own = drawn(own, given.all, seed)
    other = drawn(factual(given.data, pool, seed), len(own), seed)
    lived = lives(TEST, [seed * len(LIVES) + n for n in LIVES])
    sets = {
        "prefeval+nq": cases([*own, *other], models),
        "lives": cases(drawn(lived, given.all, seed), models),
    }
    figures: Figures = {}
    for name, asked in sets.items():
        table = {title: chosen(policy, asked=asked) for title, policy in cheap(seed).items()}
        table |= matched(table["rums-binary"])
        few = few_of(asked, given.few)
        if rewards is not None and few:
            slow = {title: chosen(*made(rewards), asked=few) for title, made in direct().items()}
            if given.prompted:
                slow["prompted"] = chosen(*prompted(models, count), asked=few)
            keys = {case.episode.key for case in few}
            again = {
                title: [row for row in rows if row.case.episode.key in keys]
                for title, rows in table.items()
            }
            figures |= rows_of(f"{name}, few", slow | again, count)
        figures |= rows_of(name, table, count)
        progress(f"seed {seed}, {name}: {len(asked)} questions")
    return figures


def cheap(seed: int) -> dict[str, Policy]:
    """Selectors that ask no language model."""
    return {
        "rums-binary": RumsBinary.shipped(),
        "rums-multi": RumsMulti.shipped(),
        "bm25 at 5": Bm25(k=5),
        "similarity at 5": TopK(k=5, floor=-1.0),
        "random 5": Chance(k=5, seed=seed),
    }


def prompted(models: Session, count: TokenCount) -> tuple[Policy, CountedPick]:
    """The configured language model picks from a list."""
    pick = CountedPick(models.llm, count)
    return Picked(pick), pick


def direct() -> dict[str, Callable[[LlamaRewards], tuple[Policy, Counted]]]:
    """Searches that ask a model for every question."""

    def by(asking: Counted, need: MemoryNeed) -> tuple[Policy, Counted]:
        return RumsDirect(asking, need, candidates=CANDIDATES), asking

    # Of the question's own likelihood there is no entropy without memory that could decide.
    likelier = MemoryNeed(-DECIDED * 100, 100.0, 0.0)
    always = MemoryNeed(10.0, 0.0, 0.0)
    return {
        "utility": lambda rewards: by(Counted(sampled(rewards), rewards), shipped_need()),
        "utility, always": lambda rewards: by(Counted(sampled(rewards), rewards), always),
        "question": lambda rewards: by(Counted(of_question(rewards), rewards), likelier),
    }


def few_of(asked: Sequence[Case], count: int) -> list[Case]:
    """As many that need memory as others, spread over the set."""
    kinds = [[c for c in asked if c.personal is personal] for personal in (True, False)]
    each = count // max(1, sum(bool(kind) for kind in kinds))
    return [case for kind in kinds for case in kind[:: max(1, len(kind) // max(1, each))][:each]]


def chosen(
    policy: Policy, counted: Counted | CountedPick | None = None, *, asked: Sequence[Case]
) -> list[Row]:
    """The policy on every question; times are of the only selection where a model is asked."""
    rows = []
    for case in asked:
        question, view = case.episode.question, case.episode.view
        if counted is None:
            policy.select(question, view)  # views keep what they derive: a home has done so
        before = counted.tokens if counted else 0
        began = time.perf_counter()
        found = policy.select(question, view)
        ms = 1000 * (time.perf_counter() - began)
        ids = tuple(choice.memory.id for choice in found.chosen)
        rows.append(Row(case, ids, ms, counted.tokens - before if counted else 0))
    return rows


def matched(ours: Sequence[Row]) -> dict[str, list[Row]]:
    """Similarity with as many memories as ours takes."""
    asked = [row.case for row in ours]
    taken = [len(row.ids) for row in ours if row.ids]
    k = max(1, round(statistics.fmean(taken))) if taken else 1
    pairs = [
        (float(cosine), n, memory.id)
        for n, case in enumerate(asked)
        for memory, cosine in zip(
            case.episode.view.memories,
            case.episode.view.vectors @ case.episode.question.vector,
            strict=True,
        )
    ]
    pairs.sort(key=lambda pair: -pair[0])
    by_total: list[list[str]] = [[] for _ in asked]
    for _, n, memory in pairs[: sum(taken)]:
        by_total[n].append(memory)
    return {
        "similarity at k": chosen(TopK(k=k, floor=-1.0), asked=asked),
        "similarity, same total": [
            Row(case, tuple(ids), 0.0) for case, ids in zip(asked, by_total, strict=True)
        ],
    }


def rows_of(name: str, table: Mapping[str, Sequence[Row]], count: TokenCount) -> Figures:
    """The figures of every selector on one set, and the ratios."""
    figures: Figures = {}
    for title, rows in table.items():
        figures |= {f"{name}.{title}.{k}": v for k, v in scored(rows, count).items()}
    ours = figures[f"{name}.rums-binary.f1"]
    for title in table:
        theirs = figures[f"{name}.{title}.f1"]
        if title != "rums-binary" and ours is not None and theirs:
            figures[f"{name}.rums-binary over {title}.times_f1"] = ours / theirs
    return figures


def scored(rows: Sequence[Row], count: TokenCount) -> Figures:
    """Means over the questions."""
    agreed = [evidence(row.ids, row.case.episode.required or ()) for row in rows]
    personal = [e.f1 for e, row in zip(agreed, rows, strict=True) if row.case.personal]
    return {
        "precision": statistics.fmean(e.precision for e in agreed),
        "recall": statistics.fmean(e.recall for e in agreed),
        "f1": statistics.fmean(e.f1 for e in agreed),
        "f1_personal": statistics.fmean(personal) if personal else None,
        "memories": statistics.fmean(len(row.ids) for row in rows),
        "tokens": statistics.fmean(sum(map(count, row.texts)) for row in rows),
        "ms": statistics.median(row.ms for row in rows),
        "llm_tokens": statistics.fmean(row.llm_tokens for row in rows),
        "n": len(rows),
    }


if __name__ == "__main__":
    main()
