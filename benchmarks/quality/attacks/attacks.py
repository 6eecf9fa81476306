"""Attacks on a home that is in use: requests, command lines and kills (docs/security.md).

``python -m benchmarks.attacks [--quick] [--seeds N] [--minutes N]``. 20,000 generated requests to a
resident process, 3,000 generated command lines, 1,000 kills; with ``--minutes`` as many of each as
fit into that time. The language model is a stand-in that answers at once: what is attacked is the
code around it. Bars: no 500, no traceback, none that takes 10 seconds, nothing acknowledged lost.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path

from benchmarks.quality.attacks.attack_kills import attack_kills, slowest_writer
from benchmarks.quality.attacks.attack_lines import attack_lines
from benchmarks.quality.attacks.attack_requests import Outcome, attack_requests
from benchmarks.shared.common import parser, progress, write_results

REQUESTS, LINES, KILLS = 20_000, 3_000, 1_000


def main() -> None:
    options = parser("attacks", "requests, command lines and kills against a home in use")
    options.add_argument("--minutes", type=float, help="of each kind of attack, at most")
    options.set_defaults(seeds=1)
    given = options.parse_args()
    share = 100 if given.quick else 1
    minutes = given.minutes or (0.3 if given.quick else math.inf)
    figures: dict[str, float | int | None] = {}
    for seed in range(given.seeds):
        with tempfile.TemporaryDirectory(prefix="memlane-attacks-") as folder:
            for name, found in _of_seed(Path(folder), seed, share, 60 * minutes):
                _add(figures, name, found)
            figures["writers.slowest_s"] = slowest_writer(Path(folder) / "writers" / "home")
    config = {"quick": given.quick, "minutes": given.minutes, "limit_s": 10.0}
    write_results("attacks", config, list(range(given.seeds)), figures)


def _of_seed(folder: Path, seed: int, share: int, seconds: float) -> list[tuple[str, Outcome]]:
    def until() -> float:
        return time.monotonic() + seconds

    hostile, lines, killed = (folder / name / "home" for name in ("requests", "lines", "kills"))
    requests = attack_requests(hostile, REQUESTS // share, seed, until=until())
    typed = attack_lines(lines, LINES // share, seed, until=until())
    kills, kinds = attack_kills(killed, KILLS // share, seed, until=until())
    progress(f"killed: {dict(kinds)}")
    return [("requests", requests), ("lines", typed), ("kills", kills)]


def _add(figures: dict[str, float | int | None], name: str, found: Outcome) -> None:
    for wrong, times in found.wrong.items():
        progress(f"{name}: {times} times {wrong[:300]}")
    counts = {
        "n": found.sent,
        "wrong": sum(found.wrong.values()),
        "acknowledged": len(found.acknowledged),
        "lost": found.lost,
    }
    for key, count in counts.items():
        figures[f"{name}.{key}"] = int(figures.get(f"{name}.{key}") or 0) + count
    slowest = max(float(figures.get(f"{name}.slowest_s") or 0.0), found.slowest)
    figures[f"{name}.slowest_s"] = slowest


if __name__ == "__main__":
    main()
