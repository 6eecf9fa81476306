"""How long choosing takes in a large home: ``python -m benchmarks.select_speed``.

Medians of ``Policy.select`` in milliseconds, the embedding of the question aside, for every policy
that needs no language model, over homes of 10,000 and 100,000 invented memories
(``benchmarks.many_memories``) stored as memlane stores them. Each question has one memory that
answers it among hundreds that are alike: ``found`` is the share that has it among the chosen,
``chosen`` the mean number of these. ``cpu_ms`` is the mean time of the processor for one, which a
busy machine does not lengthen. ``message_ms`` is the same of messages that ask nothing but change a
memory. ``retrieve_ms`` is all of ``agent.answering.retrieve.retrieve`` less that embedding.
``view_ms`` is the first view of a process, ``first_ms`` its first selection, for which words and
neighbours are read, ``after_edit_ms`` the first selection after an edit, the new view included. In
a large home the fusion looks closely at candidates only: ``same@10`` is the share of the ten best
that it finds of those that looking closely at all memories finds.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from agent.answering.retrieve import retrieve
from agent.config import load_config
from agent.extraction.subclass_classifier import Placer
from agent.models.lazy import LocalEmbedder
from agent.ports import Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import MOST, NOW, Told, build_home, encoded, memories
from benchmarks.training.selection.pretrain import names_of
from policies.base import Policy, Question
from policies.baselines.fusion import activate
from policies.registry import POLICIES, Tools, make_policy
from policies.scoring import pca_search
from policies.scoring.question_entities import NameVectors
from policies.selection import Selection
from store.derived.view import GraphView
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft

SIZES = (10_000, MOST)
QUESTIONS = 60
BARS_MS = {10_000: 5.0, MOST: 15.0}


class Known:
    """The encoder, looked up: what is timed is everything else."""

    def __init__(self, identity: str, texts: Sequence[str], vectors: Vectors) -> None:
        self.identity = identity
        self.dimension = vectors.shape[1]
        self._known = dict(zip(texts, vectors, strict=True))
        self._other = vectors[0]

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._known.get(text, self._other) for text in texts])


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def timed(
    graph: MemoryGraph, drawn: Sequence[Told], known: Known, names: NameVectors, seed: int
) -> dict[str, float]:
    """The figures of one home."""
    drawn = random.Random(seed).sample(drawn, len(drawn))
    questions, messages = (
        [Question(text, v, NOW) for text, v in zip(texts, known.encode(texts), strict=True)]
        for texts in ([told.question for told in drawn], [told.changes[0] for told in drawn])
    )
    vectors = [question.vector for question in questions]
    fused = make_policy("fused", Tools(k=5))
    figures = {"view_ms": milliseconds(partial(graph.view, NOW, known.identity))}
    view = graph.view(NOW, known.identity)
    figures["first_ms"] = milliseconds(partial(fused.select, questions[0], view))
    for name in POLICIES:
        try:
            policy = make_policy(name, Tools(k=5, names=names))
            policy.select(questions[0], view)
        except InvalidInput as error:  # it asks a model or the key of a data set, or reads tokens
            progress(f"{name} is left out: {error}")
            continue
        # 'all' builds a list of everything; a few are enough.
        some = slice(1, 6 if name == "all" else None)
        before = time.process_time()
        taken = [milliseconds(partial(policy.select, one, view)) for one in questions[some]]
        figures[f"{name}.cpu_ms"] = 1000 * (time.process_time() - before) / len(taken)
        figures[f"{name}.ms"] = statistics.median(taken)
        figures[f"{name}.p95_ms"] = float(np.percentile(taken, 95))
        told = [milliseconds(partial(policy.select, one, view)) for one in messages[some]]
        figures[f"{name}.message_ms"] = statistics.median(told)
        found, chosen = hits(policy, questions[some], drawn[some], view)
        figures |= {f"{name}.found": found, f"{name}.chosen": chosen}
    whole = [
        milliseconds(partial(retrieve, question.text, graph, fused, known, NOW))
        for question in questions[1:21]
    ]
    figures["retrieve_ms"] = statistics.median(whole)
    figures["same@10"] = statistics.fmean(same(question, view) for question in questions)
    added = []
    for n in range(5):
        text = f"I lent my umbrella number {n} to Kenji."
        graph.apply(
            [Insert(Draft(text, SUBCLASSES[-1].id, NOW))],
            at=NOW,
            model=known.identity,
            vectors={text: vectors[n]},
        )
        added.append(milliseconds(partial(_afresh, fused, questions[n], graph, known.identity)))
    figures["after_edit_ms"] = statistics.median(added)
    return figures


def _afresh(policy: Policy, question: Question, graph: MemoryGraph, model: str) -> Selection:
    return policy.select(question, graph.view(NOW, model))


def hits(
    policy: Policy, questions: Sequence[Question], drawn: Sequence[Told], view: GraphView
) -> tuple[float, float]:
    """The share of questions whose memory is chosen, and how many are chosen on average."""
    chosen = [
        [choice.memory.text for choice in policy.select(question, view).chosen]
        for question in questions
    ]
    found = [told.memory in texts for told, texts in zip(drawn, chosen, strict=True)]
    return statistics.fmean(found), statistics.fmean(map(len, chosen))


def same(question: Question, view: GraphView) -> float:
    """The share of the ten best by looking closely at all that the fusion finds too."""
    found = {candidate.row for candidate in activate(question, view, 10)}
    with patch.object(pca_search, "CLOSELY", len(view.memories)):
        right = {candidate.row for candidate in activate(question, view, 10)}
    return len(found & right) / len(right)


def home_of(size: int, folder: Path, told: Sequence[Told], models: LocalEmbedder) -> Path:
    """A home with the first ``size`` memories, made if it is not there yet."""
    home = folder / f"home-{size}"
    if not home.exists():
        texts = [one.memory for one in told]
        vectors = encoded(texts, models)[:size]
        placed = Placer(SUBCLASSES, models).place_vectors(texts[:size], vectors)
        build_home(folder / "half", texts[:size], vectors, placed, models.identity)
        (folder / "half").rename(home)  # one that was interrupted is not taken for whole
    return home


def main() -> None:
    options = parser("select_speed", __doc__ or "")
    options.add_argument("--homes", type=Path, help="folder that keeps the homes between runs")
    options.add_argument("--prepare", action="store_true", help="make the homes and time nothing")
    args = options.parse_args()
    embedder = LocalEmbedder(load_config())
    sizes = (1_000,) if args.quick else SIZES
    told = memories(sizes[-1])
    figures: dict[str, float | int | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = args.homes or Path(folder)
        homes = {size: home_of(size, kept, told, embedder) for size in sizes}
        for size, home in homes.items() if not args.prepare else ():
            rows = random.Random(size).sample(range(size), QUESTIONS + 1)
            drawn = [told[row] for row in rows]
            texts = [text for one in drawn for text in (one.question, one.changes[0])]
            known = Known(embedder.identity, texts, embedder.encode(texts))
            runs = []
            for seed in range(args.seeds):
                with tempfile.TemporaryDirectory() as scratch:
                    own = Path(shutil.copytree(home, Path(scratch) / "home"))
                    with MemoryGraph.open(own) as graph:
                        runs.append(timed(graph, drawn, known, names_of(embedder), seed))
                progress(f"{size:,} memories, seed {seed}: {runs[-1]}")
            for name in runs[0]:
                figures[f"{size}.{name}"] = statistics.median(run[name] for run in runs)
    if not args.prepare:
        settings = {"quick": args.quick, "embedder": embedder.identity, "questions": QUESTIONS}
        settings |= {"bars_ms": BARS_MS, "load_average": os.getloadavg()[2]}
        write_results("select_speed", settings, range(args.seeds), figures)


if __name__ == "__main__":
    main()
