"""Days and times that are told of an earlier one: 'it's the 19th', 'at 16:40 instead'.

Alone, 'the 19th' is the next 19th. Said of a dentist on 12 January it is 19 January, and 'at 16:40'
is on the day that the earlier words give. Pure; nothing is guessed where the words leave more than
one way to read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from agent.extraction.validity import held
from agent.language.dates import find_times
from agent.language.dates.brackets import in_brackets
from agent.language.dates.moments import Moment, is_now, moment_of, moments
from store.types import Draft, Triple


@dataclass(frozen=True, slots=True)
class Told:
    """Words with the time at which they were said."""

    words: str
    said: datetime


@dataclass(frozen=True, slots=True)
class Restated:
    """What newer words mean beside the older ones that they change."""

    start: datetime
    """The day, or the moment where ``clock`` is given."""
    clock: Moment | None
    """The time of day as it was said; None for a day alone."""
    days: Mapping[date, date] = field(default_factory=dict)
    """Of each day of the newer words, read alone, the day that it is beside the older words."""


def restated_day(older: Told, newer: Told, *, corrects: bool) -> Restated | None:
    """The day that the newer words give, in the month of the older one.

    That is the month which a correction means (``corrects``: "no, the 19th"), and also what names
    the older day ("it is the 19th now, not the 12th"). The time of day of a correction is the
    earlier one, unless it has one, too. None where either does not tell of one day.
    """
    before = _one_day([moment for _, moment in moments(older.words, older.said)])
    if before is None:
        return None
    old = before[0].start.date()
    month = before[0].start.replace(day=1, hour=0, minute=0)
    read = dict(_dated_at(newer.words, month))
    other = [moment for moment in read.values() if not moment.dated or moment.start.date() != old]
    if not corrects and len(other) == len(read):
        return None
    after = _one_day(other)
    alone = {at: moment for at, moment in _dated_at(newer.words, newer.said) if moment.dated}
    # "Wednesday" is another day in each month, "the 19th" is not.
    days = {moment.start.day for moment in alone.values()} - {old.day}
    if after is None or days != {after[0].start.day}:
        return None
    both = {
        moment.start.date(): read[at].start.date() for at, moment in alone.items() if at in read
    }
    clock = after[1] or (before[1] if corrects else None)
    if clock is None:
        return Restated(after[0].start, None, both)
    start = datetime.combine(after[0].start.date(), clock.start.timetz())
    return Restated(start, clock, both)


def restated_time(older: Told, newer: Told) -> Restated | None:
    """The one time of day that the newer words give, on the one day and time of the older words."""
    base = [moment for _, moment in moments(older.words, older.said)]
    given = [s for s in find_times(newer.words, newer.said) if not is_now(s, newer.said)]
    if len(base) != 1 or len(given) != 1 or (clock := moment_of(given[0])) is None:
        return None
    (old,) = base
    if not (old.clock and old.dated and clock.clock) or clock.dated:
        return None
    return Restated(datetime.combine(old.start.date(), clock.start.timetz()), clock)


def as_restated(draft: Draft, meant: Restated) -> Draft:
    """The draft with the days that are meant, in its dates in brackets, relations and validity.

    A time of day gets its date. A period that somebody else gave the draft stays.
    """
    text, triples = draft.text, draft.triples
    for alone, day in meant.days.items():
        if alone != day:
            text = text.replace(alone.isoformat(), day.isoformat())
            triples = tuple(_on(triple, alone, day) for triple in triples)
    if meant.clock is not None and not meant.clock.dated and not meant.days:
        text = _with_date(text, draft.created, meant.start)
    if text == draft.text:
        return draft
    made = replace(draft, text=text, triples=triples)
    if (draft.valid_from, draft.valid_until) != _held(draft):
        return made
    start, end = _held(made)
    return replace(made, valid_from=start, valid_until=end)


def _held(draft: Draft) -> tuple[datetime | None, datetime | None]:
    return held(draft.text, draft.subclass, draft.triples, draft.created)


def _on(triple: Triple, alone: date, day: date) -> Triple:
    old, new = alone.isoformat(), day.isoformat()
    return Triple(triple.head.replace(old, new), triple.relation, triple.tail.replace(old, new))


def _with_date(text: str, said: datetime, start: datetime) -> str:
    """The text with the date behind its one time of day; as it is where that has a date."""
    told = moments(text, said)
    if len(told) != 1 or told[0][1].dated:
        return text
    ((span, _),) = told
    moment = start.replace(tzinfo=None)
    return text[: span.end_char] + in_brackets(moment, moment) + text[span.end_char :]


def _dated_at(words: str, said: datetime) -> list[tuple[int, Moment]]:
    return [(span.start_char, moment) for span, moment in moments(words, said)]


def _one_day(told: Sequence[Moment]) -> tuple[Moment, Moment | None] | None:
    """The one day of what is told, and its time of day; None where there is not one of each."""
    days = [moment for moment in told if moment.dated]
    clocks = [moment for moment in told if moment.clock]
    if len({moment.start.date() for moment in days}) != 1 or len(clocks) > 1:
        return None
    return days[0], next(iter(clocks), None)
