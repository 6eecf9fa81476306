"""Parser: applies the grammar and chooses one reading per expression.

What is ambiguous is decided here: the half of the day by likelihood, past or future by what was
learned of the words around it (``tense``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache, lru_cache

from agent.language.dates.brackets import Bracket, blanked, brackets_in, fits, follows, meant
from agent.language.dates.english.grammar import Grammar
from agent.language.dates.english.lexicon import names_weekday
from agent.language.dates.english.recurrence import is_weekly
from agent.language.dates.english.rules.clock import CLOCK_TABLE
from agent.language.dates.english.rules.days import DAY_TABLE
from agent.language.dates.english.rules.holidays import HOLIDAY_NAME_TABLE, HOLIDAY_TABLE
from agent.language.dates.english.rules.joined import JOINED_TABLE, REPEATED_TABLE
from agent.language.dates.english.rules.numbers import NUMBER_TABLE
from agent.language.dates.english.rules.periods import PERIOD_TABLE
from agent.language.dates.english.rules.pieces import PIECE_TABLE
from agent.language.dates.english.rules.ranges import RANGE_TABLE
from agent.language.dates.foreign.in_english import InEnglish, in_english
from agent.language.dates.learned.tense import lies_back
from agent.language.dates.values import Core, Reading, When


@dataclass(frozen=True, slots=True)
class Expression:
    """A time expression at ``start:end`` of the text, on the wall clock of the message."""

    start: int
    end: int
    when: When
    reading: Reading
    foreign: bool = False
    """Whether the text is in another language, and was read by way of ``in_english``."""


@cache
def _grammar() -> Grammar:
    # Tables in the order of the cascade; what repeats goes before the days it is made of.
    return Grammar(
        (
            *(NUMBER_TABLE, CLOCK_TABLE, HOLIDAY_NAME_TABLE, REPEATED_TABLE),
            *(DAY_TABLE, HOLIDAY_TABLE, PERIOD_TABLE, PIECE_TABLE, JOINED_TABLE, RANGE_TABLE),
        )
    )


def expressions(text: str, now: datetime) -> tuple[Expression, ...]:
    """The time expressions of ``text`` in order. Raises ValueError where ``now`` has no zone."""
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    return _expressions(text, now.replace(tzinfo=None), now.tzinfo)


def told_in_brackets(text: str) -> dict[Bracket, Expression]:
    """The expressions of ``text`` that a date in brackets follows, by their bracket, in order."""
    brackets = brackets_in(text)
    return _with_brackets(text, brackets, _ANY_DAY, UTC) if brackets else {}


_ANY_DAY = datetime(2000, 1, 1)


@lru_cache(maxsize=256)  # a sentence is written out and read for how long it holds
def _expressions(text: str, wall: datetime, zone: tzinfo) -> tuple[Expression, ...]:
    # Times of two zones may be equal and yet not on one wall, so the zone is told apart.
    brackets = brackets_in(text)
    told = _with_brackets(text, brackets, wall, zone) if brackets else {}
    if not told:
        return _without_brackets(text, wall, zone)
    sure = tuple(told.values())
    others = iter(_without_brackets(blanked(text, tuple(told)), wall, zone))
    return tuple(_in_order(sure, others))


def _in_order(sure: Sequence[Expression], others: Iterator[Expression]) -> Iterator[Expression]:
    """Both in the order of the text; of the others those that overlap with none that is sure."""
    one = next(others, None)
    for told in sure:
        while one is not None and one.start < told.end:
            if one.end <= told.start:
                yield one
            one = next(others, None)
        yield told
    yield from (() if one is None else (one, *others))


def _with_brackets(
    text: str, brackets: tuple[Bracket, ...], wall: datetime, zone: tzinfo
) -> dict[Bracket, Expression]:
    """The expressions that a date in brackets follows, by their bracket."""
    found = _without_brackets(blanked(text, brackets), wall, zone)
    starts = [one.start for one in found]
    told = {}
    for bracket in brackets:
        at = bisect_left(starts, bracket.start) - 1
        if at < 0 or not follows(text, found[at].end, bracket):
            continue
        one = _sure(text, found[at], bracket, wall)
        if one is not None:
            told[bracket] = replace(one, end=max(one.end, bracket.end))
    return told


def _sure(text: str, one: Expression, bracket: Bracket, wall: datetime) -> Expression | None:
    """The expression as the bracket after it reads it; None where the two do not fit."""
    told = bracket.reading
    if told is None:
        weekday = is_weekday(text[one.start : one.end], one.when, wall)
        return replace(one, when=_EVERY_WEEK, reading=_NO_READING) if weekday else None
    if not fits(one.when, one.reading, told):
        return None
    when, reading = meant(one.when, one.reading, told, bracket.end)
    return replace(one, when=when, reading=reading)


def _without_brackets(text: str, wall: datetime, zone: tzinfo) -> tuple[Expression, ...]:
    translated = in_english(text)
    if translated is None:
        return _english(text, wall, zone)
    foreign = tuple(
        _in_original(found, translated) for found in _english(translated.text, wall, zone)
    )
    as_it_is = _english(text, wall, zone) if foreign else ()
    return as_it_is if _takes_in(as_it_is, foreign) else foreign


def _takes_in(english: tuple[Expression, ...], foreign: tuple[Expression, ...]) -> bool:
    """Whether the text read as English has the same dates with more words to them.

    Then it is English, with so many foreign names that its language was mistaken.
    """
    around = [
        (one, other)
        for one in foreign
        for other in english
        if other.start <= one.start and one.end <= other.end
    ]
    wider = any(other.end - other.start > one.end - one.start for one, other in around)
    return wider and len({one.start for one, _ in around}) == len(foreign)


def _in_original(found: Expression, translated: InEnglish) -> Expression:
    """An expression of the English text at its place in the original.

    Where a year would go is not known there.
    """
    when, core = replace(found.when, slots=()), found.when.core
    if core is not None:
        start, end = translated.back(core.start, core.end)
        when = replace(when, core=Core(start, end, replace(core.when, slots=())))
    start, end = translated.back(found.start, found.end)
    return Expression(start, end, when, found.reading, foreign=True)


def _english(text: str, wall: datetime, zone: tzinfo) -> tuple[Expression, ...]:
    parts = _grammar().read(text, wall, lambda moment: moment.replace(tzinfo=zone))
    found = (
        Expression(part.start, part.end, _EVERY_WEEK, _NO_READING)
        if is_weekly(text, part.start, part.end)
        else Expression(
            part.start, part.end, part.when, _choose(text, part.start, part.end, part.when, wall)
        )
        for part in parts
        if part.when is not None
    )
    return tuple(_ending_after_the_start(text, wall, found))


_WEEK = timedelta(days=7)


def _ending_after_the_start(
    text: str, wall: datetime, found: Iterable[Expression]
) -> Iterator[Expression]:
    """ "Lands Friday at 7, stays till Monday", said on a Saturday: the Monday after that Friday."""
    start: Expression | None = None
    for one in found:
        core, end = one.when.core, one.reading.end
        if core is not None and end is not None and one.when.bound in ("until", "before"):
            begun = start.reading.start if start is not None else None
            near = start is not None and SENTENCE_END.search(text, start.end, one.start) is None
            weekday = is_weekday(text[core.start : core.end], core.when, wall)
            if near and begun is not None and end <= begun and weekday:
                one = _later(one, core, ((begun - end) // _WEEK + 1) * _WEEK)
        if one.when.dated:
            start = one
        yield one


def _later(one: Expression, core: Core, by: timedelta) -> Expression:
    readings = tuple(_moved(reading, by) for reading in core.when.readings)
    inner = replace(core, when=replace(core.when, readings=readings))
    now = _moved(one.reading, by)
    return replace(one, when=replace(one.when, core=inner, readings=(now,)), reading=now)


def _moved(reading: Reading, by: timedelta) -> Reading:
    return replace(
        reading,
        start=reading.start and reading.start + by,
        end=reading.end and reading.end + by,
        last=reading.last and reading.last + by,
    )


SENTENCE_END = re.compile(r"[.!?]\s|\n")
_NO_READING = Reading(None, None)
_OVER_A_WEEK = timedelta(days=8)
"""More than lies between the last and the coming one of a weekday, at any hour."""
_EVERY_WEEK = When("recurring", "set", ())


def is_weekday(said: str, when: When, wall: datetime) -> bool:
    """Whether the words name a weekday without a date: neither the 12th nor the next one."""
    if not when.relative or when.bound is not None or not names_weekday(said):
        return False
    starts = [reading.start for reading in when.readings if reading.start is not None]
    return on_both_sides(when, wall) and max(starts) - min(starts) < _OVER_A_WEEK


def _choose(text: str, start: int, end: int, when: When, wall: datetime) -> Reading:
    if not when.readings:
        return _NO_READING
    if len(when.readings) == 1:
        return when.readings[0]
    if when.bound is not None or not when.dated:
        past = when.bound == "since"
    else:
        past = on_both_sides(when, wall) and lies_back(text, start, end, when, wall)

    def distance(reading: Reading) -> tuple[bool, int, timedelta]:
        moment = reading.start or reading.end or wall
        return when.dated and reading.ahead(wall) is past, reading.rank, abs(moment - wall)

    return min(when.readings, key=distance)


def on_both_sides(when: When, wall: datetime) -> bool:
    """Whether one reading lies in the past and another one ahead."""
    return len({reading.ahead(wall) for reading in when.readings}) == 2
