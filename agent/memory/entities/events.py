"""Event coreference across sources (EMG-RAG 4.2, layer 3).

The e-mail about a flight and its boarding pass are one event where they give the same number of
flight, booking or order, and no other day; or, without a number, the same kind of event on the same
day with the same people or place. Like identities, events are a fold of the memories and never
stored. Invariants: two numbers of one kind are never one event, nor are two days; where a memory
could belong to two events it belongs to none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from agent.memory.entities.event_features import EventFeatures, kinds_of, moves, numbers, read
from agent.memory.entities.identity import Identities
from store.graph import MemoryGraph
from store.types import Draft, Memory

MOST = 60
"""Memories with the same number or day that are compared."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event and the memories that tell of it, oldest first."""

    features: tuple[EventFeatures, ...]

    @property
    def memories(self) -> tuple[str, ...]:
        return tuple(sorted({r.memory for r in self.features}, key=lambda m: int(m[1:])))

    @property
    def ids(self) -> frozenset[tuple[str, str]]:
        return frozenset(found for r in self.features for found in r.ids)

    @property
    def days(self) -> frozenset[date]:
        return frozenset(r.day for r in self.features if r.day is not None)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(kind for r in self.features for kind in r.kinds)

    @property
    def with_(self) -> frozenset[str]:
        return frozenset(name for r in self.features for name in r.with_)

    @property
    def about(self) -> frozenset[str]:
        return frozenset(name for r in self.features for name in r.about)

    @property
    def clocks(self) -> frozenset[str]:
        return frozenset(time for r in self.features for time in r.clocks)

    def called(self, name: str) -> bool:
        """Whether a name is this event's: a number of it, or its name."""
        said = " ".join(name.split()).casefold()
        bare = said.replace(" ", "")
        return said == self.name.casefold() or any(code.casefold() == bare for _, code in self.ids)

    @property
    def name(self) -> str:
        """'SQ318 on 2026-03-12', 'dinner on 2026-05-14'."""
        codes = {kind: code for kind, code in sorted(self.ids, reverse=True)}
        what = next(
            (codes[kind] for kind in ("flight", "train", "booking", "order") if kind in codes),
            min(self.kinds, default="event"),
        )
        return f"{what} on {min(self.days):%Y-%m-%d}" if self.days else what


def events(memories: Iterable[Memory], known: Identities) -> tuple[Event, ...]:
    """The events that these memories tell of, by their oldest memories; also those told once."""
    features = [
        found
        for memory in memories
        if (found := read(memory.id, memory.text, memory.created, memory.source, known)) is not None
    ]
    return coreferent(features, known)


def coreferent(features: Sequence[EventFeatures], known: Identities) -> tuple[Event, ...]:
    """Memories joined into events, from the surest sign to the weakest."""
    groups = _Groups(features)
    _in_one_source(features, groups)
    by_id: dict[tuple[str, str], list[int]] = defaultdict(list)
    by_day: dict[date, list[int]] = defaultdict(list)
    for at, one in enumerate(features):
        for found in one.ids:
            by_id[found].append(at)
        if one.day is not None:
            by_day[one.day].append(at)
    for same in by_id.values():
        dated = [at for at in same if groups.event(at).days]
        for first, second in _pairs(dated):
            if groups.event(first).days & groups.event(second).days:
                groups.join(first, second)
        for at in same:
            if not groups.event(at).days:
                groups.join_only(at, dated or same[:1])
    for first, second in _tied_by_hand(features, known):
        groups.join(first, second)
    for same_day in by_day.values():
        for first, second in _clearly_one(same_day, groups, known):
            groups.join(first, second)
    return groups.all()


