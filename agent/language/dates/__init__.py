"""Time expressions in English text: find, resolve and write.

This module owns memlane's answer to "when?". It is deterministic, knows no model and no network,
and keeps three invariants: a span lies inside the text, ``resolve_text`` is idempotent, and no text
can make it raise. ``english`` has the grammar and its tables of rules, ``foreign`` what puts other
languages into English, ``learned`` what no rule can tell; what each choice means for memories is in
docs/decisions/0004-dates.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.language.dates.dated import QUOTED, is_a_day
from agent.language.dates.dated import resolve_text as resolve_text
from agent.language.dates.english.lexicon import names_weekday
from agent.language.dates.learned.tense import tells_past
from agent.language.dates.parser import Expression, expressions
from agent.language.dates.values import Bound, Kind
from agent.language.validation import checked_time
from store.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """One date or time expression, resolved. Times are aware, in the zone of ``now``."""

    start_char: int
    end_char: int
    """Characters of the text, end exclusive."""
    text: str
    kind: Kind
    start: datetime | None
    """When it begins; None for recurring ones, durations and open beginnings ("until Friday")."""
    end: datetime | None
    """The first moment after it: a day ends at the next midnight, a moment where it begins."""
    explicit_year: bool
    """True where the words fix the year, so that the message's time is not needed."""
    grain: str
    """The smallest unit it names: second, minute, hour, part (of a day), day, week, month..."""
    one_day: bool = True
    """False where the words name no day of their own, as learned: "for the first time"."""
    dated: bool = True
    """False for a time of day alone ("at 5"); it is then put on the day of ``now``."""
    last: datetime | None = None
    """For a range that names its last unit ("12 to 18 May"), the start of that unit."""
    bound: Bound | None = None
    """For an open range, the side the words leave open: before, until, after or since."""
    seconds: float | None = None
    """The length of a duration, in seconds; months count 30 days and years 365."""
    alternatives: tuple[tuple[datetime | None, datetime | None], ...] = ()
    """The other readings as (start, end): the past or future year, the other half of the day."""


@dataclass(frozen=True, slots=True)
class Validity:
    """When a memory holds."""

    valid_from: datetime | None
    valid_until: datetime | None
    """The first moment at which it no longer holds."""
    when: TimeSpan | None
    """When what it tells of happens, which says nothing about how long it is remembered."""


def find_times(text: str, now: datetime) -> tuple[TimeSpan, ...]:
    """Every date and time in ``text``, in order and without overlap.

    ``now`` is the message's own time and must be aware (ValueError otherwise). Dates without a year
    and weekdays get the reading that the tense of their sentence asks for, the future by default.
    A number that names no day is no time: "the 3rd floor".
    """
    found = ((one, _span(text, one, now)) for one in expressions(text, now))
    return tuple(span for one, span in found if span.one_day or not _is_number(one, text))


def _is_number(found: Expression, text: str) -> bool:
    """Whether it is "the 3rd", without month and weekday, and a word stands behind it."""
    said = text[found.start : found.end]
    number, behind = said.split()[-1], text[found.end :].lstrip(" ")[:1]
    in_figures = number[0].isdigit() and number[-1].isalpha() and found.when.kind == "date"
    alone = not found.when.slots and not names_weekday(said)
    return in_figures and alone and behind.isalpha()


def _span(text: str, found: Expression, now: datetime) -> TimeSpan:
    when, reading = found.when, found.reading

    def aware(moment: datetime | None) -> datetime | None:
        return None if moment is None else moment.replace(tzinfo=now.tzinfo)

    return TimeSpan(
        start_char=found.start,
        end_char=found.end,
        text=text[found.start : found.end],
        kind=when.kind,
        start=aware(reading.start),
        end=aware(reading.end),
        explicit_year=when.explicit_year,
        grain=when.grain,
        one_day=is_a_day(text, found, now.replace(tzinfo=None)),
        dated=when.dated,
        last=aware(reading.last),
        bound=when.bound,
        seconds=when.seconds,
        alternatives=tuple(
            (aware(other.start), aware(other.end)) for other in when.readings if other != reading
        ),
    )


# --- a time given as an option --------------------------------------------------------------------


