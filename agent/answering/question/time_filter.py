"""Filter for memories valid at the time of a question. Pure.

Two rules decide every case: a question about the present never gets a value that was replaced or
has expired, and one about the past never gets the present value where another held then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from agent.answering.question.question_time import About, Asked
from agent.language.dates import find_times
from agent.memory.time.timeline import Key, Period, Telling, Timeline, present
from agent.results import Standing
from store.row_codecs import entity_key
from store.types import Memory, Status

_AGENDA = re.compile(
    r"\b(?:have|having|plans?|planned|schedul\w+|appointments?|happen\w*|going on|coming up"
    r"|calendar|agenda|doing|do i do|did i do|anything|events?)\b",
    re.IGNORECASE,
)
_SPAN = timedelta(days=8)
"""The longest interval of which what falls into it is listed, in any case."""


def of_few_days(asked: Asked) -> bool:
    """Whether the time asked about is a day or a few."""
    start, end = asked.start, asked.end
    return start is not None and end is not None and end - start <= _SPAN


def asks_of_days(asked: Asked) -> bool:
    """Whether it asks what happens on a day or a few: 'what do I have on Friday'."""
    return of_few_days(asked) and _AGENDA.search(asked.core) is not None


def falls_in(memories: Iterable[Memory], tellings: Iterable[Telling], asked: Asked) -> list[Memory]:
    """What happens, begins, ends or comes back on the days that a question asks of."""
    start, end = asked.start, asked.end
    assert start is not None and end is not None  # or it would not ask of days
    # Of one day alone; made once, since a home has very many memories.
    day = re.compile(rf"\b{start:%A}s?\b", re.I) if end - start <= timedelta(days=1) else None
    each = [start + timedelta(days=number) for number in range((end - start).days)]
    return [
        m
        for m, telling in zip(memories, tellings, strict=True)
        if (telling.happens and telling.days is not None and telling.days.overlaps(start, end))
        or (telling.days is not None and _bounds(telling.days, start, end))
        or (day is not None and telling.names_weekday and day.search(m.text) and _every_week(m))
        or any(_names(m.text, one) for one in each)
    ]


def _bounds(days: Period, start: datetime, end: datetime) -> bool:
    """Whether the first or the last of the days falls into the time."""
    assert days.start is not None and days.end is not None  # both of a date that is written out
    return start <= days.start < end or start < days.end <= end


def _names(text: str, day: datetime) -> bool:
    """Whether a text names this day of a year that it does not name: a birthday on 9 May."""
    words, said = (str(day.day), f"{day:%b}".casefold()), text.casefold()
    if not all(word in said for word in words):
        return False  # nearly every memory: dates are not looked for in it
    spans = (span for span in find_times(text, day) if not span.explicit_year)
    return any(
        span.start == day and all(word in span.text.casefold() for word in words) for span in spans
    )


def _every_week(memory: Memory) -> bool:
    """Whether it tells of what happens again and again."""
    return any(span.kind == "recurring" for span in find_times(memory.text, memory.created))


def eligible(line: Timeline, asked: Asked, anchor: Memory | None = None) -> set[str]:
    """Ids of the memories that may answer; ``anchor`` is the one the question tells its time by.

    ``line`` is of everything that is stored and not forgotten, so that what took whose place is
    known.
    """
    return {memory.id for memory in _CHOOSE[asked.about](line, asked, anchor)}


_Chooser = Callable[[Timeline, Asked, Memory | None], list[Memory]]


def _over(line: Timeline, at: datetime) -> list[Memory]:
    return [m for m in line.memories if line.standing(m, at).over]


def _held_then(line: Timeline, asked: Asked, _: Memory | None) -> list[Memory]:
    sure: list[Memory] = []
    guessed: list[Memory] = []
    events: list[Memory] = []
    for memory, telling in zip(line.memories, line.tellings, strict=True):
        period = line.periods[memory.id]
        if telling.happens:
            if memory.status is Status.CURRENT and _happens_in(memory, telling, asked):
                events.append(memory)
        elif period.overlaps(asked.start, asked.end):
            sure.append(memory)
        elif not period.sure and period.reaches(asked.start):
            guessed.append(memory)
    if asked.start is None and asked.end is not None:  # 'before March': the last one before it
        sure = _one_each(line, sure, last=True)
    held = line.rivals(sure) if guessed else {}
    # A first address was told after the day asked about; without a better one it is the best guess.
    first = [m for m in guessed if not line.clash(m, held)]
    return sure + _one_each(line, first, last=False) + events


def _happens_in(memory: Memory, telling: Telling, asked: Asked) -> bool:
    """Whether it may happen at the time asked about: by a date it names, or when it was told.

    A sentence without a full date may be about any day.
    """
    if telling.days is None or telling.days.overlaps(asked.start, asked.end):
        return True
    told = Period(memory.created, memory.created + timedelta(seconds=1), True)
    return told.overlaps(asked.start, asked.end)


def _former(line: Timeline, asked: Asked, anchor: Memory | None) -> list[Memory]:
    bound = asked.end or asked.now
    over = [m for m in _over(line, bound) if anchor is None or m.id != anchor.id]
    if anchor is not None and asked.end is None:
        over = [m for m in over if not line.clash(m, line.rivals([anchor]))]
    kept = _one_each(line, over, last=not asked.first)
    ended = line.rivals(over)
    past = {entity_key(t.tail) for m in over for t in m.triples} - {"me"}
    rest = [
        m
        for m in line.memories
        if m.status is Status.CURRENT
        and not line.standing(m, asked.now).over
        and not line.clash(m, ended)
        and (
            line.telling(m).happens
            or line.telling(m).of_before
            # 'My previous boss's phone number' holds on, by what it says of someone from before.
            or any(entity_key(t.head) in past for t in m.triples)
        )
    ]
    return kept + rest


def _past(line: Timeline, asked: Asked, _: Memory | None) -> list[Memory]:
    over = [
        m
        for m in _over(line, asked.now)
        # An appointment that was moved never took place at the first hour.
        if not (m.status is Status.REPLACED and line.telling(m).happens)
    ]
    ended = line.rivals(over)
    rest = [
        m
        for m in line.memories
        if not line.standing(m, asked.now).over
        and m.status is Status.CURRENT
        and not line.clash(m, ended)
    ]
    return _one_each(line, over, last=True) + rest


def _changed(line: Timeline, asked: Asked, _: Memory | None) -> list[Memory]:
    begun = [m for m in line.memories if line.standing(m, asked.now) is not Standing.PLANNED]
    begun = [m for m in begun if not (m.status is Status.REPLACED and line.telling(m).happens)]
    latest = {m.id for m in _one_each(line, begun, last=True)}
    said = asked.core.casefold()
    return [
        m
        for m in begun
        # 'When did I leave Oslo?' names an older value; 'when did I move?' means the last move.
        if m.id in latest or any(len(t.tail) > 2 and t.tail.casefold() in said for t in m.triples)
    ]


def _planned(line: Timeline, asked: Asked, _: Memory | None) -> list[Memory]:
    ahead = [
        m
        for m in line.memories
        if m.status is Status.CURRENT and line.standing(m, asked.now) is Standing.PLANNED
    ]
    coming = line.rivals(ahead)
    holding = present(line, asked.now)
    return ahead + [m for m in holding if m not in ahead and not line.clash(m, coming)]


_CHOOSE: Mapping[About, _Chooser] = {
    About.NOW: lambda line, asked, _: present(line, asked.now),
    About.AT: _held_then,
    About.FORMER: _former,
    About.PAST: _past,
    About.HAPPENED: lambda line, *_: [m for m in line.memories if m.status is Status.CURRENT],
    About.CHANGE: _changed,
    About.PLANNED: _planned,
    About.EVER: lambda line, *_: list(line.memories),
}


def _one_each(line: Timeline, memories: Sequence[Memory], *, last: bool) -> list[Memory]:
    """Of memories that share a place only the latest, or the earliest."""

    def order(memory: Memory) -> tuple[datetime, datetime, int]:
        period = line.periods[memory.id]
        ends = period.end or _FOREVER
        begins = period.start or ends
        return (ends, begins, int(memory.id[1:]))

    best: dict[Key, str] = {}
    for key, group in line.rivals(memories).items():
        best[key] = (max if last else min)(group, key=order).id
    return [
        m
        for m in memories
        if m.id not in line.contended or all(best[key] == m.id for key in line.keys(m))
    ]


_FOREVER = datetime.max.replace(tzinfo=UTC)
