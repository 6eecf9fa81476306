"""Rules for weeks, weekends, months, quarters, seasons and years, and for pieces of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.lexicon import UNIT_OF, full_year
from agent.language.dates.english.rules.common import a_period, spell, steps_of, year_of, year_slot
from agent.language.dates.values import (
    DAY,
    SEASONS,
    Reading,
    When,
    length,
    midnight,
    past_and_future,
    shifted_unit,
    tighten,
    unit_span,
    unit_start,
)

PERIOD_TABLE = Table()
rule = PERIOD_TABLE.rule


# --- weeks, months, years ------------------------------------------------------------------------


@rule(
    "PERIOD",
    spell("(the)? (m:{MON}) (,|of|in|-|'s|slash)? (y:YEAR)"),
    spell("(y:YEAR) (,|-|of|in)? (m:{MON})"),
    spell("(m:{MON}) (of)? (y:SHORT_YEAR)"),
    "(c:YEAR_MONTH)",
    spell("(y:NEAR_YEAR) - (k:DAY)"),
    spell("(k:DAY) - (y:NEAR_YEAR)"),
)
def month_of_a_year(found: RuleMatch) -> When | None:
    """May 2024; 2024-05; 05/2024; April of 87."""
    if "c" in found:
        year, month = divmod(found.number("c"), 12)
        month += 1
    else:
        if found.number("y") <= 31 and "of" not in found.words().split():
            return None  # May 12 is a day
        year = full_year(found.number("y"))
        month = found.number("m") if "m" in found else found.number("k")
    if not 1 <= month <= 12:
        return None
    return a_period(
        "month", unit_span("month", datetime(year, month, 1)), relative=False, explicit=True
    )


@rule(
    "PERIOD",
    spell("(the)? (s:{THIS}/{NEXT}/{LAST}) (m:MONTH/NAMED_MONTH)"),
    spell("(in)? (m:{MON}) (of)? (s:this/next/last/current/previous) year"),
)
def month_from_here(found: RuleMatch) -> When:
    """This September is this year's, next June next year's, last May last year's."""
    start = datetime(found.now.year + steps_of(found.word("s")), found.number("m"), 1)
    return a_period("month", unit_span("month", start))


# What may stand before a month or year that is meant as a time, and not as a name or a count.
_BEFORE_A_MONTH = (
    "@in/of/by/until/till/since/during/before/after/early/late/mid/middle/from/throughout/to/"
    "through/between/starting/beginning/around/for"
)
_BEFORE_A_YEAR = f"{_BEFORE_A_MONTH}/and/or/-/than/about"


@rule(
    "PERIOD",
    f"{_BEFORE_A_MONTH} m:MONTH/NAMED_MONTH",
    "@in/of/by/until/till/since/during/before/after/early/late/mid/from/throughout m:WEAK_MONTH",
)
def month_alone(found: RuleMatch) -> When:
    """In May, since September (the verb "may" needs no preposition)."""
    return _month(found)


def _month(found: RuleMatch) -> When:
    month = found.number("m")
    readings = past_and_future(lambda one: unit_span("month", datetime(one, month, 1)), found.now)
    return When("range", "month", readings, slots=year_slot(found, "m", " "), yearless=True)


@rule("PERIOD", "m:MONTH")
def month_of_any_year(found: RuleMatch) -> When:
    """September, without a preposition: it may be any year's ("I love September")."""
    return replace(_month(found), narrative=True)


@rule(
    "PERIOD",
    spell(
        "(the)? (calendar)? (s:{THIS}/{NEXT}/{LAST}/same) (calendar)? "
        "(u:week/weekend/month/quarter/year/decade/century/hour/minute/fortnight) !of"
    ),
)
def unit_from_here(found: RuleMatch) -> When | None:
    """Next week; last year; this weekend; the next hour."""
    unit = UNIT_OF[found.word("u")]
    steps = steps_of(found.word("s"))
    narrative = found.word("s") in ("following", "previous", "same", "preceding")
    if unit in ("hour", "minute"):
        if steps == 0:
            return None
        when = When("range", unit, (shifted_unit(unit, found.now, steps),), relative=True)
        return replace(when, narrative=narrative)
    when = a_period(unit, shifted_unit(unit, found.now, steps))
    return replace(when, narrative=narrative)


@rule(
    "PERIOD",
    "(the)? (u:week/month/year/weekend) after next",
    "(the)? (u:week/month/year/weekend) before last",
)
def unit_after_next(found: RuleMatch) -> When:
    unit = found.word("u")
    steps = 2 if "after" in found.words().split() else -2
    return a_period(unit, shifted_unit(unit, found.now, steps))


