"""Makes the shipped vectors of the subclasses' examples (``agent.extraction.subclass_classifier``).

``python -m benchmarks.subclass_vectors``, after the taxonomy or the built-in encoder has changed.
"""

from __future__ import annotations

from pathlib import Path

from agent.config import load_config
from agent.extraction.subclass_classifier import EXAMPLES, save_examples
from agent.models.lazy import LocalEmbedder
from benchmarks.shared.common import parser, progress
from store.tables.taxonomy import SUBCLASSES


def main() -> None:
    options = parser("subclass_vectors", "Make the shipped vectors of the subclasses' examples.")
    options.add_argument("--out", type=Path, default=EXAMPLES, help="file to write")
    given = options.parse_args()
    save_examples(SUBCLASSES, LocalEmbedder(load_config()), given.out)
    progress(f"wrote {given.out} ({given.out.stat().st_size // 1024} KB)")


if __name__ == "__main__":
    main()
