"""What an index of FAISS would save in a large home: ``python -m benchmarks.vector_search``.

The vectors of 100,000 invented memories (``benchmarks.many_memories``), 60 questions. ``NAME.ms``
is the processor's time for one search, the median over questions, by one thread; ``recall@10`` the
share of the ten nearest memories found. *exact* reads every vector, *outlines* is what memlane does
(``policies.scoring.pca_search``), *flat* and *ivf_PROBES* are FAISS; ``build_s`` is what making an
index takes, which a home pays again whenever a process first chooses.

``fused_*`` is the whole fusion (``policies.baselines.fusion``) with its candidates by outlines or
by IVF; ``same@10`` the share of its ten best that looking closely at all memories finds.
``--encoded N`` encodes N memories only, where there is no time for all; the vectors of the others
are mixes of two of these that are near each other.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from unittest.mock import patch

import faiss
import numpy as np
from numpy.typing import NDArray

from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.many_memories import MOST, NOW, encoded, memories
from policies.base import Question
from policies.baselines import fusion
from policies.baselines.bm25 import held, scored
from policies.scoring import pca_search
from policies.scoring.memory_flags import on_days_of
from policies.scoring.ranking import best
from store.derived.view import GraphView
from store.tables.taxonomy import SUBCLASSES
from store.tables.vectors import product
from store.types import Memory

QUESTIONS = 60
PROBES = (4, 16, 64)
Search = Callable[[Question], NDArray[np.intp]]


class Ivf:
    """An inverted file over unit vectors, and the spread of their cosines with a question."""

    def __init__(self, vectors: Vectors) -> None:
        begun = time.process_time()
        lists = round(4 * len(vectors) ** 0.5)
        quantizer = faiss.IndexFlatIP(vectors.shape[1])
        self.index = faiss.IndexIVFFlat(
            quantizer, vectors.shape[1], lists, faiss.METRIC_INNER_PRODUCT
        )
        self.index.train(vectors[:: max(1, len(vectors) // (40 * lists))])
        self.index.add(vectors)
        self.mean = vectors.mean(axis=0)
        self.spread = np.cov(vectors, rowvar=False).astype(np.float32)
        self.build_s = time.process_time() - begun

    def nearest(self, question: Question, count: int, probes: int) -> NDArray[np.intp]:
        self.index.nprobe = probes
        _, rows = self.index.search(question.vector[None], count)
        found: NDArray[np.intp] = rows[0][rows[0] >= 0]
        return found


def fused_on_ivf(question: Question, view: GraphView, ivf: Ivf, probes: int) -> NDArray[np.float32]:
    """``fusion.scores`` where only candidates by words or by IVF have a similarity.

    All others get the mean; how cosines spread is known from the vectors' covariance.
    """
    asked = held(question.text, view)
    around = fusion.standard(fusion.covered(asked, view))
    days = fusion.standard(on_days_of(question.text, view))
    told = around + fusion.SAME_DAY * days - fusion.ASKS * view.once(fusion._asking)
    rows = np.union1d(best(told, fusion.LOOKED_AT), ivf.nearest(question, fusion.LOOKED_AT, probes))
    beside = [neighbours[rows] for neighbours in view.neighbours]
    rows = np.unique(np.concatenate([rows, *beside]))
    rows = rows[rows >= 0]
    v = question.vector
    dense = np.zeros(len(view.memories), np.float32)
    dense[rows] = (product(view.vectors[rows], v) - ivf.mean @ v) / np.sqrt(v @ ivf.spread @ v)
    score = fusion.standard(dense + told)
    # What the fusion tells besides its score costs the same here.
    fusion.standard(scored(asked, view))
    fusion.with_near(dense, view)
    return score


def vectors_of(texts: Sequence[str], embedder: LocalEmbedder, count: int, seed: int) -> Vectors:
    """The vectors of the texts; beyond the first ``count`` mixes of near ones."""
    known = encoded(texts[:count], embedder)
    rng = np.random.default_rng(seed)
    index = faiss.IndexFlatIP(known.shape[1])
    index.add(known)
    rows = rng.integers(0, len(known), len(texts) - len(known))
    parts = [known]
    for start in range(0, len(rows), 4096):
        some = rows[start : start + 4096]
        _, near = index.search(known[some], 10)
        other = near[np.arange(len(some)), rng.integers(1, 10, len(some))]
        share = rng.uniform(0.3, 0.7, (len(some), 1)).astype(np.float32)
        mixed = share * known[some] + (1 - share) * known[other]
        parts.append(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))
    return np.concatenate(parts).astype(np.float32)


def timed(search: Search, questions: Sequence[Question]) -> tuple[float, list[set[int]]]:
    """The median milliseconds of one search, and what each found."""
    taken, found = [], []
    for question in questions:
        begun = time.process_time()
        rows = search(question)
        taken.append(1000 * (time.process_time() - begun))
        found.append({int(row) for row in rows})
    return statistics.median(taken), found


def shared(found: Sequence[set[int]], right: Sequence[set[int]]) -> float:
    pairs = zip(found, right, strict=True)
    return statistics.fmean(len(one & other) / len(other) for one, other in pairs)


def measure(view: GraphView, questions: Sequence[Question]) -> dict[str, float]:
    """All figures of one home."""
    flat = faiss.IndexFlatIP(view.vectors.shape[1])
    flat.add(view.vectors)
    ivf = Ivf(view.vectors)
    figures = {"ivf.build_s": ivf.build_s}
    begun = time.process_time()
    pca_search.roughly(questions[0], view)
    figures["outlines.build_s"] = time.process_time() - begun
    ways: dict[str, Search] = {
        "exact": lambda q: best(product(view.vectors, q.vector), 10),
        "outlines": lambda q: _outlines(q, view),
        "flat": lambda q: flat.search(q.vector[None], 10)[1][0],
    }
    ways |= {f"ivf_{n}": partial(ivf.nearest, count=10, probes=n) for n in PROBES}
    _, right = timed(ways["exact"], questions)
    for name, search in ways.items():
        figures[f"{name}.ms"], found = timed(search, questions)
        figures[f"{name}.recall@10"] = shared(found, right)
    with patch.object(pca_search, "CLOSELY", len(view.memories)):
        _, right = timed(lambda q: best(fusion.scores(q, view).score, 10), questions)
    fused: dict[str, Search] = {"fused_outlines": lambda q: best(fusion.scores(q, view).score, 10)}
    for n in PROBES:
        fused[f"fused_ivf_{n}"] = lambda q, n=n: best(fused_on_ivf(q, view, ivf, n), 10)  # type: ignore[misc]
    for name, search in fused.items():
        figures[f"{name}.ms"], found = timed(search, questions)
        figures[f"{name}.same@10"] = shared(found, right)
    return figures


def _outlines(question: Question, view: GraphView) -> NDArray[np.intp]:
    near, _ = pca_search.roughly(question, view)
    return best(pca_search.exactly(question, view, near, best(near, fusion.LOOKED_AT)), 10)


def main() -> None:
    options = parser("vector_search", __doc__ or "")
    options.add_argument("--encoded", type=int, default=MOST, help="memories that are encoded")
    args = options.parse_args()
    faiss.omp_set_num_threads(1)
    size = 2_000 if args.quick else MOST
    made = memories(size)
    told = [made[row] for row in np.random.default_rng(0).permutation(size)]
    embedder = LocalEmbedder(load_config())
    vectors = vectors_of([one.memory for one in told], embedder, min(args.encoded, size), 0)
    asked = [one.question for one in told[:QUESTIONS]]
    questions = [
        Question(text, vector, NOW)
        for text, vector in zip(asked, embedder.encode(asked), strict=True)
    ]
    place = SUBCLASSES[0]
    stored = tuple(
        Memory(f"m{n}", one.memory, place.type, place.id, NOW) for n, one in enumerate(told, 1)
    )
    runs = []
    for seed in range(args.seeds):
        runs.append(measure(GraphView(stored, vectors), questions))
        progress(f"run {seed}: {runs[-1]}")
    figures = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    config = {"quick": args.quick, "rows": size, "encoded": min(args.encoded, size)}
    config |= {"questions": QUESTIONS, "load_average": os.getloadavg()[2]}
    write_results("vector_search", config, range(args.seeds), figures)


if __name__ == "__main__":
    main()
