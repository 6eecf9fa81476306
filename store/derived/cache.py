"""Cache of data derived from memories, updated incrementally.

Reading the words or the entities of 100,000 memories takes a second or two, an edit changes one or
two of them. So every version of a memory that a view ever showed gets a number, which is never
given again, and whatever is derived by number only has to catch up with the numbers it lacks.
Invariant: what is derived depends on the memory alone, never on when it was seen.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from store.row_codecs import entity_key
from store.types import Memory

STALE = 1000
"""Old versions from which, where they outnumber the others, a new cache is worth its making."""


def rarity(count: int, among: int) -> float:
    """What a word counts that ``count`` of ``among`` memories hold; never negative."""
    return math.log1p((among - count + 0.5) / (count + 0.5))


class Derived(Protocol):
    """Something that is kept in a cache; it is made empty."""

    def catch_up(self, memories: Sequence[Memory]) -> None:
        """Derive from those of all numbered memories that are new since the last call."""
        ...


_D = TypeVar("_D", bound=Derived)


class DerivedCache:
    """Numbered memories, and what was derived from them."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        """By number; old versions too."""
        self._number: dict[str, int] = {}
        """Of the latest version, by id."""
        self._derived: dict[type[Derived], Derived] = {}
        self._last: tuple[tuple[Memory, ...], NDArray[np.int32]] = (), np.zeros(0, np.int32)
        """What was numbered last: most edits add to it."""

    def numbers(self, memories: tuple[Memory, ...]) -> NDArray[np.int32]:
        """The number of each memory, given to what is new or has changed."""
        known, all_of_them = self._number, self.memories
        found = np.empty(len(memories), np.int32)
        last, numbered = self._last
        shared = len(last) if memories[: len(last)] == last else 0
        found[:shared] = numbered[:shared]
        for row, memory in enumerate(memories[shared:], shared):
            number = known.get(memory.id)
            if number is None or (
                all_of_them[number] is not memory and all_of_them[number] != memory
            ):
                number = known[memory.id] = len(all_of_them)
                all_of_them.append(memory)
            found[row] = number
        self._last = memories, found
        return found

    @property
    def stale(self) -> bool:
        """Whether most of what is numbered is old, so that a new cache would be smaller."""
        return len(self.memories) - len(self._number) > max(STALE, len(self._number))

    def of(self, kind: type[_D]) -> _D:
        """The one of this kind, with all that is numbered by now."""
        if kind not in self._derived:
            self._derived[kind] = kind()
        self._derived[kind].catch_up(self.memories)
        return cast(_D, self._derived[kind])


class Postings:
    """Which numbers hold a key (a word, an entity), and how often."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, number: int, counts: Mapping[str, int]) -> None:
        """Numbers come in rising order."""
        for key, count in counts.items():
            found = self._found.get(key)
            if found is None:
                found = self._found[key] = array("i"), array("H")
            found[0].append(number)
            found[1].append(min(count, 65_535))

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def of(self, key: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Numbers and counts of a key; empty where nothing holds it."""
        numbers, counts = self._found.get(key, (array("i"), array("H")))
        return np.array(numbers, np.int32), np.array(counts, np.float32)


class Entities:
    """Layer 3 by number: the entities of each memory, and the memories of each entity."""

    def __init__(self) -> None:
        self.keys: list[frozenset[str]] = []
        self.postings = Postings()

    def catch_up(self, memories: Sequence[Memory]) -> None:
        for number in range(len(self.keys), len(memories)):
            ends = (end for t in memories[number].triples for end in (t.head, t.tail))
            keys = frozenset(map(entity_key, ends))
            self.keys.append(keys)
            self.postings.add(number, dict.fromkeys(keys, 1))


class TellingTimes:
    """When each was told, in seconds, and in which source: 0 where none is known."""

    def __init__(self) -> None:
        self.at = array("d")
        self.source = array("i")
        self._sources: dict[str, int] = {}

    def catch_up(self, memories: Sequence[Memory]) -> None:
        for number in range(len(self.at), len(memories)):
            memory = memories[number]
            self.at.append(memory.created.timestamp())
            source = memory.source
            known = self._sources.setdefault(source, len(self._sources) + 1) if source else 0
            self.source.append(known)
