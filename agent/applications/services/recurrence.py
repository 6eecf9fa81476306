"""Recurrence rules (RFC 5545) and their next times.

A rule is only made of words that fix every occurrence. 'Every other Monday' does not say which, and
'twice a week' no day at all, so neither becomes a rule. Times are on the wall clock.
"""

from __future__ import annotations

import re
import warnings
from datetime import UTC, datetime, time, timedelta

from agent.language.dates.moments import moments

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DAYS = re.compile(rf"\b({_DAY})s?\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:every|each) (?:other|second|third|few|couple|so often|\d)|\balternat|\bfortnight"
    r"|\bbi-?week"
    r"|\b(?:twice|once|thrice|times|sometimes|usually|mostly|some)\b",
    re.IGNORECASE,
)
_DAILY = re.compile(
    r"\b(?:every|each) (?:single )?(?:day|morning|noon|afternoon|evening|night)\b|\bdaily\b"
    r"|\bnightly\b",
    re.IGNORECASE,
)
_WORKDAYS = re.compile(r"\b(?:every|each|on) (?:weekday|workday|working day)s?\b", re.IGNORECASE)
_MONTHLY = re.compile(r"\b(?:every|each|of the|a) month\b|\bmonthly\b", re.IGNORECASE)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_NTH_DAY = re.compile(rf"\b({'|'.join(_ORDINALS)})\s+({_DAY})\b", re.IGNORECASE)
_DAY_OF_MONTH = re.compile(
    rf"\b(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))\b", re.IGNORECASE
)
_EACH = frozenset({"every", "each"})
_SOME_DAY = datetime(2024, 5, 8, 12, tzinfo=UTC)
"""When a time of day alone is said: it is the same on any day."""
_FAR = timedelta(days=3 * 366)
"""How far ahead a next time is looked for: a rule may allow only days that hardly exist."""


def rule_of(words: str) -> str | None:
    """The rule that the words of a repeated time fix; None where they leave days open."""
    nth = _NTH_DAY.search(words)
    if nth and _MONTHLY.search(words):
        return f"FREQ=MONTHLY;BYDAY={_ORDINALS[nth[1].lower()]}{_two_letters(nth[2])}"
    if _VAGUE.search(words):
        return None
    if _WORKDAYS.search(words):
        return "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
    if _MONTHLY.search(words):
        found = _DAY_OF_MONTH.search(words)
        if found is None:
            return None
        number = int(found["number"]) if found["number"] else _ORDINALS[found["word"].lower()]
        return f"FREQ=MONTHLY;BYMONTHDAY={number}" if number and number <= 31 else None
    if days := dict.fromkeys(_two_letters(day) for day in _DAYS.findall(words)):
        return f"FREQ=WEEKLY;BYDAY={','.join(days)}"
    return "FREQ=DAILY" if _DAILY.search(words) else None


def _two_letters(day: str) -> str:
    return day[:2].upper()


def clock_of(words: str) -> time | None:
    """The time of day that the words name first; None for a day alone.

    Read without the days on which it repeats: 'Mondays at 4' is at 16:00, as 'Monday at 4' is.
    """
    told = [word for word in _DAYS.sub("", words).split() if word.lower() not in _EACH]
    at = told.index("at") if "at" in told else len(told)
    for said in (" ".join(told), " ".join(told[at:])):
        clocks = (moment.start for _, moment in moments(said, _SOME_DAY) if moment.clock)
        if (start := next(clocks, None)) is not None:
            return start.time()
    return None


def next_time(rule: str, first: datetime, now: datetime) -> datetime | None:
    """The first occurrence at or after ``now`` of what began at ``first``; both without a zone.

    None where the rule is over, allows no day or cannot be read: it may be of somebody's file.
    """
    from dateutil.rrule import rrulestr  # late: most commands remind of nothing

    if re.search(r"FREQ=(?:HOURLY|MINUTELY|SECONDLY)", rule, re.IGNORECASE):
        return None  # nothing to be reminded of
    try:
        near = _until(rule, now + _FAR)
        with warnings.catch_warnings():
            # A count and an end are not for one rule, says RFC 5545; dateutil takes both.
            warnings.simplefilter("ignore", DeprecationWarning)
            found: datetime | None = rrulestr(near, dtstart=first).after(now, inc=True)
    except (ValueError, TypeError, OverflowError):
        return None
    return found


def _until(rule: str, far: datetime) -> str:
    """The rule with an end at ``far`` or before.

    A rule of somebody's file may allow no day at all (30 February): without a near end the search
    for one goes on to the year 9999. An end in UTC does not go with a beginning on the wall clock;
    a day's difference is none here.
    """
    parts = rule.split(";")
    ends = [part for part in parts if part.upper().startswith("UNTIL=")]
    told = [end[len("UNTIL=") :].upper().removesuffix("Z") for end in ends]
    end = min([far.strftime("%Y%m%dT%H%M%S"), *told])
    return ";".join([*(part for part in parts if part and part not in ends), f"UNTIL={end}"])


def next_year_day(month: int, day: int, now: datetime) -> datetime:
    """The next such day at or after the day of ``now``; 29 February is the 28th in other years."""
    for year in (now.year, now.year + 1):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        held = datetime(year, month, 28 if (month, day) == (2, 29) and not leap else day)
        if held.date() >= now.date():
            return held
    raise AssertionError("a day of next year lies ahead")
