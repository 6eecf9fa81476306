"""RUMS, hypothesis 1: does the utility tell questions that need memory from those that do not?

``python -m benchmarks.rums_h1 --data DIR [--quick]``. Personal are questions of prefeval and of
personamem, factual those of nq_open (``benchmarks.probe`` draws them; each has the 2 nearest of 20
memories as candidates). A question's score is its *utility*: the entropy of the answer without
memory less the lowest with one candidate. Beside it: *none*, the entropy without memory; *both*, a
logistic regression of the two (``policies.rums.utility.MemoryNeed``); and *binary* and *multi*, the
highest probability that a shipped selector gives to anything in the profile.

Per cell: *js* the Jensen-Shannon divergence (base 2, 20 bins) and *ks* the Kolmogorov-Smirnov
statistic of the two distributions, *auc*, and *recall* and *specificity* at Youden's threshold, set
on one half of the questions and measured on the other, both ways round. *own* is, of prefeval's
questions with their own preference among the candidates, the share where it has the higher utility.

The first table has a cell for each model and form of prompt, over all questions; the second the
sweeps of appendix A.1 around 5 samples of 20 tokens at temperature 0.7, over ``--side`` questions a
kind, of each model. With cells left out (``--of 'MODEL FORM=0'``) the others go to
``rums_h1_some``, and with all of them left out the sweeps go to ``rums_h1_sweep``. Rewards are kept
in ``build/benchmarks/probe.db``: an interrupted run goes on where it was.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from agent.config import load_config
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.session.session import Session, open_session
from benchmarks.papers.rums.memory_need import fit_need, youden
from benchmarks.papers.rums.probe import (
    CANDIDATES,
    FORMS,
    PROFILE,
    SAMPLES,
    SIDE,
    TEMPERATURE,
    TOKENS,
)
from benchmarks.papers.rums.probe import questions as probed
from benchmarks.papers.rums.rums_data import Case, Told, cases, personamem
from benchmarks.papers.rums.rums_models import LARGE, SMALL, open_rewards
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_judge import Figures
from policies.rums.selectors import RumsBinary, RumsMulti
from policies.rums.utility import utility

BINS = 20
TOGETHER = 10
COLUMNS = ("js", "ks", "auc", "recall", "specificity", "own", "personal", "factual", "n")
Settings = tuple[int, int, float]
"""Samples, tokens, temperature."""
BASE: Settings = (SAMPLES, TOKENS, TEMPERATURE)
SWEEP: dict[str, Settings] = {
    "samples 1": (1, TOKENS, TEMPERATURE),
    "samples 3": (3, TOKENS, TEMPERATURE),
    "samples 5 (base)": BASE,
    "samples 10": (10, TOKENS, TEMPERATURE),
    "tokens 10": (SAMPLES, 10, TEMPERATURE),
    "tokens 50": (SAMPLES, 50, TEMPERATURE),
    "greedy": (1, TOKENS, 0.0),
}


@dataclass(frozen=True, slots=True)
class Put:
    """A question, its candidates, and which of them is its own (prefeval)."""

    set: str
    question: str
    candidates: tuple[str, ...]
    profile: tuple[str, ...]
    own: int | None = None

    @property
    def personal(self) -> bool:
        return self.set != "nq_open"


def main() -> None:
    options = parser("rums_h1", __doc__ or "")
    options.add_argument("--models", nargs="+", default=[SMALL, LARGE])
    options.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    options.add_argument("--all", type=int, default=SIDE, help="questions a kind, first table")
    options.add_argument(
        "--of", nargs="*", default=[], metavar="'MODEL FORM=N'", help="a cell of fewer; 0: left out"
    )
    options.add_argument("--personamem", type=int, default=40, help="questions of personamem")
    options.add_argument(
        "--side", type=int, nargs="+", default=[30, 20], help="questions a kind, sweeps, by model"
    )
    given = options.parse_args()
    if given.quick:
        given.models, given.forms = given.models[:1], given.forms[:1]
        given.all, given.side, given.personamem = 6, [2], 2
    fewer = {cell: int(count) for cell, _, count in (one.rpartition("=") for one in given.of)}
    figures: Figures = {}
    with open_session(load_config()) as models:
        puts = questions(given, models)
        if cells := any(fewer.get(f"{m} {f}", 1) for m in given.models for f in given.forms):
            figures |= learned(puts, models)
    for n, name in enumerate(given.models):
        with open_rewards(name) as rewards:
            for form in given.forms:
                if not (most := fewer.get(f"{name} {form}", given.all)):
                    continue
                # Of the large model and the chat form what the probe measures is enough.
                whole = not n and form == "plain"
                cell = firsts([p for p in puts if whole or p.set != "personamem"], most)
                found = signals(rewards, cell, form, BASE, f"{name} {form}")
                title = f"{name} {form}".replace(".", "_")  # a dot parts the names of figures
                figures |= named(title, base_figures(cell, found))
            side = given.side[n] if n < len(given.side) else 0
            if few := firsts([put for put in puts if put.set != "personamem"], side):
                of = "sweep" if not n else f"sweep {name}".replace(".", "_")
                for title, settings in SWEEP.items():
                    found = signals(rewards, few, "plain", settings, f"{name} {title}")
                    rows = separation(few, found[:, 0]) | owned(few, found[:, 2])
                    figures |= {f"{of}.{title}.{k}": v for k, v in rows.items()}
    config = {
        "quick": given.quick, "models": given.models, "forms": given.forms, "all": given.all,
        "fewer": fewer, "side": given.side, "personamem": given.personamem,
        "profile": PROFILE, "candidates": CANDIDATES, "samples": SAMPLES, "tokens": TOKENS,
        "temperature": TEMPERATURE, "bins": BINS, "tables": {"RUMS H1": COLUMNS},
    }  # fmt: skip
    # A run of some cells alone, such as one that takes longest, leaves the whole table as it is.
    name = "rums_h1_some" if 0 in fewer.values() else "rums_h1"
    name = name if cells else "rums_h1_sweep"
    write_results(name, config, [0], figures)
    for key, value in figures.items():
        if value is not None:
            print(f"{key:60} {value:.3f}")


def questions(given: Namespace, models: Session) -> list[Put]:
    """Those of the probe, and some of personamem with the nearest sentences as their profile."""
    gold = {
        row["question"]: row["preference"]
        for path in sorted((given.data / "prefeval" / "explicit_preference").glob("*.json"))
        for row in json.loads(Path(path).read_text(encoding="utf-8"))
    }
    made = []
    for one in probed(given.data, max(SIDE, given.all), np.random.default_rng(0)):
        mine = gold.get(one.question) if one.personal else None
        own = one.candidates.index(mine) if mine in one.candidates else None
        kind = "prefeval" if one.personal else "nq_open"
        made.append(Put(kind, one.question, one.candidates, one.profile, own))
    told = personamem(given.data) if given.personamem else []
    step = max(1, len(told) // max(1, given.personamem))
    for case in cases(told[::step][: given.personamem], models) if told else ():
        asked, view = case.episode.question, case.episode.view
        order = np.argsort(-(view.vectors @ asked.vector))[:PROFILE]
        profile = tuple(view.memories[row].text for row in order)
        made.append(Put("personamem", asked.text, profile[:CANDIDATES], profile))
    return made


def firsts(puts: Sequence[Put], most: int) -> list[Put]:
    """The first ``most`` of each set; the probe has shuffled them."""
    kinds = dict.fromkeys(put.set for put in puts)
    return [put for kind in kinds for put in [p for p in puts if p.set == kind][:most]]


def signals(
    rewards: LlamaRewards, puts: Sequence[Put], form: str, settings: Settings, what: str
) -> NDArray[np.float64]:
    """(questions, 3): utility, entropy without memory, and by how much the own preference wins."""
    samples, tokens, temperature = settings
    make = FORMS[form]
    rows = np.full((len(puts), 3), np.nan)
    # Both sides in every part: an interruption keeps them even.
    order = np.random.default_rng(0).permutation(len(puts))
    for start in range(0, len(order), TOGETHER):
        part = [int(i) for i in order[start : start + TOGETHER]]
        prompts = [
            make(puts[i].question, memories)
            for i in part
            for memories in ((), *((one,) for one in puts[i].candidates))
        ]
        found = iter(
            rewards.entropy(prompts, samples=samples, max_tokens=tokens, temperature=temperature)
        )
        for i in part:
            none = next(found)
            worth = [utility(none.samples, next(found).samples).mean for _ in puts[i].candidates]
            rows[i, :2] = max(worth), none.mean
            if (own := puts[i].own) is not None:
                rows[i, 2] = worth[own] - max(w for n, w in enumerate(worth) if n != own)
        progress(f"{what}: {min(start + TOGETHER, len(order))} of {len(order)}")
    return rows


# ---- figures ------------------------------------------------------------------------------------


def base_figures(puts: Sequence[Put], found: NDArray[np.float64]) -> dict[str, Figures]:
    """A row for each score; of the utility one for personamem alone as well."""
    rows = {
        "utility": separation(puts, found[:, 0]) | owned(puts, found[:, 2]),
        "none": separation(puts, found[:, 1]),
        "both": separation(puts, found[:, 0], found[:, 1]),
    }
    few = [i for i, put in enumerate(puts) if put.set != "prefeval"]
    if any(puts[i].set == "personamem" for i in few):
        only = [puts[i] for i in few]
        rows["utility, personamem"] = separation(only, found[few, 0])
        rows["both, personamem"] = separation(only, found[few, 0], found[few, 1])
    return rows


def named(title: str, rows: dict[str, Figures]) -> Figures:
    return {f"{title}.{row}.{k}": v for row, own in rows.items() for k, v in own.items()}


def separation(
    puts: Sequence[Put], scores: NDArray[np.float64], second: NDArray[np.float64] | None = None
) -> Figures:
    """How far the scores of both kinds lie apart; with ``second`` those of two signals joined."""
    yes = np.array([put.personal for put in puts])
    halves = np.arange(len(puts)) % 2 == 0
    said = np.zeros(len(puts))
    recall, specificity = [], []
    for fitted in (halves, ~halves):
        values = scores
        if second is not None:
            pairs = list(zip(scores.tolist(), second.tolist(), strict=True))
            need = fit_need(
                [pairs[i] for i in np.flatnonzero(fitted & yes)],
                [pairs[i] for i in np.flatnonzero(fitted & ~yes)],
            )
            values = np.array([need.likely(*pair) for pair in pairs])
        said[~fitted] = values[~fitted]
        threshold = youden(values[fitted & yes].tolist(), values[fitted & ~yes].tolist())
        there = threshold.on(values[~fitted & yes].tolist(), values[~fitted & ~yes].tolist())
        recall.append(there.recall)
        specificity.append(there.specificity)
    edges = np.histogram_bin_edges(said, BINS)
    parts = [np.histogram(said[side], edges)[0] for side in (yes, ~yes)]
    return {
        "js": float(jensenshannon(*parts, base=2) ** 2),
        "ks": float(ks_2samp(said[yes], said[~yes]).statistic),
        "auc": float(roc_auc_score(yes, said)),
        "recall": float(np.mean(recall)),
        "specificity": float(np.mean(specificity)),
        "personal": float(said[yes].mean()),
        "factual": float(said[~yes].mean()),
        "n": len(puts),
    }


def owned(puts: Sequence[Put], ahead: NDArray[np.float64]) -> Figures:
    """Of the questions whose own preference is a candidate, how often it wins."""
    known = ahead[~np.isnan(ahead)]
    return {"own": float((known > 0).mean()) if len(known) else None, "own_n": len(known)}


def learned(puts: Sequence[Put], models: Session) -> Figures:
    """The same figures of the selectors that memlane ships, over the whole profiles."""
    asked = cases([Told(put.set, put.question, put.profile, None) for put in puts], models)
    made: dict[str, Figures] = {}
    for name, scores in highest(asked):
        for title, kept in (("", "all"), (", personamem", "prefeval")):
            rows = [i for i, put in enumerate(puts) if put.set != kept]
            some = [puts[i] for i in rows]
            if any(put.personal for put in some):
                made[f"{name}{title}"] = separation(some, scores[rows])
    return named("shipped selectors", made)


def highest(asked: Sequence[Case]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """What each selector says of the likeliest memory or kind of each question."""
    for policy in (RumsBinary.shipped(), RumsMulti.shipped()):
        said = [
            float(policy.network.probabilities(states)[:, 1].max())
            for case in asked
            for states, _ in [policy.lesson(case.episode.question, case.episode.view, frozenset())]
        ]
        yield policy.name, np.array(said)


if __name__ == "__main__":
    main()
