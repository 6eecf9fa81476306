"""Makes the router's weights: ``python -m benchmarks.routing_train --data DIR``.

Invariant: what ships learns only from sets that may be redistributed (clinc150, nlu_eval,
nq_open), from sentences we wrote (``routing_own``), and from what people tell and ask in our
samples (``routing_people``). scikit-learn does the fitting
here; ``agent.answering.routing`` needs only numpy.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from agent.answering.routing import (
    ROUTES,
    WEIGHTS,
    WORDING,
    WORDING_SLOTS,
    Layers,
    frame_inputs,
    wording_slots,
)
from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder, Vectors
from agent.results import Route
from benchmarks.shared.common import ROOT, parser, progress
from benchmarks.training.routing_own import sentences
from benchmarks.training.routing_people import of_people

REDISTRIBUTABLE = ("clinc150", "nlu_eval", "nq_open")
AGAINST_US = frozenset(
    [
        # A recommendation is the case for memory (MAP, section 4.2), and what the person said of
        # their own meetings, pay or things is what memlane keeps. The mapping behind intent3 calls
        # these "neither"; learning that would teach the router to forget the person.
        *(f"clinc150:{intent}_suggestion" for intent in ("meal", "restaurant", "travel")),
        *(f"nlu_eval:recommendation_{what}" for what in ("events", "locations", "movies")),
        *(f"clinc150:{intent}" for intent in ("meeting_schedule", "schedule_meeting")),
        *(f"clinc150:{intent}" for intent in ("last_maintenance", "find_phone", "income")),
        *(f"clinc150:{intent}" for intent in ("insurance", "payday")),
    ]
)
MOST_NEITHER = 12_000
OWN_WEIGHT = 4.0
"""Of our own sentences, so that wishes for advice stay questions to memory beside the many
questions of people who ask for one fact."""
RATHER_NOT_NEITHER = np.array([0.0, 0.0, -0.4])
"""Added to the log-odds: a memory missed costs the person more than a look-up in vain."""
_QUESTION = re.compile(
    r"^(?:what|who|where|when|why|how|which|whose|is|are|do|does|did|can|could|would|will|was|were"
    r"|has|have|should|am)\b|[吗呢]$|什么|哪|多少|几",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled message; ``source`` names its set, then a colon and its intent."""

    text: str
    route: Route
    source: str

    @property
    def set(self) -> str:
        return self.source.partition(":")[0]


