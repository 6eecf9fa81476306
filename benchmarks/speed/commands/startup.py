"""How fast ``memlane --help`` answers, against the same command importing its models at once.

``python -m benchmarks.startup [--quick]``. Each run is a process of its own, as a user's is.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.shared.common import parser, write_results

LAZY = "from cli.app import run; run(['--help'])"
EAGER = (
    "import agent.models.adapters.bert.embeddings, agent.models.adapters.llama.language_model; "
    "import agent.models.adapters.ocr, agent.session.session; "
    "import sentence_transformers; " + LAZY
)
BAR_SECONDS = 0.4


def seconds(code: str) -> float:
    """Wall time of one process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    options = parser("startup", __doc__ or "").parse_args()
    runs = 3 if options.quick else 15
    lazy, eager = [], []
    for number in range(runs):
        lazy.append(seconds(LAZY))
        eager.append(seconds(EAGER))
        print(f"\r{number + 1} of {runs}", end="", file=sys.stderr)
    print(file=sys.stderr)
    figures = {
        "help_median_s": statistics.median(lazy),
        "help_worst_s": max(lazy),
        "eager_median_s": statistics.median(eager),
        "ratio": statistics.median(eager) / statistics.median(lazy),
        "bar_s": BAR_SECONDS,
    }
    path = write_results("startup", {"runs": runs, "quick": options.quick}, [], figures)
    print(f"memlane --help {figures['help_median_s']:.2f} s (bar {BAR_SECONDS}), eager "
          f"{figures['eager_median_s']:.2f} s: {path}")  # fmt: skip


if __name__ == "__main__":
    main()
