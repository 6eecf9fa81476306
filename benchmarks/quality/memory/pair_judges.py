"""The statement reader against the untrained 1.5B: does a new message change an old note?

Pairs of sentences by held-out voices, as many changed ones (superseded, corrected, ended) as
others of the same episodes, drawn by seed. The reader is the one that was trained without these
voices (``python -m benchmarks.reader_train --held`` first). The language model answers a closed
question with eight examples; its score is its probability of "yes" against "no". Figures are areas
under the curve.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from statistics import mean, pstdev

from sklearn.metrics import roc_auc_score

from agent.config import load_config
from agent.language.injection import as_data
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.registry import ModelRegistry
from agent.ports import RELATIONS, ChatTurn
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.reader_data import Pair, read_episodes, told_pairs
from benchmarks.training.reader.reader_train import HELD, HELD_VOICES, encoder_folder

CHANGED = ("corrects", "ends", "supersedes")
Spent = dict[str, list[float]]
ASKED = 8
"""Pairs that the language model reads together: its prompts share their beginning."""

SYSTEM = """A person tells an assistant things over time. You see an old note and a new message of \
the same person. Does the new message mean that the old note is no longer true? Answer yes or no."""

EXAMPLES: tuple[tuple[str, str, str], ...] = (
    (
        "I drive a grey Skoda Fabia.",
        "Sold the Fabia to my cousin. The Leaf charges overnight in the yard.",
        "yes",
    ),
    ("Choir practice is on Mondays at 19:00.", "My brother's choir moved to Tuesdays.", "no"),
    ("I'm allergic to peanuts.", "The test says shellfish is out as well.", "no"),
    (
        "We live on Harbour Street.",
        "the stairs at mill lane are killing me, 40 boxes n counting",
        "yes",
    ),
    (
        "My flight to Lyon leaves at 9:10.",
        "Lyon it is! Finally packed, and the cat is at Vera's.",
        "no",
    ),
    (
        "Dr Adler looks after my teeth.",
        "First checkup at the practice in Weststrasse went ok",
        "yes",
    ),
    ("Piano lesson every Thursday with Mr Ode.", "Mr Ode waved us off for good today.", "yes"),
    ("My sister Ana works at the zoo.", "I nearly took that job at the zoo, glad I didn't", "no"),
)


def main() -> None:
    options = parser("pair_judges", __doc__ or "")
    options.add_argument("--pairs", type=int, default=80, help="changed ones, a seed")
    given = options.parse_args()
    count, seeds = (4, 1) if given.quick else (given.pairs, given.seeds)
    episodes = [e for e in read_episodes() if e.voice in HELD_VOICES]
    pairs = [pair for episode in episodes for pair in told_pairs(episode)]
    changed = [pair for pair in pairs if pair.relation in CHANGED]
    others = [pair for pair in pairs if pair.relation not in CHANGED]
    reader = TrainedReader(encoder_folder(), HELD)
    config = load_config()
    path = ModelRegistry(config.models_dir).resolve_llm(config.llm)
    areas: dict[str, list[float]] = {"reader": [], "llm": []}
    seconds: Spent = {"reader": [], "llm": []}
    with LlamaRewards(path, identity="llm", n_ctx=4096) as llm:
        for seed in range(seeds):
            chance = random.Random(seed)
            drawn = chance.sample(changed, min(count, len(changed))) + chance.sample(others, count)
            truth = [pair.relation in CHANGED for pair in drawn]
            scored = {"reader": _read(reader, drawn, seconds), "llm": _ask(llm, drawn, seconds)}
            for name, scores in scored.items():
                areas[name].append(float(roc_auc_score(truth, scores)))
                progress(f"seed {seed}: {name} {areas[name][-1]:.3f}")
    figures = {f"{name}.auc": mean(values) for name, values in areas.items()}
    figures |= {f"{name}.auc.sd": pstdev(values) for name, values in areas.items()}
    figures |= {f"{name}.seconds_a_pair": mean(values) for name, values in seconds.items()}
    settings = {"quick": given.quick, "pairs": 2 * count, "voices": HELD_VOICES}
    write_results("pair_judges", settings, list(range(seeds)), figures)


def _read(reader: TrainedReader, pairs: Sequence[Pair], spent: Spent) -> list[float]:
    began = time.perf_counter()
    rows = reader.relations([(pair.old_read, pair.new_read) for pair in pairs])
    spent["reader"].append((time.perf_counter() - began) / len(pairs))
    return [float(sum(row[RELATIONS.index(name)] for name in CHANGED)) for row in rows]


def _ask(llm: LlamaRewards, pairs: Sequence[Pair], spent: Spent) -> list[float]:
    scores: list[float] = []
    began = time.perf_counter()
    for start in range(0, len(pairs), ASKED):
        prompts = [build_turns(pair.old, pair.new) for pair in pairs[start : start + ASKED]]
        options = [("yes", "no")] * len(prompts)
        scores += [float(chances[0]) for chances in llm.choose(prompts, options)]
    spent["llm"].append((time.perf_counter() - began) / len(pairs))
    return scores


def build_turns(old: str, new: str) -> tuple[ChatTurn, ...]:
    """The prompt for one pair; all but the last turn are the same in every call."""
    turns = [ChatTurn("system", SYSTEM)]
    for before, after, answer in EXAMPLES:
        turns += [ChatTurn("user", _pair(before, after)), ChatTurn("assistant", answer)]
    turns.append(ChatTurn("user", _pair(as_data(old), as_data(new))))
    return tuple(turns)


def _pair(old: str, new: str) -> str:
    return f"Old note: {old}\nNew message: {new}"


if __name__ == "__main__":
    main()
