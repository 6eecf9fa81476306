"""RUMS, hypothesis 3: do the selected memories make better answers, and at what cost?

``python -m benchmarks.rums_h3 --data DIR [--quick]``. No judge model serves here, so answers are
judged by the answering model's own probabilities: *accuracy* is the share of questions whose right
option of four is the likeliest (``choose``, mean log-probability a token), *reference* the mean
log-likelihood a token of the right option, both after the memories that a selector chose. Of
prefeval (20 preferences) and of personamem (the 20 sentences nearest to the question; the
``--personamem`` first of each draw). *gain* is the reference's likelihood over that of no memory.

*ms* is the median of a selection, *llm_tokens* what a model reads to select, *tokens* what the
chosen memories add to the prompt (the paper's Tables 9 and 10).
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from agent.answering.selection.utility import plain
from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.session.session import Session, open_session
from benchmarks.papers.rums.rums_data import PROFILE, Case, cases, drawn, personamem, prefeval
from benchmarks.papers.rums.rums_h2 import Row, cheap, chosen, direct, prompted
from benchmarks.papers.rums.rums_models import SMALL, open_rewards
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures
from benchmarks.shared.questions.qa_metrics import over_seeds
from benchmarks.shared.questions.qa_models import TokenCount
from policies.baselines.simple import AllMemories

COLUMNS = ("accuracy", "reference", "gain", "memories", "tokens", "ms", "llm_tokens", "n")
TOGETHER = 8


def main() -> None:
    options = parser("rums_h3", __doc__ or "")
    options.add_argument("--all", type=int, default=40, help="questions of a set and seed")
    options.add_argument("--personamem", type=int, default=16, help="of personamem")
    options.add_argument("--few", type=int, default=16, help="of these, for what asks a model")
    options.add_argument("--prompted", action="store_true", help="the 1.5B model picks, too")
    options.add_argument("--model", default=SMALL, help="answers, and makes the utilities")
    given = options.parse_args()
    if given.quick:
        given.seeds, given.all, given.personamem, given.few = 1, 4, 2, 2
    runs: list[Figures] = []
    with ExitStack() as stack:
        models = stack.enter_context(open_session(load_config()))
        rewards = stack.enter_context(open_rewards(given.model))
        count = TokenCount(load_config())
        for seed in range(given.seeds):
            runs.append(one_seed(seed, given, models, rewards, count))
    figures = over_seeds(runs)
    config = {
        "quick": given.quick, "all": given.all, "personamem": given.personamem, "few": given.few,
        "prompted": given.prompted, "model": given.model,
        "tables": {"RUMS H3": [each for c in COLUMNS for each in (c, f"{c}_sd")]},
    }  # fmt: skip
    write_results("rums_h3", config, list(range(given.seeds)), figures)
    for key, value in figures.items():
        if value is not None and not key.endswith("_sd"):
            print(f"{key:60} {value:.3f}")


def one_seed(
    seed: int, given: Namespace, models: Session, rewards: LlamaRewards, count: TokenCount
) -> Figures:
    """All selectors on the questions of one seed."""
    sets = {
        "prefeval": cases(drawn(prefeval(given.data, seed), given.all, seed), models),
        "personamem": [
            nearest(case)
            for case in cases(drawn(personamem(given.data), given.personamem, seed), models)
        ],
    }
    figures: Figures = {}
    for name, asked in sets.items():
        table = {"none": [Row(case, (), 0.0) for case in asked]}
        table["all"] = chosen(AllMemories(), asked=asked)
        table["gold"] = [
            Row(case, tuple(case.episode.required or ()), 0.0)
            for case in asked if case.told.gold is not None
        ]  # fmt: skip
        table |= {title: chosen(policy, asked=asked) for title, policy in cheap(seed).items()}
        few = asked[: given.few]
        for title, made in direct().items():
            policy, counted = made(rewards)
            table[title] = chosen(policy, counted, asked=few)
        if given.prompted:
            table["prompted"] = chosen(*prompted(models, count), asked=few)
        bare = {row.case.episode.key: score(rewards, [row])[0][1] for row in table["none"]}
        for title, rows in table.items():
            if rows:
                own = scored(rows, score(rewards, rows), bare, count)
                figures |= {f"{name}.{title}.{k}": v for k, v in own.items()}
            progress(f"seed {seed}, {name}: {title}")
    return figures


def nearest(case: Case) -> Case:
    """The same question against the memories nearest to it: hundreds fit no prompt."""
    view, asked = case.episode.view, case.episode.question
    rows = np.argsort(-(view.vectors @ asked.vector))[:PROFILE].tolist()
    return replace(case, episode=replace(case.episode, view=view.narrowed(sorted(rows))))


def score(rewards: LlamaRewards, rows: Sequence[Row]) -> list[tuple[bool, float]]:
    """Of each row, whether the right option is the likeliest, and its log-likelihood a token."""
    found = []
    for start in range(0, len(rows), TOGETHER):
        part = rows[start : start + TOGETHER]
        prompts, options = [], []
        for row in part:
            prompt = plain(row.case.told.question, row.texts)
            prompts += [prompt] * len(row.case.told.options)
            options += [f" {option}" for option in row.case.told.options]
        scores = iter(rewards.log_likelihood(prompts, options))
        for row in part:
            means = [float(next(scores).mean()) for _ in row.case.told.options]
            right = row.case.told.options.index(row.case.told.reference)
            found.append((int(np.argmax(means)) == right, means[right]))
    return found


def scored(
    rows: Sequence[Row],
    judged: Sequence[tuple[bool, float]],
    bare: dict[str, float],
    count: TokenCount,
) -> Figures:
    """Means over the questions."""
    return {
        "accuracy": statistics.fmean(right for right, _ in judged),
        "reference": statistics.fmean(value for _, value in judged),
        "gain": statistics.fmean(
            value - bare[row.case.episode.key] for row, (_, value) in zip(rows, judged, strict=True)
        ),
        "memories": statistics.fmean(len(row.ids) for row in rows),
        "tokens": statistics.fmean(sum(map(count, row.texts)) for row in rows),
        "ms": statistics.median(row.ms for row in rows),
        "llm_tokens": statistics.fmean(row.llm_tokens for row in rows),
        "n": len(rows),
    }


if __name__ == "__main__":
    main()