@rule(
    "PERIOD",
    spell("within (the)? (s:{NEXT}/{LAST}) (n:LENGTH) !of"),
    spell("(the)? (s:{NEXT}/{LAST}) (n:LENGTH) !of"),
    spell("(the)? (n:NUMBER) (s:{NEXT}/{LAST}) (u:UNIT)"),
)
def counted_from_here(found: RuleMatch) -> When | None:
    """The next five days begin tomorrow, the last five ended yesterday; hours begin now."""
    if "u" in found:
        grain = UNIT_OF[found.word("u")]
        delta = length(grain, found.amount("n"))
        seconds = 0.0
    else:
        when = found.when("n")
        grain, delta, seconds = when.grain, when.delta or relativedelta(), when.seconds or 0.0
    ahead = steps_of(found.word("s")) > 0
    if delta.hours or delta.minutes or delta.seconds:
        if ahead:
            reading = Reading(found.now, found.now + delta)
        else:
            reading = Reading(found.now - delta, found.now)
        return When("range", "minute", (reading,), relative=True)
    today = midnight(found.now)
    if grain in ("quarter", "decade", "century"):
        here = unit_start(grain, found.now)
        step = length(grain, 1)
        reading = (
            Reading(here + step, here + step + delta) if ahead else Reading(here - delta, here)
        )
    elif grain == "business":
        return _business(found, round(seconds / 86400), ahead)
    elif "within" in found.words().split():
        reading = Reading(today, today + delta)
    elif ahead:
        reading = Reading(today + DAY, today + DAY + delta)
    else:
        reading = Reading(today - delta, today)
    return When("range", "day", (reading,), relative=True)


def _business(found: RuleMatch, count: int, ahead: bool) -> When | None:
    if not 1 <= count <= 2600:
        return None
    moment = midnight(found.now)
    step = DAY if ahead else -DAY
    days: list[datetime] = []
    while len(days) < count:
        moment += step
        if moment.weekday() < 5:
            days.append(moment)
    return When("range", "day", (Reading(min(days), max(days) + DAY),), relative=True)


@rule(
    "PERIOD",
    "(the)? week (number)? (n:NUMBER) ((of|in|,)? (y:NEAR_YEAR))?",
    "(n:WEEK_NUMBER) (y:NEAR_YEAR)?",
)
def week_of_a_year(found: RuleMatch) -> When | None:
    """Week 31; week 3 of 2027 (ISO 8601 numbers)."""
    number = found.number("n")
    if not 1 <= number <= 53:
        return None
    year = year_of(found) or found.now.year
    return a_period(
        "week",
        unit_span("week", datetime.fromisocalendar(year, number, 1)),
        explicit="y" in found,
    )


@rule(
    "PERIOD",
    "w slash c (d:DATE)",
    "(the)? week (of|starting|beginning|commencing|starting on|beginning on|from) (d:DATE)",
)
def week_of_a_day(found: RuleMatch) -> When:
    readings = [
        unit_span("week", unit_start("week", one.start))
        for one in found.when("d").readings
        if one.start is not None
    ]
    when = found.when("d")
    return replace(
        when, kind="range", grain="week", readings=tighten(readings), slots=(), relative=True
    )


@rule("PERIOD", "(the|this|on the|over the)? weekend of (d:DATE)", "(d:DATE) weekend")
def weekend_of_a_day(found: RuleMatch) -> When:
    when = found.when("d")
    # Monday and Tuesday are nearer to the weekend before.
    readings = [
        unit_span("weekend", unit_start("weekend", one.start - 2 * DAY))
        for one in when.readings
        if one.start is not None
    ]
    return replace(
        when, kind="range", grain="weekend", readings=tighten(readings), slots=(), relative=True
    )


@rule(
    "PERIOD",
    "(the)? (q:QUARTER/HALF) (of|,|-)? (y:YEAR)",
    "(y:YEAR) (,|-)? (q:QUARTER/HALF)",
    "(the)? (r:first/second/third/fourth/last|n:ORDINAL) (k:quarter/half) (of)? (the)? "
    "((y:YEAR)|(s:this/next/last)? (year))",
    "(y:YEAR) 's? (r:first/second/third/fourth/last|n:ORDINAL) (k:quarter/half)",
    "(s:this/next/last) (year) 's (r:first/second/third/fourth/last|n:ORDINAL) (k:quarter/half)",
    "(q:QUARTER/HALF) (of)? (s:this/next/last) (year)",
    "(q:QUARTER/HALF)",
)
def quarter(found: RuleMatch) -> When | None:
    """Q1 2017; the first quarter of 2017; second half of next year; H2."""
    if "q" in found:
        unit = "quarter" if found.word("q") == "q" else "half"
        rank = found.number("q")
    else:
        unit = found.word("k")
        parts = 4 if unit == "quarter" else 2
        ranks = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": parts}
        rank = found.number("n") if "n" in found else ranks[found.word("r")]
    if not 1 <= rank <= (4 if unit == "quarter" else 2):
        return None
    months = (3 if unit == "quarter" else 6) * (rank - 1)
    year = year_of(found)
    if year is not None:
        start = datetime(year, 1 + months, 1)
        return a_period(unit, unit_span(unit, start), relative=False, explicit=True)
    if "s" in found:
        start = datetime(found.now.year + steps_of(found.word("s")), 1 + months, 1)
        return a_period(unit, unit_span(unit, start))
    readings = past_and_future(lambda one: unit_span(unit, datetime(one, 1 + months, 1)), found.now)
    return When("range", unit, readings, relative=True)


