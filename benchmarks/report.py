"""Writes ``docs/results.md`` from ``benchmarks/results``: ``python -m benchmarks.report``."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
TARGET = Path(__file__).parent.parent / "docs" / "results.md"
HEAD = """# Results

Written by `python -m benchmarks.report` from `benchmarks/results/*.json`; every figure here was
printed by the command above its table, at the revision beside it. Times are of a shared machine
with 2 cores and no GPU: ratios within a run mean more than seconds.
"""


def section(path: Path) -> str:
    """One benchmark as a heading, its command and its figures."""
    result = json.loads(path.read_text(encoding="utf-8"))
    name = path.stem
    config = ", ".join(
        f"{key} {value}" for key, value in result["config"].items() if not isinstance(value, dict)
    )
    rows = "\n".join(
        f"| {key.replace('|', '/')} | {_shown(value)} |" for key, value in result["figures"].items()
    )
    seeds = result["seeds"] if isinstance(result["seeds"], list) else [result["seeds"]]
    return (
        f"## {name}\n\n`python -m benchmarks.{name}` at {result['revision'][:12]}; {config}"
        f"{'; seeds ' + ', '.join(map(str, seeds)) if seeds else ''}\n\n"
        f"| figure | value |\n|---|---|\n{rows}\n"
    )


def _shown(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.2e}"


def main() -> None:
    paths = sorted(p for p in RESULTS.glob("*.json") if not p.stem.endswith(".quick"))
    notes = Path(__file__).parent.parent / "docs" / "results-notes.md"
    parts = [HEAD, *(section(path) for path in paths)]
    if notes.exists():
        parts.append(notes.read_text(encoding="utf-8"))
    TARGET.write_text("\n".join(parts), encoding="utf-8")
    print(f"{len(paths)} benchmarks in {TARGET}")


if __name__ == "__main__":
    main()
