"""Rules for times of day, parts of the day and stretches of hours."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.values import DAY, Reading, When, clock, midnight, part_of_day, tighten

CLOCK_TABLE = Table()
rule = CLOCK_TABLE.rule

HALF_DAY = timedelta(hours=12)


# --- times of day --------------------------------------------------------------------------------


def hours(found: RuleMatch, hour: int, minute: int = 0, second: int = 0, *, both: bool) -> When:
    """A time of day. Raises ValueError where a clock shows no such time."""
    if not (0 <= hour <= 24 and 0 <= minute < 60 and 0 <= second < 60):
        raise ValueError("no such time of day")
    seconds = hour * 3600 + minute * 60 + second
    grain = "second" if second else "minute"
    return clock(found.now, seconds, both=both and 1 <= hour <= 12, grain=grain)


def in_half(when: When, half: str) -> When:
    """The reading of a time of day in the morning (am) or after noon (pm)."""
    readings = []
    for reading in when.readings:
        moment = reading.start
        if moment is None:
            continue
        if half == "pm" and moment.hour < 12:
            moment += HALF_DAY
        elif half == "am" and moment.hour >= 12:
            moment -= HALF_DAY
        readings.append(Reading(moment, moment))
    return replace(when, readings=tighten(readings))


def in_part(when: When, part: str) -> When:
    """The reading of a time of day that a part of the day asks for: five in the afternoon."""
    first = when.readings[0].start
    if len(when.readings) < 2 or first is None:
        return when
    hour = first.hour % 12
    if part in ("morning", "breakfast", "nighttime"):
        return in_half(when, "am")
    if part == "night" and hour < 5:
        return in_half(when, "am")
    return in_half(when, "pm")


@rule(
    "TIME", "c:CLOCK (m:am/pm/ampm)?", "d:DOTTED_CLOCK m:am/pm/ampm", "(at|around) d:DOTTED_CLOCK"
)
def digital(found: RuleMatch) -> When:
    """17:30; 7:56:30 pm; 2.30pm; at 6.45."""
    if "c" in found:
        seconds = found.number("c")
        both = found.part("c").token is not None and "HALF_DAY_CLOCK" in found.token("c").categories
    else:
        hour, minute = found.token("d").word.split(".")
        seconds, both = int(hour) * 3600 + int(minute) * 60, True
    when = hours(found, seconds // 3600, seconds // 60 % 60, seconds % 60, both=both)
    return _with_letters(found, when, "m")


def _with_letters(found: RuleMatch, when: When, name: str) -> When:
    half = found.word(name)
    if half in ("am", "pm"):
        first = when.readings[0].start
        if first is not None and len(when.readings) == 1 and first.hour > 12:
            return when  # "17:30 pm" says it twice
        return in_half(when, half)
    return when


@rule("TIME", "h:HOUR o'clock? m:am/pm/ampm", "h:HOUR o'clock", "h:HOUR ish")
def on_the_hour(found: RuleMatch) -> When | None:
    hour = found.number("h")
    if found.word("m") and not 0 <= hour <= 12:
        return None
    return _with_letters(found, hours(found, hour, both=True), "m")


@rule(
    "TIME",
    "h:HOURS_MINUTES m:am/pm",
    "at h:HOURS_MINUTES !OTHER_WORD !UNIT",
    "h:HOURS_MINUTES (hrs|hours)",
)
def four_digits(found: RuleMatch) -> When | None:
    """1140 a.m.; at 1730; 0730 hours."""
    token = found.part("h").token
    if token is None or ("m" not in found and len(token.word) < 4):
        return None
    number = found.number("h")
    both = not token.word.startswith("0") and "m" in found
    return _with_letters(found, hours(found, number // 100, number % 100, both=both), "m")


@rule(
    "TIME",
    "h:HOUR n:MINUTE m:am/pm",
    "h:HOUR n:MINUTE (in the|at|in) p:PART",
    "@at/for/by/until/till/around/before/after/from/to h:HOUR n:MINUTE !OTHER_WORD !UNIT !MONTH",
)
def hour_and_minutes(found: RuleMatch) -> When | None:
    """Eight forty five pm, where both are words."""
    if found.part("h").token is not None or found.number("n") < 10:
        return None
    when = hours(found, found.number("h"), found.number("n"), both=True)
    return in_part(when, found.word("p")) if "p" in found else _with_letters(found, when, "m")


@rule(
    "TIME",
    "(h:half/quarter|n:MINUTE) (minutes|mins|min|minute)? (past|after) (t:TIME|o:HOUR) (m:am/pm)?",
    "(h:quarter|n:MINUTE) (minutes|mins|min|minute) (to|till|before|of) (t:TIME|o:HOUR) (m:am/pm)?",
    "a? (h:half/quarter) (to|till) (t:TIME|o:HOUR) (m:am/pm)?",
    "(h:half) (o:HOUR) (m:am/pm)? !UNIT !MONTH",
    "(w:at) (n:MINUTE) to (o:HOUR) (m:am/pm)?",
    "n:LENGTH (b:past/to/till/after/before) (t:TIME|o:HOUR)",
)
def minutes_from_the_hour(found: RuleMatch) -> When | None:
    """Half past five, half five; quarter to six; twenty minutes past eight; at twenty to three."""
    if "n" in found and found.part("n").when is not None:
        seconds = found.when("n").seconds or 0
        if found.when("n").grain != "minute" or not 0 < seconds < 3600:
            return None
        minutes = round(seconds / 60)
    elif "n" in found:
        minutes = found.number("n")
        if "w" in found and (minutes % 5 or not 0 < minutes < 30):
            return None  # "at 9 to 5" are hours
    else:
        minutes = 30 if found.word("h") == "half" else 15
    if {"to", "till", "before", "of"} & set(found.words().split()):
        minutes = -minutes
    base = found.when("t") if "t" in found else hours(found, found.number("o"), both=True)
    shift = timedelta(minutes=minutes)
    moved = []
    for reading in base.readings:
        if reading.start is not None:
            start = midnight(reading.start)
            at = start + (reading.start - start + shift) % DAY
            moved.append(Reading(at, at, rank=reading.rank))
    return _with_letters(found, replace(base, readings=tuple(moved)), "m")


@rule("TIME", "(h:HOUR)? (w:noon/midday/midnight)", "mid -? (w:night)", "mid -? (w:day)")
def noon(found: RuleMatch) -> When | None:
    if "h" in found and found.number("h") != 12:
        return None
    return hours(found, 0 if found.word("w") in ("midnight", "night") else 12, both=False)


@rule("TIME", "end of (the|this)? day")
def end_of_day(found: RuleMatch) -> When:
    return replace(hours(found, 23, 59, 59, both=False), dated=True, kind="datetime", relative=True)


@rule("TIME", "(h:HOUR|t:TIME) ,? (in the|in|at|this|on) (p:PART)")
def hour_in_part(found: RuleMatch) -> When | None:
    """Five in the afternoon; seven at night. "8am this morning" is a day and a time."""
    if "this" in found.words().split() or "on" in found.words().split():
        return None
    when = found.when("t") if "t" in found else hours(found, found.number("h"), both=True)
    return in_part(when, found.word("p"))


@rule("TIME", "(at|around) h:HOUR !OTHER_WORD !UNIT !MONTH !NUMBER !-")
def at_hour(found: RuleMatch) -> When:
    return hours(found, found.number("h"), both=True)


# --- parts of the day and stretches of hours -----------------------------------------------------


@rule(
    "HOURS",
    "(in the|in|at)? (c:early/late/later) (in the)? -? p:PART",
    "(in|during|at|by) (the|an)? (c:early/late/later/mid)? -? in? the? p:PART",
    "in? the? w:night -? time",
    "(in|during|at|by)? (the|an)? m:MEAL time",
    "(around|during|over|at) m:MEAL",
    "p:lunchtime/dinnertime/breakfasttime/suppertime",
)
def part_alone(found: RuleMatch) -> When | None:
    words = found.words().split()
    if "p" not in found:
        return part_of_day(found.word("m") or "nighttime", found.now)
    cut = {"later": "late", "mid": ""}.get(found.word("c"), found.word("c"))
    part = found.word("p")
    if part == "night" and "time" in words:
        part = "nighttime"
    for meal in ("breakfast", "lunch", "dinner", "supper"):
        if part == meal + "time":
            part = meal
    return part_of_day(part, found.now, cut)


def stretch(first: When, second: When) -> When | None:
    """From one time of day to another: 5 to 6pm; 11-4; 10pm to 2am."""
    pairs = []
    for begin in first.readings:
        ends = []
        for finish in second.readings:
            if begin.start is None or finish.start is None:
                continue
            at = finish.start if finish.start > begin.start else finish.start + DAY
            ends.append(at)
        if ends and begin.start is not None:
            pairs.append(Reading(begin.start, min(ends), rank=begin.rank))
    if len(second.readings) == 1 and len(pairs) > 1:
        # "5 to 6pm": the end says which half of the day.
        pairs = [
            min(pairs, key=lambda pair: pair.end - pair.start if pair.end and pair.start else DAY)
        ]
    if not pairs:
        return None
    return When("range", "minute", tuple(pairs), dated=False)


def _as_time(found: RuleMatch, name: str) -> When:
    part = found.part(name)
    return part.when if part.when is not None else hours(found, int(part.number), both=True)


@rule(
    "HOURS",
    "(from|between)? a:TIME (to|-|until|till|til|through|and) b:TIME",
    "(from|between)? a:HOUR (to|-|until|till|til|through|and) b:TIME",
    "(from|between) a:TIME (to|-|until|till|til|through|and) b:HOUR !UNIT !MONTH",
    "(from|between) a:HOURS_MINUTES (to|-|until|till|and) b:HOURS_MINUTES !UNIT !OTHER_WORD",
)
def hours_between(found: RuleMatch) -> When | None:
    words = found.words().split()
    if "and" in words and "between" not in words:
        return None
    both = [found.part(name) for name in "ab"]
    if all(part.when is None and part.number > 24 for part in both):
        if min(part.number for part in both) >= 1500:
            return None  # from 2014 to 2018: years
        first, second = (
            hours(found, int(part.number) // 100, int(part.number) % 100, both=True)
            for part in both
        )
        return stretch(first, second)
    return stretch(_as_time(found, "a"), _as_time(found, "b"))


@rule("HOURS", "k:before/after m:MEAL")
def beside_a_meal(found: RuleMatch) -> When:
    """After lunch is from its end on, before lunch up to its start."""
    meal = part_of_day(found.word("m"), found.now)
    reading = meal.readings[0]
    after = found.word("k") == "after"
    open_one = Reading(reading.end, None) if after else Reading(None, reading.start)
    return replace(meal, readings=(open_one,), bound="after" if after else "before")


@rule("HOURS", "for? n:LENGTH (from|starting|starting at|beginning at) t:TIME")
def length_from_a_time(found: RuleMatch) -> When | None:
    """For two hours from 2pm."""
    delta = found.when("n").delta
    if delta is None or not (delta.hours or delta.minutes):
        return None
    readings = tuple(
        Reading(one.start, one.start + delta, rank=one.rank)
        for one in found.when("t").readings
        if one.start is not None
    )
    return replace(found.when("t"), kind="range", readings=readings)


@rule("TIME", "p:PART t:TIME")
def part_then_time(found: RuleMatch) -> When:
    """Afternoon 7:00."""
    return in_part(found.when("t"), found.word("p"))


@rule("HOURS", "(from|between) a:HOUR (to|-|until|till|and) b:HOUR (in the|at) p:PART")
def hours_in_part(found: RuleMatch) -> When | None:
    part = found.word("p")
    return stretch(in_part(_as_time(found, "a"), part), in_part(_as_time(found, "b"), part))
