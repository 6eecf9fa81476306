"""Calendars: iCalendar files (RFC 5545). Each event is an Event memory, read without a model.

Times are told in the event's own zone, which is named where it differs from the person's. An event
ends by itself; one that recurs keeps its rule as text and names its next occurrences.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from agent.errors import UnreadableSource
from agent.extraction.source_spans import foreign
from agent.io.sources.structured import Entries, SourceEntry, text_of
from store.types import Draft, Source, Span, Triple, Trust

if TYPE_CHECKING:
    from icalendar import Event, vRecur

SUFFIXES = frozenset({".ics", ".ical", ".ifb", ".icalendar"})
OCCURRENCES = 3
"""How many coming occurrences of a recurring event are named."""
MOST = 10_000
"""Occurrences that are counted to find the last one."""
_FAR_YEARS = 10
_FAR = timedelta(days=365 * _FAR_YEARS)
"""How far ahead an occurrence is looked for."""
_OFTEN = re.compile(r"FREQ=(?:HOURLY|MINUTELY|SECONDLY)", re.IGNORECASE)

_BLOCK = re.compile(r"^BEGIN:(VEVENT|VTIMEZONE)\s*$.*?^END:\1\s*$", re.M | re.S | re.I)
_DAYS = dict(
    zip("MO TU WE TH FR SA SU".split(), "Monday Tuesday Wednesday Thursday Friday Saturday "
        "Sunday".split(), strict=True)
)  # fmt: skip
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_YEARLY_WORDS = re.compile(r"birthday|anniversary|生日|纪念日", re.IGNORECASE)


def read_calendar(source: Source, me: frozenset[str] = frozenset()) -> Entries:
    """The events of a calendar; one that cannot be read is named and the others are read.

    :raises UnreadableSource: if the text is no calendar.
    """
    text = source.text
    where = source.locator or source.id
    if not re.search(r"^[ \t]*BEGIN:VCALENDAR", text, re.I | re.M):
        raise UnreadableSource(f"{where} is not a calendar: it has no BEGIN:VCALENDAR.")
    blocks = list(_BLOCK.finditer(text))
    zones = "\n".join(block.group() for block in blocks if block[1].upper() == "VTIMEZONE")
    events = [block for block in blocks if block[1].upper() == "VEVENT"]
    items: list[SourceEntry] = []
    problems: list[str] = []
    begun = len(re.findall(r"^BEGIN:VEVENT\s*$", text, re.I | re.M))
    if begun > len(events):
        problems.append(f"{where} is truncated: {begun - len(events)} of its events have no end.")
    parsed: list[tuple[re.Match[str], Event]] = []
    # Occurrences that have an entry of their own, by the event's UID.
    moved: dict[str, set[datetime]] = {}
    for number, block in enumerate(events, 1):
        line = text.count("\n", 0, block.start()) + 1
        try:
            event = _parsed(zones, block.group())
            if event.RECURRENCE_ID is not None:
                moment = _moment(event.RECURRENCE_ID, UTC)
                moved.setdefault(str(event.get("UID", "")), set()).add(moment)
            parsed.append((block, event))
        except (ValueError, KeyError, IndexError, TypeError, ArithmeticError) as error:
            problems.append(f"{where}, line {line}, event {number}: {_short(error)}")
    for block, event in parsed:
        line = text.count("\n", 0, block.start()) + 1
        try:
            item = _item(event, source, Span(*block.span()), moved)
        except (ValueError, KeyError, IndexError, TypeError, ArithmeticError) as error:
            problems.append(f"{where}, line {line}: {_short(error)}")
            continue
        if item is not None:
            items.append(item)
    return Entries(tuple(items), tuple(problems))


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__


def _parsed(zones: str, block: str) -> Event:
    from icalendar import Calendar

    wrapped = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-\n{zones}\n{block}\nEND:VCALENDAR\n"
    (event,) = Calendar.from_ical(wrapped.replace("\r\n", "\n").replace("\n\n", "\n")).events
    if event.errors:
        name, reason = event.errors[0]
        raise ValueError(f"{name} cannot be read: {reason}")
    if "DTSTART" not in event:
        raise ValueError("an event without DTSTART")
    return event


def _item(
    event: Event, source: Source, span: Span, moved: dict[str, set[datetime]]
) -> SourceEntry | None:
    if str(event.get("STATUS", "")).upper() == "CANCELLED":
        return None
    home = source.captured.tzinfo or UTC
    summary = str(event.get("SUMMARY", ""))
    name = text_of(summary) or "An event without a name"
    place = text_of(str(event.get("LOCATION", ""))) or None
    all_day = not isinstance(event.start, datetime)
    begins, ends = _moment(event.start, home), _moment(event.end, home)
    if ends < begins:
        raise ValueError(f"{name!r} ends before it begins")
    if all_day and ends == begins:
        ends += timedelta(days=1)
    recurrence_id = _written(event, "RECURRENCE-ID")
    uid = text_of(str(event.get("UID", ""))) or f"{name}/{begins.isoformat()}"
    at = _hours(begins, ends, all_day, source.captured)
    if place:
        at += f" at {place}"
    if names := _attendees(event):
        at += f" with {names}"
    day = f"{begins:%Y-%m-%d}"
    yearly = _YEARLY_WORDS.search(name) is not None
    triples = [Triple("me", "has", name)]
    if event.rrules:
        rule = _written(event, "RRULE")
        yearly = yearly or "FREQ=YEARLY" in rule
        coming, last = _occurrences(event, begins, all_day, source.captured, moved.get(uid, set()))
        stem = f"{name} is in my calendar {_in_words(event.rrules[0])}{at}, from {day} on ({rule})"
        text = stem + (f", next on {_listed(coming)}." if coming else ".")
        until = None if last is None else last + (ends - begins)
        triples += [
            Triple(name, "is_at", coming[0] if coming else day),
            Triple(name, "recurs", rule),
        ]
    else:
        text = stem = f"{name} is in my calendar on {_days(begins, ends, all_day)}{at}."
        until = max(ends, begins + timedelta(minutes=1))
        triples.append(Triple(name, "is_at", day if all_day else f"{begins:%Y-%m-%d %H:%M}"))
    if place:
        triples.append(Triple(name, "address", place))
    draft = Draft(
        text=text_of(text),
        subclass="event.anniversary" if yearly else "event.arrangement",
        created=source.captured,
        triples=tuple(triples),
        valid_until=until,
        place=place,
        source=source.id,
        span=span,
        # A mail that became an event is in its sender's words.
        trust=Trust.RELAYED if foreign(summary) else None,
    )
    return SourceEntry(f"{uid}/{recurrence_id}", draft, text_of(stem))


def _moment(value: date | datetime, home: tzinfo) -> datetime:
    """A point in time; one without a zone, or in UTC, is told where the person is."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time.min, home)
    if value.tzinfo is None:
        return value.replace(tzinfo=home)
    # UTC is how programs write a time, not where the person is.
    return value.astimezone(home) if value.tzname() == "UTC" else value


