"""What a look at the page costs in a large home: milliseconds and bytes of each (docs/web.md).

``python -m benchmarks.web_speed [--quick] [--seeds N]``. Homes of 10,000 and 100,000 memories,
half of them at the person, the rest among things. Each look is asked as the page asks it and
encoded as it is sent; its median time over seeds and repetitions is told. Bar: 100 ms at 10,000.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.codec import encode
from agent.config import load_config
from agent.server.web import requests, views
from agent.server.web.app import WORK
from agent.session.session import Session
from benchmarks.shared.common import parser, progress, write_results
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
KINDS = (
    "relationship.colleague_friends",
    "preference.diet",
    "event.arrangement",
    "attribute.belongings",
)
LOOKS = {
    "start": requests.Start(),
    "around_me": requests.Around("me", 44),
    "around_thing": requests.Around("thing 7", 44),
    "at_me": requests.At("me"),
    "in_time": requests.InTime(),
    "search": requests.Search("thing 7"),
    "search_one": requests.Search("occasion 777"),
    "look": requests.Look("m77"),
    "journal": requests.Journal(),
}
REPEATS = 7
BATCH = 2000
BAR_MS = 100.0


def fill(graph: MemoryGraph, size: int, seed: int) -> None:
    rng = random.Random(seed)

    def thing() -> str:
        return f"thing {rng.randrange(size // 3)}"

    def draft(number: int) -> Draft:
        head, tail = ("me" if rng.random() < 0.5 else thing()), thing()
        return Draft(
            f"I noted that {tail} goes with {head} on occasion {number}.",
            rng.choice(KINDS),
            NOW - timedelta(hours=rng.randrange(40_000)),
            (Triple(head, "goes_with", tail),),
        )

    for start in range(0, size, BATCH):
        edits = [Insert(draft(number)) for number in range(start, min(start + BATCH, size))]
        graph.apply(edits, at=NOW)


def measure(size: int, seed: int) -> dict[str, tuple[list[float], int]]:
    """Milliseconds of each repetition, and the bytes of one answer, by the name of the look."""
    work = {call.asked: function for call, function in WORK}
    found: dict[str, tuple[list[float], int]] = {}
    with tempfile.TemporaryDirectory(prefix="memlane-web-") as folder:
        config = replace(load_config(now=NOW), home=Path(folder) / "home")
        with MemoryGraph.open(config.home) as graph:
            fill(graph, size, seed)
            session = Session(config, graph)
            views.start(session, requests.Start())  # the database's pages are read once
            for name, asked in LOOKS.items():
                times, said = [], b""
                for _ in range(REPEATS):
                    began = time.perf_counter()
                    said = json.dumps(encode(work[type(asked)](session, asked))).encode()
                    times.append(1000 * (time.perf_counter() - began))
                found[name] = times, len(said)
    return found


def main() -> None:
    options = parser("web_speed", __doc__ or "").parse_args()
    sizes = (1000,) if options.quick else (10_000, 100_000)
    seeds = list(range(options.seeds))
    figures: dict[str, float | int | None] = {"bar_ms": BAR_MS}
    for size in sizes:
        times: dict[str, list[float]] = defaultdict(list)
        for seed in seeds:
            progress(f"{size:,} memories, seed {seed}")
            for name, (taken, weight) in measure(size, seed).items():
                times[name] += taken
                figures[f"{size:,} memories.{name}.bytes"] = weight
        for name, taken in times.items():
            figures[f"{size:,} memories.{name}.median_ms"] = statistics.median(taken)
    config = {"quick": options.quick, "tables": {"looks": ("median_ms", "bytes")}}
    write_results("web_speed", config, seeds, figures)


if __name__ == "__main__":
    main()
