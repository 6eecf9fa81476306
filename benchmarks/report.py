"""Writes ``docs/results.md`` from ``benchmarks/results``: ``python -m benchmarks.report``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Figures = Mapping[str, float | None]
Words = Mapping[str, Mapping[str, Mapping[str, str]]]
"""By set, row and column."""
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
    told = result["config"]
    grids, rest = _grids(result["figures"], told.get("tables", {}), told.get("words", {}))
    rows = "\n".join(
        f"| {key.replace('|', '/')} | {_shown(value)} |" for key, value in rest.items()
    )
    listed = f"| figure | value |\n|---|---|\n{rows}\n" if rest else ""
    seeds = result["seeds"] if isinstance(result["seeds"], list) else [result["seeds"]]
    command = f"`python -m benchmarks.{_module(name)}`"
    return (
        f"## {name}\n\n{command} at {result['revision'][:12]}; {config}"
        f"{'; seeds ' + ', '.join(map(str, seeds)) if seeds else ''}\n\n"
        f"{grids}{listed}"
    )


def _module(name: str) -> str:
    """What wrote the results of this name: a part of a benchmark is named after the whole."""
    while name and not (RESULTS.parent / f"{name}.py").exists():
        name = name.rpartition("_")[0]
    return name


def _grids(
    figures: Figures, tables: Mapping[str, Sequence[str]], words: Words
) -> tuple[str, Figures]:
    """Figures named 'set.row.column' as one table a title and set, and the figures left over.

    ``tables`` gives the columns of each title. What a column's own ``_sd`` says stands behind it,
    and what ``words`` say of a set's rows in columns of their own at the end.
    """
    parts: list[str] = []
    used: set[str] = set()
    named = [key.split(".") for key in figures if key.count(".") == 2]
    for title, wanted in tables.items():
        for name in dict.fromkeys(of for of, _, _ in named):
            cells = {(row, column): f"{name}.{row}.{column}"
                     for of, row, column in named if of == name and column in wanted}  # fmt: skip
            found = {column for _, column in cells}
            columns = [c for c in wanted if c in found and not c.endswith("_sd")]
            if not columns:
                continue
            said = words.get(name, {})
            more = list(dict.fromkeys(column for own in said.values() for column in own))
            heads = [name, *columns, *more]
            lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
            for row in dict.fromkeys(row for row, _ in cells):
                shown = [_cell(figures, cells, row, column) for column in columns]
                shown += [said.get(row, {}).get(column, "") for column in more]
                lines.append(f"| {row} | {' | '.join(shown)} |")
            used |= set(cells.values())
            parts.append(f"**{title}**\n\n" + "\n".join(lines) + "\n")
    text = "\n".join(parts) + ("\n" if parts else "")
    return text, {key: value for key, value in figures.items() if key not in used}


def _cell(figures: Figures, cells: Mapping[tuple[str, str], str], row: str, column: str) -> str:
    if (row, column) not in cells:
        return ""
    spread = cells.get((row, f"{column}_sd"))
    shown = _shown(figures[cells[row, column]])
    return f"{shown} ± {_shown(figures[spread])}" if spread and figures[spread] else shown


def _shown(value: float | None) -> str:
    if value is None:
        return ""
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
