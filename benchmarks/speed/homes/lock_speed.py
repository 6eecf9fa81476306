"""What encryption costs: edits and questions of an encrypted home against a plain one.

``python -m benchmarks.lock_speed``. The same invented memories lie in two homes; vectors are random
and no model runs, so what is measured is the store alone, which is the most that encryption can
cost: with models the ratio is nearer to 1. Both homes take turns, as other work on the machine
changes times. An edit is planned and stored durably; a question reads what holds, compares it with
a vector, and stores its turn; a first question opens the home and reads everything.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec

import numpy as np

from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.io.encryption import encrypt
from agent.memory.remember import store_drafts
from agent.models.lazy import LocalLanguageModel, LocalReader
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.ports import Embedder, LanguageModel, TextReader, Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import NOW, build_home, memories
from store.database.encryption.envelope import new_key
from store.database.encryption.keys import hold
from store.graph import MemoryGraph
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft, SourceKind

SIZES = (1_000, 10_000)
COUNT = 40
"""Edits and questions of each home and seed."""
FIRST = 5
"""First questions of each home and seed."""
BAR = 1.3
DIMENSION = 384
MODEL = "random:1"
P = ParamSpec("P")


class Apart:
    """No model runs: each text has a random vector of its own."""

    identity = MODEL
    dimension = DIMENSION

    def __init__(self, rng: np.random.Generator) -> None:
        config = load_config()
        self._rng = rng
        self.embedder: Embedder = self
        self.llm: LanguageModel = LocalLanguageModel(config)  # never loaded: nobody asks it
        self.reader: TextReader = LocalReader(config)
        self.statements = None
        self.secrets = LocalSecretReader(config)

    @property
    def placer(self) -> Placer:
        raise AssertionError("the drafts are placed already")

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = self._rng.standard_normal((len(texts), DIMENSION)).astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def edit(graph: MemoryGraph, models: Apart, text: str, subclass: str) -> None:
    source = graph.sources.add(SourceKind.CHAT, text, NOW)
    store_drafts([Draft(text, subclass, NOW, source=source.id)], source, graph, models, NOW)


def question(graph: MemoryGraph, models: Apart, text: str) -> None:
    view = graph.view(NOW, MODEL)
    scores = view.vectors @ models.encode([text])[0]
    best = [view.memories[row].text for row in np.argsort(-scores)[:6]]
    graph.turns.log(NOW, text, "retrieve", best[0], {})


def first_question(home: Path, models: Apart, text: str) -> None:
    with MemoryGraph.open(home) as graph:
        question(graph, models, text)


def milliseconds(work: Callable[P, None], *given: P.args, **named: P.kwargs) -> float:
    begun = time.perf_counter()
    work(*given, **named)
    return 1000 * (time.perf_counter() - begun)


def measured(
    homes: dict[str, Path], texts: Sequence[tuple[str, str]], models: Apart
) -> dict[str, list[float]]:
    """Milliseconds of each work, by home and work."""
    taken: dict[str, list[float]] = {}
    for _ in range(FIRST):
        for name, home in homes.items():
            ms = milliseconds(first_question, home, models, "When?")
            taken.setdefault(f"{name}.first_question", []).append(ms)
    graphs = {name: MemoryGraph.open(home) for name, home in homes.items()}
    try:
        for graph in graphs.values():
            question(graph, models, "When?")
        for text, subclass in texts:
            for name, graph in graphs.items():
                ms = milliseconds(edit, graph, models, text, subclass)
                taken.setdefault(f"{name}.edit", []).append(ms)
                ms = milliseconds(question, graph, models, text)
                taken.setdefault(f"{name}.question", []).append(ms)
    finally:
        for graph in graphs.values():
            graph.close()
    return taken


def main() -> None:
    args = parser("lock_speed", __doc__ or "").parse_args()
    sizes = SIZES[:1] if args.quick else SIZES
    seeds = range(1 if args.quick else args.seeds)
    figures: dict[str, float | int | None] = {}
    for size in sizes:
        told = memories(size + COUNT)
        names = [subclass.id for subclass in SUBCLASSES]
        rng = np.random.default_rng(size)
        models = Apart(rng)
        placed = [names[number] for number in rng.integers(len(names), size=len(told))]
        texts = [one.memory for one in told]
        taken: dict[str, list[float]] = {}
        with tempfile.TemporaryDirectory() as folder:
            plain, key = Path(folder) / "first", new_key()
            build_home(plain, texts[:size], models.encode(texts[:size]), placed[:size], MODEL)
            locked = Path(shutil.copytree(plain, Path(folder) / "locked"))
            begun = time.perf_counter()
            encrypt(locked, key, "a passphrase of the benchmark")
            figures[f"{size}.encrypting_s"] = time.perf_counter() - begun
            hold(key)
            for seed in seeds:
                homes = {
                    name: Path(shutil.copytree(home, Path(folder) / f"{name}{seed}"))
                    for name, home in (("plain", plain), ("encrypted", locked))
                }
                some = list(zip(texts[size:], placed[size:], strict=True))
                for name, values in measured(homes, some, models).items():
                    taken.setdefault(name, []).extend(values)
                progress(f"{size:,} memories, seed {seed} done")
        for work in ("edit", "question", "first_question"):
            medians = {name: statistics.median(taken[f"{name}.{work}"]) for name in homes}
            figures |= {f"{size}.{name}.{work}_ms": ms for name, ms in medians.items()}
            figures[f"{size}.{work}_ratio"] = medians["encrypted"] / medians["plain"]
            progress(f"{size:,} memories, {work}: {figures[f'{size}.{work}_ratio']:.2f} of {BAR}")
    settings = {"quick": args.quick, "count": COUNT, "first": FIRST, "bar": BAR}
    settings["load_average"] = os.getloadavg()[2]
    write_results("lock_speed", settings, list(seeds), figures)


if __name__ == "__main__":
    main()
