"""In which order the model reads the chosen memories, and what of their relations it is told.

Measured by ``python -m benchmarks.answer_order``; docs/why.md tells what came of it. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from policies.base import Choice
from store.records import entity_key
from store.types import Memory

Arrange = Callable[[Sequence[Choice]], list[Choice]]
_ME = entity_key("me")


def best_first(chosen: Sequence[Choice]) -> list[Choice]:
    """As they were selected."""
    return list(chosen)


def best_last(chosen: Sequence[Choice]) -> list[Choice]:
    """The best one beside the question, which follows the notes."""
    return list(reversed(chosen))


def by_time(chosen: Sequence[Choice]) -> list[Choice]:
    """Oldest first: by when it began to hold, else by when it was told."""
    return sorted(chosen, key=lambda c: (c.memory.valid_from or c.memory.created, c.memory.id))


def by_entity(chosen: Sequence[Choice]) -> list[Choice]:
    """What shares an entity stands together, the group of the best one first."""
    left = list(chosen)
    found: list[Choice] = []
    while left:
        group = [left.pop(0)]
        ends = _ends(group[0].memory)
        while linked := [choice for choice in left if _ends(choice.memory) & ends]:
            group += linked
            left = [choice for choice in left if choice not in linked]
            ends |= frozenset().union(*(_ends(choice.memory) for choice in linked))
        found += group
    return found


def _ends(memory: Memory) -> frozenset[str]:
    """Its entities but the person, whom nearly every memory is about."""
    ends = (entity_key(end) for triple in memory.triples for end in (triple.head, triple.tail))
    return frozenset(ends) - {_ME}


ARRANGEMENTS: Mapping[str, Arrange] = {
    "best_first": best_first,
    "best_last": best_last,
    "by_time": by_time,
    "by_entity": by_entity,
}


def hint(memory: Memory) -> str:
    """A memory's relations in a few words: 'lives in: Tampines'."""
    return "; ".join(f"{t.relation.replace('_', ' ')}: {t.tail}" for t in memory.triples[:2])
