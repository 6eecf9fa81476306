"""Values of time expressions, and calendar arithmetic.

Everything here is on the local wall clock of the message: datetimes are naive, and
``agent.language.dates`` gives them the message's time zone at the end. Spans are half open: ``end``
is the first moment after. A week begins on Monday.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

Kind = Literal["date", "datetime", "time", "range", "duration", "recurring"]
Bound = Literal["before", "after", "since", "until"]

DAY = timedelta(days=1)

# Hours of a day's parts; end is exclusive except that a night ends with its day.
PARTS = {
    "morning": (8, 12),
    "afternoon": (12, 16),
    "evening": (16, 20),
    "night": (20, 24),
    "daytime": (8, 18),
    "nighttime": (0, 8),
    "breakfast": (8, 12),
    "brunch": (8, 12),
    "lunch": (11, 13),
    "dinner": (16, 20),
    "supper": (16, 20),
}
# First month and length in months, northern hemisphere; a winter ends in the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "night": 86400,
    "weekend": 2 * 86400,
    "week": 7 * 86400,
    "fortnight": 14 * 86400,
    "month": 30 * 86400,
    "quarter": 90 * 86400,
    "year": 365 * 86400,
    "decade": 3650 * 86400,
    "century": 36500 * 86400,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand an expression."""

    start: datetime | None
    """None where it is open at the front ("until Friday")."""
    end: datetime | None
    """Exclusive; None where it is open at the back ("since Friday")."""
    last: datetime | None = None
    """Where the words name the last unit ("12 to 18 May"), the start of that unit."""
    rank: int = 0
    """0 for the likelier half of the day ("at 5" is 17:00), 1 for the other."""

    def ahead(self, wall: datetime) -> bool:
        """Whether it is not over at ``wall``: today lies ahead."""
        last = self.end or self.start
        return last is None or last > wall or self.start == wall


@dataclass(frozen=True, slots=True)
class YearSlot:
    """Where the year of a date without one belongs, and the sign before it."""

    at: int
    sign: str


@dataclass(frozen=True, slots=True)
class When:
    """The meaning of an expression: all its readings, and what ``resolve_text`` must know."""

    kind: Kind
    grain: str
    """The smallest unit it names: second, minute, hour, part, day, weekend, week, month..."""
    readings: tuple[Reading, ...]
    dated: bool = True
    """False for a time of day alone; its readings then lie on the day of the message."""
    relative: bool = False
    """True where it means something else on another day ("next Friday")."""
    explicit_year: bool = False
    yearless: bool = False
    """True for a day or month whose year only the message's time gives."""
    slots: tuple[YearSlot, ...] = ()
    bound: Bound | None = None
    delta: relativedelta | None = None
    """The length of a duration; kept for "ago", "from now" and "for"."""
    seconds: float | None = None
    """The length of a duration, months as 30 and years as 365 days."""
    core: Core | None = None
    """For an open range, the day or time it is open from or to ("until Friday": Friday)."""
    narrative: bool = False
    """True where only the story around it can say which day ("the next day")."""
    from_told: bool = False
    """True where it counts from a day that was told before ("a week later"), not from today."""


@dataclass(frozen=True, slots=True)
class Core:
    """A meaning at ``start:end`` of the text, inside a longer expression."""

    start: int
    end: int
    when: When


