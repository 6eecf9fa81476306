"""GraphView: read-only snapshot for policies.

What is derived from a view is derived when it is first asked for and kept with it; what depends on
single memories is kept in a cache, beyond the view (``store.derived.cache``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from store.derived.cache import Derived, DerivedCache, Entities, TellingTimes
from store.row_codecs import entity_key
from store.types import Memory

NEAR_SECONDS = 3600.0
"""Within which two memories were told one after the other, if no source says so."""
HUB = 32
"""Memories of one entity that count as linked: of a person's best friend those told nearest."""
SELF = "me"
"""The person, whom nearly every memory is about: no link."""
_T = TypeVar("_T")
_D = TypeVar("_D", bound=Derived)


class WordSample(Protocol):
    """Some thousand memories of a large home, by what words they hold."""

    @property
    def size(self) -> int: ...

    @property
    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The row told just before and after each, -1 for none; of size + 1, the last is -1."""
        ...

    def holding(self, word: str) -> NDArray[np.int32]:
        """The rows of the sample that hold a word."""
        ...


class Whole(Protocol):
    """The large home that a view holds a part of."""

    @property
    def size(self) -> int:
        """Memories that may be used now."""
        ...

    @property
    def sample(self) -> WordSample: ...

    def count_of(self, word: str) -> int:
        """How many memories hold a word."""
        ...

    def of_cosines(self, vector: NDArray[np.float32]) -> tuple[float, float]:
        """Mean and spread of the cosines of all memories with a vector."""
        ...


@dataclass(frozen=True)
class GraphView:
    """Memories that may be used now, their vectors, and what links them.

    In a large home these are the part that matters to a question (``store.derived.large``).
    """

    memories: tuple[Memory, ...]
    vectors: NDArray[np.float32]
    """Unit vectors, shape (len(memories), dimension), rows in the order of ``memories``."""
    current: frozenset[str] = field(default=frozenset())
    """Ids of those that hold now; the rest are history, there because it was asked for."""
    cache: DerivedCache = field(default_factory=DerivedCache, repr=False, compare=False)
    """What other views of the same graph have derived already."""
    whole: Whole | None = field(default=None, repr=False, compare=False)
    """Of what this is a part; None where it is everything."""
    weights: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    """How many memories of the whole each row stands for, in means and spreads; None: one each."""
    _kept: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    def narrowed(self, rows: Sequence[int]) -> GraphView:
        """The view with these rows alone, in this order; the cache is shared."""
        if len(rows) == len(self.memories):
            return self
        chosen = np.asarray(rows, np.intp)
        memories = tuple(self.memories[row] for row in rows)
        weights = None if self.weights is None else self.weights[chosen]
        view = GraphView(
            memories, self.vectors[chosen], self.current, self.cache, self.whole, weights
        )
        vars(view)["numbers"] = self.numbers[chosen]  # the cached property, known already
        if self.whole is not None:  # what is missing in a part lies between its rows
            places = np.full(len(self.memories) + 1, -1, np.intp)  # -1 leads to -1
            places[chosen] = np.arange(len(chosen))
            before, after = (places[rows[chosen]] for rows in self.neighbours)
            vars(view)["neighbours"] = before, after
        return view

    @property
    def size(self) -> int:
        """How many memories may be used, whether or not they are in this part."""
        return len(self.memories) if self.whole is None else self.whole.size

    def evenly(self, count: int) -> NDArray[np.intp]:
        """About so many rows that stand for all of them."""
        rows = np.arange(len(self.memories))
        if self.weights is not None:
            rows = rows[self.weights > 1]
        return rows[:: max(1, len(rows) // count)]

    def once(self, make: Callable[[GraphView], _T]) -> _T:
        """``make(view)``, made at the first call and kept as long as the view."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return cast(_T, self._kept[make])

    def index(self, kind: type[_D]) -> _D:
        """The index of this kind in the cache, with all memories of this view by their number."""
        if kind not in self._kept:
            # Numbered first: an index catches up with what has a number.
            self._kept[kind] = self.cache.of(kind) if len(self.numbers) else kind()
        return cast(_D, self._kept[kind])

    # ---- positions ------------------------------------------------------------------------

    @cached_property
    def row(self) -> dict[str, int]:
        """Position of each memory by id."""
        return {memory.id: index for index, memory in enumerate(self.memories)}

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """The number of each row in the cache."""
        return self.cache.numbers(self.memories)

    def rows_of(self, numbers: NDArray[np.int32]) -> NDArray[np.intp]:
        """The row of each number of the cache; -1 for what is not in this view."""
        table = self.once(_row_by_number)
        # What was numbered after this view was made is not in it: the last entry is -1.
        return table[np.minimum(numbers, len(table) - 1)]

    @cached_property
    def begins_last(self) -> datetime | None:
        """The latest time from which a memory holds; one after now is a plan."""
        return max((m.valid_from for m in self.memories if m.valid_from), default=None)

    # ---- neighbours -----------------------------------------------------------------------

    def about(self, entity: str) -> NDArray[np.intp]:
        """Rows of the memories that have this entity (a name or its key), rising."""
        numbers, _ = self.index(Entities).postings.of(entity_key(entity))
        rows = self.rows_of(numbers)
        return np.sort(rows[rows >= 0])

    def knows(self, entity: str) -> bool:
        """Whether a memory has this entity (a name or its key)."""
        # Most words of a question are no entity of any memory, which is found out at once.
        known = entity_key(entity) in self.index(Entities).postings
        return known and len(self.about(entity)) > 0

    def entities(self, row: int) -> frozenset[str]:
        """Keys of the entities of a memory, the person included."""
        number = int(self.numbers[row])
        return self.index(Entities).keys[number]

    def linked(self, row: int) -> tuple[int, ...]:
        """Rows of memories that share an entity with this one, rising.

        The person is no link. Of an entity with very many memories, the ``HUB`` told nearest.
        """
        found: set[int] = set()
        few: list[NDArray[np.int32]] = []
        postings = self.index(Entities).postings
        for key in self.entities(row) - {SELF}:
            if len(numbers := postings.of(key)[0]) <= HUB:
                few.append(numbers)
                continue
            rows = self.about(key)
            if len(rows) > HUB:
                first = max(0, min(int(np.searchsorted(rows, row)) - HUB // 2, len(rows) - HUB))
                rows = rows[first : first + HUB]
            found.update(rows.tolist())
        if few:  # together: a memory has several entities, and each search costs
            found.update(self.rows_of(np.concatenate(few)).tolist())
        return tuple(sorted(found - {row, -1}))

    def near(self, row: int) -> tuple[int, ...]:
        """Rows of what was told just before and just after, in one source or within an hour."""
        before, after = self.neighbours
        return tuple(int(n) for n in (before[row], after[row]) if n >= 0)

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each row the one told just before it and the one just after it; -1 for none."""
        numbers = self.numbers
        told = self.index(TellingTimes)
        return beside(np.array(told.at)[numbers], np.array(told.source)[numbers])


def beside(
    at: NDArray[np.float64], source: NDArray[np.integer]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each row the one told just before it and the one just after it; -1 for none.

    ``at`` is when each was told, in seconds; ``source`` the number of what it was told in, or 0.
    """
    before = np.full(len(at), -1, np.intp)
    after = before.copy()
    order = np.argsort(at, kind="stable")
    one, other = order[:-1], order[1:]
    same = (source[one] == source[other]) & (source[one] > 0)
    joined = same | (at[other] - at[one] <= NEAR_SECONDS)
    before[other[joined]] = one[joined]
    after[one[joined]] = other[joined]
    return before, after


def _row_by_number(view: GraphView) -> NDArray[np.intp]:
    numbers = view.numbers
    table = np.full(int(numbers.max(initial=-1)) + 2, -1, np.intp)
    table[numbers] = np.arange(len(numbers))
    return table
