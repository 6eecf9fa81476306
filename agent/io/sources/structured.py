"""Structured sources (calendars, contact cards), read without a model.

Each reader turns the raw text into items with a key that stays the same when the entry changes.
So a new version of the file is compared entry by entry: a moved appointment replaces itself, one
that was deleted is taken out, and the others are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.errors import UnreadableSource
from agent.results import Remembered
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.journal import Amend, Edit, Forget, Insert, Replace, checked_text
from store.row_codecs import entity_key
from store.types import Draft, Memory, Source, SourceStatus, Status


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One entry of a source as a memory."""

    key: str
    """The same in every version of the file."""
    draft: Draft
    stem: str
    """The part of its text that only changes when the entry does; occurrences pass by."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What a source holds, and one line for each entry that cannot be read."""

    items: tuple[SourceEntry, ...]
    problems: tuple[str, ...]


Reader = Callable[[Source, frozenset[str]], Entries]
"""Reads a source; the names are those of the person, whose own card is told as 'My ...'."""


@dataclass(frozen=True, slots=True)
class TypedPlan:
    """What would be done; nothing is written yet."""

    edits: tuple[Edit, ...]
    unchanged: tuple[str, ...]


def plan_typed(
    items: Sequence[SourceEntry],
    before: dict[str, tuple[SourceEntry, Memory]],
    was: dict[str, str],
    said: dict[str, str],
) -> TypedPlan:
    """Compare a source with what older versions gave and what still holds of it (``before``). Pure.

    ``was`` has the stems of the last version by key, ``said`` the ids of what is remembered
    already by folded text.
    """
    edits: list[Edit] = []
    unchanged: list[str] = []
    seen: set[str] = set()
    for item in items:
        if item.key in seen:
            continue
        seen.add(item.key)
        if item.key in before:
            old, memory = before[item.key]
            if memory.text == item.draft.text:
                unchanged.append(memory.id)
            elif old.stem == item.stem:
                edits.append(Amend(memory.id, text=item.draft.text))
            else:
                edits.append(Replace(memory.id, item.draft))
        elif was.get(item.key) == item.stem:
            # Trigger: the file says what it said before, and the memory no longer holds.
            # Why: the event is over, or the person has corrected or forgotten it since.
            # Outcome: a change elsewhere in the file does not bring it back.
            continue
        elif (known := said.get(folded(item.draft.text))) is not None:
            unchanged.append(known)
        else:
            edits.append(Insert(item.draft))
    edits += [
        Forget(memory.id)
        for key, (_, memory) in before.items()
        if key not in seen and not memory.pinned
    ]
    return TypedPlan(tuple(edits), tuple(unchanged))


def folded(text: str) -> str:
    """Case and spacing make no other statement."""
    return " ".join(text.casefold().split())


def remember_typed(
    source: Source, read: Reader, graph: MemoryGraph, now: datetime
) -> tuple[Remembered, tuple[str, ...]]:
    """Take a typed source all the way, in one transaction; also gives its unreadable entries.

    :raises UnreadableSource: if no entry of it can be read; it is marked FAILED and kept.
    """
    me = own_names(graph)
    try:
        found = read(source, me)
        if not found.items and found.problems:
            raise UnreadableSource(found.problems[0])
        with graph.writing():
            if graph.sources.get(source.id).status is SourceStatus.EXTRACTED:
                return Remembered(graph.sources.get(source.id), (), ()), ()
            older = [
                old
                for old in (graph.sources.list() if source.locator else ())
                if old.locator == source.locator and old.id != source.id
            ]
            before: dict[str, tuple[SourceEntry, Memory]] = {}
            for old in older:
                before |= _gave(old, read, me, graph, now)
            said = {
                folded(memory.text): memory.id
                for memory in graph.memories.list(Status.CURRENT)
                if memory.holds_at(now)
            }
            plan = plan_typed(found.items, before, _stems(older, read, me), said)
            entries = graph.apply(plan.edits, at=now, source=source.id)
            for old in older:
                graph.sources.mark(old.id, SourceStatus.SUPERSEDED)
            graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    except MemlaneError as error:
        graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
        raise
    return Remembered(graph.sources.get(source.id), entries, plan.unchanged), found.problems


def _gave(
    old: Source, read: Reader, me: frozenset[str], graph: MemoryGraph, now: datetime
) -> dict[str, tuple[SourceEntry, Memory]]:
    """What an older version of the file gave and what still holds of it, by key."""
    made = [m for m in graph.memories.made_from(old.id) if m.holds_at(now)]
    if not made:
        return {}
    try:
        items = {item.draft.text: item for item in read(old, me).items}
    except MemlaneError:
        return {}
    stems = {item.stem: item for item in items.values()}
    found = {}
    for memory in made:
        item = items.get(memory.text) or next(
            (item for stem, item in stems.items() if memory.text.startswith(stem)), None
        )
        if item is not None:
            found[item.key] = (item, memory)
    return found


def _stems(older: Sequence[Source], read: Reader, me: frozenset[str]) -> dict[str, str]:
    """What the last version that was taken in says, by key."""
    taken = [old for old in older if old.status is SourceStatus.EXTRACTED]
    try:
        return {item.key: item.stem for item in read(taken[-1], me).items} if taken else {}
    except MemlaneError:
        return {}


def own_names(graph: MemoryGraph) -> frozenset[str]:
    """What the person is called, as entity keys."""
    return frozenset(
        entity_key(triple.tail)
        for triple, _ in graph.memories.neighbours("me")
        if triple.head == "me" and triple.relation == "name"
    )


def text_of(text: str) -> str:
    """A value of an entry on one line."""
    try:
        return checked_text(text)
    except MemlaneError:
        return ""
