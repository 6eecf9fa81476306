"""A home of a million memories: ``python -m benchmarks.large_home --home FOLDER``.

The memories are invented (``benchmarks.many_memories``): 100,000, and the same of others' names.
Vectors of the first 12,288 are the encoder's own, and the questions and edits are about these; the
other vectors are mixes of two that are near each other, so that no hour goes into making them. The
home is made in FOLDER if it is not there yet, which takes a quarter of an hour.

Each part runs in a process of its own without a model, on vectors made before. ``index_s`` is what
the first process pays, once, to make the arrays on disk; ``first_question_s`` is opening the home,
the first part of it and the first choice in another process. ``NAME.ms`` is a choice, the part of
the home that it is made from included, ``NAME.cpu_ms`` the processor's time of it, which a busy
machine does not lengthen; ``retrieve_ms`` all of ``retrieve``. ``same@10`` is the share of the
fusion's ten best over everything, in memory, that it finds in the part. ``edit_ms`` as of
``benchmarks.edit_speed``. ``rss_mb`` is the peak of resident memory, files that are mapped
included; ``rss_own_mb`` without these.

``--parts`` does some of these only; without *index* the arrays stay that are there.
``--import-lines N`` reads an export of N lines into an empty home, as ``benchmarks.import_speed``,
and does nothing else; its figures are ``large_home_import``.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.answering.retrieve import retrieve
from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.extraction.triples.read import triples_for
from agent.models.lazy import LocalEmbedder
from agent.ports import Vectors
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.many_memories import (
    ENDINGS,
    MOST,
    NOW,
    Told,
    build_home,
    encoded,
    memories,
    mixed,
    relatives,
    renamed,
)
from benchmarks.speed.homes.edit_speed import (
    EDITS,
    Known,
    ModelsAside,
    Prepared,
    drafted_of,
    edit_one,
    plan_one,
)
from benchmarks.speed.homes.import_speed import imported, lines
from policies.base import Question
from policies.baselines.fusion import activate
from policies.registry import Tools, make_policy
from store.derived.large import index as large
from store.derived.large.part import Sought
from store.derived.vector_index import MemoryIndex
from store.derived.view import GraphView
from store.graph import MemoryGraph
from store.tables.taxonomy import SUBCLASSES
from store.types import Triple

SIZE = 1_000_000
ENCODED = 12_288
QUESTIONS = 60
NAMES = ("scout", "fused", "top-k", "bm25")
BARS = {
    "scout.ms": 50.0,
    "edit_ms": 60.0,
    "rss_mb": 2000.0,
    "first_question_s": 3.0,
    "same@10": 0.995,
}
IMPORT_BAR_S = 300.0


@dataclass(frozen=True, slots=True)
class Work:
    """What the models made before anything is timed."""

    told: tuple[Told, ...]
    questions: Vectors
    edits: Prepared


# ---- the processes that are timed --------------------------------------------------------------


def first(home: Path, work: Work) -> dict[str, float]:
    """Opening the home and one choice."""
    policy = make_policy("scout", Tools(k=5))
    begun, used = time.perf_counter(), time.process_time()
    with MemoryGraph.open(home) as graph:
        opened = time.perf_counter() - begun
        policy.select(*_asked(graph, work, 0))
    whole, cpu = time.perf_counter() - begun, time.process_time() - used
    return {"open_s": opened, "first_question_s": whole, "first_question_cpu_s": cpu}


def chosen(home: Path, work: Work) -> dict[str, float]:
    """Choices, each of a question of its own."""
    figures: dict[str, float] = {}
    known = Known(
        Prepared(
            work.edits.identity, tuple((one.question, "") for one in work.told), work.questions
        )
    )
    with MemoryGraph.open(home) as graph:
        for name in NAMES:
            policy = make_policy(name, Tools(k=5))
            policy.select(*_asked(graph, work, 0))
            taken, found, used = [], [], time.process_time()
            for number, one in enumerate(work.told):
                begun = time.perf_counter()
                selection = policy.select(*_asked(graph, work, number))
                taken.append(1000 * (time.perf_counter() - begun))
                found.append(one.memory in [choice.memory.text for choice in selection.chosen])
            figures |= {
                f"{name}.ms": statistics.median(taken),
                f"{name}.cpu_ms": 1000 * (time.process_time() - used) / len(taken),
                f"{name}.found": statistics.fmean(found),
            }
        fused = make_policy("fused", Tools(k=5))
        asked = [one.question for one in work.told]
        retrieve(asked[0], graph, fused, known, NOW)
        taken, used = [], time.process_time()
        for text in asked[1:21]:
            begun = time.perf_counter()
            retrieve(text, graph, fused, known, NOW)
            taken.append(1000 * (time.perf_counter() - begun))
        figures["retrieve_ms"] = statistics.median(taken)
        figures["retrieve_cpu_ms"] = 1000 * (time.process_time() - used) / len(taken)
    return figures | _memory()


def same(home: Path, work: Work) -> dict[str, float]:
    """How much of the ten best over everything the part of the home gives."""
    with MemoryGraph.open(home) as graph:
        parts = []
        for number in range(len(work.told)):
            question, view = _asked(graph, work, number)
            parts.append({view.memories[one.row].id for one in activate(question, view, 10)})
        model = work.edits.identity
        index = MemoryIndex(graph._rows, graph.memories, graph.vectors, model).advance(NOW)
        whole = GraphView(*index.standing(history=False))
        shares = []
        for number, part in enumerate(parts):
            question = Question(work.told[number].question, work.questions[number], NOW)
            right = {whole.memories[one.row].id for one in activate(question, whole, 10)}
            shares.append(len(part & right) / len(right))
            progress(f"question {number}: {shares[-1]:.1f}")
    return {"same@10": statistics.fmean(shares), "everything_in_memory_mb": _memory()["rss_mb"]}


def edited(home: Path, work: Work) -> dict[str, float]:
    """Edits, as of ``benchmarks.edit_speed``."""
    models = ModelsAside(work.edits)
    models.statements = None  # the reader is a model too
    begun = time.perf_counter()
    with MemoryGraph.open(home) as graph:
        edits = [drafted_of(text, subclass, graph) for text, subclass in work.edits.messages]
        plan_one(edits[0], graph, models)
        figures = {"first_edit_s": time.perf_counter() - begun}
        for name, act in (("plan", plan_one), ("edit", edit_one)):
            taken, used = [], time.process_time()
            for edit in edits[1:]:
                begun = time.perf_counter()
                act(edit, graph, models)
                taken.append(1000 * (time.perf_counter() - begun))
            figures[f"{name}_ms"] = statistics.median(taken)
            figures[f"{name}_cpu_ms"] = 1000 * (time.process_time() - used) / len(taken)
    return figures | {f"edit_{name}": value for name, value in _memory().items()}


def indexed(home: Path, work: Work) -> dict[str, float]:
    """Making the arrays on disk."""
    begun, used = time.perf_counter(), time.process_time()
    with MemoryGraph.open(home) as graph:
        graph.index(work.edits.identity, NOW)
    figures = {"index_s": time.perf_counter() - begun, "index_cpu_s": time.process_time() - used}
    return figures | {f"index_{name}": value for name, value in _memory().items()}


def _asked(graph: MemoryGraph, work: Work, number: int) -> tuple[Question, GraphView]:
    question = Question(work.told[number].question, work.questions[number], NOW)
    sought = [Sought(question.text, question.vector)]
    return question, graph.view(NOW, work.edits.identity, asked=sought)


def _memory() -> dict[str, float]:
    status = Path("/proc/self/status").read_text("utf-8")
    own, peak = (
        int(status.partition(f"{name}:")[2].split()[0]) / 1024 for name in ("RssAnon", "VmHWM")
    )
    return {"rss_mb": peak, "rss_own_mb": own}


PARTS: dict[str, Callable[[Path, Work], dict[str, float]]] = {
    "index": indexed, "first": first, "choose": chosen, "edit": edited, "same": same
}  # fmt: skip


# ---- the process that prepares -----------------------------------------------------------------


def made(home: Path, told: Sequence[Told], embedder: LocalEmbedder, size: int) -> None:
    """Make the home if it is not there yet."""
    if home.exists():
        return
    base = [one.memory for one in told]
    texts = relatives(base, size)
    own = list(triples_for(base, None))
    triples = own + [
        tuple(Triple(renamed(t.head, e), t.relation, renamed(t.tail, e)) for t in some)
        for e in ENDINGS
        for some in own
    ]
    known = encoded(base[:ENCODED], embedder)
    vectors = np.concatenate(list(mixed(known, size)))
    half = home.with_name("half")
    subclasses = [SUBCLASSES[row % len(SUBCLASSES)].id for row in range(size)]  # one after another
    build_home(half, texts, vectors, subclasses, embedder.identity, triples[:size])
    half.rename(home)  # one that was interrupted is not taken for whole


def prepared(told: Sequence[Told], embedder: LocalEmbedder, seed: int) -> Work:
    """Questions and edits about memories whose vectors are the encoder's own."""
    drawn = random.Random(seed).sample(told[:ENCODED], QUESTIONS + EDITS + 1)
    asked, changed = drawn[:QUESTIONS], [one.changes[0] for one in drawn[QUESTIONS:]]
    vectors = embedder.encode(changed)
    placed = Placer(SUBCLASSES, embedder).place_vectors(changed, vectors)
    return Work(
        tuple(asked),
        embedder.encode([one.question for one in asked]),
        Prepared(embedder.identity, tuple(zip(changed, placed, strict=True)), vectors),
    )