def _days(begins: datetime, ends: datetime, all_day: bool) -> str:
    last = ends - timedelta(days=1) if all_day else ends
    if last.date() > begins.date() and (all_day or ends - begins >= timedelta(days=1)):
        return f"{begins:%Y-%m-%d} to {last:%Y-%m-%d}"
    return f"{begins:%Y-%m-%d}"


def _hours(begins: datetime, ends: datetime, all_day: bool, said: datetime) -> str:
    if all_day:
        return ""
    hours = f" at {begins:%H:%M}" if ends == begins else f" from {begins:%H:%M} to {ends:%H:%M}"
    zone = getattr(begins.tzinfo, "key", None) or begins.tzname()
    differs = begins.utcoffset() != begins.astimezone(said.tzinfo).utcoffset()
    return f"{hours} ({zone})" if differs and zone else hours


def _written(event: Event, name: str) -> str:
    """A property as the file has it; the first where it stands more than once, '' where not."""
    given = event.get(name, [])
    values = given if isinstance(given, list) else [given]
    return values[0].to_ical().decode() if values else ""


def _attendees(event: Event) -> str:
    names = [text_of(str(person.params.get("CN", ""))) for person in event.attendees]
    return ", ".join([name for name in names if name][:5])


def _in_words(rule: vRecur) -> str:
    """'every 2 weeks on Tuesday' for the common rules; the rule itself follows as text."""
    unit = _UNITS.get(str(rule.get("FREQ", [""])[0]).upper())
    if unit is None:
        return "again and again"
    step = int(rule.get("INTERVAL", [1])[0])
    words = f"every {unit}" if step == 1 else f"every {step} {unit}s"
    days = [str(day) for day in rule.get("BYDAY", [])]
    if days and all(day in _DAYS for day in days):
        words += " on " + ", ".join(_DAYS[day] for day in days)
    return words


