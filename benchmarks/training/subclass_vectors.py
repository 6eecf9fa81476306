"""Makes the shipped vectors of the subclasses' examples (``agent.extraction.subclass_classifier``).

``python -m benchmarks.subclass_vectors``, after the taxonomy or the built-in encoder has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.config import load_config
from agent.extraction.subclass_classifier import EXAMPLES
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder
from benchmarks.shared.common import parser, progress
from store.tables.sources import content_hash
from store.tables.taxonomy import SUBCLASSES
from store.types import Subclass


def save_examples(subclasses: Sequence[Subclass], embedder: Embedder, path: Path) -> None:
    """Write the vectors of all examples as ``EXAMPLES`` holds them."""
    texts = list(dict.fromkeys(text for one in subclasses for text in one.examples))
    np.savez(
        path,
        encoder=np.array(embedder.identity),
        hashes=np.array([content_hash(text) for text in texts]),
        vectors=embedder.encode(texts),
    )


def main() -> None:
    options = parser("subclass_vectors", "Make the shipped vectors of the subclasses' examples.")
    options.add_argument("--out", type=Path, default=EXAMPLES, help="file to write")
    given = options.parse_args()
    save_examples(SUBCLASSES, LocalEmbedder(load_config()), given.out)
    progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


if __name__ == "__main__":
    main()
