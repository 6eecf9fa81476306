"""How much a memory that nobody told still counts, by its age and the half-life of its subclass.

This ranks nothing and deletes nothing: ``memlane today`` proposes what has faded, and the person
decides. The half-lives are chosen by hand; ``benchmarks.decay`` measures them. What the
person told or noted, and what is pinned, has none: it never fades.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from store.tables.taxonomy import ATTRIBUTE, EVENT, PREFERENCE, RELATIONSHIP
from store.types import Memory, Status, Trust

FADED = 0.25
"""Share below which a memory is proposed: after two half-lives in which no answer used it."""
_OF_TYPE = {RELATIONSHIP: 730, PREFERENCE: 365, EVENT: 90, ATTRIBUTE: 365}
_OF_SUBCLASS: dict[str, int | None] = {
    "event.life": 730,
    "event.anniversary": None,
    "attribute.name": None,
    "attribute.birthday": None,
    "attribute.gender": None,
    "attribute.education": None,
    "attribute.identity": None,
    "attribute.health": None,
    "attribute.address": 730,
    "attribute.occupation": 730,
    "attribute.contact": 730,
}
"""Days, where a subclass differs from its type; None for what stays true or must not be missed."""
_OWN_WORDS = (None, Trust.TOLD, Trust.NOTED)


@dataclass(frozen=True, slots=True)
class Faded:
    """A memory that has faded, and the figures that say so."""

    memory: Memory
    half_life: timedelta
    since: datetime
    """When it was read, last used in an answer, or over: the latest of these."""
    left: float
    """From 1 at ``since``, half of it after each half-life."""


def half_life(memory: Memory) -> timedelta | None:
    """None where the memory never fades."""
    if memory.pinned or memory.trust in _OWN_WORDS:
        return None
    days = _OF_SUBCLASS.get(memory.subclass, _OF_TYPE.get(memory.type))
    return None if days is None else timedelta(days=days)


def faded(
    memories: Iterable[Memory], used: Mapping[str, datetime], now: datetime
) -> tuple[Faded, ...]:
    """The current memories of which little is left at ``now``, least first.

    ``used`` says when an answer last rested on a memory.
    """
    found: list[Faded] = []
    for memory in memories:
        half = half_life(memory)
        if half is None or memory.status is not Status.CURRENT:
            continue
        times = (memory.created, memory.valid_from, memory.valid_until, used.get(memory.id))
        since = max(time for time in times if time is not None)
        left = 0.5 ** max((now - since) / half, 0.0)
        if left < FADED:
            found.append(Faded(memory, half, since, left))
    return tuple(sorted(found, key=lambda one: one.left))
