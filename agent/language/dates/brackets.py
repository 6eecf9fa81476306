"""Dates in brackets: "Saturday at noon (2026-09-19 12:00)".

A memory keeps the words that a person used. What they meant on that day stands behind them, so that
the memory can be read on any other day, by people and by the parser: a date in brackets after a
time expression is what the expression means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from agent.language.dates.values import DAY, SECONDS, Core, Reading, When, midnight

_CLOCK = r"\d\d:\d\d(?::\d\d)?"
_DATE = rf"\d{{4}}(?:-\d\d(?:-\d\d(?: {_CLOCK})?)?)?"
_BRACKETS = re.compile(
    rf" ?\((?:(?P<weekly>weekly)|(?P<first>{_DATE})(?: – (?P<last>{_DATE}|{_CLOCK}))?)\)"
)
WEEKLY = " (weekly)"
"""Behind a weekday that is every week's."""
_UNITS = {4: relativedelta(years=1), 7: relativedelta(months=1), 10: relativedelta(days=1)}
"""What a date of so many characters lasts; one with a time of day is a moment."""

POSSESSIVES = ("'s", "’s")
"""What may stand between a time expression and its date: "yesterday's (2026-03-01) lunch"."""
_LONGEST = 1.04
"""Of a unit that lasts: a month has 31 days, where a length counts 30."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """A date in brackets at ``start:end`` of a text, on the wall clock of the message."""

    start: int
    end: int
    reading: Reading | None
    """None where it says "weekly"."""
    written: str
    """The date without its brackets."""


def brackets_in(text: str) -> tuple[Bracket, ...]:
    """The dates in brackets of a text, in order; those that no calendar has are none."""
    made = (_bracket(found) for found in _BRACKETS.finditer(text))
    return tuple(bracket for bracket in made if bracket is not None)


def _bracket(found: re.Match[str]) -> Bracket | None:
    if found["weekly"]:
        return Bracket(found.start(), found.end(), None, "")
    first, last = found["first"], found["last"]
    if last is not None and ":" in last and "-" not in last:
        last = f"{first[:10]} {last}"
    try:
        start, end = _span(first)
        if last is not None:
            final, end = _span(last)
    except (ValueError, OverflowError):
        return None
    if end < start:
        return None
    reading = Reading(start, end, final if last is not None and final < end else None)
    return Bracket(found.start(), found.end(), reading, found[0].strip(" ()"))


def _span(written: str) -> tuple[datetime, datetime]:
    start = datetime.fromisoformat(written + "0001-01-01"[len(written) :])
    unit = _UNITS.get(len(written))
    return start, start + unit if unit is not None else start


def in_brackets(start: datetime, end: datetime) -> str:
    """A time in brackets, in the largest of years, months, days and moments that tells it."""
    if start == end:
        return f" ({_moment(start)})"
    if not (start == midnight(start) and end == midnight(end)):
        until = _moment(end)
        same_day = start.date() == end.date()
        return f" ({_moment(start)} – {until[11:] if same_day else until})"
    size = 10
    if start.day == end.day == 1:
        size = 4 if start.month == end.month == 1 else 7
    first = _date(start)[:size]
    last = _date(end - DAY)[:size]
    return f" ({first})" if first == last else f" ({first} – {last})"


def _date(moment: datetime) -> str:
    return f"{moment.year:04}-{moment:%m-%d}"


def _moment(moment: datetime) -> str:
    return f"{_date(moment)} {moment:{'%H:%M:%S' if moment.second else '%H:%M'}}"


def blanked(text: str, brackets: Sequence[Bracket]) -> str:
    """The text with spaces in place of the brackets; what stands beside them stays where it is."""
    pieces, done = [], 0
    for bracket in brackets:
        pieces += [text[done : bracket.start], " " * (bracket.end - bracket.start)]
        done = bracket.end
    return "".join([*pieces, text[done:]])


def core_reading(when: When, reading: Reading) -> Reading:
    """Of an open range ("until Friday") the day or time that it is open from or to.

    Of readings of that, the one that ``reading`` begins or ends with; of any other expression,
    ``reading``.
    """
    core = when.core
    if core is None or not core.when.readings:
        return reading
    edges = {reading.start, reading.end} - {None}
    shared = (one for one in core.when.readings if {one.start, one.end} & edges)
    return next(shared, core.when.readings[0])


def follows(text: str, end: int, bracket: Bracket) -> bool:
    """Whether a bracket stands right after ``end``, or before it."""
    between = text[end : bracket.start].strip()
    return between in ("", ".", *POSSESSIVES)  # the full stop of "p.m." or "Dec."


def fits(when: When, reading: Reading, told: Reading) -> bool:
    """Whether what a bracket tells can be what an expression means: no year for "in March"."""
    base = core_reading(when, reading)
    if when.kind in ("recurring", "duration") or None in (base.start, base.end):
        return False
    if when.kind == "range" and told.last is not None:
        return True  # how long it is from tomorrow to Friday is another thing each day
    unit = SECONDS.get(when.grain.rpartition(" ")[2], 0) * timedelta(seconds=1)
    return _length(told) <= max(_length(base), DAY, _LONGEST * unit)


def meant(when: When, reading: Reading, told: Reading, end: int) -> tuple[When, Reading]:
    """An expression with what the bracket after it, which ends at ``end``, says that it means."""
    base = core_reading(when, reading)
    told = _on_day(base, told)
    edges = {base.end: told.end, base.start: told.start}
    now = Reading(
        edges.get(reading.start, reading.start),
        edges.get(reading.end, reading.end),
        edges.get(reading.last, told.last) if reading.last is not None else None,
    )
    core = when.core
    if core is not None:
        inner = replace(core.when, readings=(told,), relative=False, explicit_year=True, slots=())
        core = Core(core.start, max(core.end, end), inner)
    sure = replace(
        when,
        kind="datetime" if when.kind == "time" else when.kind,
        readings=(now,),
        dated=True,
        relative=False,
        explicit_year=True,
        yearless=False,
        slots=(),
        core=core,
        narrative=False,
        from_told=False,
    )
    return sure, now


def _length(reading: Reading) -> timedelta:
    assert reading.start is not None and reading.end is not None
    return reading.end - reading.start


def _on_day(base: Reading, told: Reading) -> Reading:
    """The hours of an expression on the day told: "tomorrow morning (2026-03-02)"."""
    assert base.start is not None and base.end is not None and told.start is not None
    if _length(base) >= DAY or _length(told) != DAY:
        return told
    moved = told.start - midnight(base.start)
    return Reading(base.start + moved, base.end + moved)
