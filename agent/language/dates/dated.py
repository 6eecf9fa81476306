"""Dates for relative times: "tomorrow" becomes "tomorrow (2026-03-02)".

A memory is read long after it was said, so "tomorrow" must not stand in it alone. No word is
changed. Nothing is added to what means the same on any day, to quotes, vague words and what
repeats.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from agent.language.dates.brackets import (
    POSSESSIVES,
    WEEKLY,
    blanked,
    brackets_in,
    core_reading,
    in_brackets,
)
from agent.language.dates.english.lexicon import names_weekday
from agent.language.dates.learned.one_day import names_one_day
from agent.language.dates.parser import (
    SENTENCE_END,
    Expression,
    expressions,
    is_weekday,
    told_in_brackets,
)
from agent.language.dates.values import DAY, Reading, When, unit_span, unit_start

QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)"
)
# A day without a year that comes back each year, or whose year only the speaker knows.
_EVERY_YEAR = re.compile(
    r"\b(?:birthdays?|born|anniversar(?:y|ies)|name ?days?|every year|each year|annual(?:ly)?|"
    r"yearly|always|usually)\b",
    re.IGNORECASE,
)
# A word before an expression that it hangs on, or the beginning of the text.
_LED = re.compile(
    r"\b(?:on|by|until|till|before|after|since|from|to|between|and|or|of|for|at|in|the)\s+\Z"
    r"|\A\Z",
    re.IGNORECASE,
)
_LEAD = 12
"""Characters of the longest such word and some spaces."""
_AROUND = 400
"""Characters to each side of an expression among which its words and brackets are looked for."""
_UNITS = frozenset({"day", "week", "weekend", "month", "quarter", "half", "year", "decade"})
# One pass may bring a word into company that makes it a date; more than this never happened.
_PASSES = 5


def resolve_text(text: str, now: datetime, *, weekly: bool = False) -> str:
    """``text`` with dates in brackets after relative times, and years after dates without one.

    "Vet tomorrow at 5" is "Vet tomorrow at 5 (2026-03-03 17:00)", which ``agent.language.dates``
    reads as that moment. No word is changed. Repeated until nothing changes, so idempotent. Nothing
    is added to absolute times, vague words ("soon"), what repeats ("every Monday"), lengths, times
    of day alone and anything in quotes; with ``weekly`` weekdays without a date are those of every
    week, and get "(weekly)".
    """
    written = text
    for _ in range(_PASSES):
        changed = _dated_once(written, now, weekly)
        if changed == written:
            return written
        written = changed
    return text


def _dated_once(text: str, now: datetime, weekly: bool) -> str:
    quoted = [match.span() for match in QUOTED.finditer(text)]
    wall = now.replace(tzinfo=None)
    pieces: list[str] = []
    done = 0
    at_quote = 0
    for found in expressions(text, now):
        while at_quote < len(quoted) and quoted[at_quote][1] <= found.start:
            at_quote += 1
        if at_quote < len(quoted) and quoted[at_quote][0] < found.end:
            continue
        if weekly and is_weekday(text[found.start : found.end], found.when, wall):
            added = [(found.end, WEEKLY)]
        else:
            added = _additions(text, found) if is_a_day(text, found, wall) else []
        for at, written in added:
            pieces += [text[done:at], written]
            done = at
    return "".join([*pieces, text[done:]])


def is_a_day(text: str, found: Expression, wall: datetime) -> bool:
    """Whether an expression is taken to name one day, or a period: as learned, of English ones."""
    if found.foreign or not may_be_dated(text, found):
        return True
    begin = max(0, found.start - _AROUND)
    words = text[begin : found.end + _AROUND]
    words = blanked(words, brackets_in(words))
    return names_one_day(words, found.start - begin, found.end - begin, found.when, wall)


def may_be_dated(text: str, found: Expression) -> bool:
    """Whether an expression is of the kinds that get a date: relative, or without its year."""
    return bool(_additions(text, found))


def _additions(text: str, found: Expression) -> list[tuple[int, str]]:
    """What to add to the words of an expression, and where; nothing where they say it all."""
    when, start, end = found.when, found.start, found.end
    reading = core_reading(when, found.reading)
    core = when.core
    to_the_end = when.grain.startswith(("end ", "late ")) and when.bound is not None
    if core is not None and core.when.readings:
        when, start, end = core.when, core.start, core.end
    if when.narrative or not when.dated or when.kind in ("recurring", "duration"):
        return []
    if text[:start].lower().endswith(("the ", " a ", "our ", "my ")) and text[start:end].isalpha():
        return []  # 'the Sunday market' is one on any Sunday
    if reading.start is None or reading.end is None:
        return []
    if when.slots and not when.relative:
        if _EVERY_YEAR.search(_sentence(text, start, end)):
            return []
        return _years(when, reading, start, end)
    if not when.relative:
        return []
    if to_the_end:
        meant = in_brackets(reading.end - DAY, reading.end)
    else:
        meant = in_brackets(*_whole(when.grain, reading.start, reading.end))
    # The full stop of "p.m." may end the sentence too.
    end += 2 if text[end : end + 2] in POSSESSIVES else 0
    ends = text[start:end].endswith(".") and not text[end:].strip()
    return [(end, f"{meant}." if ends else meant)]


def _whole(grain: str, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """The unit that the words name: "three years ago" is a year, "tonight" a day."""
    unit = "day" if grain == "part" else grain
    if unit not in _UNITS or end - start > DAY:
        return start, end
    whole = unit_span(unit, unit_start(unit, start))
    assert whole.start is not None and whole.end is not None
    return whole.start, whole.end


def in_figures(text: str) -> str:
    """``text`` with each date in brackets in place of the words that it explains.

    For comparing: "Vet tomorrow at 5 (2026-03-03 17:00)" is "Vet on 2026-03-03 17:00". A weekday in
    the words stays before the date.
    """
    pieces: list[str] = []
    done = 0
    for bracket, found in told_in_brackets(text).items():
        if bracket.reading is None:
            pieces.append(text[done : bracket.start])
            done = bracket.end
            continue
        core = found.when.core
        start, end = (core.start, core.end) if core else (found.start, found.end)
        words = text[start:end]
        led = _LED.search(text, max(0, start - _LEAD), start)
        on = "on " if len(bracket.written) >= len("2024-05-12") else "in "
        said_on = words.casefold().startswith("on ")
        day = f"{bracket.reading.start:%A} " if names_weekday(words) else ""
        written = f"{on if said_on or not led else ''}{day}{bracket.written}"
        pieces += [text[done:start], written]
        done = end
    return "".join([*pieces, text[done:]])


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around ``start:end``, at most 200 characters to each side."""
    before = SENTENCE_END.split(text[max(0, start - 200) : start])[-1]
    return before + text[start:end] + SENTENCE_END.split(text[end : end + 200])[0]


def _years(when: When, reading: Reading, start: int, end: int) -> list[tuple[int, str]]:
    assert reading.start is not None and reading.end is not None
    last = reading.last or max(reading.start, reading.end - timedelta(microseconds=1))
    slots, years = when.slots[-1:], [last.year]
    if len(when.slots) == 2 and reading.start.year != last.year:
        slots, years = when.slots, [reading.start.year, last.year]
    added = [(slot.at, f"{slot.sign}{year}") for slot, year in zip(slots, years, strict=True)]
    return added if all(start <= at <= end for at, _ in added) else []
