"""When an arrangement is over: an appointment or a booking ends with its day.

``agent.dates.validity`` ends a memory only where its words say so (a voucher, 'until Friday'). An
arrangement that is still to come ends by itself too: 'I have an appointment on Tuesday' is not true
on Wednesday. It stays in history, and questions about the past still find it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from agent.dates import TimeSpan

_ARRANGEMENT = "event.arrangement"
_STANDS = re.compile(
    r"\b(?:appointments?|reservations?|bookings?|booked|reserved|interview|viewing|check-?(?:in|up))\b",
    re.IGNORECASE,
)
_DUE = re.compile(r"\b(?:must|need to|have to|has to|should|deadline|due|by)\b", re.IGNORECASE)


def over_after(text: str, subclass: str, when: TimeSpan | None, said: datetime) -> datetime | None:
    """The end of the last day of an appointment or booking; None for all else.

    What happened already stays as it is, so does what recurs or has no day, and a duty is not over
    because its day has passed.
    """
    if subclass != _ARRANGEMENT or when is None or when.start is None or not when.dated:
        return None
    if when.kind == "recurring" or _DUE.search(text) or not _STANDS.search(text):
        return None
    end = when.end or when.start
    if end <= said or when.start < said:
        return None
    if (end.hour, end.minute, end.second) == (0, 0, 0) and end > when.start:
        return end
    return end.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
