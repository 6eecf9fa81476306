"""When a memory held: its period, what it shares a place with, and where it stands at a moment.

Valid time, not the time of telling: 'I moved to Bedok in March', said in May, begins in March. A
beginning that nobody told is inferred: where the memory it replaced ended, else where it was told.
The first kind is sure, the second a guess: a first address was true before memlane heard of it.
Pure functions over memories; docs/time.md says what follows from them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.editing.compare import slot
from agent.editing.expiry import is_arranged
from agent.editing.moments import MONTHS
from agent.results import Mark as Mark
from agent.results import Standing as Standing
from agent.triples.relations import LASTING, is_single
from store.types import Memory, Status


@dataclass(frozen=True, slots=True)
class Period:
    """When a memory held; half open, either side None where it is open or unknown."""

    start: datetime | None
    end: datetime | None
    sure: bool
    """Whether the beginning was told or follows from what the memory replaced."""

    def overlaps(self, start: datetime | None, end: datetime | None) -> bool:
        """Whether it held at some time of the interval, which is half open too."""
        begun = self.start is None or end is None or self.start < end
        return begun and (self.end is None or start is None or start < self.end)


Key = tuple[str, ...]
"""Something that has one value at a time; memories that share a key are rivals."""

_RECURS = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|yearly|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"
    rf"|\b(?P<day>\d{{1,2}}) (?P<month>{MONTHS})\.? (?P<year>\d{{4}})\b"
    rf"|\b(?P<month2>{MONTHS})\.? (?P<day2>\d{{1,2}}),? (?P<year2>\d{{4}})\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{4}")
"""In every full date; few memories have one, and this is found out at once."""


class Timeline:
    """Memories with their periods and rivals, in the order they were given.

    What shares a place with what is worked out for the memories that are asked about: of 100,000
    few are.
    """

    def __init__(self, memories: Sequence[Memory]) -> None:
        self.memories = memories
        self._by_id = {memory.id: memory for memory in memories}
        began = {
            memory.replaced_by: memory.valid_until
            for memory in memories
            if memory.replaced_by is not None and memory.valid_until is not None
        }
        self.periods: Mapping[str, Period] = {m.id: _period(m, began.get(m.id)) for m in memories}
        self._keys: dict[str, frozenset[Key]] = {}

    def keys(self, memory: Memory) -> frozenset[Key]:
        """What the memory shares a place in with its rivals."""
        found = self._keys.get(memory.id)
        if found is None:
            found = self._keys[memory.id] = _keys(memory, self._by_id)
        return found

    def standing(self, memory: Memory, at: datetime) -> Standing:
        """What the memory is at a moment; beginnings that are only guessed do not count."""
        period = self.periods[memory.id]
        if period.end is not None and period.end <= at:
            return Standing.REPLACED if memory.status is Status.REPLACED else Standing.EXPIRED
        if period.sure and period.start is not None and at < period.start:
            return Standing.PLANNED
        return Standing.HOLDS

    def mark(self, memory: Memory, at: datetime) -> Mark:
        """What to show of the memory's time in an answer given at a moment."""
        period = self.periods[memory.id]
        start = period.start if period.sure else None
        return Mark(self.standing(memory, at), start, period.start, period.end, not happens(memory))

    def rivals(self, memories: Iterable[Memory]) -> dict[Key, list[Memory]]:
        """The given memories by what they share a place in."""
        found: dict[Key, list[Memory]] = defaultdict(list)
        for memory in memories:
            for key in self.keys(memory):
                found[key].append(memory)
        return found

    def clash(self, memory: Memory, others: Mapping[Key, Sequence[Memory]]) -> bool:
        """Whether another memory among ``others`` shares a place with this one."""
        return any(
            other.id != memory.id for key in self.keys(memory) for other in others.get(key, ())
        )


def _period(memory: Memory, began: datetime | None) -> Period:
    start, end = memory.valid_from or began, memory.valid_until
    if memory.status is Status.REPLACED and end is None:
        end = memory.created
    if start is not None:
        return Period(start, end, True)
    # Told only after it was over ('I lived in Oslo until 2019'): when it began is unknown.
    return Period(None if end is not None and end <= memory.created else memory.created, end, False)


def _keys(memory: Memory, by_id: Mapping[str, Memory]) -> frozenset[Key]:
    last, seen = memory, {memory.id}
    while (after := by_id.get(last.replaced_by or "")) is not None and after.id not in seen:
        last = after
        seen.add(last.id)
    return frozenset(
        [("fact", last.id), *(slot(t) for t in memory.triples if is_single(t.relation))]
    )


def happens(memory: Memory) -> bool:
    """Whether a memory tells what happens at a time rather than a state that lasts.

    What happened stays true: only the day it is about, not its period, says when it counts.
    """
    return (
        memory.type == "Event"
        and not any(t.relation in LASTING for t in memory.triples)
        and (memory.valid_until is None or is_arranged(memory.text, memory.triples))
        and not _RECURS.search(memory.text)
    )


def happens_in(memory: Memory, start: datetime | None, end: datetime | None) -> bool:
    """Whether what happens may do so in the interval: by a date it names, or when it was told.

    A sentence without a full date may be about any day.
    """
    if not (days := _days(memory)) or _spanned(days).overlaps(start, end):
        return True
    return Period(memory.created, memory.created + timedelta(seconds=1), True).overlaps(start, end)


def dated_in(memory: Memory, start: datetime | None, end: datetime | None) -> bool:
    """Whether a date that the memory names, or the range of several, lies in the interval."""
    days = _days(memory)
    return bool(days) and _spanned(days).overlaps(start, end)


def _spanned(days: Sequence[datetime]) -> Period:
    return Period(min(days), max(days) + timedelta(days=1), True)


def _days(memory: Memory) -> list[datetime]:
    if _YEAR.search(memory.text) is None:
        return []
    found = (_day(match, memory.created) for match in _DATE.finditer(memory.text))
    return [day for day in found if day is not None]


def _day(found: re.Match[str], said: datetime) -> datetime | None:
    try:
        if found["iso"]:
            return datetime.fromisoformat(found["iso"]).replace(tzinfo=said.tzinfo)
        month = (found["month"] or found["month2"])[:3].title()
        written = f"{found['day'] or found['day2']} {month} {found['year'] or found['year2']}"
        return datetime.strptime(written, "%d %b %Y").replace(tzinfo=said.tzinfo)
    except ValueError:
        return None


def present(line: Timeline, now: datetime) -> list[Memory]:
    """What may be stated as current at ``now``, of memories that were not forgotten.

    What is planned to take the place of something waits until then, and what it will replace holds
    up to that moment, although its row is marked replaced already.
    """
    standing = {m.id: line.standing(m, now) for m in line.memories}
    holding = [m for m in line.memories if standing[m.id] is Standing.HOLDS]
    held = line.rivals(holding)
    return [
        m
        for m in line.memories
        if standing[m.id] is Standing.HOLDS
        or (standing[m.id] is Standing.PLANNED and not line.clash(m, held))
    ]
