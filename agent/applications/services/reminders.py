"""Upcoming events, birthdays, anniversaries, ends and habits.

One reminder a memory, at its next time; an event that several sources tell of is reminded of once.
What is over, replaced by then or forgotten is never reminded of. What has probably changed is, and
says so: nobody has decided that it is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from agent.applications.services.upcoming import Kind, occasion
from agent.language.dates.values import midnight
from agent.memory.entities.events import events
from agent.memory.entities.identity import Identities
from agent.memory.time.changed import CHANGED, Newer, possibly_newer
from agent.memory.time.timeline import Timeline
from agent.results import Standing
from store.graph import MemoryGraph
from store.types import Memory, Status

DAYS = 14
"""How many days ahead are looked at, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """Something that is coming, and the memory that says so."""

    when: datetime
    """Aware; the first moment of its day where ``all_day``."""
    all_day: bool
    kind: Kind
    text: str
    memory: Memory
    rule: str | None = None
    """How it comes back (RFC 5545)."""
    years: int | None = None
    """How many years a birthday or anniversary makes."""
    changed_by: Memory | None = None
    """What has probably changed the memory, the likeliest."""


def coming(graph: MemoryGraph, now: datetime, days: int = DAYS) -> tuple[Reminder, ...]:
    """What the memories of a graph remind of from ``now`` to the end of the last of ``days``.

    ``now`` is aware; today is the first day. Soonest first.
    """
    memories = graph.memories.list(Status.CURRENT, Status.REPLACED)
    newer = possibly_newer(memories, graph, least=CHANGED, by=now)
    return reminders(memories, now, days, Identities.of(graph, now), newer)


def reminders(
    memories: Sequence[Memory],
    now: datetime,
    days: int,
    known: Identities,
    newer: Mapping[str, Sequence[Newer]] = MappingProxyType({}),
) -> tuple[Reminder, ...]:
    """See ``coming``; ``memories`` are those that were not forgotten, ``newer`` what changes them.

    ``newer`` is by the id of the older memory, the likeliest first.
    """
    wall = now.replace(tzinfo=None)
    last = midnight(wall) + timedelta(days=days)
    line = Timeline(memories)
    found: list[Reminder] = []
    for memory in memories:
        if line.standing(memory, now) not in (Standing.HOLDS, Standing.PLANNED):
            continue
        one = occasion(memory, wall)
        if one is None or one.at >= last:
            continue
        when, end = local(one.at, now), line.periods[memory.id].end
        if end is not None and when > end:
            continue  # by then something else is planned to hold
        changed = next((after.memory for after in newer.get(memory.id, ())), None)
        found.append(
            Reminder(when, one.all_day, one.kind, one.what, memory, one.rule, one.years, changed)
        )
    found.sort(key=lambda one: (one.when, not one.all_day, int(one.memory.id[1:])))
    return tuple(_once(found, known))


def local(wall: datetime, now: datetime) -> datetime:
    """A wall-clock time with its offset there and then: summer time may begin in between.

    Where the clock of ``now`` is not this machine's (``--now``), the offset of ``now``.
    """
    if now.astimezone().utcoffset() == now.utcoffset():
        return wall.astimezone()
    return wall.replace(tzinfo=now.tzinfo)


def _once(found: Sequence[Reminder], known: Identities) -> list[Reminder]:
    """Without what reminds of the same: an event of several memories, or the same words again."""
    of_event = {
        memory: number
        for number, event in enumerate(events((one.memory for one in found), known))
        for memory in event.memories
    }
    kept: dict[tuple[object, object], Reminder] = {}
    for one in found:
        day = one.when.date()
        event = of_event.get(one.memory.id) if one.kind is Kind.EVENT else None
        key = (day, event) if event is not None else (one.when, one.text.casefold())
        if key not in kept or (kept[key].all_day and not one.all_day):
            kept[key] = one  # the one that knows the hour
    return sorted(kept.values(), key=lambda one: one.when)