def midnight(moment: datetime) -> datetime:
    """The start of that day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime) -> Reading:
    """The whole day of ``moment``."""
    start = midnight(moment)
    return Reading(start, start + DAY)


def a_day(moment: datetime, *, relative: bool = True, explicit_year: bool = False) -> When:
    """The meaning of an expression for exactly one day."""
    return When("date", "day", (day(moment),), relative=relative, explicit_year=explicit_year)


def unit_start(unit: str, moment: datetime) -> datetime:
    """When the calendar unit that holds ``moment`` began."""
    today = midnight(moment)
    match unit:
        case "week" | "fortnight":
            return today - today.weekday() * DAY
        case "weekend":
            return today + (5 - today.weekday()) * DAY
        case "month":
            return today.replace(day=1)
        case "quarter":
            return today.replace(day=1, month=(today.month - 1) // 3 * 3 + 1)
        case "half":
            return today.replace(day=1, month=(today.month - 1) // 6 * 6 + 1)
        case "year":
            return today.replace(day=1, month=1)
        case "decade":
            return today.replace(day=1, month=1, year=max(1, today.year // 10 * 10))
        case "century":
            return today.replace(day=1, month=1, year=max(1, today.year // 100 * 100))
        case _:
            return today


def length(unit: str, count: float = 1) -> relativedelta:
    """``count`` units as a calendar length; a fraction of a month or year in 30- or 365-day ones.

    Raises OverflowError for a length that no calendar holds.
    """
    if abs(count) > 1e7:
        raise OverflowError("a length that no calendar holds")
    months = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
    if unit in months:
        if (whole := count * months[unit]) == int(whole):
            return relativedelta(months=int(whole))
        return relativedelta(days=round(count * SECONDS[unit] / 86400))
    if unit == "weekend":
        return relativedelta(days=round(count * 7))
    seconds = round(count * SECONDS[unit])
    if unit in ("second", "minute", "hour"):
        return relativedelta(seconds=seconds)
    return relativedelta(days=seconds // 86400, seconds=seconds % 86400)


def unit_span(unit: str, start: datetime) -> Reading:
    """The calendar unit that begins at ``start``; a weekend is Saturday and Sunday."""
    span = relativedelta(days=2) if unit == "weekend" else length(unit)
    return Reading(start, start + span)


def shifted_unit(unit: str, now: datetime, steps: int) -> Reading:
    """The calendar unit ``steps`` after (before, if negative) the one of ``now``."""
    if unit in ("second", "minute", "hour"):
        here = now.replace(microsecond=0)
        other = here + length(unit, steps or 1)
        return Reading(min(here, other), max(here, other))
    return unit_span(unit, unit_start(unit, now) + length(unit, steps))


def past_and_future(
    make: Callable[[int], Reading], now: datetime, *, around: int = 8
) -> tuple[Reading, ...]:
    """The latest reading before today and the first one from today on, over the years near ``now``.

    ``make(year)`` may raise ValueError for a year without such a date (29 February); if every year
    does, so does this.
    """
    today = midnight(now)
    readings = []
    for year in range(max(1, now.year - around), min(9999, now.year + around + 1)):
        try:
            readings.append(make(year))
        except ValueError:
            continue
    if not readings:
        raise ValueError("no such date in any year")
    before = [reading for reading in readings if reading.start and reading.start < today]
    after = [reading for reading in readings if reading.start and reading.start >= today]
    return tuple(before[-1:] + after[:1])


def on_clock(when: When, clocks: When) -> When:
    """``when`` (days) at the times of day ``clocks``: every combination of their readings."""
    readings = []
    for one in when.readings:
        for clock in clocks.readings:
            if one.start is None or clock.start is None:
                continue
            base = one.start - midnight(clock.start)
            readings.append(
                Reading(
                    clock.start + base,
                    clock.end + base if clock.end is not None else None,
                    clock.last + base if clock.last is not None else None,
                    clock.rank,
                )
            )
    if not readings:
        raise ValueError("no day to put the time on")
    return replace(
        when,
        kind="range" if clocks.kind == "range" else "datetime",
        grain=clocks.grain,
        readings=tuple(readings),
        bound=clocks.bound,
    )


def part_of_day(name: str, now: datetime, cut: str = "") -> When:
    """A part of the day of ``now``; ``cut`` early or late takes its first or second two hours."""
    first, last = PARTS[name]
    if cut == "early":
        last = first + 2
    elif cut == "late":
        first = last - 2
    start = midnight(now)
    reading = Reading(start + timedelta(hours=first), start + timedelta(hours=last))
    return When("range", "part", (reading,), dated=False)


def clock(now: datetime, seconds: float, *, both: bool = False, grain: str = "minute") -> When:
    """A time of day; ``both`` where it may as well lie in the other half of the day.

    Of the two, one from 7 in the morning to before 7 in the evening is the likelier.
    """
    first = midnight(now) + timedelta(seconds=seconds)
    if not both:
        return When("time", grain, (Reading(first, first),), dated=False)
    other = first + timedelta(hours=12 if first.hour < 12 else -12)
    readings = [
        Reading(moment, moment, rank=0 if 7 <= moment.hour < 19 else 1)
        for moment in sorted((first, other))
    ]
    return When("time", grain, tuple(readings), dated=False)


def elapsed(now: datetime, delta: relativedelta, zone: Callable[[datetime], datetime]) -> datetime:
    """``now`` plus ``delta``; ``zone`` makes wall time aware, so that hours count as they pass."""
    days = relativedelta(years=delta.years, months=delta.months, days=delta.days, weeks=0)
    moved: datetime = now + days
    rest = timedelta(hours=delta.hours, minutes=delta.minutes, seconds=delta.seconds)
    if not rest:
        return moved
    aware = zone(moved)
    return (aware.astimezone(UTC) + rest).astimezone(aware.tzinfo).replace(tzinfo=None)


def nth_weekday(year: int, month: int, weekday: int, rank: int) -> datetime:
    """The ``rank``-th such weekday of a month, -1 the last. Raises ValueError if there is none."""
    if rank < 0:
        last: datetime = datetime(year, month, 1) + relativedelta(months=1, days=-1)
        return last - ((last.weekday() - weekday) % 7) * DAY
    first = datetime(year, month, 1)
    found = first + ((weekday - first.weekday()) % 7 + 7 * (rank - 1)) * DAY
    if found.month != month:
        raise ValueError("the month has fewer of these weekdays")
    return found


def _fixed(month: int, day_of_month: int) -> Callable[[int], datetime]:
    return lambda year: datetime(year, month, day_of_month)


def _nth(month: int, weekday: int, rank: int, plus: int = 0) -> Callable[[int], datetime]:
    return lambda year: nth_weekday(year, month, weekday, rank) + plus * DAY


def _from_easter(plus: int) -> Callable[[int], datetime]:
    def of_year(year: int) -> datetime:
        if not 1583 <= year <= 4099:
            raise ValueError("easter is defined for the years 1583 to 4099")
        return datetime.combine(easter(year), datetime.min.time()) + plus * DAY

    return of_year


HOLIDAYS: dict[str, Callable[[int], datetime]] = {
    "new years day": _fixed(1, 1),
    "new years eve": _fixed(12, 31),
    "new year": _fixed(1, 1),
    "new years": _fixed(1, 1),
    "martin luther king day": _nth(1, 0, 3),
    "mlk day": _nth(1, 0, 3),
    "groundhog day": _fixed(2, 2),
    "valentines day": _fixed(2, 14),
    "presidents day": _nth(2, 0, 3),
    "washingtons birthday": _nth(2, 0, 3),
    "st patricks day": _fixed(3, 17),
    "saint patricks day": _fixed(3, 17),
    "april fools day": _fixed(4, 1),
    "april fools": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    "may day": _fixed(5, 1),
    "mothers day": _nth(5, 6, 2),
    "memorial day": _nth(5, 0, -1),
    "fathers day": _nth(6, 6, 3),
    "juneteenth": _fixed(6, 19),
    "independence day": _fixed(7, 4),
    "labor day": _nth(9, 0, 1),
    "labour day": _nth(9, 0, 1),
    "columbus day": _nth(10, 0, 2),
    "halloween": _fixed(10, 31),
    "all saints day": _fixed(11, 1),
    "veterans day": _fixed(11, 11),
    "thanksgiving": _nth(11, 3, 4),
    "thanksgiving day": _nth(11, 3, 4),
    "black friday": _nth(11, 3, 4, plus=1),
    "cyber monday": _nth(11, 3, 4, plus=4),
    "christmas eve": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "christmas": _fixed(12, 25),
    "xmas": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    "ash wednesday": _from_easter(-46),
    "palm sunday": _from_easter(-7),
    "maundy thursday": _from_easter(-3),
    "good friday": _from_easter(-2),
    "easter": _from_easter(0),
    "easter sunday": _from_easter(0),
    "easter monday": _from_easter(1),
    "ascension day": _from_easter(39),
    "pentecost": _from_easter(49),
    "whit monday": _from_easter(50),
}


def tighten(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """The readings without repeats, in their order."""
    return tuple(dict.fromkeys(readings))
