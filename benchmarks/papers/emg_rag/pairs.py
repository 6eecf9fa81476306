"""Question-answer pairs that the 1.5B model writes from memories (EMG-RAG A.1, A.4): the yield.

Simulated lives of the training bank, given right extraction. *Kept* pairs were answered alike from
their memories, unlike from the nearest others, and need each memory that they name; the rest is
counted by the reason it was dropped for. A pair's *seconds* are all of its model calls, those of
the dropped ones spread over the kept.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path

from agent.config import load_config
from agent.learning.episodes import write_pairs
from agent.memory.remember import store_drafts
from agent.session.session import open_session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import BANKS, fresh, gold_draft
from benchmarks.shared.simulated_lives.lives_world import write_life
from store.tables.side_tables.training_data import QuestionAnswer


def main() -> None:
    options = parser("pairs", __doc__ or "")
    options.add_argument("--pairs", type=int, default=12, help="wanted of each life")
    options.add_argument("--lives", type=int, default=3)
    options.add_argument("--show", action="store_true", help="the pairs themselves")
    given = options.parse_args()
    wanted, lives = (2, 1) if given.quick else (given.pairs, given.lives)
    became: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    seconds = 0.0

    def on_pair(done: int, of: int, pair: QuestionAnswer | None) -> None:
        if pair is not None:
            sizes[len(pair.memories)] += 1
            progress(f"{done} of {of}: {len(pair.memories)} memories")
            if given.show:
                progress(f"    {pair.question} -> {pair.answer}")

    with open_session(load_config()) as models:
        _ = models.llm.identity  # loads it before the clock runs
        for seed in range(lives):
            life = write_life(BANKS["train"], seed)
            with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
                for told in life.told:
                    source = session.graph.sources.add(told.kind, told.raw, told.at)
                    drafts = [gold_draft(told, source.id)]
                    store_drafts(drafts, source, session.graph, session, told.at)
                start = time.perf_counter()
                became += write_pairs(
                    session.graph, models.embedder, models.llm, max(a.at for a in life.asked),
                    wanted=wanted, seed=seed, on_pair=on_pair,
                )  # fmt: skip
                seconds += time.perf_counter() - start
    tries = became.total()
    figures: dict[str, float | int | None] = {
        "tries": tries,
        "kept": became["kept"],
        "yield": became["kept"] / tries,
        "kept_with_several_memories": sum(n for size, n in sizes.items() if size > 1),
        "seconds_a_kept_pair": seconds / max(1, became["kept"]),
    }
    figures |= {f"dropped: {why}": n for why, n in became.items() if why != "kept"}
    write_results("pairs", {"quick": given.quick, "pairs": wanted}, list(range(lives)), figures)
    for name, value in figures.items():
        print(f"{name:70} {value:.3f}" if isinstance(value, float) else f"{name:70} {value}")


if __name__ == "__main__":
    main()