def _pairs(rows: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((rows[a], rows[b]) for a in range(len(rows)) for b in range(a + 1, len(rows)))


def _in_one_source(features: Sequence[EventFeatures], groups: _Groups) -> None:
    """What one source says under one number is one event; so are its only flight and booking."""
    by_source: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(features):
        if one.source is not None and one.ids:
            by_source[one.source].append(at)
    for rows in by_source.values():
        told = {found for at in rows for found in features[at].ids}
        days = {features[at].day for at in rows} - {None}
        one_each = len({kind for kind, _ in told}) == len(told) and len(days) <= 1
        for first, second in _pairs(rows):
            if one_each or features[first].ids & features[second].ids:
                groups.join(first, second)


def _tied_by_hand(
    features: Sequence[EventFeatures], known: Identities
) -> Iterable[tuple[int, int]]:
    """Memories that name an event by names of which somebody said that they are one."""
    named: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(features):
        for who in one.about:
            names = known.names(who)
            if len(names) > 1 and any(kinds_of(name) or any(numbers(name)) for name in names):
                named[who].append(at)
    for rows in named.values():
        yield from _pairs(rows)


def _clearly_one(rows: Sequence[int], groups: _Groups, known: Identities) -> list[tuple[int, int]]:
    """Pairs of one day that are alike, where neither could as well be another event."""
    alike: dict[int, list[int]] = defaultdict(list)
    for first, second in _pairs(rows):
        if _alike(groups.event(first), groups.event(second), known):
            alike[first].append(second)
            alike[second].append(first)
    torn = {
        at
        for at, others in alike.items()
        if any(_contrary(groups.event(a), groups.event(b), known) for a, b in _pairs(others))
    }
    return [(a, b) for a in alike for b in alike[a] if a < b and a not in torn and b not in torn]


def _alike(one: Event, other: Event, known: Identities) -> bool:
    """Whether two events are the same by kind, day, and people or place."""
    shared = (one.about | one.with_) & (other.about | other.with_)
    same = bool(one.kinds & other.kinds) and bool(one.days & other.days)
    return same and bool(shared) and not _contrary(one, other, known)


def _contrary(one: Event, other: Event, known: Identities) -> bool:
    """Whether two events differ in company, hour, day or number, or are told to be two."""
    return (
        (bool(one.with_ and other.with_) and not one.with_ & other.with_)
        or (bool(one.clocks and other.clocks) and not one.clocks & other.clocks)
        or _cannot(one, other)
        or _told_apart(one, other, known)
    )


def _told_apart(one: Event, other: Event, known: Identities) -> bool:
    ours, theirs = ({code for _, code in event.ids} | event.about for event in (one, other))
    return any(known.apart(a, b) for a in ours for b in theirs)


class _Groups:
    """A union-find over features that refuses to join what cannot be one event."""

    def __init__(self, features: Sequence[EventFeatures]) -> None:
        self._events = {at: Event((one,)) for at, one in enumerate(features)}
        self._root = {at: at for at in self._events}

    def event(self, at: int) -> Event:
        return self._events[self._find(at)]

    def _find(self, at: int) -> int:
        while self._root[at] != at:
            at = self._root[at]
        return at

    def join(self, one: int, other: int) -> None:
        a, b = sorted((self._find(one), self._find(other)))
        if a == b or _cannot(self._events[a], self._events[b]):
            return
        self._events[a] = Event(self._events[a].features + self._events.pop(b).features)
        self._root[b] = a

    def join_only(self, at: int, others: Sequence[int]) -> None:
        """Join with the one event among ``others``; with none where there are several."""
        mine = self._find(at)
        roots = {self._find(other) for other in others} - {mine}
        fits = [r for r in roots if not _cannot(self._events[mine], self._events[r])]
        if len(fits) == 1:
            self.join(mine, fits[0])

    def all(self) -> tuple[Event, ...]:
        return tuple(self._events[at] for at in sorted(self._events))


def _cannot(one: Event, other: Event) -> bool:
    """Whether two events are certainly two: other numbers of one kind, or other days."""
    if one.days and other.days and not one.days & other.days:
        return True
    ours, theirs = defaultdict(set), defaultdict(set)
    for kind, code in one.ids:
        ours[kind].add(code)
    for kind, code in other.ids:
        theirs[kind].add(code)
    return any(not ours[kind] & theirs[kind] for kind in ours.keys() & theirs.keys())


# ---- beside drafts and answers ------------------------------------------------------------


def event_of(memory: Memory, graph: MemoryGraph, known: Identities) -> Event | None:
    """The event that a memory tells of, with all that is told of it; None where there is none."""
    one = read(memory.id, memory.text, memory.created, memory.source, known)
    if one is None:
        return None
    around = {memory.id: memory}
    for words in one.searched():
        around.update((found.id, found) for found in graph.memories.mentioning(words, MOST))
    # What stands there under a number may be tied to this one by a second number of its own.
    ties = {word for found in tuple(around.values()) for word in _searched(found, known)}
    for words in ties - set(one.searched()):
        around.update((found.id, found) for found in graph.memories.mentioning(words, MOST))
    found = events(sorted(around.values(), key=lambda m: int(m.id[1:])), known)
    return next((event for event in found if memory.id in event.memories), None)


def _searched(memory: Memory, known: Identities) -> tuple[str, ...]:
    one = read(memory.id, memory.text, memory.created, memory.source, known)
    return () if one is None else tuple(code for _, code in one.ids)


class EventsBeside:
    """Keeps drafts from changing the event of another day under the same number."""

    def __init__(self, graph: MemoryGraph, known: Identities, drafts: Sequence[Draft]) -> None:
        self._graph, self._known = graph, known
        self._told = {draft.text: self._read(draft) for draft in drafts}

    def _read(self, draft: Draft) -> EventFeatures | None:
        return read("m0", draft.text, draft.created, draft.source, self._known)

    def apart(self, draft: Draft, memory: Memory) -> bool:
        """Whether the memory tells of another event than the draft, for all that can be known."""
        told = self._told[draft.text] if draft.text in self._told else self._read(draft)
        if told is None or not told.ids:
            return False
        theirs = read("m1", memory.text, memory.created, memory.source, self._known)
        if theirs is None or not theirs.ids & told.ids:
            return False
        # The other sentences of the same text say which day they all speak of.
        days = {r.day for r in self._told.values() if r and r.ids & told.ids and r.day is not None}
        day = told.day or (days.pop() if len(days) == 1 else None)
        known_days = self._days(told)
        if len(known_days) == 1 and moves(draft.text):
            return False
        event = event_of(memory, self._graph, self._known)
        its = event.days if event is not None else frozenset()
        if day is None:
            coming = {known for known in known_days if known >= draft.created.date()}
            if len(coming) != 1:
                return len(known_days) > 1  # which of them it means cannot be told
            (day,) = coming  # the flight of last month is over: nothing about it changes
        return bool(its) and day not in its

    def _days(self, told: EventFeatures) -> set[date]:
        """The days on which something under the draft's numbers is known."""
        around = {
            memory.id: memory
            for _, code in told.ids
            for memory in self._graph.memories.mentioning(code, MOST)
        }
        found = (read(m.id, m.text, m.created, m.source, self._known) for m in around.values())
        return {r.day for r in found if r and r.ids & told.ids and r.day is not None}
