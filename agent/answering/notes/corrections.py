"""Corrections: what a message puts right of what was said shortly before.

'No, it was 158' says little without what it corrects. With it a small model tells the wrong value
as readily as the right one, so that value is left out, and a corrected day is computed.
"""

from __future__ import annotations

from datetime import datetime

from agent.answering.notes.shifts import LEFT_OUT, day, day_and_time
from agent.language.dates.moments import moments
from agent.memory.editing.changes.restated import Told, restated_day
from agent.memory.passages import Passage

MARKS = ".,;:!?()"
"""What stands around a word and is no part of it."""
Place = tuple[int, int]
"""Characters of a text, end exclusive."""


def without_corrected(older: Passage, newer: Passage) -> str:
    """The older words, with ``LEFT_OUT`` for the value of which the newer words give another one.

    Values are days and times, and other words with a digit. Where there are several of a kind,
    which one is meant is not known, and all stay.
    """
    text = older.words.replace(LEFT_OUT, "...")  # so that the sign means only this
    own, given = _values(text, older.said), _values(newer.words, newer.said)
    single = [one[0] for one, others in zip(own, given, strict=True) if len(one) == 1 and others]
    for start, end in sorted(single, reverse=True):
        text = f"{text[:start]}{LEFT_OUT}{text[end:]}"
    return text


def corrected_day(older: Passage, newer: Passage) -> str:
    """The day that the newer words give, in the month of the older one; empty where none is."""
    meant = restated_day(
        Told(older.words, older.said),
        Told(newer.words, newer.said),
        corrects=bool(newer.about),
    )
    if meant is None:
        return ""
    return day_and_time(meant.start, meant.clock) if meant.clock else day(meant.start)


def _values(text: str, said: datetime) -> tuple[list[Place], list[Place]]:
    """Where the days and times of a text stand, and its other words with a digit."""
    times = [(span.start_char, span.end_char) for span, _ in moments(text, said)]
    rest = text
    for start, end in times:
        rest = f"{rest[:start]}{' ' * (end - start)}{rest[end:]}"
    numbers = []
    at = 0
    for word in rest.split():
        at = rest.index(word, at)
        bare = word.strip(MARKS)
        if any(char.isdigit() for char in bare):
            start = at + word.index(bare)
            numbers.append((start, start + len(bare)))
        at += len(word)
    return times, numbers
