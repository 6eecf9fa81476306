"""What searching only the nearest partitions finds, and how fast.

``python -m benchmarks.partitions``. Invented memories (``benchmarks.many_memories``), each about
something of its own, placed and encoded as memlane does; messages that change some of them, in
other words and with another value. Recall@k: the share of messages whose memory is among the k
nearest, by probing the nearest 1, 2, 3, 5 partitions (3 also with the message's own subclass), by
what editing does at this size, and by everything. The time is of one search, without the encoder.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.memory.editing.candidates import probes_among
from agent.models.lazy import LocalEmbedder
from agent.ports import Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import MOST, encoded, memories
from store.derived.partitions import PartitionIndex
from store.tables.taxonomy import SUBCLASSES

SIZES = (1_000, 10_000, MOST)
MESSAGES = 300
CUTS = (1, 3, 5)
PROBED = (1, 2, 3, 5)
Search = Callable[[int], list[tuple[int, float]]]
"""From the number of a message to the nearest memories."""


def measured(search: Search, right: Sequence[int]) -> dict[str, float]:
    """Recall and time of one way of searching."""
    found, taken = [], []
    for number in range(len(right)):
        begun = time.perf_counter()
        matches = search(number)
        taken.append(1000 * (time.perf_counter() - begun))
        found.append([key for key, _ in matches])
    figures = {
        f"recall@{cut}": statistics.fmean(
            wanted in keys[:cut] for keys, wanted in zip(found, right, strict=True)
        )
        for cut in CUTS
    }
    return figures | {"ms": statistics.median(taken)}


def ways(index: PartitionIndex, vectors: Vectors, own: Sequence[str]) -> dict[str, Search]:
    """Every way of searching that is compared."""
    most = max(CUTS)
    everything = len(index.names())

    def probing(probes: int) -> Search:
        return lambda i: index.nearest(vectors[i], probes=probes, count=most)

    return {f"probe_{n}": probing(n) for n in PROBED} | {
        "probe_3_and_own": lambda i: index.nearest(
            vectors[i], probes=3, count=most, also=(own[i],)
        ),
        "editing": lambda i: index.nearest(
            vectors[i], probes=probes_among(len(index)), count=most, also=(own[i],)
        ),
        "everything": probing(everything),
    }


def main() -> None:
    options = parser("partitions", __doc__ or "")
    args = options.parse_args()
    embedder = LocalEmbedder(load_config())
    placer = Placer(SUBCLASSES, embedder)
    sizes = SIZES[:1] if args.quick else SIZES
    told = memories(sizes[-1])
    vectors = encoded([t.memory for t in told], embedder)
    placed = placer.place_vectors([t.memory for t in told], vectors)
    figures: dict[str, float | int | None] = {}
    for size in sizes:
        runs: list[dict[str, float]] = []
        for seed in range(args.seeds):
            rng = random.Random(seed)
            chosen = rng.sample(range(len(told)), size)
            index = PartitionIndex(vectors.shape[1])
            index.extend(chosen, [placed[row] for row in chosen], vectors[chosen])
            right = rng.sample(chosen, MESSAGES)
            texts = [rng.choice(told[row].changes) for row in right]
            asked = embedder.encode(texts)
            own = placer.place_vectors(texts, asked)
            run = {
                f"{name}.{figure}": value
                for name, search in ways(index, asked, own).items()
                for figure, value in measured(search, right).items()
            }
            sizes_of = Counter(placed[row] for row in chosen)
            run["partitions"] = len(sizes_of)
            run["largest_partition_share"] = max(sizes_of.values()) / size
            run["placed_alike"] = float(
                np.mean([own[i] == placed[row] for i, row in enumerate(right)])
            )
            runs.append(run)
            progress(f"{size:,} memories, seed {seed} done")
        for name in runs[0]:
            values = [run[name] for run in runs]
            figures[f"{size}.{name}"] = statistics.fmean(values)
            if "recall@1" in name and len(values) > 1:
                figures[f"{size}.{name}.spread"] = statistics.stdev(values)
    settings = {"quick": args.quick, "embedder": embedder.identity, "messages": MESSAGES}
    write_results("partitions", settings, range(args.seeds), figures)


if __name__ == "__main__":
    main()