def _child(part: str, home: Path, work: Path, least: int) -> dict[str, float]:
    command = ["-m", "benchmarks.large_home", "--child", part, str(home), str(work), str(least)]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    progress(f"{part}: {found}")
    return found


def imports(count: int, folder: Path) -> dict[str, float]:
    """An import of so many lines into an empty home."""
    file = folder / "lines.jsonl"
    with file.open("w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines(memories(10_000), count // 2))
    return _child("import", folder, file, 0)


def main() -> None:
    options = parser("large_home", __doc__ or "")
    options.add_argument("--child", nargs=4, metavar=("PART", "HOME", "WORK", "LARGE"))
    options.add_argument("--home", type=Path, help="folder that keeps the home between runs")
    options.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options.add_argument("--import-lines", type=int, default=0, help="import so many lines, too")
    args = options.parse_args()
    if args.child:
        part, home, work, least = args.child
        if part == "import":
            print(json.dumps(imported(Path(work), Path(home) / "imported")))
            return
        large.LARGE = int(least)
        print(json.dumps(PARTS[part](Path(home), pickle.loads(Path(work).read_bytes()))))
        return
    if args.import_lines:
        with tempfile.TemporaryDirectory() as scratch:
            found = imports(args.import_lines, Path(scratch))
        settings = {"quick": args.quick, "lines": args.import_lines, "bars": {"s": IMPORT_BAR_S}}
        settings["load_average"] = os.getloadavg()[2]
        write_results("large_home_import", settings, [0], found)
        return
    size, least = (2_000, 1_000) if args.quick else (SIZE, large.LARGE)
    embedder = LocalEmbedder(load_config())
    told = memories(min(size, MOST))
    figures: dict[str, float | int | None] = {}
    with tempfile.TemporaryDirectory() as scratch:
        home = (args.home or Path(scratch)) / f"home-{size}"
        made(home, told, embedder, size)
        work = Path(scratch) / "work"
        work.write_bytes(pickle.dumps(prepared(told, embedder, 0)))
        if "index" in args.parts:
            shutil.rmtree(home / "cache", ignore_errors=True)
        for part in args.parts:
            used = home
            if part == "edit":  # the home stays as it was made
                used = Path(shutil.copytree(home, home.with_name(f"{home.name}.edited")))
            figures |= _child(part, used, work, least)
            if used != home:
                shutil.rmtree(used)
    settings = {"quick": args.quick, "embedder": embedder.identity, "memories": size}
    settings |= {"questions": QUESTIONS, "edits": EDITS, "bars": BARS, "cores": os.cpu_count()}
    settings["load_average"] = os.getloadavg()[2]
    write_results("large_home", settings, [0], figures)


if __name__ == "__main__":
    main()
