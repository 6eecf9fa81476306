"""Makes the weights of the pair judge: ``python -m benchmarks.editing_train``.

Invariant: what ships learns only from pairs we wrote ourselves (``benchmarks.editing_own``).
scikit-learn does the fitting here; ``agent.memory.editing.judges.pair_judge`` needs only numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from agent.config import load_config
from agent.extraction.triples.read import triples_for
from agent.memory.editing.judges.pair_judge import (
    FEATURES,
    VERDICTS,
    WEIGHTS,
    Layers,
    Verdict,
    pair_inputs,
    single_inputs,
)
from agent.models.lazy import LocalEmbedder
from benchmarks.shared.common import parser, progress
from benchmarks.training.editing_own import Pair, pairs
from benchmarks.training.routing_train import VectorCache


def fit(rows: Sequence[Pair], vectors: VectorCache) -> Layers:
    """Both linear models over the pairs, rounded as they ship."""
    olds = sorted({row.old for row in rows})
    encoded = dict(zip(olds, vectors.encode(olds), strict=True))
    triples = dict(zip(olds, triples_for(olds, None), strict=True))
    said = vectors.encode([row.new for row in rows])
    inputs = np.stack(
        [
            pair_inputs(row.old, triples[row.old], row.new, float(encoded[row.old] @ vector))
            for row, vector in zip(rows, said, strict=True)
        ]
    )
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    verdicts = LogisticRegression(C=0.3, max_iter=2000)
    verdicts.fit((inputs - mean) / scale, [VERDICTS.index(Verdict(row.label)) for row in rows])
    slots = [row for row in rows if not row.group.startswith(("facts", "turns"))]
    single = LogisticRegression(C=1.0, max_iter=2000)
    single.fit(
        np.stack([single_inputs(encoded[row.old], triples[row.old]) for row in slots]),
        [row.single for row in slots],
    )
    made = {
        "mean": mean,
        "scale": scale,
        "weights": verdicts.coef_,
        "bias": verdicts.intercept_,
        "single": single.coef_[0],
        "single_bias": single.intercept_[0],
    }
    rounded = {k: np.asarray(v).astype(np.float16).astype(np.float32) for k, v in made.items()}
    return Layers(**rounded, encoder=vectors.embedder.identity)


def save(layers: Layers, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    named = asdict(layers)
    encoder = named.pop("encoder")
    np.savez_compressed(
        path,
        features=np.array(FEATURES),
        encoder=np.array(encoder),
        **{name: value.astype(np.float16) for name, value in named.items()},
    )


def main() -> None:
    options = parser("editing_train", "Make the weights that memlane ships for editing.")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    given = options.parse_args()
    rows = pairs(seed=0)
    progress(f"learning from {len(rows)} pairs")
    save(fit(rows, VectorCache(LocalEmbedder(load_config()))), given.out)
    progress(f"wrote {given.out} ({given.out.stat().st_size / 1024:.1f} KB)")


if __name__ == "__main__":
    main()
