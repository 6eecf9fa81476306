"""Rules for ranges: "from X to Y", "two weeks from X", "until X", "since X". The last table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.rules.clock import hours, stretch
from agent.language.dates.values import (
    Core,
    Reading,
    When,
    a_day,
    day,
    midnight,
    past_and_future,
    tighten,
    unit_span,
)

RANGE_TABLE = Table()
joined = RANGE_TABLE.rule


# --- from here to there --------------------------------------------------------------------------

_ENDPOINT = "DATE/DATETIME/PERIOD/PARTOFDAY"
_TO = "(to|-|until|till|through|thru|and|up to)"


@joined(
    "PERIOD",
    f"(from|between|starting)? (a:{_ENDPOINT}) ,? {_TO} (the)? (b:{_ENDPOINT})",
    f"(from|between)? (a:DATETIME) {_TO} (t:TIME/HOUR)",
    f"(from|between)? (the)? (n:DAY/ORD_DAY) {_TO} (b:DATE)",
    f"(from|between)? (m:WEAK_MONTH) {_TO} (b:DATE/PERIOD)",
)
def from_to(found: RuleMatch) -> When | None:
    """From 12 May to 3 June; between Jan 22 and now; Nov - Feb 5, 2017; May 12 5pm to 7pm."""
    words = found.words().split()
    if "and" in words and "between" not in words:
        return None
    if "t" in found:
        return _until_time(found)
    if "n" in found:
        if words[0].isdigit() and not {"to", "-", "and"} & set(words):
            return None  # 'zone 3 until 17 August' ends on a day and begins nowhere
        return _from_number(found)
    second = found.when("b")
    if "m" in found:
        month = found.number("m")
        readings = past_and_future(
            lambda one: unit_span("month", datetime(one, month, 1)), found.now
        )
        first = When("range", "month", readings, yearless=True)
    else:
        first = found.when("a")
    if second.narrative and first.kind != "datetime":
        second = a_day(found.now)  # "and now" ends a stretch of days today
    pairs = []
    for one in first.readings:
        if one.start is None:
            continue
        pair = _pair(one, first, second, found)
        if pair is not None:
            pairs.append(pair)
    if not pairs:
        return None
    timed = "datetime" in (first.kind, second.kind) or "part" in (first.grain, second.grain)
    grain = "minute" if timed else first.grain
    slots = second.slots if not first.slots else first.slots + second.slots
    if second.explicit_year:
        slots = ()
    return When(
        "range",
        grain,
        tighten(pairs),
        relative=first.relative or second.relative,
        explicit_year=second.explicit_year,
        slots=slots,
    )


def _pair(one: Reading, first: When, second: When, found: RuleMatch) -> Reading | None:
    """The end that fits a start: the earliest after it; a year at the end is the start's too."""
    assert one.start is not None
    ends = [other for other in second.readings if other.start is not None]
    start = one.start
    if second.explicit_year and first.yearless and ends:
        moment = ends[0].start
        assert moment is not None
        start = start.replace(year=moment.year)
        if start > moment:
            start = start.replace(year=moment.year - 1)
    after = [other for other in ends if other.start and other.start > start]
    if not after and second.yearless and ends:
        # Both readings lie before the start: the same date a year later.
        moment = max(other.start for other in ends if other.start) + relativedelta(years=1)
        other = unit_span(second.grain, moment) if second.kind == "range" else day(moment)
        after = [other]
    if not after and (week := _weekly(ends)) is not None:
        # 'From 3 March until Friday', told in February: the Friday after the start.
        last = max(other.start for other in ends if other.start)
        after = [day(last + ((start - last) // week + 1) * week)]
    if not after:
        return None
    end = min(after, key=lambda other: other.start or datetime.max)
    if second.grain.startswith("end "):
        return Reading(start, end.end)
    if second.kind == "datetime":
        return Reading(start, end.start)
    return Reading(start, end.end, last=end.last or end.start)


def _weekly(ends: Sequence[Reading]) -> timedelta | None:
    """A week, where the readings are the same day of two weeks."""
    starts = sorted(other.start for other in ends if other.start)
    week = timedelta(days=7)
    return week if len(starts) == 2 and starts[1] - starts[0] == week else None


def _until_time(found: RuleMatch) -> When | None:
    first = found.when("a")
    part = found.part("t")
    clocks = part.when if part.when is not None else hours(found, int(part.number), both=True)
    pairs = []
    for one in first.readings:
        if one.start is None:
            continue
        offset = one.start - midnight(one.start)
        begin = midnight(found.now) + offset
        made = stretch(When("time", "minute", (Reading(begin, begin),), dated=False), clocks)
        if made is not None and made.readings[0].end is not None:
            pairs.append(
                Reading(one.start, one.start + (made.readings[0].end - begin), rank=one.rank)
            )
    return replace(first, kind="range", readings=tuple(pairs)) if pairs else None


def _from_number(found: RuleMatch) -> When | None:
    """From 4 to January 22: the day of the same month."""
    second = found.when("b")
    number = found.number("n")
    pairs = []
    for one in second.readings:
        if one.start is None:
            continue
        start = one.start.replace(day=number)
        if start < one.start:
            pairs.append(Reading(start, one.end, last=one.start))
    return replace(second, kind="range", readings=tuple(pairs)) if pairs else None


@joined(
    "PERIOD",
    "(for)? (n:LENGTH) ,? (from|starting|starting on|beginning|beginning "
    "on|starting from) (the)? (d:DATE/DATETIME)",
    "(from|starting|beginning) (on)? (d:DATE) ,? for (n:LENGTH)",
)
def length_from_a_day(found: RuleMatch) -> When | None:
    """Two weeks starting May 20th."""
    when = found.when("d")
    delta = found.when("n").delta or relativedelta()
    readings = tuple(
        Reading(one.start, one.start + delta) for one in when.readings if one.start is not None
    )
    return replace(when, kind="range", grain="day", readings=readings)


# --- open ranges ---------------------------------------------------------------------------------


@joined(
    "OPENTIME",
    "(before|by|until|till|til|no later than|not later than|prior to|earlier than|up to) "
    "(the|around|about)? (p:TIME)",
    "(no later than|not later than|earlier than|before|by|until|till) (h:HOUR) !UNIT !MONTH "
    "!OTHER_WORD !- !LENGTH !WEEKDAY",
)
@joined(
    "OPEN",
    "(before|by|until|till|til|no later than|not later than|prior to|as late as|earlier than|up "
    "to) "
    "(the|around|about)? (p:DATE/DATETIME/PERIOD/PARTOFDAY)",
    "(more than|over) (p:BACK)",
    "< =? (p:DATE/DATETIME/PERIOD)",
)
def open_front(found: RuleMatch) -> When | None:
    """Before 2018 ends where 2018 begins; until Friday ends with Friday."""
    when = found.when("p") if "p" in found else hours(found, found.number("h"), both=True)
    words = found.words().split()
    inclusive = words[0] in ("until", "till", "til", "up") or "=" in words
    edge = when.grain.split(" ")[0] in ("end", "late")
    readings = []
    for one in when.readings:
        if one.start is None:
            continue
        if edge:
            readings.append(Reading(None, one.end, rank=one.rank))
        elif inclusive:
            readings.append(Reading(None, one.end, last=one.last or one.start, rank=one.rank))
        else:
            readings.append(Reading(None, one.start, rank=one.rank))
    return replace(
        when,
        kind="range",
        readings=tuple(readings),
        bound="until" if inclusive else "before",
        core=_core(found),
    )


@joined(
    "OPENTIME",
    "(after|later than|since|starting|starting at|from|past) (the|around|about)? (p:TIME)",
    "(p:TIME) (or|and) (later|after|onwards|onward)",
    "(p:TIME) (onwards|onward)",
    "(after) (h:HOUR) !UNIT !MONTH !OTHER_WORD !- !LENGTH !WEEKDAY",
)
@joined(
    "OPEN",
    "(after|later than|greater than|more than) (the)? (p:DATE/DATETIME/PERIOD/PARTOFDAY)",
    "(since|starting|starting from|starting on|beginning|from|as early as|as of|effective) "
    "(the)? (p:DATE/DATETIME/PERIOD/PARTOFDAY)",
    "> =? (p:DATE/DATETIME/PERIOD)",
    "(p:DATE/DATETIME/PERIOD) (or|and) (later|after|onwards|onward|greater)",
    "(p:DATE/DATETIME/PERIOD) (onwards|onward|on)",
)
def open_back(found: RuleMatch) -> When | None:
    """Since last week; after 2010 begins where 2010 ends; 2018 or later."""
    when = found.when("p") if "p" in found else hours(found, found.number("h"), both=True)
    words = found.words().split()
    after = words[0] in ("after", "later", "greater", "more")
    if (words[0] == "from" and when.dated) or (
        words[-1] == "on" and found.end("p") < found.spread()[1]
    ):
        return None
    readings = []
    for one in when.readings:
        edge = one.end if after and when.kind == "range" else one.start
        if edge is not None:
            readings.append(Reading(edge, None, rank=one.rank))
    return replace(
        when,
        kind="range",
        readings=tuple(readings),
        bound="after" if after else "since",
        core=_core(found),
    )


@joined("OPEN", "(d:DATE/PARTOFDAY) ,? (o:OPENTIME)", "(o:OPENTIME) (on)? (d:DATE/PARTOFDAY)")
def day_and_open_time(found: RuleMatch) -> When | None:
    """Monday after 3pm; today before 4pm."""
    when, clocks = found.when("d"), found.when("o")
    if when.kind != "date" and when.grain != "part":
        return None
    today = midnight(found.now)
    readings = []
    for one in when.readings:
        if one.start is None:
            continue
        shift = midnight(one.start) - today
        readings += [
            Reading(
                other.start + shift if other.start else None,
                other.end + shift if other.end else None,
                rank=other.rank,
            )
            for other in clocks.readings
        ]
    return replace(when, kind="range", grain="minute", readings=tuple(readings), bound=clocks.bound)


def _core(found: RuleMatch) -> Core | None:
    if "p" not in found:
        return None
    part = found.part("p")
    return Core(part.start, part.end, found.when("p"))
