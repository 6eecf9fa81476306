"""Upcoming dates of one memory: event, birthday, anniversary, end, habit.

Read off the sentence by ``agent.language.dates``; when and what stand in the memory, and a memory
that names no day gives no occasion. Pure. Times are on the wall clock of the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from agent.applications.services.recurrence import clock_of, next_time, next_year_day, rule_of
from agent.extraction.own_words import has_verb
from agent.language.clauses import part_at
from agent.language.dates import TimeSpan, find_times, validity
from agent.language.dates.brackets import WEEKLY
from agent.language.dates.english.lexicon import names_weekday
from agent.language.dates.foreign.in_english import tells_of_time
from agent.language.dates.learned.tense import tells_past
from agent.language.dates.values import midnight
from agent.language.patterns import bounded
from agent.language.sentences import capitalized
from agent.memory.editing.compare import negated
from store.types import Memory


class Kind(StrEnum):
    """What there is to be reminded of."""

    EVENT = "event"
    BIRTHDAY = "birthday"
    ANNIVERSARY = "anniversary"
    EXPIRY = "expiry"
    """The last day of something: a voucher, a permit, a stay."""
    HABIT = "habit"
    """What comes back by the day, week or month."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """The next time that a memory is of use to be reminded of."""

    kind: Kind
    what: str
    """In the memory's own words, without the time."""
    at: datetime
    """Wall-clock time, without a zone; midnight where ``all_day``."""
    all_day: bool
    rule: str | None = None
    """How it comes back (RFC 5545); None for what happens once."""
    years: int | None = None
    """How many years it will be, where the memory tells the first one."""


_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_TIMELY = re.compile(
    r"\d[/.]\d|\d(?:st|nd|rd|th)\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|day\b|days\b|night|morning|evening|weekend|christmas|easter|birthday|anniversary|daily"
    r"|tomorrow|noon\b|month|\b(?:first|last|born|married|each|every)\b",
    re.IGNORECASE,
)
"""Words of which a sentence has one if it names a day other than by ``_ISO``."""
_BORN = re.compile(r"\b(?:was|were|am|is) born\b|\bdate of birth\b", re.IGNORECASE)
_BIRTHDAY = re.compile(
    r"\bbirthday\b(?! (?:party|parties|dinner|lunch|brunch|celebrations?|presents?|gifts?|cakes?"
    r"|cards?|trip|week|drinks|surprise|concert))",
    re.IGNORECASE,
)
_WHOSE = re.compile(
    r"\b(?:(?:[Mm]y|[Oo]ur)(?: [\w-]+){1,3}['’]s?|[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?['’]s?"
    r"|[Mm]y|[Oo]ur) birthday\b"
)
_YEARLY = re.compile(r"\banniversary\b|\bname ?day\b|\b(?:every|each) year\b", re.IGNORECASE)
_MARRIED = re.compile(
    r"^(?:I|We|My (?:wife|husband|spouse) and I) (?:got |were )?married\b", re.IGNORECASE
)
_HELD_ONCE = re.compile(r"\banniversary (?:party|dinner|lunch|trip|present|gift)\b", re.IGNORECASE)
_NOT_TO_MISS = re.compile(
    r"\b(?:do not|don['’]t|must not|mustn['’]t|can['’]t|not) (?:forget|miss|be late|let me forget)",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:is|are|isn['’]t|aren['’]t)(?: \w+)? (?:open|closed|shut|crowded|busy|quiet|cheap\w*"
    r"|half[- ]price|free)\b",
    re.IGNORECASE,
)
"""'My gym is open on Sunday' comes back every week, but nobody has anything to do then."""
_DAYS_LONG = frozenset({"second", "minute", "hour", "part", "day"})
_IN_CALENDAR = re.compile(
    r"^(?P<what>.+?) is in my calendar .*?(?:(?:from|at) (?P<clock>\d\d:\d\d) .*?)?"
    r"from (?P<day>\d{4}-\d\d-\d\d) on \("
)
_NEXT = re.compile(r"next on (?P<days>.+)\.$")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")
_ZONE = re.compile(r"\((?P<zone>[A-Z][A-Za-z_]+/[A-Za-z_/+-]+)\)")
_CALENDAR_TAIL = re.compile(r" is in my calendar\b.*$")
_UNTIL = re.compile(r"\b(?:until|till|til|through|thru)\b", re.IGNORECASE)
_LINK = bounded(
    r"(?:[,\s]+(?:is|are|will be|stays?|remains?))?(?:[,\s]+(?:only|still|now))?"
    r"(?:[,\s]+(?:valid|good|usable|redeemable|expires?|expiring|runs? out|ends?|takes? place"
    r"|scheduled|due|set|planned|moved|postponed))?"
    r"(?:[,\s]+(?:on|at|by|for|from|in|to|until|till|through|thru|up to|the))*[,\s]*$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:I|we)(?: have|['’]ve)(?: got)?|there(?: is|['’]s)) "
    r"(?:an? |(?=(?:the|my|our|another) ))"
    r"|^(?:is|are) ",
    re.IGNORECASE,
)


