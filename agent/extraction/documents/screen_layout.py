"""Layout of a screen: what the places of its texts tell of who speaks and which day it is.

Pure geometry over the boxes of OCR: bubbles of a conversation stand at two edges, the days of a
calendar at one, the lines of a paragraph below one another. A status bar is no part of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from agent.extraction.documents.context import day_in
from agent.language.dates import find_times
from agent.ports import TextLine
from store.types import Span, TextBox

Box = TypeVar("Box", TextBox, TextLine)

SLACK = 0.6
"""Line heights by which edges may differ that are one."""
NEAR = 0.85
"""Line heights between two lines of one paragraph, at most."""
ALIKE = 0.3
"""Share by which the heights of lines of one paragraph may differ."""
BAR = 24
"""Characters of a status bar beside its clock, at most."""
NEAREST = 2
"""Letters by which a space may stand from where a column begins."""
DAYS, BUBBLES = 2, 3
"""Fewest days of a calendar and bubbles of a conversation."""


@dataclass(frozen=True, slots=True)
class Block:
    """Boxes that belong together, from top to bottom."""

    boxes: tuple[TextBox, ...]

    @property
    def left(self) -> float:
        return min(box.left for box in self.boxes)

    @property
    def top(self) -> float:
        return self.boxes[0].top

    @property
    def span(self) -> Span:
        return Span(
            min(box.span.start for box in self.boxes), max(box.span.end for box in self.boxes)
        )

    def text(self, whole: str) -> str:
        """The words of its boxes."""
        return " ".join(box.span.of(whole) for box in self.boxes)


@dataclass(frozen=True, slots=True)
class Bubble:
    """A message on a screen: who sent it is told by its edge."""

    block: Block
    mine: bool


def without_status_bar(boxes: Sequence[TextBox], text: str, now: datetime) -> list[TextBox]:
    """The boxes below a first row that holds the clock and little else."""
    found = rows(boxes)
    first = found[0] if len(found) > 1 else []
    clocks = [box for box in first if is_clock(box.span.of(text), now)]
    beside = sum(len(box.span.of(text)) for box in first if box not in clocks)
    kept = found[1:] if clocks and beside <= BAR else found
    return [box for row in kept for box in row]


def is_clock(text: str, now: datetime) -> bool:
    """Whether a text is a time of day and nothing else."""
    found = find_times(text, now)
    return (
        len(found) == 1
        and not found[0].dated
        and found[0].kind == "time"
        and text.strip() == found[0].text
    )


def rows(boxes: Sequence[Box]) -> list[list[Box]]:
    """Boxes grouped by vertical overlap, top to bottom, each left to right."""
    found: list[list[Box]] = []
    for box in sorted(boxes, key=_middle):
        last = found[-1] if found else []
        if last and min(b.top for b in last) <= _middle(box) <= max(b.bottom for b in last):
            last.append(box)
        else:
            found.append([box])
    return [sorted(row, key=lambda box: box.left) for row in found]


def columns(
    row: Sequence[TextBox], below: Sequence[TextBox], text: str
) -> tuple[tuple[str, str], ...]:
    """The labels of a row, each with the number right below it; none where it is no such row.

    Labels that OCR has read as one text are parted where the numbers begin.
    """
    if len(below) < 2 or not all(box.span.of(text)[:1].isdigit() for box in below):
        return ()
    labels = [box.span.of(text) for box in row]
    if len(row) == 1:
        labels = _parted(row[0], [box.left for box in below[1:]], text)
    elif len(row) != len(below) or not all(map(_is_above, row, below)):
        return ()
    if len(labels) != len(below) or any(c.isdigit() for label in labels for c in label):
        return ()
    return tuple(zip(labels, (box.span.of(text) for box in below), strict=True))


def _is_above(upper: TextBox, lower: TextBox) -> bool:
    return abs(upper.left - lower.left) <= SLACK * _height(lower)


def _parted(box: TextBox, edges: Sequence[float], text: str) -> list[str]:
    """A text cut at the spaces nearest to these edges; whole where there are none."""
    said = box.span.of(text)
    letter = (box.right - box.left) / max(1, len(said))
    spaces = [at for at, character in enumerate(said) if character == " "]
    cuts = []
    for edge in edges:
        wanted = (edge - box.left) / letter - 1
        off, nearest = min(((abs(at - wanted), at) for at in spaces), default=(float("inf"), 0))
        if off > NEAREST:
            return [said]
        cuts.append(nearest)
    return [said[a:b].strip() for a, b in pairwise([0, *cuts, len(said)])]


def blocks(boxes: Sequence[TextBox]) -> list[Block]:
    """Paragraphs: lines of one height, close below one another, at one edge."""
    found: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda box: (box.top, box.left)):
        home = next((block for block in reversed(found) if _goes_on(block[-1], box)), None)
        if home is None:
            found.append([box])
        else:
            home.append(box)
    return [Block(tuple(block)) for block in found]


def _goes_on(above: TextBox, box: TextBox) -> bool:
    height = above.bottom - above.top
    alike = abs((box.bottom - box.top) - height) <= ALIKE * height
    close = -SLACK * height <= box.top - above.bottom <= NEAR * height
    return alike and close and abs(box.left - above.left) <= SLACK * height


def conversation(
    boxes: Sequence[TextBox], text: str, now: datetime
) -> tuple[str, tuple[Bubble, ...]]:
    """The name at the top of a conversation and its bubbles; none where it is no conversation.

    A bubble ends with its time. Those at the left edge are the other's, those further in are the
    person's own; two of them are never beside each other.
    """
    clocks = [box for box in boxes if is_clock(box.span.of(text), now)]
    said = blocks([box for box in boxes if box not in clocks])
    timed = [
        block
        for block, following in pairwise([*said, None])
        if block is not None and _is_timed(block, following, clocks)
    ]
    alone = len(rows([b for block in timed for b in block.boxes])) == sum(
        len(block.boxes) for block in timed
    )
    if len(timed) < BUBBLES or not alone:
        return "", ()
    edge = min(block.left for block in timed)
    slack = _height(timed[0].boxes[0])
    bubbles = tuple(Bubble(block, block.left - edge > slack) for block in timed)
    if len({bubble.mine for bubble in bubbles}) < 2:
        return "", ()
    above = [block for block in said if block.top < timed[0].top]
    return (above[0].text(text) if above else ""), bubbles


def _is_timed(block: Block, following: Block | None, clocks: Sequence[TextBox]) -> bool:
    end = following.top if following else float("inf")
    return any(block.top < _middle(clock) < end and clock.left > block.left for clock in clocks)


def calendar_days(
    boxes: Sequence[TextBox], text: str, now: datetime
) -> Iterator[tuple[datetime, list[Block]]]:
    """The days at the left edge of a calendar, each with its entries; none where it is no such."""
    found = rows(boxes)
    for heading in ["", *(" ".join(box.span.of(text) for box in row) for row in found[:3])]:
        days = [(row[0], day) for row in found if (day := _day(row[0], heading, text, now))]
        if len(days) >= DAYS:
            break
    else:
        return
    tops = [box.top - SLACK * _height(box) for box, _ in days]
    for (box, day), start, end in zip(days, tops, [*tops[1:], float("inf")], strict=True):
        inside = [one for one in boxes if start <= one.top < end and one.left > box.right]
        if inside:
            yield day, _entries(inside)


def _day(box: TextBox, heading: str, text: str, now: datetime) -> datetime | None:
    said = box.span.of(text)
    if heading and said in heading:
        return None
    day, whole = day_in(f"{said} {heading}".strip(), now)
    return day if whole else None


def _entries(boxes: Sequence[TextBox]) -> list[Block]:
    """Boxes parted where there is more room than between two lines."""
    found: list[list[TextBox]] = []
    for row in rows(boxes):
        last = found[-1][-1] if found else None
        if last is not None and row[0].top - last.bottom <= NEAR * _height(last):
            found[-1].extend(row)
        else:
            found.append(list(row))
    return [Block(tuple(entry)) for entry in found]


def _middle(box: TextBox | TextLine) -> float:
    return (box.top + box.bottom) / 2


def _height(box: TextBox) -> float:
    return box.bottom - box.top
