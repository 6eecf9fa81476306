"""What has probably changed: memories and those that may have taken their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from store.graph import MemoryGraph
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Status, may_replace

CHANGED = 0.5
"""Probability of a change from which the older memory is taken to hold no longer: it is calibrated,
so what more likely holds is not hidden."""
_REPLACING = (ChangeKind.SUPERSEDES, ChangeKind.CORRECTS, ChangeKind.ENDS)


class Newer(NamedTuple):
    """A memory that may have changed an older one, and how."""

    memory: Memory
    change: ChangeKind
    probability: float


def probably_ended(
    known: Callable[[str], Memory | None], graph: MemoryGraph, *, least: float
) -> dict[str, Memory]:
    """By their ids, memories that another one probably ended, as they are if it did.

    For the timeline of a question about what was before; nothing is stored. Only edges of at least
    this probability count, between memories that no edit has ended.
    """
    ended: dict[str, Memory] = {}
    for edge in graph.change_edges.open():  # likeliest first
        if edge.probability < least or edge.change not in _REPLACING or edge.older in ended:
            continue
        old, new = known(edge.older), known(edge.newer)
        if old is None or new is None or not may_replace(new.trust, old.trust):
            continue
        ends = edge.change is ChangeKind.ENDS
        if not ends and new.valid_until is not None and new.valid_until <= new.created:
            continue  # 'I lived in Oslo until 2019' takes no other address's place
        end = new.valid_from or new.created
        until = end if old.valid_until is None else min(end, old.valid_until)
        after = None if ends else new.id
        ended[old.id] = replace(old, status=Status.REPLACED, valid_until=until, replaced_by=after)
    return ended


def possibly_newer(
    memories: Sequence[Memory], graph: MemoryGraph, *, least: float, by: datetime
) -> dict[str, tuple[Newer, ...]]:
    """By the id of each memory that may have been changed, what may have changed it ``by`` then.

    The likeliest comes first. Only edges of at least this probability count. What begins later has
    changed nothing yet; what is trusted too little changes nothing (``store.types.may_replace``).
    """
    known = {memory.id: memory for memory in memories}
    newer: dict[str, tuple[Newer, ...]] = {}
    for edge in graph.change_edges.of(known):  # likeliest first
        if edge.probability < least or edge.change not in _REPLACING:
            continue
        old, new = known.get(edge.older), known.get(edge.newer)
        if not (old and new and may_replace(new.trust, old.trust)):
            continue
        if (new.valid_from or new.created) <= by:
            newer[edge.older] = (
                *newer.get(edge.older, ()),
                Newer(new, edge.change, edge.probability),
            )
    return newer
