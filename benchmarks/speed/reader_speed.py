"""The statement reader in integers beside the same weights in floats.

Pairs of statements of the voices held out from training, of which the older was told in an earlier
message; both readers judge the same ones, in turn, ``ROUNDS`` times. The shipped weights learned
from these voices too, so what counts is the difference between the two and not how good both are.

``ms_a_pair``: the median over rounds and seeds. ``right``: the share of pairs whose relation is
named right. ``auc``: of telling changed ones from others. ``same``: the share in which both name
the same relation; ``moved``: the most that a probability of a relation moves.
"""

from __future__ import annotations

import random
import statistics
import time

import numpy as np
from sklearn.metrics import roc_auc_score

from agent.memory.editing.judges.by_reader import CHANGES
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.ports import RELATIONS, Probabilities
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.reader_data import Episode, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder

ROUNDS = 3


def main() -> None:
    """Write ``reader_speed.json``."""
    options = parser("reader_speed", __doc__ or "")
    options.add_argument("--pairs", type=int, default=600, help="a seed")
    given = options.parse_args()
    count, seeds = (40, 1) if given.quick else (given.pairs, given.seeds)
    pairs = [pair for episode in read_episodes(HELD_VOICES) for pair in _pairs(episode)]
    readers = {
        name: TrainedReader(encoder_folder(), WEIGHTS, int8=name == "integers")
        for name in ("floats", "integers")
    }
    took: dict[str, list[float]] = {name: [] for name in readers}
    found: dict[str, list[Probabilities]] = {name: [] for name in readers}
    truth: list[str] = []
    for seed in range(seeds):
        drawn = random.Random(seed).sample(pairs, min(count, len(pairs)))
        truth += [relation for *_, relation in drawn]
        for turn in range(ROUNDS):
            for name, reader in readers.items():
                begun = time.perf_counter()
                judged = reader.relations([(older, newer) for older, newer, _ in drawn])
                took[name].append(1000 * (time.perf_counter() - begun) / len(drawn))
                if turn == 0:
                    found[name].append(judged)
            progress(f"seed {seed}: { ({name: round(ms[-1], 2) for name, ms in took.items()}) }")
    figures: dict[str, float] = {}
    changing = [RELATIONS.index(name) for name in CHANGES]
    rows = {name: np.concatenate(parts) for name, parts in found.items()}
    for name, row in rows.items():
        figures[f"{name}.ms_a_pair"] = statistics.median(took[name])
        figures[f"{name}.right"] = float(
            np.mean([RELATIONS[n] for n in row.argmax(1)] == np.array(truth))
        )
        changed = [relation in CHANGES for relation in truth]
        figures[f"{name}.auc"] = float(roc_auc_score(changed, row[:, changing].sum(1)))
    exact, ours = rows["floats"], rows["integers"]
    figures["same"] = float(np.mean(exact.argmax(1) == ours.argmax(1)))
    figures["moved"] = float(np.abs(exact - ours).max())
    progress(str(figures))
    config = {"quick": given.quick, "pairs": count, "rounds": ROUNDS, "voices": HELD_VOICES}
    write_results("reader_speed", config, list(range(seeds)), figures)


def _pairs(episode: Episode) -> list[tuple[str, str, str]]:
    """(older, newer, relation) of an episode's statements."""
    told = [statement for statement in episode.statements if statement.memory]
    return [
        (one.memory, other.memory, episode.relations.get((one.id, other.id), "unrelated"))
        for one in told
        for other in told
        if one.message < other.message
    ]


if __name__ == "__main__":
    main()
