"""Validity periods of memories and the timeline of each fact.

Valid time, not the time of telling: 'I moved to Bedok in March', said in May, begins in March. A
beginning that nobody told is inferred: where the memory it replaced ended, else where it was told.
The first kind is sure, the second a guess: a first address was true before memlane heard of it.
Pure functions over memories; docs/time.md says what follows from them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from functools import cached_property

from agent.extraction.validity import is_arranged
from agent.language.dates.date_literals import MONTHS
from agent.language.relation_names import LASTING, is_single
from agent.memory.editing.compare import slot
from agent.results import Mark, Standing
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
        return begun and self.reaches(start)

    def reaches(self, moment: datetime | None) -> bool:
        """Whether it was not over at the moment, whenever it began."""
        return self.end is None or moment is None or moment < self.end


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
_OF_BEFORE = re.compile(
    r"\b(?:used to|no longer|any ?more|formerly|previously|stopped|quit|gave up|until)\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
"""In every full date; few memories have one, and this is found out at once."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a memory says of times, whatever else is remembered."""

    happens: bool
    """Whether it tells what happens at a time rather than a state that lasts.

    What happened stays true: only the day it is about, not its period, says when it counts.
    """
    days: Period | None
    """From the first to the last full date that it names."""
    slots: tuple[Key, ...]
    """What it gives the only value to."""
    of_before: bool
    """Whether it tells of what is over: 'used to', 'no longer'."""
    names_weekday: bool


class Tellings:
    """What each memory says of times, by number, kept in the cache (``store.derived.cache``)."""

    def __init__(self) -> None:
        self.by_number: list[Telling] = []
        self._same: dict[Telling, Telling] = {}
        """One for all that say the same: most say nothing."""

    def catch_up(self, memories: Sequence[Memory]) -> None:
        for number in range(len(self.by_number), len(memories)):
            telling = telling_of(memories[number])
            self.by_number.append(self._same.setdefault(telling, telling))


class Timeline:
    """Memories with their periods and rivals, in the order they were given.

    :param tellings: of each memory, where somebody knows them already.
    """

    def __init__(
        self, memories: Sequence[Memory], tellings: Sequence[Telling] | None = None
    ) -> None:
        self.memories = memories
        self._given = tellings
        self._by_id = {memory.id: memory for memory in memories}
        began = {
            memory.replaced_by: memory.valid_until
            for memory in memories
            if memory.replaced_by is not None and memory.valid_until is not None
        }
        self.periods: Mapping[str, Period] = {m.id: _period(m, began.get(m.id)) for m in memories}
        self._keys: dict[str, frozenset[Key]] = {}

    def with_ended(self, ended: Mapping[str, Memory]) -> Timeline:
        """The timeline in which some memories, by their ids, have ended as given.

        What is known of all the others is not worked out again: of 100,000 memories few differ.
        """
        if not ended:
            return self
        made = copy(self)
        made.memories = [ended.get(memory.id, memory) for memory in self.memories]
        made._by_id = {**self._by_id, **ended}
        began = {m.replaced_by: m.valid_until for m in ended.values() if m.replaced_by}
        differ = ended.keys() | began.keys()
        periods = {name: _period(made._by_id[name], began.get(name)) for name in differ}
        made.periods = {**self.periods, **periods}
        made._keys = {}
        # Where a cached property keeps its value.
        made.__dict__["contended"] = self.contended | differ
        return made

    def memory(self, name: str) -> Memory | None:
        """One of the memories, by its id."""
        return self._by_id.get(name)

    @cached_property
    def tellings(self) -> Sequence[Telling]:
        """What each memory says of times, in the order of the memories."""
        return self._given or [telling_of(memory) for memory in self.memories]

    @cached_property
    def contended(self) -> frozenset[str]:
        """Ids of the memories that share a place with another; of 100,000 few do."""
        found: set[str] = set()
        first: dict[Key, str] = {}
        for memory, telling in zip(self.memories, self.tellings, strict=True):
            if memory.replaced_by in self._by_id:
                found |= {memory.id, str(memory.replaced_by)}
            for key in telling.slots:
                if (other := first.setdefault(key, memory.id)) != memory.id:
                    found |= {memory.id, other}
        return frozenset(found)

    @cached_property
    def _telling(self) -> dict[str, Telling]:
        return {m.id: telling for m, telling in zip(self.memories, self.tellings, strict=True)}

    def telling(self, memory: Memory) -> Telling:
        """What one of the memories says of times."""
        return self._telling[memory.id]

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
        lasts = not happens(memory)
        return Mark(self.standing(memory, at), start, period.start, period.end, lasts)

    def rivals(self, memories: Iterable[Memory]) -> dict[Key, list[Memory]]:
        """Those of the given memories that are contended, by what they share a place in."""
        found: dict[Key, list[Memory]] = defaultdict(list)
        for memory in memories:
            if memory.id in self.contended:
                for key in self.keys(memory):
                    found[key].append(memory)
        return found

    def clash(self, memory: Memory, others: Mapping[Key, Sequence[Memory]]) -> bool:
        """Whether another memory among ``others`` shares a place with this one."""
        return memory.id in self.contended and any(
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
    return frozenset([("fact", last.id), *_slots(memory)])


def _slots(memory: Memory) -> tuple[Key, ...]:
    return tuple(slot(t) for t in memory.triples if is_single(t.relation))


def telling_of(memory: Memory) -> Telling:
    """What one memory says of times; it is read word by word, which takes microseconds."""
    days = _days(memory)
    return Telling(
        happens=happens(memory),
        days=Period(min(days), max(days) + timedelta(days=1), True) if days else None,
        slots=_slots(memory),
        of_before=_OF_BEFORE.search(memory.text) is not None,
        names_weekday=_WEEKDAY.search(memory.text) is not None,
    )


def happens(memory: Memory) -> bool:
    """See ``Telling.happens``."""
    return (
        memory.type == "Event"
        and not any(t.relation in LASTING for t in memory.triples)
        and (memory.valid_until is None or is_arranged(memory.text, memory.triples))
        and not _RECURS.search(memory.text)
    )


def _days(memory: Memory) -> list[datetime]:
    if _YEAR.search(memory.text) is None:
        return []
    found = (_day(match, memory.created) for match in _DATE.finditer(memory.text))
    # The last year has a day without a next one.
    return [day for day in found if day is not None and day.year < MAXYEAR]


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
