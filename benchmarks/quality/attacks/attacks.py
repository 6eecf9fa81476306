"""Attacks on a home that is in use: requests, command lines, kills, writers (docs/security.md).

``python -m benchmarks.attacks [--part requests] [--seeds N] [--minutes N]``. 20,000 generated
requests to a resident process, 3,000 generated command lines, 1,000 kills, and three times eight
commands that write at once; with ``--minutes`` as many of each as fit into that time. Each part has
a file of results of its own, so they can run one by one. The language model is a stand-in that
answers at once: what is attacked is the code around it. Bars: no 500, no traceback, none that takes
10 seconds, nothing acknowledged lost, eight writers done within 20 seconds where nothing else runs.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.quality.attacks.attack_kills import attack_kills, attack_writers
from benchmarks.quality.attacks.attack_lines import attack_lines
from benchmarks.quality.attacks.attack_requests import Outcome, attack_requests
from benchmarks.shared.common import parser, progress, write_results

COUNTS = {"requests": 20_000, "lines": 3_000, "kills": 1_000, "writers": 3}
"""What there is to attack with, and how much of it."""


def main() -> None:
    options = parser("attacks", "requests, command lines and kills against a home in use")
    options.add_argument("--minutes", type=float, help="of each kind of attack, at most")
    options.add_argument("--part", choices=COUNTS, action="append", help="one kind; more: again")
    options.set_defaults(seeds=1)
    given = options.parse_args()
    share = 100 if given.quick else 1
    minutes = given.minutes or (0.3 if given.quick else math.inf)
    config = {"quick": given.quick, "minutes": given.minutes, "limit_s": 10.0}
    for part in given.part or COUNTS:
        figures: dict[str, float | int | None] = {}
        for seed in range(given.seeds):
            with tempfile.TemporaryDirectory(prefix="memlane-attacks-") as folder:
                home, count = Path(folder) / part / "home", max(1, COUNTS[part] // share)
                _add(figures, _attack(part, home, count, seed, 60 * minutes))
        name = f"attacks_{part}"
        write_results(name, {**config, "part": part}, list(range(given.seeds)), figures)


def _attack(part: str, home: Path, count: int, seed: int, seconds: float) -> Outcome:
    until = time.monotonic() + seconds
    if part == "requests":
        return attack_requests(home, count, seed, until=until)
    if part == "lines":
        return attack_lines(home, count, seed, until=until)
    if part == "writers":
        return attack_writers(home, count, until=until)
    found, kinds = attack_kills(home, count, seed, until=until)
    progress(f"killed: {dict(kinds)}")
    return found


def _add(figures: dict[str, Any], found: Outcome) -> None:
    for wrong, times in found.wrong.items():
        progress(f"{times} times {wrong[:300]}")
    counts = {
        "n": found.sent,
        "wrong": sum(found.wrong.values()),
        "acknowledged": len(found.acknowledged),
        "lost": found.lost,
    }
    for key, count in counts.items():
        figures[key] = figures.get(key, 0) + count
    figures["slowest_s"] = max(figures.get("slowest_s", 0.0), found.slowest)


if __name__ == "__main__":
    main()
