"""Rules that combine days, times and lengths.

"Two weeks ago", "tomorrow at 5", "Tuesday afternoon"; and what repeats, which is read before days
are, so that "every Monday" is no Monday.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.rules.clock import hours, in_part, stretch
from agent.language.dates.values import (
    DAY,
    Reading,
    When,
    a_day,
    day,
    elapsed,
    midnight,
    on_clock,
    part_of_day,
)

REPEATED_TABLE = Table()
JOINED_TABLE = Table()

_MAX_BUSINESS_DAYS = 2600


# --- what repeats: before days and lengths are read, so that "every Monday" is no Monday ---------

repeated = REPEATED_TABLE.rule
_ADVERBS = (
    "everyday|daily|weekly|monthly|yearly|annually|annual|hourly|nightly|quarterly|fortnightly|"
    "biweekly|bimonthly|semiannual|semiannually|biannual|biannually|weekdays|workdays"
)
_AT = "((,)? (at|around|from)? (TIME|HOURS|HOUR))?"
_WEEKDAY = "WEEKDAY|WEAK_WEEKDAY|WEEKDAYS|NAMED_WEEKDAY"


@repeated(
    "REPEATED",
    "(the|on the)? (ORDINAL|first|second|third|last) (day)? (of)? (every|each) (UNIT)",
    f"(the|on the)? (ORDINAL|first|second|third|last) ({_WEEKDAY}|day) (of|in)? (every|each) "
    f"(month)",
    # 'The first Saturday of the month' is of each, or 'I help on ...' would be over after one.
    f"(the|on the)? (ORDINAL|first|second|third|last) ({_WEEKDAY}) (of|in) the month",
    "on the (ORDINAL|first|second|third) (day)? of the month",
    f"(TIME|HOURS) (on)? (every|each) (UNIT|{_WEEKDAY}|PART)",
    f"(on)? (every|each|any) (other|second|single|NUMBER|ORDINAL)? ({_WEEKDAY}) "
    f"((,|and|or|,? and) ({_WEEKDAY}))? ((,|and|or) ({_WEEKDAY}))? (in the|at)? (PART)? {_AT}",
    f"(every|each|any) (other|second|single|few|couple of|NUMBER|ORDINAL)? (business|working)? "
    f"(UNIT|PART|SEASON|MONTH) {_AT}",
    f"(every|each) LENGTH {_AT}",
    f"({_ADVERBS}) {_AT}",
    "(bi|semi) - (weekly|monthly|annually|annual|yearly)",
    "(once|twice|NUMBER times|one|NUMBER) (a|per|each|every) (UNIT)",
    "(once|twice|NUMBER times) LENGTH",
    f"!<NUMBER (on)? (WEEKDAYS) ((,|and|or) (WEEKDAYS))? (PART|PARTS)? {_AT}",
    f"(on)? ({_WEEKDAY}) PARTS",
    "(on|at|in the|most|during)? (weekends|mornings|evenings|afternoons|nights)",
)
def every(found: RuleMatch) -> When | None:
    return When("recurring", "set", ())


# --- lengths from here or from a day ------------------------------------------------------------

joined = JOINED_TABLE.rule


def _moved(found: RuleMatch, base: datetime, length: When, sign: int) -> When:
    delta = (length.delta or relativedelta()) * sign
    if length.grain == "business":
        return a_day(_business_day(base, round((length.seconds or 0) / 86400), sign))
    if delta.hours or delta.minutes or delta.seconds:
        moment = elapsed(base, delta, found.zone)
        return When("datetime", length.grain, (Reading(moment, moment),), relative=True)
    grain = length.grain if length.grain in ("month", "year", "decade", "century") else "day"
    return replace(a_day(base + delta), grain=grain)


def _business_day(base: datetime, count: int, sign: int) -> datetime:
    if count > _MAX_BUSINESS_DAYS:
        raise OverflowError("too many working days")
    moment = midnight(base)
    while count > 0:
        moment += sign * DAY
        if moment.weekday() < 5:
            count -= 1
    return moment


@joined("DATE COUNTED BACK", "(n:LENGTH) (ago|back|earlier) !than")
def ago(found: RuleMatch) -> When:
    """Two weeks ago."""
    return _moved(found, found.now, found.when("n"), -1)


@joined(
    "DATE COUNTED",
    "(in|within)? (n:LENGTH) (from|after) (now)",
    "(n:LENGTH) (hence)",
    "in (about|around)? (n:LENGTH) (time)? !before",
)
def from_now(found: RuleMatch) -> When | None:
    """In three days; two weeks from now."""
    return _moved(found, found.now, found.when("n"), +1)


@joined("DATE COUNTED", "(n:LENGTH) (later)")
def later_than_told(found: RuleMatch) -> When | None:
    """An hour later: than what the text is about, which only what was told before can say."""
    moved = _moved(found, found.now, found.when("n"), +1)
    return replace(moved, narrative=True, from_told=True)


@joined("DATE BACK", "(n:LENGTH) (k:before/prior) to? (d:DATE)")
@joined("DATE", "(in)? (n:LENGTH) (k:from/after/following) (d:DATE)")
def from_a_day(found: RuleMatch) -> When | None:
    """Two days after tomorrow; a week from Friday; 5 days before Christmas."""
    sign = -1 if found.word("k") in ("before", "prior") else 1
    when = found.when("d")
    # The day counted from is ahead, unless the words say which it is.
    base = [one.start for one in when.readings if one.start is not None]
    if not base:
        return None
    return replace(_moved(found, base[-1], found.when("n"), sign), relative=True)


@joined("DATE", "(d:SINGLE_WEEKDAY) ,? (n:COUNTED)", "(n:COUNTED) (on)? (d:SINGLE_WEEKDAY)")
def weekday_beside_a_day(found: RuleMatch) -> When | None:
    """Monday two weeks from now; in 3 days on Friday: that weekday of the same week."""
    weekday, near = found.when("d").readings[0].start, found.when("n").readings[0].start
    if weekday is None or near is None or found.when("n").kind != "date":
        return None
    return a_day(near + (weekday.weekday() - near.weekday()) * DAY)


@joined("PERIOD", "within (n:LENGTH)", "(n:LENGTH) (in the) (future)")
def within(found: RuleMatch) -> When | None:
    """Within 3 days: from now until then."""
    length = found.when("n")
    delta = length.delta or relativedelta()
    if delta.hours or delta.minutes or delta.seconds:
        return When("range", "minute", (Reading(found.now, found.now + delta),), relative=True)
    start = midnight(found.now) + (DAY if "future" in found.words() else 0 * DAY)
    return When("range", "day", (Reading(start, start + delta),), relative=True)


# --- a part of a day ----------------------------------------------------------------------------


def _cut(word: str) -> str:
    return {"later": "late", "earlier": "early", "mid": ""}.get(word, word)


def _in_half_of(clocks: When, part: When) -> When:
    """Of the readings of a stretch of hours, those in the same half of the day as ``part``."""
    first = part.readings[0].start
    late = first is not None and first.hour >= 12
    fitting = tuple(
        one for one in clocks.readings if one.start is not None and (one.start.hour >= 12) is late
    )
    return replace(clocks, readings=fitting) if fitting else clocks


_PARTS = "p:morning/afternoon/evening/night/nighttime/daytime/lunchtime"


def _on_part(found: RuleMatch, when: When, part: str, cut: str) -> When:
    part = {"lunchtime": "lunch"}.get(part, part)
    made = on_clock(when, part_of_day(part, found.now, cut))
    return replace(made, relative=when.relative, slots=when.slots)


@joined(
    "PARTOFDAY",
    f"(c:early/late/later)? (this) (c:early/late)? -? ({_PARTS})",
    "(c:early/late/later)? (w:tonight)",
    f"(k:last/next/yesterday/tomorrow) ({_PARTS})",
)
def part_of_today(found: RuleMatch) -> When | None:
    """This morning; tonight; last night."""
    shift = {"last": -1, "next": 1, "yesterday": -1, "tomorrow": 1}.get(found.word("k"), 0)
    part = found.word("p") or "night"
    return _on_part(found, a_day(found.now + shift * DAY), part, _cut(found.word("c")))


@joined(
    "PARTOFDAY",
    f"(d:DATE) ,? (in the|at|in)? (c:early/late/later)? -? (in the)? ({_PARTS})",
    f"(in the|on the|the|at)? (c:early/late)? -? ({_PARTS}) ,? (of|on|,)? (d:DATE)",
    "(d:DATE) ,? (h:HOURS)",
    "(d:DATE) ,? (at) (h:HOURS)",
    "(h:HOURS) ,? (of|on|,)? (d:DATE)",
    "(g:PARTOFDAY) ,? (h:HOURS)",
    "(d:DATE) ,? (from|between) (a:HOUR) (to|-|until|till|til|and) (b:HOUR) !UNIT !MONTH "
    "!OTHER_WORD",
    "(d:DATE) ,? (a:HOUR) (-|to) (b:HOUR) !UNIT !MONTH !OTHER_WORD",
    "(g:PARTOFDAY) ,? (from|between) (a:HOUR) (to|-|until|till|til|and) (b:HOUR) !UNIT !MONTH",
)
def part_of_a_day(found: RuleMatch) -> When | None:
    """Tuesday afternoon; the evening of 12 May; tomorrow from 3 to 5pm."""
    if "g" in found:
        when = found.when("g")
        days = tuple(day(one.start) for one in when.readings if one.start is not None)
        when = replace(when, kind="date", grain="day", readings=days)
    else:
        when = found.when("d")
    if when.kind != "date":
        return None
    if "p" not in found:
        if "h" in found:
            clocks: When | None = found.when("h")
        else:
            first, second = (hours(found, found.number(name), both=True) for name in "ab")
            clocks = stretch(first, second)
        if clocks is None:
            return None
        if "g" in found:
            clocks = _in_half_of(clocks, found.when("g"))
        return replace(on_clock(when, clocks), slots=when.slots)
    return _on_part(found, when, found.word("p"), _cut(found.word("c")))


# --- a day and a time ---------------------------------------------------------------------------


@joined(
    "DATETIME",
    "(d:DATE) ,? (at|by|around|from|for|-|,)? (t:TIME)",
    "(d:DATE) ,? (at|around) (h:HOUR) !UNIT",
    "(t:TIME) ,? (on|of|,|-)? (the)? (d:DATE)",
    "(d:PARTOFDAY) ,? (at|by|around|,)? (t:TIME)",
    "(d:PARTOFDAY) ,? (at|around) (h:HOUR) !UNIT",
    "(t:TIME) ,? (on|of|in|,)? (the)? (d:PARTOFDAY)",
    "(at) (h:HOUR) ,? (on|of|in|,)? (the)? (d:PARTOFDAY/DATE)",
)
def day_and_time(found: RuleMatch) -> When | None:
    """Tomorrow at 5pm; 17:30 on 12 May; tonight at 8."""
    when = found.when("d")
    time = found.when("t") if "t" in found else hours(found, found.number("h"), both=True)
    if time.kind == "datetime":
        time = replace(time, kind="time")
    if when.grain == "part":
        first = when.readings[0].start
        if first is None:
            return None
        part = "morning" if first.hour < 12 else ("night" if first.hour >= 20 else "evening")
        time = in_part(time, part)
        days = tuple(day(one.start) for one in when.readings if one.start is not None)
        when = replace(when, kind="date", grain="day", readings=days)
        hour = time.readings[0].start
        if part == "night" and hour is not None and hour.hour < 5:
            # One at night is after midnight.
            later = (one.start for one in when.readings if one.start is not None)
            when = replace(when, readings=tuple(day(start + DAY) for start in later))
    elif when.kind != "date":
        return None
    return replace(on_clock(when, time), slots=when.slots)


@joined("DATETIME", "(w:WEEKDAY/NAMED_WEEKDAY)? (d:DATE) (t:TIME) (y:PERIOD)")
def stamped(found: RuleMatch) -> When | None:
    """Wed Oct 26 15:50:06 2016, as programs write it."""
    when, year = found.when("d"), found.when("y")
    first, start = when.readings[0].start, year.readings[0].start
    if year.grain != "year" or not year.explicit_year or first is None or start is None:
        return None
    moment = first.replace(year=start.year)
    date = a_day(moment, relative=False, explicit_year=True)
    return on_clock(date, found.when("t"))


@joined("DATE", "(p:PERIOD) ,? on (d:SINGLE_WEEKDAY)")
def weekday_in_a_week(found: RuleMatch) -> When | None:
    """The first week of October on Friday."""
    when, weekday = found.when("p"), found.when("d").readings[0].start
    if when.grain != "week" or weekday is None:
        return None
    readings = tuple(
        day(one.start + weekday.weekday() * DAY) for one in when.readings if one.start is not None
    )
    return replace(when, kind="date", grain="day", readings=readings)


@joined("DATETIME", "(now|right now|as soon as possible|asap)")
def now(found: RuleMatch) -> When:
    return When(
        "datetime", "second", (Reading(found.now, found.now),), relative=True, narrative=True
    )
