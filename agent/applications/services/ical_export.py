"""Reminders as an iCalendar file (RFC 5545) for any calendar program.

Times are written without a zone ('floating'): what was told as 18:00 is at 18:00 on the clock where
the person is, also after summer time has ended. The same memory has the same UID in every file, so
that importing again changes entries instead of doubling them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent.applications.services.places import event_place
from agent.applications.services.reminders import Reminder
from agent.applications.services.upcoming import Kind
from agent.version import __version__
from store.database.whole_files import whole_file
from store.errors import InvalidInput

if TYPE_CHECKING:
    from icalendar import Event

AHEAD_TIMED = timedelta(hours=1)
AHEAD_DAY = timedelta(hours=15)
"""How long before it a program alerts: an hour, or for a day at nine in the morning before."""


def calendar_of(reminders: Sequence[Reminder], now: datetime) -> bytes:
    """The calendar with one entry a reminder; ``now`` is when it is written."""
    from datetime import UTC

    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("prodid", f"-//memlane//memlane {__version__}//EN")
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    for one in reminders:
        calendar.add_component(_event(one, now.astimezone(UTC)))
    written: bytes = calendar.to_ical()
    return written


def _event(one: Reminder, written: datetime) -> Event:
    from icalendar import Alarm, Event, vRecur

    event = Event()
    event.add("uid", _uid(one))
    event.add("dtstamp", written)
    event.add("summary", one.text if one.kind is not Kind.EXPIRY else f"Last day: {one.text}")
    event.add("description", f"{one.memory.text} ({one.memory.id})")
    wall = one.when.replace(tzinfo=None)
    event.add("dtstart", wall.date() if one.all_day else wall)
    if one.rule:
        event.add("rrule", vRecur.from_ical(one.rule))
    if one.kind is Kind.EVENT and (place := event_place(one.memory)):
        event.add("location", place)
    if one.changed_by is not None:
        event.add("status", "TENTATIVE")
    event.add("transp", "TRANSPARENT" if one.all_day else "OPAQUE")
    alarm = Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", one.text)
    alarm.add("trigger", -(AHEAD_DAY if one.all_day else AHEAD_TIMED))
    event.add_component(alarm)
    return event


def _uid(one: Reminder) -> str:
    said = f"{one.memory.id} {one.memory.created.isoformat()} {one.kind}"
    return f"{hashlib.sha256(said.encode()).hexdigest()[:32]}@memlane"


def write_calendar(path: Path, reminders: Sequence[Reminder], now: datetime) -> None:
    """Write the calendar to a file, whole or not at all, for its owner alone.

    :raises InvalidInput: if the file cannot be written.
    """
    try:
        with whole_file(path) as file:
            file.write(calendar_of(reminders, now))
    except OSError as error:
        raise InvalidInput(
            f"Cannot write {path}: {error.strerror or error}. Choose a folder you can write to."
        ) from error
