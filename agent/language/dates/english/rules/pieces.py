"""Rules for parts of a period: the last week of July, early next month."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from agent.language.dates.english.grammar import RuleMatch, Table
from agent.language.dates.english.lexicon import UNIT_OF
from agent.language.dates.english.rules.common import a_period, spell
from agent.language.dates.values import (
    DAY,
    SECONDS,
    Reading,
    When,
    length,
    midnight,
    shifted_unit,
    tighten,
    unit_span,
    unit_start,
)

PIECE_TABLE = Table()
rule = PIECE_TABLE.rule


@rule(
    "PERIOD",
    spell(
        "(the)? (r:first/second/third/fourth/last|n:ORDINAL) (k:NUMBER)? "
        "(u:week/weeks/weekend/day/days/month/months) (of|in) (p:PERIOD)"
    ),
    "(the)? (r:first/last|n:ORDINAL) (l:LENGTH) (of|in) (p:PERIOD)",
    "(the)? (r:first/second/third/fourth/last|n:ORDINAL) (u:week/weekend/day/days/month/months) "
    "(of|in) the (h:month/year)",
)
def piece_of_a_period(found: RuleMatch) -> When | None:
    """The last week of July; first 2 weeks of 2021; the third month of the year."""
    ranks = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
    rank = found.number("n") if "n" in found else ranks[found.word("r")]
    if "h" in found:
        unit_reading = shifted_unit(found.word("h"), found.now, 0)
        whole = a_period(found.word("h"), unit_reading)
    else:
        whole = found.when("p")
    if "l" in found and rank not in (1, -1):
        return None
    if "l" in found:
        one = found.when("l")
        unit = one.grain
        count = round((one.seconds or 0) / SECONDS.get(unit, 86400))
    else:
        unit = UNIT_OF[found.word("u")]
        count = found.number("k") if "k" in found else 1
    if unit not in ("day", "week", "weekend", "month"):
        return None
    readings = [
        _piece(unit, rank, count, one.start, one.end)
        for one in whole.readings
        if one.start is not None and one.end is not None
    ]
    return replace(
        whole,
        kind="date" if unit == "day" and count == 1 else "range",
        grain=unit,
        readings=tighten(readings),
        slots=(),
        relative=True,
    )


def _piece(unit: str, rank: int, count: int, start: datetime, end: datetime) -> Reading:
    step = length(unit if unit != "weekend" else "week", 1)
    if unit in ("week", "weekend"):
        # A week belongs to the period that holds its Thursday (ISO 8601).
        monday = unit_start("week", start)
        if monday + 3 * DAY < start:
            monday += 7 * DAY
        final = unit_start("week", end - DAY)
        if final + 3 * DAY >= end:
            final -= 7 * DAY
        first = monday + (rank - 1) * 7 * DAY if rank > 0 else final - (count - 1) * 7 * DAY
        if unit == "weekend":
            return unit_span("weekend", first + 5 * DAY)
        return Reading(first, first + count * 7 * DAY)
    first = start + step * (rank - 1) if rank > 0 else end - step * count
    return Reading(first, first + step * count)


@rule("PERIOD", "(the)? rest of (the|this|my)? (u:day/week/month/year/quarter)")
def rest_of_a_unit(found: RuleMatch) -> When:
    unit = found.word("u")
    end = unit_span(unit, unit_start(unit, found.now)).end
    if unit == "day":
        return When("range", "part", (Reading(found.now, end),), relative=True)
    last = end - DAY if end else None
    return When("range", "day", (Reading(midnight(found.now), end, last=last),), relative=True)


@rule("PERIOD", "(the)? year to date")
def year_to_date(found: RuleMatch) -> When:
    start = unit_start("year", found.now)
    return When("range", "day", (Reading(start, midnight(found.now)),), relative=True)


@rule("PERIOD", "(the|my) (u:week/month/year/weekend/quarter)", "(u:weekend)")
def unit_here(found: RuleMatch) -> When | None:
    """The week, the month: this one, as far as words alone can say."""
    when = a_period(found.word("u"), shifted_unit(found.word("u"), found.now, 0))
    return replace(when, narrative=True)


_EDGE = (
    "(the|this)? (very)? (e:beginning/start/middle/end/early/earlier/late/later/mid) (-)? "
    "(in|of|in the)? (the|this)?"
)


@rule("PERIOD", f"{_EDGE} (u:week/month/quarter/year)")
def edge_of_this_unit(found: RuleMatch) -> When | None:
    """End of year; earlier in the week; mid month."""
    unit = found.word("u")
    edge = {"earlier": "early", "later": "late"}.get(found.word("e"), found.word("e"))
    reading = _edge(unit, edge, shifted_unit(unit, found.now, 0))
    return a_period(f"{edge} {unit}", reading)


@rule("PERIOD", f"{_EDGE} (p:PERIOD)")
def edge_of_a_period(found: RuleMatch) -> When | None:
    """Early next week; mid November; the end of the year."""
    when = found.when("p")
    sofar = _so_far(found, when)
    if sofar is not None:
        return sofar
    edge = {"earlier": "early", "later": "late"}.get(found.word("e"), found.word("e"))
    if when.grain not in (
        "week",
        "month",
        "quarter",
        "half",
        "year",
        "decade",
        "century",
        "season",
    ):
        return None
    readings = [_edge(when.grain, edge, one) for one in when.readings]
    return replace(when, grain=f"{edge} {when.grain}", readings=tuple(readings), narrative=False)


def _so_far(found: RuleMatch, when: When) -> When | None:
    """Earlier this week: from its start to today; later this week: from tomorrow to its end."""
    today = midnight(found.now)
    one = when.readings[0]
    if found.word("e") not in ("earlier", "later") or one.start is None or one.end is None:
        return None
    if len(when.readings) > 1 or not one.start < today < one.end - DAY:
        return None
    if found.word("e") == "earlier":
        return When("range", "day", (Reading(one.start, today),), relative=True)
    return When("range", "day", (Reading(today + DAY, one.end),), relative=True)


def _edge(grain: str, edge: str, one: Reading) -> Reading:
    assert one.start is not None and one.end is not None
    days = (one.end - one.start).days
    if edge in ("mid", "middle"):
        if grain == "month":
            return Reading(one.start + 9 * DAY, one.start + 20 * DAY)
        if grain == "week":
            return Reading(one.start + 2 * DAY, one.start + 5 * DAY)
        return Reading(one.start + timedelta(days=days // 3), one.end - timedelta(days=days // 3))
    if grain == "week":
        middle = one.start + 3 * DAY
    elif grain == "month":
        middle = one.start + 15 * DAY
    elif grain == "year":
        middle = one.start + relativedelta(months=6)
    else:
        middle = one.start + timedelta(days=days // 2)
    if edge in ("late", "later", "end"):
        return Reading(middle, one.end)
    return Reading(one.start, middle)
