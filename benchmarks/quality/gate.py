"""Quality gate: does memlane still follow what people say? ``.ci/run`` fails below fixed counts.

Texts of our own that nothing was trained on (``samples/gate.jsonl``): 30 changes, 12 introductions,
8 corrections, 12 look-alikes, 7 notes (21 questions), 4 screens (5). The real models read them; a
case is right where the answer holds what a right one holds and nothing that is out of date. It
writes no file: it is a test, whose figures are in what ``.ci/run`` prints. ``PASSING`` lies below
what was measured last, by the cases that a small change of a prompt may move.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from agent.config import load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import Case, case_of
from benchmarks.shared.common import ROOT, parser, progress
from benchmarks.shared.simulated_lives.lives import at, fresh

SAMPLES = ROOT / "benchmarks" / "samples"
PASSING = {
    "change": 20, "stale": 10, "intro": 10, "correction": 4, "note": 18, "screen": 2, "alike": 9,
}  # fmt: skip
"""Least right answers of each part; for ``stale``, most out-of-date answers of all."""


@dataclass(frozen=True, slots=True)
class Gated:
    """A case, and the file or the lines on a screen that are read before its question."""

    part: str
    case: Case
    note: str
    screen: tuple[str, ...]


def main() -> None:
    options = parser("gate", __doc__ or "")
    given = options.parse_args()
    cases = list(read())
    if given.quick:
        cases = cases[:30:15]
    right: Counter[str] = Counter()
    of = Counter(one.part for one in cases)
    with open_session(load_config()) as models:
        for _, together in groupby(cases, key=lambda one: one.note or one.case.id):
            group = list(together)
            for one, said in zip(group, _answers(group, models), strict=True):
                verdict = one.case.judge(said)
                right[one.part] += verdict == "current"
                right["stale"] += verdict == "stale"
                progress(f"{one.case.id} {verdict}: {said}")
    progress(", ".join(f"{part} {right[part]} of {of[part]}" for part in of))
    progress(f"out of date {right['stale']}")
    failed = [part for part in of if right[part] < PASSING[part]]
    if right["stale"] > PASSING["stale"]:
        failed.append("stale")
    if failed and not given.quick:
        told = ", ".join(f"{part} {right[part]} (bar {PASSING[part]})" for part in failed)
        sys.exit(f"The quality gate is not passed: {told}")


def read(path: Path = SAMPLES / "gate.jsonl") -> Iterator[Gated]:
    """The cases in the order of the file."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Gated(
            row["part"], case_of(row, "gate"), row.get("note", ""), tuple(row.get("screen", ()))
        )


def _answers(cases: list[Gated], models: Session) -> Iterator[str]:
    """The answers to questions about the same messages, note or screen."""
    first = cases[0]
    with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder) / "home") as session:
        for moment, text in first.case.messages:
            at(session, moment).respond(text)
        if first.note or first.screen:
            path = SAMPLES / "gate_notes" / first.note
            if first.screen:
                path = Path(folder) / "screen.png"
                drawn(first.screen).save(path)
            before = min(one.case.asked for one in cases) - timedelta(days=1)
            for _ in at(session, before).ingest([path]):
                pass
        for one in cases:
            reply = at(session, one.case.asked).ask(one.case.question)
            yield "I don't know." if reply.abstained else reply.text


def drawn(lines: tuple[str, ...]) -> Image.Image:
    """A light screen with a line of text every 60 pixels; a tab stands for 380 pixels."""
    picture = Image.new("RGB", (900, 60 * len(lines) + 80), "white")
    pen = ImageDraw.Draw(picture)
    for number, text in enumerate(lines):
        for column, part in enumerate(text.split("\t")):
            place = 40 + 380 * column, 40 + 60 * number
            pen.text(place, part, fill="black", font=ImageFont.load_default(size=32))
    return picture


if __name__ == "__main__":
    main()
