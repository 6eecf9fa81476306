"""Corrections: what a message puts right of what was said shortly before.

'No, it was 158' says little without what it corrects. With it a small model tells the wrong value
as readily as the right one, so that value is left out, and a corrected day is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.answering.notes.shifts import LEFT_OUT, Moment, day_and_time, moments
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
    """The day that the newer words give, in the month of the older one.

    That is the month which a correction means ("no, the 19th"), and also what names the older day
    ("it is the 19th now, not the 12th"). The time of day of a correction is the earlier one, unless
    it has one, too. Empty where either does not tell of one day.
    """
    before = _one_day([moment for _, moment in moments(older.words, older.said)])
    if before is None:
        return ""
    old = before[0].start.date()
    month = before[0].start.replace(day=1, hour=0, minute=0)
    given = [moment for _, moment in moments(newer.words, month)]
    other = [moment for moment in given if not moment.dated or moment.start.date() != old]
    if not newer.about and other == given:
        return ""
    after = _one_day(other)
    told = moments(newer.words, newer.said)
    # "Wednesday" is another day in each month, "the 19th" is not.
    days = {moment.start.day for _, moment in told if moment.dated} - {old.day}
    if after is None or days != {after[0].start.day}:
        return ""
    clock = after[1] or (before[1] if newer.about else None)
    if clock is None:
        return day_and_time(after[0].start, after[0])
    start = datetime.combine(after[0].start.date(), clock.start.timetz())
    return day_and_time(start, clock)


def _one_day(told: Sequence[Moment]) -> tuple[Moment, Moment | None] | None:
    """The one day of what is told, and its time of day; None where there is not one of each."""
    days = [moment for moment in told if moment.dated]
    clocks = [moment for moment in told if moment.clock]
    if len({moment.start.date() for moment in days}) != 1 or len(clocks) > 1:
        return None
    return days[0], next(iter(clocks), None)


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
