"""Rules for single days: dates, weekdays, holidays, today and tomorrow.

A date without a year has two readings, the last before today and the first from today on;
``agent.language.dates.parser`` picks by the tense around it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.rules.common import spell, steps_of, year_of, year_slot
from agent.language.dates.values import (
    DAY,
    Reading,
    When,
    YearSlot,
    a_day,
    day,
    midnight,
    nth_weekday,
    past_and_future,
    shifted_unit,
    unit_start,
)

DAY_TABLE = Table()
rule = DAY_TABLE.rule


def month_day(
    found: RuleMatch, month: int, number: int, year: int | None, slots: tuple[YearSlot, ...] = ()
) -> When:
    """A day of a month; without a year, the last one and the next one."""
    if year is not None:
        return a_day(datetime(year, month, number), relative=False, explicit_year=True)
    readings = past_and_future(lambda one: day(datetime(one, month, number)), found.now)
    return When("date", "day", readings, relative=not slots, slots=slots, yearless=True)


# --- lists of days that share a month ------------------------------------------------------------


@rule(
    "PERIOD",
    spell(
        "(from|between)? the? a:{DAYN} (to|-|until|till|through|thru|and) the? b:{DAYN} of? "
        "m:{MON} ((,|of|in)? y:YEAR)?"
    ),
    spell(
        "(from|between)? m:{MON} the? a:{DAYN} (to|-|until|till|through|thru|and) the? b:{DAYN} "
        "!MONTH !of !WEAK_MONTH ((,|of|in)? y:YEAR)?"
    ),
    spell(
        "(from|between)? the? a:{DAYN} (to|-|until|till|through|thru|and) the? b:{DAYN} "
        "(of)? (r:this/next/last) month"
    ),
)
def days_of_a_month(found: RuleMatch) -> When | None:
    """From 12 to 18 May; May 12-18, 2024; from 4 to 22 this month."""
    words = found.words().split()
    if "and" in words and "between" not in words:
        return None
    first, last = found.number("a"), found.number("b")
    if "r" in found:
        steps = {"this": 0, "next": 1, "last": -1}[found.word("r")]
        month_start = shifted_unit("month", found.now, steps).start
        assert month_start is not None
        in_month = _days(month_start.year, month_start.month, first, last)
        return When("range", "day", (in_month,), relative=True)
    year = year_of(found)
    month = found.number("m")
    if year is not None:
        return When("range", "day", (_days(year, month, first, last),), explicit_year=True)
    readings = past_and_future(lambda one: _days(one, month, first, last), found.now)
    after_month = found.end("m") > found.end("b")
    slots = year_slot(found, "m", " ") if after_month else year_slot(found, "b")
    return When("range", "day", readings, slots=slots)


def _days(year: int, month: int, first: int, last: int) -> Reading:
    start, end = datetime(year, month, first), datetime(year, month, last)
    if end < start:
        start -= relativedelta(months=1)
    return Reading(start, end + DAY, last=end)


# --- one day -------------------------------------------------------------------------------------


@rule("DATETIME", spell("((w:{WDAY}) ,?)? t:ISO_TIME"))
def iso_time(found: RuleMatch) -> When:
    moment = found.token("t").moment
    assert moment is not None
    if moment.tzinfo is not None:
        moment = moment.astimezone(found.zone(found.now).tzinfo).replace(tzinfo=None)
    return When("datetime", "minute", (Reading(moment, moment),), explicit_year=True)


@rule("DATE", spell("((w:{WDAY}) ,?)? d:FULL_DATE"))
def numeric_date(found: RuleMatch) -> When:
    moment = found.token("d").moment
    assert moment is not None
    return a_day(moment, relative=False, explicit_year=True)


@rule(
    "DATE",
    spell(
        "((w:{WDAY}) ,?)? the? d:{DAYN} (of|day of|-|,|in)? (the month of)? m:{MON} "
        "((,|of|in|-)? y:YEAR|of y:SHORT_YEAR|'s? y:SHORT_YEAR)"
    ),
    spell("((w:{WDAY}) ,?)? m:{MON} (the|,)? d:{DAYN} ((,|of|in|-)? y:YEAR|of y:SHORT_YEAR)"),
    spell("y:YEAR ,? m:{MON} (the|,)? d:{DAYN}"),
    spell("y:YEAR ,? the? d:{DAYN} of? m:{MON}"),
    "y:NEAR_YEAR m:DAY d:DAY !UNIT",
)
def full_date(found: RuleMatch) -> When | None:
    """12 May 2024; May 12th, 2024; Friday 17 May 2024; the 15th of April of 87; 2024 May 12."""
    year = year_of(found)
    month = found.number("m")
    if not 1 <= month <= 12:
        return None
    return month_day(found, month, found.number("d"), year)


@rule(
    "DATE",
    spell("((w:{WDAY}) ,?)? d:MONTH_DAY ,? y:YEAR"),
    spell("(w:{WDAY}) ,? (the|on)? d:MONTH_DAY"),
    "on d:MONTH_DAY !UNIT",
    "d:SLASHED !UNIT",
    spell("(w:{WDAY}) ,? m:DAY - d:DAY !TIME !am !pm"),
)
def slashed_day(found: RuleMatch) -> When | None:
    """22/04; 5/12 (month first); Friday 7-6; on 5.12; a whole date after a comma: 5/7, 2020."""
    if "m" in found:
        month, number = found.number("m"), found.number("d")
        if month > 12 or found.part("d").token is None:
            return None
        when = month_day(found, month, number, None)
        # "Friday 7-6" is a date where that day is a Friday; else the numbers are hours.
        fitting = tuple(
            one
            for one in when.readings
            if one.start is not None and one.start.weekday() == found.number("w")
        )
        return replace(when, readings=fitting) if fitting else None
    moment = found.token("d").moment
    assert moment is not None
    return month_day(found, moment.month, moment.day, year_of(found))


@rule(
    "DATE",
    spell(
        "((w:{WDAY}) ,? (the|on)?)? (the)? !<MONTH d:{DAYN} (of|day of|-|day in|in)? (the month "
        "of)? m:{MON}"
    ),
    spell("((w:{WDAY}) ,?)? the o:second/first/third of m:{MON}"),
    spell("o:second of? m:{MON}"),
)
def day_then_month(found: RuleMatch) -> When | None:
    """12 May; the second of August; Friday, the 17th of May."""
    rank = {"first": 1, "second": 2, "third": 3}.get(found.word("o"))
    worded = "d" in found and found.part("d").token is None
    if worded and "of" not in found.words().split() and _is_verb(found, "m"):
        return None  # "one may ask"
    number = rank if rank else found.number("d")
    return month_day(found, found.number("m"), number, None, year_slot(found, "m", " "))


def _is_verb(found: RuleMatch, name: str) -> bool:
    """Whether a month that is a verb too is written like the verb, in small letters."""
    return not found.token(name).categories & {"MONTH", "NAMED_MONTH"}


@rule("DATE", spell("((w:{WDAY}) ,?)? m:{MON} (the|,|-|slash)? (d:{DAYN}|o:second) !UNIT"))
def month_then_day(found: RuleMatch) -> When | None:
    """May 12th; Tuesday, March 7; mar4."""
    number = 2 if "o" in found else found.number("d")
    slot = "o" if "o" in found else "d"
    if found.part(slot).token is None and _is_verb(found, "m"):
        return None  # "may two people come"
    return month_day(found, found.number("m"), number, None, year_slot(found, slot))


@rule(
    "DATE",
    spell(
        "(the)? (r:first/second/third/fourth/fifth/last|n:ORDINAL) "
        "(w:{WDAY}/WEEKDAYS) (in|of) "
        "((m:{MON}) ((,|of|in)? y:YEAR)?|the? (s:{THIS}/{NEXT}/{LAST})? month)"
    ),
)
def weekday_of_a_month(found: RuleMatch) -> When | None:
    """The first Monday of May; the last Friday in November 2024; second Sunday of next month."""
    ranks = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
    rank = found.number("n") if "n" in found else ranks[found.word("r")]
    weekday = found.number("w")
    if "m" not in found:
        start = shifted_unit("month", found.now, steps_of(found.word("s"))).start
        assert start is not None
        return a_day(nth_weekday(start.year, start.month, weekday, rank))
    month, year = found.number("m"), year_of(found)
    if year is not None:
        moment = nth_weekday(year, month, weekday, rank)
        return a_day(moment, relative=True, explicit_year=True)
    readings = past_and_future(lambda one: day(nth_weekday(one, month, weekday, rank)), found.now)
    return When("date", "day", readings, relative=True)


@rule("DATE", spell("(the)? (r:third/fourth/fifth|n:ORDINAL) (w:{WDAY}) !of !in"))
def weekday_of_this_month(found: RuleMatch) -> When | None:
    """The third Tuesday: of this month."""
    ranks = {"third": 3, "fourth": 4, "fifth": 5}
    rank = found.number("n") if "n" in found else ranks[found.word("r")]
    return a_day(nth_weekday(found.now.year, found.now.month, found.number("w"), rank))


@rule(
    "DATE",
    spell(
        "(on|by|until|till)? the? (d:{DAYN}|o:second/first/third) (day)? of (the)? "
        "(s:{THIS}/{NEXT}/{LAST})? month"
    ),
)
def day_of_this_month(found: RuleMatch) -> When | None:
    """The fifth of next month; the thirty-first day of the month."""
    rank = {"first": 1, "second": 2, "third": 3}.get(found.word("o"))
    number = rank if rank else found.number("d")
    start = shifted_unit("month", found.now, steps_of(found.word("s"))).start
    assert start is not None
    return a_day(start.replace(day=number))


@rule(
    "DATE",
    spell("w:{WDAY} ,? the? d:ORD_DAY"),
    spell("w:{WDAY} ,? (the)? d:DAY !UNIT !- !to !am !pm"),
)
def weekday_and_number(found: RuleMatch) -> When | None:
    """Tuesday the eleventh; Wed 13th; Monday 21: the nearest months where both are true."""
    weekday, number = found.number("w"), found.number("d")
    if found.part("d").token is not None and found.token("d").categories & {"HOUR"} and number < 13:
        return None
    matching = []
    month = shifted_unit("month", found.now, 0).start
    assert month is not None
    for steps in range(-24, 25):
        first = month + relativedelta(months=steps)
        try:
            one = first.replace(day=number)
        except ValueError:
            continue
        if one.weekday() == weekday:
            matching.append(one)
    this_month = [one for one in matching if one.year == month.year and one.month == month.month]
    return _nearest(this_month or matching, found)


def _nearest(moments: list[datetime], found: RuleMatch) -> When | None:
    today = midnight(found.now)
    before = [moment for moment in moments if moment < today][-1:]
    after = [moment for moment in moments if moment >= today][:1]
    if not before + after:
        return None
    readings = tuple(day(moment) for moment in before + after)
    return When("date", "day", readings, relative=True)


@rule(
    "DATE",
    "(on|by|until|till|before|after|since|for|from) the d:ORD_DAY !OTHER_WORD !UNIT !MONTH",
    "(on|by|until|till|before|after|since) d:ORD_DAY !OTHER_WORD !UNIT !MONTH",
    "(on|for|by|until|till) the d:DAY !OTHER_WORD !UNIT !MONTH !LENGTH !- !TIME !of",
    "the d:ORD_DAY !OTHER_WORD !UNIT !MONTH !of !and !or !in !PERIOD",
)
def day_number(found: RuleMatch) -> When | None:
    """On the 4th; by the 22nd: the last and the next month that has it."""
    return _day_number(found)


@rule(
    "DATE",
    "(on|by|until|till|before|after|since|for|from) the d:ORD_DAY !UNIT !MONTH",
    "(on|by|until|till|before|after|since) d:ORD_DAY !UNIT !MONTH",
    "the d:ORD_DAY !UNIT !MONTH !of !and !or !in !PERIOD",
)
def day_in_figures(found: RuleMatch) -> When | None:
    """On the 13th instead: before any word, where it is in figures ("on the third floor")."""
    in_figures = found.part("d").token is not None
    return _day_number(found) if in_figures else None


def _day_number(found: RuleMatch) -> When | None:
    number = found.number("d")
    today = midnight(found.now)
    first = today.replace(day=1)
    matching = []
    for steps in range(-3, 4):
        start = first + relativedelta(months=steps)
        try:
            matching.append(start.replace(day=number))
        except ValueError:
            continue
    return _nearest(matching, found)


@rule("DATE", "(the)? (w:day) (k:after/before) (o:tomorrow/yesterday)")
def day_after_tomorrow(found: RuleMatch) -> When | None:
    steps = {("after", "tomorrow"): 2, ("before", "yesterday"): -2}
    shift = steps.get((found.word("k"), found.word("o")))
    return None if shift is None else a_day(found.now + shift * DAY)


@rule(
    "DATE",
    "w:today/tomorrow/yesterday/tmr/tmrw/tomorow",
    "(the|this)? (p:current/present) (day|date)",
    "!<of this (p:day)",
    "(p:today) 's date",
)
def today(found: RuleMatch) -> When:
    word = found.word("w")
    shift = {"yesterday": -1, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1}.get(word, 0)
    return a_day(found.now + shift * DAY)


@rule("DATE", spell("(the)? (s:next/following/previous) day"))
def narrated_day(found: RuleMatch) -> When:
    shift = -1 if found.word("s") == "previous" else 1
    return replace(a_day(found.now + shift * DAY), narrative=True)


@rule(
    "DATE",
    spell("(on)? (s:this/next/last/past/previous) week 's? ,? (on)? (w:{WDAY})"),
    spell("(on)? (w:{WDAY}) ,? (of|in)? (the)? (s:this/next/last/past/previous/following) week"),
)
def weekday_of_a_week(found: RuleMatch) -> When:
    """Next week on Tuesday; Wednesday of last week."""
    week = shifted_unit("week", found.now, steps_of(found.word("s"))).start
    assert week is not None
    return a_day(week + found.number("w") * DAY)


@rule("DATE", spell("(on)? the? (k:this/these/the)? (s:coming/upcoming/past) (w:{WDAY})"))
def coming_weekday(found: RuleMatch) -> When:
    """This coming Friday; this past Monday: the nearest one, today not counted."""
    ahead = (found.number("w") - found.now.weekday()) % 7
    if found.word("s") == "past":
        return a_day(found.now + (ahead - 7) * DAY)
    return a_day(found.now + (ahead or 7) * DAY)


@rule("DATE", spell("(on)? (s:this/next/last/previous/following/prior) (w:{WDAY}/WEAK_WEEKDAY)"))
def weekday_from_here(found: RuleMatch) -> When:
    """Next Friday is next week's, last Friday last week's, this Friday this week's."""
    word = found.word("s")
    week = unit_start("week", found.now)
    moment = week + found.number("w") * DAY + steps_of(word) * 7 * DAY
    if word == "this":
        # Trigger: "this Monday" said on a Wednesday. Why: it may look back or ahead.
        other = moment + 7 * DAY
        if moment < midnight(found.now):
            return When("date", "day", (day(moment), day(other)), relative=True)
    return a_day(moment)


@rule("DATE", spell("(n:NUMBER) (w:{WDAY}/WEEKDAYS) (k:ago/back/from) (now|today)?"))
def counted_weekdays(found: RuleMatch) -> When | None:
    """Two Sundays ago; three Fridays from now."""
    count, weekday = found.number("n"), found.number("w")
    if not 1 <= count <= 520:
        return None
    ahead = (weekday - found.now.weekday()) % 7
    if found.word("k") == "from":
        return a_day(found.now + ((ahead or 7) + 7 * (count - 1)) * DAY)
    return a_day(found.now + (ahead - 7 - 7 * (count - 1)) * DAY)


@rule(
    "DATE SINGLE_WEEKDAY",
    "w:WEEKDAY",
    # "Sat down", "the Sun": short names need company, or that nothing hangs on them.
    "!<the w:NAMED_WEEKDAY !OTHER_WORD",
    "@on w:NAMED_WEEKDAY/WEAK_WEEKDAY",
)
def weekday(found: RuleMatch) -> When:
    ahead = (found.number("w") - found.now.weekday()) % 7
    moment = found.now + ahead * DAY
    return When("date", "day", (day(moment - 7 * DAY), day(moment)), relative=True)
