"""How long an edit takes, and how much memory a large home: ``python -m benchmarks.edit_speed``.

An edit is what ``remember.store_drafts`` does with a draft: the search in the nearest
partitions, the plan, one durable transaction. Both models stay outside: drafts and their vectors
are made before (``encode_ms`` tells what the sentence encoder takes for one). The plain alternative
plans and applies the same way but searches everything and builds its index anew for each edit.
Every run is a process of its own without any model, so its peak memory is all that memlane needs
besides the models. ``first_edit_s`` is opening, reading what is searched, and planning one edit;
``question_view_s`` is the first view that a question gets, ``rss_view_mb`` the peak with it.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np

from agent.config import load_config
from agent.extraction.drafts import make_drafts
from agent.extraction.subclass_classifier import Placer
from agent.memory import remember
from agent.memory.editing.candidates import CANDIDATES
from agent.memory.remember import plan_against, store_drafts
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, LocalReader
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.models.readers.local_statement_reader import statement_reader
from agent.ports import Embedder, LanguageModel, TextReader, Vectors
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.many_memories import MOST, NOW, build_home, encoded, memories
from store.derived.partitions import NearMemory
from store.graph import MemoryGraph
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft, Source, SourceKind, Status, Triple

SIZES = (1_000, 10_000, 100_000)
EDITS = 60
PLAIN_EDITS = {1_000: 10, 10_000: 5, 100_000: 3}
BARS = {"edit_ms": {10_000: 10.0, 100_000: 25.0}, "open_s": 1.0, "rss_mb": 600.0}


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the models made of the messages before anything is timed."""

    identity: str
    messages: tuple[tuple[str, str], ...]
    """Each with its subclass."""
    vectors: Vectors


class Known:
    """The encoder's own vectors, looked up. A sentence that a partial update makes is not there:
    it gets the vector of the message before it, which takes as long to search and to store."""

    def __init__(self, prepared: Prepared) -> None:
        self.identity = prepared.identity
        self.dimension = prepared.vectors.shape[1]
        texts = (text for text, _ in prepared.messages)
        self._rows = dict(zip(texts, prepared.vectors, strict=True))
        self._last = prepared.vectors[0]

    def encode(self, texts: Sequence[str]) -> Vectors:
        found = []
        for text in texts:
            self._last = self._rows.get(text, self._last)
            found.append(self._last)
        return np.stack(found)


class ModelsAside:
    """A session's models, of which only the vectors made before are used."""

    def __init__(self, prepared: Prepared) -> None:
        config = load_config()
        self.embedder: Embedder = Known(prepared)
        self.llm: LanguageModel = LocalLanguageModel(config)  # never loaded: nobody asks it
        self.reader: TextReader = LocalReader(config)
        self.statements = statement_reader(config, self.embedder.identity)
        self.secrets = LocalSecretReader(config)

    @property
    def placer(self) -> Placer:
        raise AssertionError("the drafts are placed already")


class Everything:
    """The plain alternative: an index over all memories, built for the edit at hand."""

    def __init__(self, graph: MemoryGraph, model: str, now: datetime) -> None:
        import faiss

        stored = graph.vectors.of(model)
        self._memories = [
            m for m in graph.memories.list(Status.CURRENT) if m.holds_at(now) and m.id in stored
        ]
        self._vectors = np.stack([stored[memory.id] for memory in self._memories])
        self._rows = {memory.id: row for row, memory in enumerate(self._memories)}
        self._index = faiss.IndexFlatIP(self._vectors.shape[1])
        self._index.add(self._vectors)

    def vector(self, memory: str) -> Vectors | None:
        row = self._rows.get(memory)
        return None if row is None else np.asarray(self._vectors[row])

    def look(self, drafts: Sequence[Draft], vectors: Mapping[str, Vectors]) -> None:
        """Nothing is searched ahead: a text of one draft gains nothing by it."""

    def to(self, draft: Draft, vector: Vectors, called: Sequence[Triple] = ()) -> list[NearMemory]:
        scores, rows = self._index.search(vector[None, :], CANDIDATES)
        return [
            NearMemory(self._memories[row], float(score))
            for row, score in zip(rows[0], scores[0], strict=True)
        ]


# ---- the process that is timed -------------------------------------------------------------


def timed(home: Path, prepared: Prepared, seed: int, plain: int) -> dict[str, float]:
    """One run over one home."""
    models = ModelsAside(prepared)
    base = _peak_mb()
    begun = time.perf_counter()
    graph = MemoryGraph.open(home)
    figures = {"open_s": time.perf_counter() - begun}
    messages = list(prepared.messages)
    random.Random(seed).shuffle(messages)
    edits = [drafted_of(text, subclass, graph) for text, subclass in messages]
    begun = time.perf_counter()
    plan_one(edits[0], graph, models)
    figures["first_edit_s"] = figures["open_s"] + time.perf_counter() - begun
    own, hand, fewer = edits[1 : EDITS + 1], edits[EDITS + 1 : EDITS + 7], edits[EDITS + 7 :]

    figures["plan_ms"] = _median_ms(lambda e: plan_one(e, graph, models), own)
    used = time.process_time()
    figures["edit_ms"] = _median_ms(lambda e: edit_one(e, graph, models), own)
    # What the edits took of the processor, which a busy machine changes less than the clock's time.
    figures["edit_cpu_ms_mean"] = 1000 * (time.process_time() - used) / len(own)
    after = []
    for drafted in hand:
        # What the person does by hand between two messages must not make the next one slow.
        graph.undo(at=NOW)
        begun = time.perf_counter()
        plan_one(drafted, graph, models)
        after.append(1000 * (time.perf_counter() - begun))
    figures["plan_after_undo_ms"] = statistics.median(after)
    figures["rss_mb"] = _peak_mb()
    figures["rss_python_and_imports_mb"] = base

    begun = time.perf_counter()
    graph.view(NOW, prepared.identity)
    figures["question_view_s"] = time.perf_counter() - begun
    figures["rss_view_mb"] = _peak_mb()

    def everything(graph: MemoryGraph, embedder: Embedder, now: datetime, text: str) -> Everything:
        return Everything(graph, embedder.identity, now)

    with patch.object(remember, "_nearby", everything):
        figures["plain_edit_ms"] = _median_ms(lambda e: edit_one(e, graph, models), fewer[:plain])
    begun = time.perf_counter()
    if problems := graph.verify(prepared.identity):
        raise AssertionError(problems[0])
    figures["verify_s"] = time.perf_counter() - begun
    graph.close()
    return figures


