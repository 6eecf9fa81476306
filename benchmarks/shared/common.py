"""What every benchmark shares: its options, its seeds, and the file its figures go to.

Invariant: ``benchmarks/results/NAME.json`` only ever holds a full run of committed code, unless
``--dirty`` allowed other. A ``--quick`` run goes to ``build/benchmarks/NAME.quick.json``, a
refused one to ``build/benchmarks/NAME.dirty.json``; git ignores both.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "benchmarks" / "samples"
DIRTY = "--dirty"
"""The option that allows results from a tree with changes that are not committed."""
_WRITTEN = ("benchmarks/results", "docs")
"""What a run writes itself or nothing runs: changes there do not change what is measured."""
_CODE = (".py", ".npz", ".json")
"""Untracked files that a run can depend on."""


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
    options.add_argument(DIRTY, action="store_true", help="write results of uncommitted code too")
    # Read here, of the code that starts: what a run writes itself comes later.
    if revision(ROOT).endswith("-dirty") and DIRTY not in sys.argv:
        progress(f"not committed: a full run will not be put into benchmarks/results ({DIRTY})")
    return options


def progress(message: str) -> None:
    """Tell the person watching; standard output stays free for figures."""
    print(message, file=sys.stderr, flush=True)


@cache
def revision(root: Path) -> str:
    """The git revision of the code that ran, with ``-dirty`` where the tree differs from it.

    It is read once per process, when the run starts. Result files, docs and untracked files that
    are no code do not count.
    """
    try:
        commit = _git(root, "rev-parse", "HEAD").strip()
        changed = _git(root, "status", "--porcelain", "-z", "--no-renames").split("\0")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    files = [(line[:2], line[3:]) for line in changed if line]
    dirty = any(
        not path.startswith(tuple(f"{folder}/" for folder in _WRITTEN))
        and (state != "??" or path.endswith((*_CODE, "/")))
        for state, path in files
    )
    return f"{commit}-dirty" if dirty else commit


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def write_results(
    name: str,
    config: Mapping[str, Any],
    seeds: Sequence[int],
    figures: Mapping[str, float | int | None],
) -> Path:
    """Write one run's figures; ``config["quick"]`` decides where.

    :raises SystemExit: with one line, if the code that ran is of no commit and ``--dirty`` was not
        given. The figures are kept in ``build/benchmarks`` then.
    """
    quick = bool(config.get("quick", False))
    refused = not quick and "-dirty" in revision(ROOT) and DIRTY not in sys.argv
    folder = ROOT / "build" / "benchmarks" if quick or refused else ROOT / "benchmarks" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}{'.quick' if quick else '.dirty' if refused else ''}.json"
    content = {
        "config": dict(config),
        "seeds": list(seeds),
        "revision": revision(ROOT),
        "figures": {k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()},
    }
    path.write_text(json.dumps(content, indent=2, default=str, ensure_ascii=False) + "\n", "utf-8")
    progress(f"wrote {path}")
    if refused:
        raise SystemExit(
            "The code that ran is not committed, so benchmarks/results stays as it was; the figures"
            f" are in {path}. Commit and run again, or allow it with {DIRTY}."
        )
    return path
