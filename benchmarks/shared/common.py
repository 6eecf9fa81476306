"""What every benchmark shares: its options, its seeds, and the file its figures go to.

Invariant: ``benchmarks/results/NAME.json`` only ever holds a full run. A ``--quick`` run goes to
``build/benchmarks/NAME.quick.json``, which git ignores.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "benchmarks" / "samples"


def file_of(name: str) -> Path | None:
    """The file of a benchmark, whatever folder it is in."""
    return next((ROOT / "benchmarks").rglob(f"{name}.py"), None)


def parser(name: str, description: str) -> ArgumentParser:
    """``--data``, ``--quick`` and ``--seeds N``; a benchmark adds its own options."""
    options = ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=description,
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    options.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    options.add_argument("--quick", action="store_true", help="a small sample, under a minute")
    options.add_argument("--seeds", type=int, default=3, help="how many seeds, counted from 0")
    return options


def progress(message: str) -> None:
    """Tell the person watching; standard output stays free for figures."""
    print(message, file=sys.stderr, flush=True)


def revision() -> str:
    """The git revision of the code that ran, with ``-dirty`` where tracked files differ."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def write_results(
    name: str,
    config: Mapping[str, Any],
    seeds: Sequence[int],
    figures: Mapping[str, float | int | None],
) -> Path:
    """Write one run's figures; ``config["quick"]`` decides where."""
    quick = bool(config.get("quick", False))
    folder = ROOT / "build" / "benchmarks" if quick else ROOT / "benchmarks" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f"{name}.quick.json" if quick else f"{name}.json")
    content = {
        "config": dict(config),
        "seeds": list(seeds),
        "revision": revision(),
        "figures": {k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()},
    }
    path.write_text(json.dumps(content, indent=2, default=str, ensure_ascii=False) + "\n", "utf-8")
    progress(f"wrote {path}")
    return path