@dataclass(frozen=True, slots=True)
class Drafted:
    """A message, stored as a source, and its draft."""

    source: Source
    drafts: tuple[Draft, ...]
    vectors_of: str


def drafted_of(text: str, subclass: str, graph: MemoryGraph) -> Drafted:
    source = graph.sources.add(SourceKind.CHAT, text, NOW)
    return Drafted(source, make_drafts([text], [subclass], source, llm=None), text)


def plan_one(drafted: Drafted, graph: MemoryGraph, models: ModelsAside) -> None:
    texts = [draft.text for draft in drafted.drafts]
    vectors = dict(
        zip(texts, models.embedder.encode([drafted.vectors_of] * len(texts)), strict=True)
    )
    plan_against(drafted.drafts, vectors, graph, models, NOW)


def edit_one(drafted: Drafted, graph: MemoryGraph, models: ModelsAside) -> None:
    models.embedder.encode([drafted.vectors_of])
    store_drafts(drafted.drafts, drafted.source, graph, models, NOW)


def _median_ms(work: Callable[[Drafted], None], edits: Sequence[Drafted]) -> float:
    taken = []
    for drafted in edits:
        begun = time.perf_counter()
        work(drafted)
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken)


def _peak_mb() -> float:
    # Not ru_maxrss: Linux counts the parent's memory in it, from before the program was started.
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


# ---- the process that prepares ---------------------------------------------------------------


def _child(home: Path, prepared: Path, seed: int, plain: int) -> dict[str, float]:
    command = ["-m", "benchmarks.edit_speed", "--child", str(home), str(prepared)]
    done = subprocess.run(
        [sys.executable, *command, str(seed), str(plain)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    options = parser("edit_speed", __doc__ or "")
    options.add_argument("--child", nargs=4, metavar=("HOME", "PREPARED", "SEED", "PLAIN"))
    args = options.parse_args()
    if args.child:
        home, prepared, seed, plain = args.child
        made = pickle.loads(Path(prepared).read_bytes())
        print(json.dumps(timed(Path(home), made, int(seed), int(plain))))
        return
    config = load_config()
    embedder = LocalEmbedder(config)
    placer = Placer(SUBCLASSES, embedder)
    sizes = SIZES[:1] if args.quick else SIZES
    told = memories(MOST if not args.quick else sizes[-1])
    vectors = encoded([t.memory for t in told], embedder)
    placed = placer.place_vectors([t.memory for t in told], vectors)
    figures: dict[str, float | int | None] = {}
    for size in sizes:
        chosen = random.Random(size).sample(range(size), EDITS + 7 + max(PLAIN_EDITS.values()))
        texts = [told[row].changes[row % 2] for row in chosen]
        own = embedder.encode(texts)
        prepared = Prepared(
            embedder.identity,
            tuple(zip(texts, placer.place_vectors(texts, own), strict=True)),
            own,
        )
        runs = []
        with tempfile.TemporaryDirectory() as folder:
            first, file = Path(folder) / "home", Path(folder) / "prepared"
            file.write_bytes(pickle.dumps(prepared))
            build_home(
                first, [t.memory for t in told[:size]], vectors[:size], placed[:size],
                embedder.identity,
            )  # fmt: skip
            for seed in range(args.seeds):
                home = Path(shutil.copytree(first, Path(folder) / f"home{seed}"))
                runs.append(_child(home, file, seed, PLAIN_EDITS[size]))
                shutil.rmtree(home)
                progress(f"{size:,} memories, seed {seed}: {runs[-1]}")
        for name in runs[0]:
            values = [run[name] for run in runs]
            figures[f"{size}.{name}"] = statistics.median(values)
            if name in ("edit_ms", "first_edit_s"):
                figures[f"{size}.{name}.worst_seed"] = max(values)
    encode = []
    for text in [t.changes[0] for t in told[:60]]:
        begun = time.perf_counter()
        embedder.encode([text])
        encode.append(1000 * (time.perf_counter() - begun))
    figures["encode_ms"] = statistics.median(encode)
    settings = {"quick": args.quick, "embedder": embedder.identity, "edits": EDITS, "bars": BARS}
    settings["load_average"] = os.getloadavg()[2]
    write_results("edit_speed", settings, range(args.seeds), figures)


if __name__ == "__main__":
    main()