def occasion(memory: Memory, now: datetime) -> Occasion | None:
    """The next occasion at or after ``now`` (a wall-clock time); None where there is none."""
    try:
        return _occasion(memory, now)
    except (ValueError, OverflowError):
        return None  # a file may write days that no calendar has: 2024-02-30, the year 9999


def _occasion(memory: Memory, now: datetime) -> Occasion | None:
    text = memory.text
    if not _may_come(text, now):
        return None
    rule = next((t.tail for t in memory.triples if t.relation == "recurs"), None)
    if rule is not None:
        return _recorded(text, rule, now)
    spans = find_times(text, memory.created)
    if negated(text) and not _NOT_TO_MISS.search(text):
        spans = tuple(span for span in spans if _takes_place(text, span))
        told = [replace(one, what=text.rstrip(".")) for one in _coming(memory, spans, now)]
        return min(told, key=lambda one: one.at, default=None)
    if _BIRTHDAY.search(text) or _BORN.search(text):
        return _each_year(Kind.BIRTHDAY, text, spans, now)
    if not _HELD_ONCE.search(text) and (_YEARLY.search(text) or _MARRIED.search(text)):
        return _each_year(Kind.ANNIVERSARY, text, spans, now)
    if (ends := _ending(memory, spans, now)) is not None:
        return ends
    return min(_coming(memory, spans, now), key=lambda one: one.at, default=None)


def _takes_place(text: str, span: TimeSpan) -> bool:
    """Whether a time of a sentence that denies something is told by a clause that does not.

    "They can't do the 12th, it's the 19th now" is on the 19th.
    """
    part = part_at(text, span.start_char)
    return has_verb(part) and not negated(part)


def _may_come(text: str, now: datetime) -> bool:
    """Whether to read the sentence at all: most memories tell of no day, or of past ones."""
    if _TIMELY.search(text) is not None or WEEKLY in text or tells_of_time(text):
        return True
    return any(day[:10] >= f"{now:%Y-%m-%d}" for day in _ISO.findall(text))


# ---- each year ------------------------------------------------------------------------------


def _each_year(
    kind: Kind, text: str, spans: tuple[TimeSpan, ...], now: datetime
) -> Occasion | None:
    span = next((s for s in spans if s.start and s.dated and s.grain == "day"), None)
    if span is None or span.start is None:
        return None
    if kind is Kind.ANNIVERSARY and span.explicit_year and span.start.replace(tzinfo=None) > now:
        years = None  # 'our tenth anniversary is on 2024-06-12' is told by the day it will be
    else:
        years = span.start.year if span.explicit_year else None
    month, day = span.start.month, span.start.day
    at = next_year_day(month, day, now)
    told = None if years is None or at.year <= years else at.year - years
    rule = f"FREQ=YEARLY;BYMONTH={month};BYMONTHDAY={day}"
    return Occasion(kind, _called(kind, text, spans, span), at, True, rule, told)


def _called(kind: Kind, text: str, spans: tuple[TimeSpan, ...], span: TimeSpan) -> str:
    if kind is Kind.BIRTHDAY:
        if (whose := _WHOSE.search(text)) is not None:
            return capitalized(whose.group())
        if (born := _BORN.search(text)) is not None and born.start() > 0:
            who = text[: born.start()].strip()
            return "My birthday" if who in ("I", "My", "my") else capitalized(f"{who}'s birthday")
    if _MARRIED.search(text):
        return "Our wedding anniversary"
    return _without(text, spans, span.start_char, span.end_char)


# ---- what a calendar says --------------------------------------------------------------------


def _recorded(text: str, rule: str, now: datetime) -> Occasion | None:
    """An entry that recurs: the occurrences it names know of those that were moved or dropped."""
    found = _IN_CALENDAR.match(text)
    if found is None:
        return None
    named = _NEXT.search(text)
    days = [datetime.fromisoformat(day) for day in _ISO.findall(named["days"] if named else "")]
    first = datetime.fromisoformat(f"{found['day']} {found['clock'] or '00:00'}")
    all_day = found["clock"] is None
    since = midnight(now) if all_day else now
    at = next((day for day in days if day >= since), None) or next_time(rule, first, since)
    if at is None:
        return None
    yearly = "FREQ=YEARLY" in rule
    born = Kind.BIRTHDAY if _BIRTHDAY.search(text) else Kind.ANNIVERSARY
    return Occasion(born if yearly else Kind.HABIT, found["what"], at, all_day, rule)


# ---- ends, events and habits -----------------------------------------------------------------


