"""Do a label and its value stay together when a screen becomes text?

Screens and questions of ScreenQA (RICO screens with their boxes). Of every question whose answer
is a text on the screen, the label is the other text that shares most words with the question. The
figures tell how often both are in one line, how far apart they stand, and how long lines are: one
line of everything would win the first for nothing. Answers only score; no rule was made of them.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.extraction.documents.screen_layout import rows
from agent.io.sources.screenshots import written
from agent.language.sentences import content
from agent.ports import TextLine
from benchmarks.shared.common import parser, progress, write_results

WIDTH, HEIGHT = 1080 / 999, 1920 / 999
"""Pixels of a phone for a unit of the annotation, which has 999 either way."""
UNSEEN = frozenset({"PICTOGRAM", "IMAGE"})
"""What these say describes a picture and is not on the screen."""
_ELEMENT = re.compile(
    r"\b([A-Z][A-Z_]{2,}) ([^()]*?(?:\([^()]*\)[^()]*?)?) ?(\d{1,3}) (\d{1,3}) (\d{1,3}) (\d{1,3})"
    r"(?=[,)]| \(|$)"
)

Render = Callable[[Sequence[TextLine]], str]


@dataclass(frozen=True, slots=True)
class Case:
    """A question on a screen: the texts that answer it, and those that may be their label."""

    lines: tuple[TextLine, ...]
    answers: tuple[str, ...]
    labels: tuple[str, ...]


def read_lines(annotation: str) -> tuple[TextLine, ...]:
    """The texts of a screen with their boxes."""
    found = []
    for kind, text, left, right, top, bottom in _ELEMENT.findall(annotation):
        if kind not in UNSEEN and re.search(r"\w", text):
            sides = (int(left) * WIDTH, int(top) * HEIGHT, int(right) * WIDTH, int(bottom) * HEIGHT)
            found.append(TextLine(text.strip(), *sides, 1.0))
    return tuple(found)


def cases(folder: Path) -> list[Case]:
    """The questions whose answer and its label are two texts of the screen."""
    screens = {}
    for line in (folder / "screens.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        screens[str(row["screen_id"])] = read_lines(row["screen_annotation"])
    found = []
    for line in (folder / "qa.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        lines = screens.get(str(row["image_id"]), ())
        wanted = content(row["question"])
        answers = [x.text for x in lines if any(_holds(x.text, a) for a in row["ground_truth"])]
        shared = {
            x.text: len(content(x.text) & wanted) / (1 + len(content(x.text) - wanted))
            for x in lines
            if x.text not in answers
        }
        best = max(shared.values(), default=0.0)
        labels = [text for text, score in shared.items() if score == best > 0]
        if answers and labels:
            found.append(Case(lines, tuple(answers), tuple(labels)))
    return found


def _holds(text: str, answer: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", text.lower()) is not None


def plain(lines: Sequence[TextLine]) -> str:
    """Box after box, as OCR gives them."""
    return "\n".join(line.text for line in sorted(lines, key=lambda b: (b.top, b.left)))


def by_rows(lines: Sequence[TextLine]) -> str:
    """Boxes of one height on one line."""
    return "\n".join("  ".join(box.text for box in row) for row in rows(lines))


def ours(lines: Sequence[TextLine]) -> str:
    """What a screenshot becomes."""
    return written(lines)[0]


def together(case: Case, text: str) -> bool:
    """Whether some line holds an answer and its label."""
    return any(
        label in line.replace(answer, "", 1)
        for line in text.splitlines()
        for answer in case.answers
        if answer in line
        for label in case.labels
    )


def apart(case: Case, text: str) -> int:
    """Characters between an answer and its label, at least."""
    found = [
        max(a.start(), b.start()) - min(a.end(), b.end())
        for answer in case.answers
        for a in re.finditer(re.escape(answer), text)
        for label in case.labels
        for b in re.finditer(re.escape(label), text)
    ]
    return max(0, min(found, default=len(text)))


def main() -> None:
    """Write ``screens.json``."""
    options = parser("screens", "labels and values of screens in one line")
    given = options.parse_args()
    found = cases(given.data / "screen_text_qa")
    if given.quick:
        found = found[:50]
    figures: dict[str, float | int | None] = {"questions": len(found)}
    ways: dict[str, Render] = {"plain": plain, "rows": by_rows, "ours": ours}
    for name, render in ways.items():
        texts = [render(case.lines) for case in found]
        hits = [together(case, text) for case, text in zip(found, texts, strict=True)]
        gaps = [apart(case, text) for case, text in zip(found, texts, strict=True)]
        longs = [len(line) for text in texts for line in text.splitlines()]
        figures[f"{name}.together"] = statistics.fmean(hits)
        figures[f"{name}.characters_apart"] = statistics.median(gaps)
        figures[f"{name}.line_characters"] = statistics.fmean(longs)
        progress(f"{name}: {statistics.fmean(hits):.3f} together")
    write_results("screens", {"quick": given.quick, "data": "screen_text_qa"}, (), figures)


if __name__ == "__main__":
    main()
