"""OCR layout: rows, cells, and labels with their values. Pure geometry.

Boxes of text come from OCR in no order that can be relied on. A screen shows what belongs together
by place: beside each other in a row, or a label close above its value. Both become one line of
text; everything else stays as many lines as it has rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.extraction.documents.label_tables import SLOT
from agent.extraction.documents.screen_layout import rows
from agent.ports import TextLine

Cell = list[TextLine]
Row = list[Cell]

GAP = 0.6
"""Line heights between two boxes of a row from which they are separate cells."""
NEAR = 0.9
"""Line heights between a label and its value below it, at most."""
APART = 1.25
"""How much further away than its value the next row must be from a label's."""
MANY = 3
"""Pairs at one edge from which they are the entries of a list."""
SHORT = 4
"""Words of a label, or of the value of an unknown label, at most."""


def arranged(lines: Sequence[TextLine]) -> list[Row]:
    """The rows of a screen from top to bottom, each in cells; a label leads its value's row."""
    found = [cells(row) for row in rows(lines)]
    stacked = [at for at in range(len(found) - 1) if _stacked(found, at)]
    result: list[Row] = []
    at = 0
    while at < len(found):
        if at in stacked and (_are_labels(found, at) or _is_one_of_many(found, at, stacked)):
            lower = list(found[at + 1])
            result += [[label, lower[below(label, lower)]] for label in found[at]]
            at += 2
            continue
        result.append(found[at])
        at += 1
    return result


def cells(row: Sequence[TextLine]) -> Row:
    """The boxes of a row, those together that stand close."""
    found: Row = [[row[0]]]
    for left, right in pairwise(row):
        if right.left - left.right > GAP * max(left.bottom - left.top, 1.0):
            found.append([right])
        else:
            found[-1].append(right)
    return found


# ---- a label above its value ----------------------------------------------------------------


def _stacked(found: Sequence[Row], at: int) -> bool:
    """Whether this row and the next one stand close, cell above cell, and apart from all others."""
    upper, lower = found[at], found[at + 1]
    if len(upper) != len(lower) or not _aligned(upper, lower):
        return False
    gap = _gap(upper, lower)
    height = min(height_of(upper), height_of(lower))
    around = [_gap(found[at - 1], upper)] if at else []
    around += [_gap(lower, found[at + 2])] if at + 2 < len(found) else []
    return gap <= NEAR * height and all(other >= APART * max(gap, 0.1 * height) for other in around)


def _are_labels(found: Sequence[Row], at: int) -> bool:
    """Whether the cells of this row are worded as the labels of those right below them."""
    upper, lower = found[at], found[at + 1]
    labels, values = [_text(cell) for cell in upper], [_text(cell) for cell in lower]
    if any(_is_known(value) for value in values):
        return False
    if any(_is_known(label) or label.endswith((":", "：")) for label in labels):
        # One known label leads its row: beside it stands its value.
        return len(labels) == 1 or sum(map(_is_known, labels)) > 1
    return all(map(_may_be_label, labels)) and all(map(_may_be_value, values))


def _is_one_of_many(found: Sequence[Row], at: int, stacked: Sequence[int]) -> bool:
    """Whether a screen shows a list of such pairs, all at one edge: each is an entry of it."""
    if len(found[at]) != 1 or len(_text(found[at][0]).split()) > 2 * SHORT:
        return False
    left, slack = found[at][0][0].left, 0.6 * height_of(found[at])
    alike = [
        other
        for other in stacked
        if len(found[other]) == 1 and abs(found[other][0][0].left - left) <= slack
    ]
    return len(alike) >= MANY


def _aligned(upper: Row, lower: Row) -> bool:
    return [below(cell, lower) for cell in upper] == list(range(len(lower)))


def below(cell: Cell, lower: Row) -> int:
    """Which cell of the row below has the same left edge, middle or right edge; -1 for none."""
    slack = 0.6 * height_of([cell])
    for number, other in enumerate(lower):
        left, right = other[0].left - cell[0].left, other[-1].right - cell[-1].right
        if min(abs(left), abs(right), abs(left + right) / 2) <= slack:
            return number
    return -1


def _gap(upper: Row, lower: Row) -> float:
    return min(b.top for c in lower for b in c) - max(b.bottom for c in upper for b in c)


def height_of(row: Row) -> float:
    """The height of a row, as its lowest box has it."""
    return min(box.bottom - box.top for cell in row for box in cell)


def _text(cell: Cell) -> str:
    return " ".join(box.text for box in cell).strip()


def _is_known(text: str) -> bool:
    return text.rstrip(" :：.#").lower() in SLOT


def _may_be_label(text: str) -> bool:
    return len(text.split()) <= SHORT and not re.search(r"\d|[.!?]$", text)


def _may_be_value(text: str) -> bool:
    return len(text.split()) <= SHORT and re.search(r"\d", text) is not None
