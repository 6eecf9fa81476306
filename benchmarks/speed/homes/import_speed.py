"""How long importing a large export takes: ``python -m benchmarks.import_speed --before FOLDER``.

An export of invented memories (``benchmarks.many_memories``; beyond 10,000 they are copies that
differ in a number), a line for each memory and one for the edit that made it, is read into an empty
home (*restored*) and into one that has a memory (*merged*), in a process each. ``cpu_s`` is the
processor's time, which a busy machine lengthens less than ``s``, the clock's; ``lines_s`` are the
lines for each second of ``cpu_s``.

With ``--questions``, the first question comes then: an import makes no vectors, so these wait.
``question_s`` is the first question in a process that has the encoder loaded, ``found`` the share
of 20 questions whose memory is among the chosen while nearly all vectors still wait, ``encoded``
the vectors that these questions made. ``encode_s`` is making 1,000 vectors in the background.

``--before FOLDER`` does the same with the code of another checkout, one after the other.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent.answering.retrieve import retrieve
from agent.config import load_config
from agent.extraction.triples.read import triples_for
from agent.io.transfer.import_ import import_file
from agent.io.transfer.records import to_line
from agent.models.lazy import LocalEmbedder
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.many_memories import NOW, Told, memories
from policies.registry import Tools, make_policy
from store.graph import MemoryGraph
from store.journal import Change, Entry, Insert
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft, EditKind, Memory, Triple, trust_of_kind

LINES = (20_000, 100_000)
MADE = 10_000
"""Memories that are invented; more are copies."""
QUESTIONS = 20
BARS = {"1000000.s": 300.0}


def lines(told: list[Told], count: int) -> Iterator[str]:
    """The lines of an export of ``count`` memories: all edits, then all memories."""
    texts = [one.memory for one in told]
    triples = triples_for(texts, None)
    made = []
    for n in range(count):
        row, copy = n % len(texts), n // len(texts)
        memory = Memory(
            f"m{n + 1}",
            texts[row],
            SUBCLASSES[0].type,
            SUBCLASSES[0].id,
            NOW,
            triples[row],
            trust=trust_of_kind(None),
        )
        if copy:
            others = tuple(Triple(t.head, t.relation, f"{t.tail} {copy}") for t in memory.triples)
            memory = replace(memory, text=f"{memory.text[:-1]} ({copy}).", triples=others)
        made.append(memory)
    for n, memory in enumerate(made, 1):
        change = Change(memory.id, None, memory)
        yield to_line(Entry(f"e{n}", n, NOW, EditKind.INSERT, "auto", None, None, (change,)))
    yield from map(to_line, made)


# ---- the process that is timed -------------------------------------------------------------


def imported(file: Path, home: Path) -> dict[str, float]:
    """One import."""
    begun, used = time.perf_counter(), time.process_time()
    done = import_file(file, "jsonl", home, NOW, lambda texts: [])
    figures = {"s": time.perf_counter() - begun, "cpu_s": time.process_time() - used}
    figures["memories"] = done.tally.new["memory"]
    status = Path("/proc/self/status").read_text("utf-8")
    figures["rss_mb"] = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return figures


def asked(home: Path, drawn: list[Told]) -> dict[str, float]:
    """Questions to a home whose vectors wait."""
    embedder = LocalEmbedder(load_config())
    embedder.encode(["Loaded."])
    policy = make_policy("fused", Tools(k=5))
    found = 0
    figures: dict[str, float] = {}
    with MemoryGraph.open(home) as graph:
        for number, one in enumerate(drawn):
            begun = time.perf_counter()
            chosen = retrieve(one.question, graph, policy, embedder, NOW, k=5).selection.chosen
            taken = time.perf_counter() - begun
            found += one.memory in [choice.memory.text for choice in chosen]
            if not number:
                figures["question_s"] = taken
            progress(f"question {number}: {taken:.1f} s")
        figures["found"] = found / len(drawn)
        figures["encoded"] = len(graph.vectors.of(embedder.identity))
    return figures


def encoded(home: Path) -> float:
    """Seconds to make 1,000 vectors in the background."""
    from agent.memory.vectors.waiting import Waiting

    embedder = LocalEmbedder(load_config())
    embedder.encode(["Loaded."])
    waiting = Waiting()
    with MemoryGraph.open(home) as graph:
        begun = time.perf_counter()
        for _ in range(10):
            waiting.encode(100, graph, embedder)
        return time.perf_counter() - begun


def _child(code: Path, *arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments],
        cwd=code,
        env={**os.environ, "PYTHONPATH": str(code)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _run_child(arguments: list[str]) -> None:
    what, *rest = arguments
    if what == "import":
        figures = imported(Path(rest[0]), Path(rest[1]))
    elif what == "ask":
        drawn = [Told(**one) for one in json.loads(Path(rest[1]).read_text("utf-8"))]
        figures = asked(Path(rest[0]), drawn)
    else:
        figures = {"encode_s": encoded(Path(rest[0]))}
    print(json.dumps(figures))


def main() -> None:
    options = parser("import_speed", __doc__ or "")
    options.add_argument("--child", nargs="+")
    options.add_argument("--before", type=Path, help="a checkout of other code, for comparison")
    options.add_argument("--lines", type=int, nargs="+", default=list(LINES))
    options.add_argument("--questions", action="store_true", help="ask questions afterwards, too")
    args = options.parse_args()
    if args.child:
        _run_child(args.child)
        return
    sizes = [2_000] if args.quick else args.lines
    told = memories(min(MADE, sizes[-1] // 2))
    drawn = random.Random(0).sample(told, QUESTIONS)
    codes = {"": ROOT} | ({"before.": args.before.resolve()} if args.before else {})
    figures: dict[str, float | int | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        questions = Path(folder) / "questions.json"
        questions.write_text(json.dumps([vars_of(one) for one in drawn]), "utf-8")
        for size in sizes:
            file = Path(folder) / f"{size}.jsonl"
            with file.open("w", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in lines(told, size // 2))
            for name, code in codes.items():
                homes = {
                    mode: Path(folder) / f"{name}{mode}{size}" for mode in ("restored", "merged")
                }
                with MemoryGraph.open(homes["merged"]) as graph:
                    draft = Draft("I have a cat.", SUBCLASSES[0].id, NOW)
                    graph.apply([Insert(draft)], at=NOW)
                for mode, home in homes.items():
                    found = _child(code, "import", str(file), str(home))
                    found["lines_s"] = size / found["cpu_s"]
                    figures |= {f"{size}.{name}{mode}.{key}": n for key, n in found.items()}
                    progress(f"{size:,} lines, {name}{mode}: {found}")
                if args.questions and size == sizes[0]:
                    found = _child(code, "ask", str(homes["restored"]), str(questions))
                    figures |= {f"{size}.{name}{key}": n for key, n in found.items()}
                    progress(f"{size:,} lines, {name}questions: {found}")
            if args.questions and size == sizes[0]:
                figures |= _child(ROOT, "encode", str(Path(folder) / f"merged{size}"))
    settings = {"quick": args.quick, "lines": sizes, "bars": BARS, "cores": os.cpu_count()}
    settings["load_average"] = os.getloadavg()[2]
    write_results("import_speed", settings, [0], figures)


def vars_of(one: Told) -> dict[str, object]:
    return {"memory": one.memory, "changes": one.changes, "question": one.question}


if __name__ == "__main__":
    main()