def load_rows(data: Path) -> list[Row]:
    """The development part of intent3."""
    labels = {"ask_memory": Route.RETRIEVE, "update": Route.UPDATE, "neither": Route.NEITHER}
    with (data / "intent3" / "intent3.jsonl").open(encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [Row(row["text"], labels[row["label"]], row["source"]) for row in read]


def own_rows() -> list[Row]:
    return [Row(text, Route(route), "own") for text, route in sentences()]


def vary(rows: Sequence[Row], seed: int) -> list[Row]:
    """The same messages as differently careful people type them: with and without end marks.

    Some sets have no punctuation at all. Without this, a question mark would tell the set.
    """
    rng = random.Random(seed)
    varied = []
    for row in rows:
        text, chance = row.text, rng.random()
        if chance >= 0.4 and text[-1].isalnum():
            question, chinese = bool(_QUESTION.search(text)), text[-1] > "\u2e80"
            text += ("？" if question else "。") if chinese else ("?" if question else ".")
        elif chance > 0.85:
            text = text.rstrip("?.!。？") or text
        varied.append(Row(text, row.route, row.source))
    return varied


def shipped_rows(rows: Sequence[Row], seed: int, *, people: bool = True) -> list[Row]:
    """What the shipped weights learn from, or the same without what people tell and ask."""
    kept = [r for r in rows if r.set in REDISTRIBUTABLE and r.source not in AGAINST_US]
    asked = [Row(text, route, "people") for text, route in of_people()] if people else []
    return vary(cap_neither(kept, seed) + own_rows() + asked, seed)


def cap_neither(rows: Sequence[Row], seed: int) -> list[Row]:
    neither = [row for row in rows if row.route is Route.NEITHER]
    if len(neither) > MOST_NEITHER:
        neither = random.Random(seed).sample(neither, MOST_NEITHER)
    return [row for row in rows if row.route is not Route.NEITHER] + neither


class VectorCache:
    """Embeddings of texts, kept in an ignored folder between runs."""

    def __init__(self, embedder: Embedder, folder: Path = ROOT / "build" / "benchmarks") -> None:
        self.embedder = embedder
        digest = hashlib.sha256(embedder.identity.encode()).hexdigest()[:12]
        self._path = folder / f"routing-vectors-{digest}.npz"
        self._known: dict[str, Vectors] = {}
        if self._path.exists():
            with np.load(self._path) as saved:
                known = zip(saved["texts"].tolist(), saved["vectors"], strict=True)
                self._known = dict(known)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (len(texts), dimension)."""
        missing = sorted({text for text in texts if text not in self._known}, key=len)
        for start in range(0, len(missing), 2048):
            part = missing[start : start + 2048]
            progress(f"encoding {start + len(part)} of {len(missing)} texts")
            self._known.update(zip(part, self.embedder.encode(part), strict=True))
        if missing:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            stacked = np.stack(list(self._known.values()))
            np.savez(self._path, texts=np.array(list(self._known)), vectors=stacked)
        return np.stack([self._known[text] for text in texts])


def wording_matrix(texts: Sequence[str]) -> sparse.csr_matrix:
    """The hashed wording of the texts, shape (len(texts), WORDING_SLOTS)."""
    slots, values = zip(*(wording_slots(text) for text in texts), strict=True)
    ends = np.cumsum([0, *(len(row) for row in slots)])
    shape = (len(texts), WORDING_SLOTS)
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(slots), ends), shape=shape)


def fit(rows: Sequence[Row], vectors: VectorCache, seed: int) -> Layers:
    """Both members of the committee, every route weighing the same."""
    texts = [row.text for row in rows]
    meaning, routes, weights = vectors.encode(texts), columns(rows), row_weights(rows)
    linear = LogisticRegression(C=0.5, max_iter=150, tol=1e-3)
    network = MLPClassifier(
        (64,), alpha=0.3, max_iter=20, learning_rate_init=2e-3, random_state=seed
    )
    wording = wording_matrix(texts)
    frames = np.stack([frame_inputs(*wording_slots(text)) for text in texts])
    # Unit vectors have entries near 0.05, too small to start a network with.
    scale = np.repeat([10.0, 4.0], [meaning.shape[1], frames.shape[1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        inputs = sparse.hstack([sparse.csr_matrix(meaning), wording]).tocsr()
        linear.fit(inputs, routes, sample_weight=weights)
        network.fit(np.hstack([meaning, frames]) * scale, routes, sample_weight=weights)
    split = meaning.shape[1]
    fitted = Layers(
        meaning=linear.coef_.T[:split],
        wording=linear.coef_.T[split:],
        bias=linear.intercept_ + RATHER_NOT_NEITHER,
        hidden=network.coefs_[0] * scale[:, None],
        hidden_bias=network.intercepts_[0],
        output=network.coefs_[1],
        output_bias=network.intercepts_[1] + RATHER_NOT_NEITHER,
    )
    # Rounded here, so that what is measured is what ships.
    return Layers(**{k: v.astype(np.float16).astype(np.float32) for k, v in asdict(fitted).items()})


def columns(rows: Sequence[Row]) -> NDArray[np.int64]:
    return np.array([ROUTES.index(row.route) for row in rows], dtype=np.int64)


def row_weights(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Our own sentences count more; then every route sums to the same."""
    routes = columns(rows)
    weights = np.array([OWN_WEIGHT if row.source == "own" else 1.0 for row in rows])
    for column in range(len(ROUTES)):
        weights[routes == column] /= weights[routes == column].sum()
    return np.asarray(weights / weights.mean())


def save(layers: Layers, embedder: Embedder, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        encoder=np.array(embedder.identity),
        dimension=np.array(embedder.dimension),
        wording_version=np.array(WORDING),
        **{name: value.astype(np.float16) for name, value in asdict(layers).items()},
    )


def main() -> None:
    options = parser("routing_train", "Make the weights that memlane ships for its router.")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    given = options.parse_args()
    vectors = VectorCache(LocalEmbedder(load_config()))
    rows = shipped_rows(load_rows(given.data), seed=0)
    progress(f"learning from {len(rows)} messages")
    save(fit(rows, vectors, seed=0), vectors.embedder, given.out)
    progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


if __name__ == "__main__":
    main()
