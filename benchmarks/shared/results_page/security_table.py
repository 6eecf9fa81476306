"""The table of attacks in docs/security.md, made of the result files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.shared.common import ROOT

TARGET = ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
ROWS: tuple[tuple[str, str, str], ...] = (
    ("attacks_requests", "generated requests: 500, no answer, or 10 s and more",
     "{wrong} of {n}, slowest {slowest_s:.1f} s"),
    ("attacks_requests", "the same: acknowledged and lost", "{lost} of {acknowledged}"),
    ("attacks_lines", "generated command lines: traceback, or 10 s and more",
     "{wrong} of {n}, slowest {slowest_s:.1f} s"),
    ("attacks_kills", "kills while writing: home damaged, or a text there twice", "{wrong} of {n}"),
    ("attacks_kills", "the same: acknowledged and lost", "{lost} of {acknowledged}"),
    ("attacks_writers", "eight writers at once, no resident process: the last is done after",
     "{slowest_s:.1f} s"),
    ("attacks_writers", "the same: lost, or there twice", "{lost} of {acknowledged}"),
    ("long_day", "a day of use: acknowledged and lost; left in the queue; evidence not there",
     "{lost} of {acknowledged}; {queue_at_end}; {evidence_not_there} of {evidence}"),
    ("long_day", "the same: errors not foreseen; journal and rows that disagree",
     "{unforeseen_errors}; {problems}"),
    ("long_day", "the same: memory at the end against hour 15; file handles",
     "{memory_growth:.3f}; {handles_end} against {handles_settled}"),
    ("secrets", "secrets found in texts of people held out; by exact code alone",
     "{recall_people:.3f} of {n_people}; {recall_people_rules:.3f}"),
    ("secrets", "their harmless texts, written to look like secrets, changed; by exact code alone",
     "{false_people:.3f} of {n_harmless_people}; {false_people_rules:.3f}"),
    ("secrets", "the same texts, each a line of a note: secrets found; harmless ones changed",
     "{recall_notes:.3f} of {n_notes}; {false_notes:.3f} of {n_harmless_notes}"),
    ("secrets", "everyday messages of voices and chats held out, changed",
     "{touched_everyday} of {n_everyday}"),
    ("secrets", "secrets found in frames of ours: three banks learned from; a fourth",
     "{recall_developed:.3f}, {recall_held_out:.3f}, {recall_more:.3f}; {recall_fresh:.3f}"),
    ("secrets", "harmless texts changed, in the same order",
     "{false_developed:.3f}, {false_held_out:.3f}, {false_more:.3f}; {false_fresh:.3f}"),
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
        figures = shape.format(**told["figures"])
        lines.append(
            f"| {what} | {figures} | {_command(name, told['config'])}, {_revision(told)} |"
        )
    return "\n".join(lines) + "\n"


def _command(name: str, config: Mapping[str, object]) -> str:
    words = [f"benchmarks.{name}"]
    if part := config.get("part"):
        words = [f"benchmarks.{name.removesuffix(f'_{part}')} --part {part}"]
    sizes = ("minutes", "messages", "files", "questions")
    words += [f"--{size} {config[size]:g}" for size in sizes if config.get(size)]
    return f"`{' '.join(words)}`"


def _revision(told: Mapping[str, str]) -> str:
    commit, _, rest = told["revision"].partition("-")
    return commit[:7] + (f"-{rest}" if rest else "")


def page(text: str) -> str:
    """The page with the present table between its marks."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]
