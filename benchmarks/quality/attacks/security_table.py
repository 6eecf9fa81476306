"""Writes the table of attacks in docs/security.md from the files of results.

``python -m benchmarks.security_table``, after ``attacks``, ``secrets`` or ``poison`` has run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.shared.common import ROOT, parser, progress

TARGET = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
ROWS: tuple[tuple[str, str, str], ...] = (
    ("attacks", "generated requests: 500, no answer, or 10 s and more",
     "{requests.wrong} of {requests.n}, slowest {requests.slowest_s:.1f} s"),
    ("attacks", "the same: acknowledged and lost", "{requests.lost} of {requests.acknowledged}"),
    ("attacks", "generated command lines: traceback, or 10 s and more",
     "{lines.wrong} of {lines.n}, slowest {lines.slowest_s:.1f} s"),
    ("attacks", "kills while writing: home damaged, or a text there twice",
     "{kills.wrong} of {kills.n}"),
    ("attacks", "the same: acknowledged and lost", "{kills.lost} of {kills.acknowledged}"),
    ("attacks", "eight writers without the resident process: the last is done after",
     "{writers.slowest_s:.1f} s"),
    ("secrets", "secrets found, kinds developed on and held out",
     "{recall_developed:.3f}, {recall_held_out:.3f}"),
    ("secrets", "harmless texts changed, kinds developed on and held out",
     "{false_developed:.3f}, {false_held_out:.3f}"),
    ("poison", "hostile texts: obeyed, forged above their trust, changed a memory",
     "{obeyed}, {forged}, {changed} of {attacks}"),
    ("poison", "the same: right answers to questions beside them", "{right:.3f}"),
)  # fmt: skip
"""Of each line the file of results, what was done, and its figures by their names."""


def table(results: Path = ROOT / "benchmarks" / "results") -> str:
    """The table in Markdown; a line whose file is not there is left out."""
    lines = ["| attack | result | command, revision |", "|---|---|---|"]
    for name, what, shape in ROWS:
        path = results / f"{name}.json"
        if not path.exists():
            continue
        told = json.loads(path.read_text("utf-8"))
        figures = _filled(shape, told["figures"])
        lines.append(
            f"| {what} | {figures} | {_command(name, told['config'])}, {_revision(told)} |"
        )
    return "\n".join(lines) + "\n"


def _filled(shape: str, figures: Mapping[str, float]) -> str:
    """A name of a figure may hold a dot, which a format would take apart."""
    plain = {name.replace(".", "_"): value for name, value in figures.items()}
    for name in figures:
        shape = shape.replace(f"{{{name}", f"{{{name.replace('.', '_')}")
    return shape.format(**plain)


def _command(name: str, config: Mapping[str, object]) -> str:
    minutes = config.get("minutes")
    return f"`benchmarks.{name}{f' --minutes {minutes:g}' if minutes else ''}`"


def _revision(told: Mapping[str, str]) -> str:
    commit, _, rest = told["revision"].partition("-")
    return commit[:7] + (f"-{rest}" if rest else "")


def page(text: str) -> str:
    """The page with the present table between its marks."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def main() -> None:
    parser("security_table", __doc__ or "").parse_args()
    TARGET.write_text(page(TARGET.read_text("utf-8")), "utf-8")
    progress(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
