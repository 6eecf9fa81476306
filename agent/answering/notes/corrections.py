"""Corrections: what a message puts right of what was said shortly before.

'No, it was 158' says little without what it corrects. With it a small model tells the wrong value
as readily as the right one, so that value is left out, and a corrected day is computed.
"""

from __future__ import annotations

from datetime import datetime

from agent.answering.notes.shifts import day_and_time, moment_of
from agent.language.dates import find_times
from agent.memory.passages import Passage

LEFT_OUT = "…"


def without_corrected(older: Passage, newer: Passage) -> str:
    """The older words, with ``LEFT_OUT`` for the value of which the newer words give another one.

    Values are times, and other words with a digit. Where there are several of a kind, which one is
    meant is not known, and all stay.
    """
    text = older.words
    (times, numbers), given = _values(older), _values(newer)
    for own, others in zip((times, numbers), given, strict=True):
        if len(own) == 1 and others:
            text = text.replace(own[0], LEFT_OUT)
    return text


def corrected_day(older: Passage, newer: Passage) -> str:
    """The day that a correction gives, in the month of the one it corrects, at the same time.

    Empty where either tells of several times, or none is a day: 'the 19th, not the 18th'.
    """
    old, new = (find_times(one.words, one.said) for one in (older, newer))
    before = moment_of(old[0]) if len(old) == 1 else None
    if before is None or not before.dated or len(new) != 1:
        return ""
    in_month = find_times(newer.words, before.start.replace(day=1, hour=0, minute=0))
    given = moment_of(in_month[0]) if len(in_month) == 1 else None
    if given is None or not given.dated:
        return ""
    clock = given if given.clock else before
    start = datetime.combine(given.start.date(), clock.start.timetz())
    return day_and_time(start, clock)


def _values(passage: Passage) -> tuple[list[str], list[str]]:
    """The times of a passage, and its other words with a digit."""
    times = [span.text for span in find_times(passage.words, passage.said)]
    rest = passage.words
    for time in times:
        rest = rest.replace(time, " ")
    words = (word.strip(".,;:!?()") for word in rest.split())
    return times, [word for word in words if any(char.isdigit() for char in word)]