def _occurrences(
    event: Event,
    begins: datetime,
    all_day: bool,
    now: datetime,
    moved: set[datetime],
) -> tuple[list[str], datetime | None]:
    """The next occurrences as text, and the last one of all; None where there is no end."""
    from dateutil.rrule import rrulestr

    # In the event's own wall-clock time: 10:00 stays 10:00 when summer time ends.
    zone = begins.tzinfo
    text = _written(event, "RRULE")
    text = re.sub(
        r"UNTIL=(\d{8}T\d{6})Z",
        lambda match: (
            "UNTIL="
            + datetime.strptime(match[1] + "+0000", "%Y%m%dT%H%M%S%z")
            .astimezone(zone)
            .strftime("%Y%m%dT%H%M%S")
        ),
        text,
    )
    start = begins.replace(tzinfo=None)
    present = now.astimezone(zone).replace(tzinfo=None)
    if _OFTEN.search(text):
        return [], None  # nothing to be reminded of, and too many to be counted
    text, last, most = _bounded(text, max(start, present))
    first = start if most else _near(text, start, min(present, last or present))
    # The search ends in the year 9999 alone, so it is done near it: days are alike after 400 years.
    shift = 400 * max(0, (datetime.max.year - _FAR_YEARS - max(start, present).year) // 400)
    text = re.sub(r"UNTIL=(\d{4})", lambda year: f"UNTIL={int(year[1]) + shift:04}", text)
    rule = rrulestr(text, dtstart=_moved(first, shift))
    out = {m.astimezone(zone).replace(tzinfo=None) for m in moved} | _excluded(event, zone)
    form = "%Y-%m-%d" if all_day else "%Y-%m-%d %H:%M"
    if most or last:
        all_of_them = [_moved(moment, -shift) for moment in islice(iter(rule), most or MOST)]
        coming = [moment for moment in all_of_them if moment >= present]
        last = all_of_them[-1] if all_of_them else start
    else:
        later = rule.xafter(_moved(present, shift), inc=True)
        coming = [_moved(moment, -shift) for moment in islice(later, OCCURRENCES + len(out))]
    named = [moment for moment in coming if moment not in out][:OCCURRENCES]
    return [f"{moment:{form}}" for moment in named], last and last.replace(tzinfo=zone)


def _moved(moment: datetime, years: int) -> datetime:
    return moment.replace(year=moment.year + years)


def _bounded(text: str, since: datetime) -> tuple[str, datetime | None, int]:
    """A rule that ends soon after ``since``; its own end where that is near, and its count.

    A rule of somebody's file may allow no day at all (30 February), and the search for one would
    go on to the year 9999.
    """
    far = since + min(_FAR, datetime.max - since)
    count = re.search(r"COUNT=(\d{1,9})", text)
    until = re.search(r"UNTIL=(\d{8})", text)
    end = datetime.strptime(until[1], "%Y%m%d") if until else None
    if end and end < far:
        return text, end + timedelta(days=1), 0
    plain = re.sub(r";?(?:COUNT|UNTIL)=[^;]*", "", text).lstrip(";")
    most = min(int(count[1]), MOST) if count else 0
    return f"{plain};UNTIL={far:%Y%m%dT%H%M%S}", None, most


def _near(text: str, start: datetime, when: datetime) -> datetime:
    """A beginning of the same rule shortly before ``when``: the days of years need no count."""
    days = 1 if "FREQ=DAILY" in text else 7 if "FREQ=WEEKLY" in text else 0
    every = re.search(r"INTERVAL=(\d{1,6})", text)
    step = timedelta(days=days * int(every[1] if every else 1))
    return start + step * max(0, (when - start) // step - 1) if step else start


def _excluded(event: Event, zone: tzinfo | None) -> set[datetime]:
    return {
        _moment(moment, zone or UTC).astimezone(zone).replace(tzinfo=None)
        for moment in event.exdates
    }


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