@rule(
    "PERIOD",
    "(the)? (n:SEASON/WEAK_SEASON) (of|in|,)? (y:YEAR)",
    "(y:YEAR) (n:SEASON/WEAK_SEASON)",
    spell("(the|this)? (s:{THIS}/{NEXT}/{LAST}) (n:SEASON/WEAK_SEASON)"),
    "(n:SEASON/WEAK_SEASON) (of)? (s:this/next/last) year",
    "(in|during|by|until|since|over) the? (n:SEASON)",
)
def season(found: RuleMatch) -> When | None:
    """Summer 2024; this coming summer; last winter (northern hemisphere, whole months)."""
    name = found.word("n")
    year = year_of(found)

    def of_year(one: int) -> Reading:
        start = datetime(one, SEASONS[name], 1)
        return Reading(start, start + relativedelta(months=3))

    if year is not None:
        return a_period("season", of_year(year), relative=False, explicit=True)
    if "s" in found:
        if found.word("s") in ("coming", "upcoming") or found.word("s") == "past":
            readings = past_and_future(of_year, found.now)
            ahead = found.word("s") != "past"
            return a_period("season", readings[-1] if ahead else readings[0])
        return a_period("season", of_year(found.now.year + steps_of(found.word("s"))))
    return When("range", "season", past_and_future(of_year, found.now), narrative=True)


@rule(
    "PERIOD",
    "(the|in the)? (y:NEAR_YEAR) 's? s",
    "(the)? (y:NEAR_YEAR) 's",
    "the (c:NUMBER)? (k:DECADE)",
    "(the)? (c:NUMBER) (k:DECADE)",
    "(the)? 's (t:SHORT_YEAR) s",
    "the (t:SHORT_YEAR) s",
)
def decade(found: RuleMatch) -> When | None:
    """The 1990s; the nineties; nineteen eighties is read too."""
    names = "noughties ten twenties thirties forties fifties sixties seventies eighties nineties"
    if "y" in found:
        year = found.number("y")
        if year % 10:
            return None
    elif "t" in found:
        year = found.number("t")
        if year % 10:
            return None
        year += 1900 if year >= 30 else 2000
    else:
        tens = names.split().index(found.word("k")) * 10
        hundred = found.number("c") if "c" in found else (20 if tens < 20 else 19)
        if hundred not in range(10, 22):
            return None
        year = hundred * 100 + tens
    return a_period(
        "decade", unit_span("decade", datetime(year, 1, 1)), relative=False, explicit=True
    )


@rule("PERIOD", "(the)? (n:ORDINAL) century")
def century(found: RuleMatch) -> When | None:
    number = found.number("n")
    if not 2 <= number <= 30:
        return None
    start = datetime((number - 1) * 100, 1, 1)
    return a_period("century", unit_span("century", start), relative=False, explicit=True)


@rule(
    "PERIOD",
    "(from|between)? (a:NEAR_YEAR) (to|-|until|till|through|and) (b:NEAR_YEAR) !OTHER_WORD !UNIT",
)
def years(found: RuleMatch) -> When | None:
    """2014-2018; between 2014 and 2018."""
    words = found.words().split()
    if "and" in words and "between" not in words:
        return None
    start, last = datetime(found.number("a"), 1, 1), datetime(found.number("b"), 1, 1)
    if last <= start:
        return None
    reading = Reading(start, last + relativedelta(years=1), last=last)
    return a_period("year", reading, relative=False, explicit=True)


@rule(
    "PERIOD",
    "(the)? (calendar)? year (of)? (y:NUMBER) !UNIT !-",
    f"{_BEFORE_A_YEAR} (y:NEAR_YEAR) !UNIT",
    "@in/since/until/before/after/by/from/of (y:FAR_YEAR) !OTHER_WORD !UNIT !-",
    "@</>/=/lparen/, (y:NEAR_YEAR) !UNIT !OTHER_WORD",
    "(y:NEAR_YEAR) !OTHER_WORD !UNIT !-",
)
def year(found: RuleMatch) -> When | None:
    """2024; in 2019; year 2016."""
    number = found.number("y")
    if not 1 <= number <= 2999:
        return None
    reading = unit_span("year", datetime(number, 1, 1))
    return a_period("year", reading, relative=False, explicit=True)