def parse_when(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment that an option such as ``--at`` names: ISO 8601 first, then plain English.

    A day stands for its first moment, or with ``end`` for the first moment after it, as an expiry
    needs. Without an offset it is in the zone of ``now``. Raises InvalidInput with one line for
    what is no date, for impossible dates (30 February) and for lengths and repeated times.
    """
    written = text.strip()
    moment = _iso(written, now)
    if moment is not None:
        day_only = re.fullmatch(r"\d{4}-?\d\d-?\d\d", written) is not None
        checked_time(moment)
        return moment + timedelta(days=1) if end and day_only else moment
    try:
        found = find_times(written, now)
    except (ValueError, OverflowError):
        found = ()
    whole = [span for span in found if span.end_char - span.start_char >= len(written)]
    if len(whole) == 1:
        span = whole[0]
        chosen = (span.end or span.start) if end else (span.start or span.end)
        if chosen is not None:
            return checked_time(chosen)
    raise InvalidInput(
        f"{written[:60]!r} is not a valid date or time; "
        "try 2024-05-12, 2024-05-12 17:00 or 'next Friday at 5pm'"
    )


def _iso(written: str, now: datetime) -> datetime | None:
    if not written[:4].isdecimal():
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


# --- how long a memory holds ----------------------------------------------------------------------

_EXPIRES = re.compile(
    r"\b(?:expir(?:es?|ed|ing|y)|runs? out|lapses?|use by|best before|expiry date|"
    r"expiration(?: date)?|(?:valid|good|usable|redeemable|holds?|lasts?|runs?|open|available)"
    r"(?: only)? (?:until|till|through|thru|up to|to|by|before))"
    r"(?:\s+(?:is|on|at|in|by|date|the|of|:))*\s*:?\s*$",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?:until|till|til|through|thru|up to)\s+(?:the\s+)?$", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|ends?|ends? on)\s+(?:the\s+)?$", re.IGNORECASE)
_FOR = re.compile(r"\bfor\s+(?:the\s+next\s+|about\s+|around\s+|at least\s+)?$", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:from|since|starting(?: on| from)?|as of|effective)\s+(?:the\s+)?$", re.IGNORECASE
)
_HOLDS = re.compile(r"\b(?:valid|good|usable|redeemable|holds?|lasts?)\s+$", re.IGNORECASE)
# What is worthless after its day, so that "by Friday" is the end of it and no mere deadline.
_PERISHABLE = re.compile(
    r"\b(?:voucher|coupon|discount|offer|promo(?:tion)?|gift card|ticket|pass|code|licen[cs]e|"
    r"subscription|membership|warranty|visa|passport|permit|trial|deal|sale|insurance|lease|"
    r"contract)s?\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:am|is|are|works?|lives?|stays?|staying|will|have|has|off|away|valid|good|holds?|lasts?|"
    r"runs?)\b|['’](?:m|s|re|ll|ve)\b",
    re.IGNORECASE,
)


def validity(text: str, now: datetime) -> Validity:
    """When the memory ``text`` holds, from its own words.

    Only wording of validity sets an end: valid, expires, until, through, "for two weeks", and for
    vouchers and the like also "by". The end of a day is the next midnight, of a moment itself. An
    appointment or a flight has a ``when`` but no end: in the past it is still a memory.
    """
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    when: TimeSpan | None = None
    quoted = [match.span() for match in QUOTED.finditer(text)]
    perishable = _PERISHABLE.search(text) is not None
    for found in expressions(text, now):
        inside = any(start < found.end and found.start < end for start, end in quoted)
        span = _span(text, found, now)
        if inside or found.when.from_told or not span.one_day:
            continue
        before = text[max(0, found.start - 60) : found.start]
        from_here = _FROM.search(before) or span.text.lower().startswith(("from ", "starting "))
        if span.kind == "recurring":
            continue
        if span.kind == "duration":
            lasting = _FOR.search(before) and _GOES_ON.search(text[: found.start])
            if lasting and not tells_past(text, found.start, found.end):
                valid_until = valid_until or _later(valid_from or now, span.seconds)
        elif span.bound == "until" or _EXPIRES.search(before) or _UNTIL.search(before):
            valid_until = valid_until or span.end
        elif perishable and span.bound == "before":
            valid_until = valid_until or _through(text, found, now)
        elif perishable and _BY.search(before):
            valid_until = valid_until or span.end
        elif span.bound == "since":
            valid_from = valid_from or span.start
        elif span.kind == "range" and from_here and span.last is not None:
            # "From 12 to 18 May" is when it happens; "valid from ... to ..." when it holds.
            if _HOLDS.search(before):
                valid_from, valid_until = span.start, span.end
            else:
                when = when or span
        elif from_here and span.bound is None and span.kind != "time":
            valid_from = valid_from or span.start
        elif when is None:
            when = span
    if _is_before(valid_until, when):
        valid_until = None  # 'here till Tuesday, arrives on 28 February': better no end than that
    return Validity(valid_from, valid_until, when)


def _is_before(end: datetime | None, named: TimeSpan | None) -> bool:
    start = named.start if named is not None and named.dated else None
    return start is not None and end is not None and end <= start


def _through(text: str, found: Expression, now: datetime) -> datetime | None:
    """By Friday holds through Friday, before Friday up to it."""
    end = found.reading.end
    core = found.when.core
    if core is not None and text[found.start : found.start + 2].lower() == "by":
        end = next((one.end for one in core.when.readings if one.start == end), end)
    return end.replace(tzinfo=now.tzinfo) if end is not None else None


def _later(start: datetime, seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return start + timedelta(seconds=seconds)
    except OverflowError:
        return None
