"""Screenshots: pictures of text, read by OCR with their rows kept together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from agent.errors import UnreadableSource
from agent.ports import TextLine, TextReader

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp"})
GAP = 1.2
"""Line heights between two boxes of a row from which they are separate cells."""


def read_screenshot(path: Path, reader: TextReader) -> str:
    """The text in a picture, a row a line, cells of a row two spaces apart.

    :raises UnreadableSource: if it is no whole picture, or shows no text.
    """
    lines = reader.read(path)
    if not lines:
        raise UnreadableSource(f"{path} shows no text that could be read.")
    return "\n".join(_row_text(row) for row in rows(lines))


def rows(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Boxes grouped into rows by vertical overlap, top to bottom, each left to right."""
    found: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda box: (box.top + box.bottom) / 2):
        middle = (line.top + line.bottom) / 2
        if found and min(b.top for b in found[-1]) <= middle <= max(b.bottom for b in found[-1]):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda box: box.left) for row in found]


def _row_text(row: Sequence[TextLine]) -> str:
    text = row[0].text
    for left, right in pairwise(row):
        height = max(left.bottom - left.top, 1.0)
        text += ("  " if right.left - left.right > GAP * height * 0.5 else " ") + right.text
    return text
