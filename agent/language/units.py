"""Units: the stretches of a message that are read, judged and shown one by one.

A unit is a sentence or a line; a short one stands with the one before it, for it means nothing by
itself ("Finally.", "Barb's coming."). No wording decides, only length and where sentences end.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.language.sentences import sentence_places

SHORT = 25
"""Characters below which a unit is joined with its neighbour."""
AROUND = 160
"""Characters of the message that stand beside a unit as its context."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of a text: ``text == whole[start:end]``."""

    text: str
    start: int
    end: int


def units(text: str) -> list[Unit]:
    """The units of a text, in order; an empty text has none."""
    found: list[Unit] = []
    for start, end in sentence_places(text):
        if found and (end - start < SHORT or len(found[-1].text) < SHORT):
            start = found.pop().start
        found.append(Unit(text[start:end], start, end))
    if not found and text.strip():
        found.append(Unit(text, 0, len(text)))
    return found


def in_message(unit: Unit, message: str) -> str:
    """The unit, and beside it the message that it stands in, cut to a stretch around it."""
    whole = " ".join(message.split())
    if len(whole) <= len(unit.text) + SHORT:
        return " ".join(unit.text.split())
    first = max(0, min(unit.start - AROUND // 2, len(message) - AROUND))
    around = " ".join(message[first : first + AROUND].split())
    return f"{' '.join(unit.text.split())} | {around}"