def _ending(memory: Memory, spans: tuple[TimeSpan, ...], now: datetime) -> Occasion | None:
    """The last day of what says of itself that it ends."""
    if memory.valid_until is None:
        return None
    span = next((s for s in spans if s.end == memory.valid_until), None)
    until = None if span is None else _UNTIL.search(span.text)
    if until is None and validity(memory.text, memory.created).valid_until is None:
        return None  # over with its day, as an appointment is
    end = memory.valid_until.replace(tzinfo=None)
    all_day = (end.hour, end.minute, end.second) == (0, 0, 0)
    at = end - timedelta(days=1) if all_day else end
    if at < (midnight(now) if all_day else now):
        return None
    what = memory.text.rstrip(".")
    if span is not None:
        start = span.start_char + (until.start() if until is not None else 0)
        what = _without(memory.text, spans, start, span.end_char)
    return Occasion(Kind.EXPIRY, what, at, all_day)


def _coming(memory: Memory, spans: tuple[TimeSpan, ...], now: datetime) -> Iterator[Occasion]:
    text = memory.text
    for span in spans:
        if span.kind == "recurring":
            if (habit := _habit(memory, spans, span, now)) is not None:
                yield habit
            continue
        moment = _begins(span)
        # A weekday may be every week's: its next one is told all the same.
        if moment is None or not (span.one_day or names_weekday(span.text)):
            continue
        at, all_day = moment
        at = _here(text, at)
        if at < (midnight(now) if all_day else now):
            continue
        if all_day and at == midnight(now) and tells_past(text, span.start_char, span.end_char):
            continue  # 'I had lunch with Ben on ...', told today
        what = _without(text, spans, span.start_char, span.end_char)
        yield Occasion(Kind.EVENT, what, at, all_day)


def _begins(span: TimeSpan) -> tuple[datetime, bool] | None:
    """When to be there, or by when it must be done; None for what names no day."""
    if not span.dated or span.kind == "duration" or span.bound in ("since", "until"):
        return None
    if span.grain not in _DAYS_LONG:
        return None
    if span.bound == "before" and span.end is not None:
        at = span.end.replace(tzinfo=None)
        if (at.hour, at.minute) != (0, 0):
            return at, False
        # By Friday is through Friday, before Friday is up to it.
        through = span.text.casefold().startswith("by ")
        return (at if through else at - timedelta(days=1)), True
    if span.start is None:
        return None
    at = span.start.replace(tzinfo=None)
    if span.grain in ("day", "part"):
        return midnight(at), True
    return at, False


def _habit(
    memory: Memory, spans: tuple[TimeSpan, ...], span: TimeSpan, now: datetime
) -> Occasion | None:
    rule, clock = _weekly(span, memory) or (rule_of(span.text), clock_of(span.text))
    if rule is None or _STATE.search(memory.text):
        return None
    told = (memory.valid_from or memory.created).replace(tzinfo=None)
    first = midnight(told) + timedelta(hours=clock.hour if clock else 0,
                                     minutes=clock.minute if clock else 0)  # fmt: skip
    at = next_time(rule, first, now if clock else midnight(now))
    if at is None:
        return None
    what = _without(memory.text, spans, span.start_char, span.end_char)
    return Occasion(Kind.HABIT, what, at, clock is None, rule)


def _weekly(span: TimeSpan, memory: Memory) -> tuple[str, time | None] | None:
    """The rule and the time of day of a weekday that says "(weekly)"; None for any other time."""
    weekday = span.text.removesuffix(WEEKLY)
    if weekday == span.text:
        return None
    one = next(iter(find_times(weekday, memory.created)), None)
    if one is None or one.start is None:
        return None
    clock = one.start.time() if one.grain in ("hour", "minute") else None
    return f"FREQ=WEEKLY;BYDAY={_WEEKDAYS[one.start.weekday()]}", clock


def _here(text: str, at: datetime) -> datetime:
    """A time that a calendar tells in the event's own zone, as the person's clock shows it."""
    found = _ZONE.search(text)
    if found is None:
        return at
    try:
        return at.replace(tzinfo=ZoneInfo(found["zone"])).astimezone().replace(tzinfo=None)
    except (KeyError, ValueError, OSError):  # no zone of that name: taken as it stands
        return at


def _without(text: str, spans: tuple[TimeSpan, ...], start: int, end: int) -> str:
    """The sentence without the time at its end; whole where more than that would have to go."""
    if _CALENDAR_TAIL.search(text):
        return _CALENDAR_TAIL.sub("", text)
    if len(spans) > 1 or text[end:].strip(" .,;:()"):
        return text.rstrip(".")
    left = _LEAD.sub("", _LINK.sub("", text[:start]).strip(" ,;:-–"))
    return capitalized(left) if len(left) > 2 else text.rstrip(".")
