"""The part of a large home that matters to a question, as a view.

It holds what the words and the meaning of the question find, what was told around that or is linked
with it, and everything that is newer than the arrays. Beside these stands an even sample of the
home, each row of which counts for many: the means and spreads by which policies measure are those
of the whole home, not those of what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from store.database.connection import Connection
from store.derived.cache import DerivedCache
from store.derived.large import search
from store.derived.large.arrays import Arrays, Ints
from store.derived.large.index import LargeIndex
from store.derived.tokenize import words
from store.derived.view import SELF, GraphView, beside
from store.tables.vectors import Vector, highest
from store.types import Memory

RUNS, RUN, EDGE = 256, 16, 2
"""The sample: so many runs of so many rows; those at an edge have no neighbour, and count
nothing."""
LONG_RUNS, LONG = 384, 128
"""The same, larger, for how words spread: their sums differ more from row to row."""
NOTHING = 1e-3
"""What a row counts that counts nothing: not 0, or a few of these alone would have no mean."""
BY_BOTH, BY_MEANING, BY_WORDS, NEWEST = 80, 40, 20, 20
"""Memories that each way finds."""
ROUGHLY = 500
"""Memories that hold most of the words, and then of these and the nearest, that are looked at."""
CENTRE, LINKED = 30, 8
"""Of the best so many bring what was told around them, and what shares an entity with them."""
NEAR = 16
"""Memories of one entity that are brought."""
MOST_KEPT = 200_000
"""Memories that the cache may hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Sought:
    """A question, or what else memories are wanted for, with its unit vector."""

    text: str
    vector: Vector


class Sample:
    """See ``store.derived.view.WordSample``: long runs of rows, evenly over the home."""

    def __init__(self, arrays: Arrays) -> None:
        count = len(arrays.keys)
        starts = np.linspace(0, max(0, count - LONG), LONG_RUNS).astype(np.intp)
        rows = np.unique(starts[:, None] + np.arange(min(LONG, count)))
        self.size = len(rows)
        place = np.full(count + 1, -1, np.int32)  # -1 leads to -1
        place[rows] = np.arange(len(rows), dtype=np.int32)
        before, after = place[arrays.before[rows]], place[arrays.after[rows]]
        self.neighbours = np.append(before, np.int32(-1)), np.append(after, np.int32(-1))
        self._arrays = arrays
        postings = place[arrays.postings]
        inside = postings >= 0
        self._postings = postings[inside]
        self._starts = np.append(0, np.cumsum(inside, dtype=np.int32))[arrays.word_starts]

    def holding(self, word: str) -> Ints:
        place = self._arrays.place_of(word)
        if place is None:
            return self._postings[:0]
        return self._postings[self._starts[place] : self._starts[place + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class WholeHome:
    """See ``store.derived.view.Whole``."""

    size: int
    arrays: Arrays
    sample: Sample

    def count_of(self, word: str) -> int:
        return len(self.arrays.holding(word))

    def of_cosines(self, vector: Vector) -> tuple[float, float]:
        mean, spread = self.arrays.mean @ vector, vector @ self.arrays.covariance @ vector
        return float(mean), max(float(spread), 0.0) ** 0.5


class Parts:
    """Views of one large home."""

    def __init__(self, rows: Connection, index: LargeIndex) -> None:
        self._rows = rows
        self._index = index
        self._arrays: Arrays | None = None
        self._cache = DerivedCache()

    def about(self, asked: Sequence[Sought], now: datetime, *, history: bool) -> GraphView:
        """The part that matters to what is asked."""
        index, arrays = self._index, self._index.arrays
        if self._arrays is not arrays or len(self._cache.memories) > MOST_KEPT:
            self._begin(now)
        mask = index.usable(now, history=history)
        found = [self._found(one, mask) for one in asked]
        newest = np.arange(max(0, len(mask) - NEWEST), len(mask), dtype=np.int32)
        rows = np.concatenate([*found, newest])
        rows = np.unique(rows[mask[rows]])
        if history:
            rows = self._with_successors(rows, mask)
        return self._view(rows, mask, now, history=history)

    def _begin(self, now: datetime) -> None:
        """Read the sample."""
        index, arrays = self._index, self._index.arrays
        starts = np.linspace(0, max(0, len(arrays.keys) - RUN), RUNS).astype(np.intp)
        rows = np.unique(starts[:, None] + np.arange(min(RUN, len(arrays.keys))))
        rows = rows[index.usable(now, history=True)[rows]]
        self._sample = rows.astype(np.int32)
        self._inner = np.isin(rows, starts[:, None] + np.arange(EDGE, RUN - EDGE))
        keys = arrays.keys[rows].tolist()
        self._vectors = np.stack([*map(index.vectors_of(keys).__getitem__, keys)])
        self._memories = index.memories_of(keys)
        self._cache = DerivedCache()
        self._numbers = self._cache.numbers(self._memories)
        self._words = Sample(arrays)
        self._arrays = arrays

    # ---- finding --------------------------------------------------------------------------

    def _found(self, asked: Sought, mask: NDArray[np.bool_]) -> Ints:
        """Rows by meaning, by words and by both, with what belongs to the best."""
        arrays = self._index.arrays
        told = words(asked.text)
        weight, common = search.by_words(arrays, told)
        near, cosines = search.nearest(arrays, asked.vector, mask)
        worded = np.flatnonzero(weight[:-1] > common).astype(np.int32)
        if len(worded) < ROUGHLY:
            worded = np.flatnonzero(weight[:-1]).astype(np.int32)
        worded = worded[mask[worded]]
        worded = worded[highest(weight[worded], ROUGHLY)]
        # As the fusion adds them: each in deviations of the home.
        _, spread = WholeHome(0, arrays, self._words).of_cosines(asked.vector)
        others = float(weight[self._sample].std()) or 1.0
        rows = np.concatenate([near, worded])
        alike = np.concatenate([cosines, search.cosines_of(arrays, worded, asked.vector)])
        alike /= spread or 1.0
        rough = highest(alike + weight[rows] / others, ROUGHLY)
        rows, alike = rows[rough], alike[rough]
        both = alike + search.around(arrays, told, rows) / others
        found = [
            rows[highest(both, BY_BOTH)],
            near[highest(cosines, BY_MEANING)],
            worded[highest(weight[worded], BY_WORDS)],
            self._linked(rows[highest(both, LINKED)]),
            *search.ring(arrays, rows[highest(both, CENTRE)], len(search.AROUND) - 1),
        ]
        return np.concatenate(found)

    def _linked(self, rows: Ints) -> Ints:
        """Rows that share an entity with one of these; of a hub those told nearest."""
        marks = ",".join(map(str, self._index.arrays.keys[rows].tolist()))
        found: set[int] = set()
        for memory, entity in self._rows.tuples(_ENTITIES.format(marks), [SELF]):
            near = [entity, entity, memory, entity, memory]
            found.update(key for (key,) in self._rows.tuples(_SHARING, near))
        return self._index.arrays.rows_of(found).astype(np.int32)

    def _with_successors(self, found: Ints, mask: NDArray[np.bool_]) -> Ints:
        """With what took the place of each memory, and whose place it took."""
        arrays = self._index.arrays
        keys = arrays.keys[found].tolist()
        more: list[int] = []
        for start in range(0, len(keys), 500):
            marks = ",".join(map(str, keys[start : start + 500]))
            more += [key for (key,) in self._rows.tuples(_SUCCESSION.format(marks))]
        rows = arrays.rows_of(more).astype(np.int32)
        return np.unique(np.concatenate([found, rows[mask[rows]]]))

    # ---- the view -------------------------------------------------------------------------

    def _view(
        self, found: Ints, mask: NDArray[np.bool_], now: datetime, *, history: bool
    ) -> GraphView:
        """The view of the rows found, of the sample, and of what is newer than the arrays."""
        index, arrays = self._index, self._index.arrays
        drawn = mask[self._sample]
        sample, counts = self._sample[drawn], self._inner[drawn]
        beyond = found[~np.isin(found, sample)]
        fresh = index.fresh(history=history)
        own = [*arrays.keys[beyond].tolist(), *fresh]
        vectors = index.vectors_of(own)
        memories = index.memories_of(own)
        # In the order of ids, as every view.
        keys = np.concatenate([arrays.keys[sample], np.array(own, np.int32)])
        order = np.argsort(keys, kind="stable")
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        ours, theirs = place[: len(sample)], place[len(sample) :]
        known = tuple(compress(self._memories, drawn.tolist()))
        listed = [*known, *memories]
        stacked = np.empty((len(keys), self._vectors.shape[1]), np.float32)
        stacked[ours] = self._vectors if len(known) == len(drawn) else self._vectors[drawn]
        if own:
            stacked[theirs] = np.stack([vectors[key] for key in own])
        numbers = np.empty(len(keys), np.int32)
        numbers[ours] = self._numbers[drawn]
        numbers[theirs] = self._cache.numbers(memories)
        size = int(np.count_nonzero(mask)) + len(fresh)
        weights = np.ones(len(keys), np.float32)
        weights[ours] = _weights(np.isin(sample, found), counts, size - len(own))
        view = GraphView(
            tuple(listed[n] for n in order),
            stacked,
            frozenset(m.id for m in listed if not history or m.holds_at(now)),
            self._cache,
            WholeHome(size, arrays, self._words),
            weights,
        )
        rows = np.concatenate([sample, beyond])
        vars(view).update(
            numbers=numbers,
            neighbours=self._neighbours(rows, place, memories[len(beyond) :]),
            begins_last=self._begins_last(memories[len(beyond) :]),
        )
        return view

    def _neighbours(
        self, rows: Ints, place: NDArray[np.intp], fresh: Sequence[Memory]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Who was told beside whom: of ``rows``, then of what is newer, which stands last."""
        rising = np.argsort(rows)
        at = np.array([memory.created.timestamp() for memory in fresh])
        names = {m.source: number for number, m in enumerate(fresh, 1) if m.source is not None}
        source = np.array([names.get(memory.source or "", 0) for memory in fresh], np.int32)
        told = beside(at, source)
        made = []
        arrays = self._index.arrays
        for stored, new in zip((arrays.before, arrays.after), told, strict=True):
            wanted = stored[rows]
            found = np.minimum(np.searchsorted(rows[rising], wanted), len(rows) - 1)
            here = rows[rising][found] == wanted
            near = np.full(len(place), -1, np.intp)
            near[place[: len(rows)][here]] = place[rising[found[here]]]
            linked = new >= 0
            near[place[len(rows) :][linked]] = place[len(rows) :][new[linked]]
            made.append(near)
        return made[0], made[1]

    def _begins_last(self, fresh: Sequence[Memory]) -> datetime | None:
        """The latest time from which a memory of the home holds."""
        last = self._index.arrays.taken.begins_last
        known = [datetime.fromtimestamp(last, UTC)] if last else []
        return max((*known, *(m.valid_from for m in fresh if m.valid_from)), default=None)


def _weights(
    found: NDArray[np.bool_], inner: NDArray[np.bool_], others: int
) -> NDArray[np.float32]:
    """What each row of the sample stands for among so many ``others``: itself where it was found,
    its share of what was not where it is no edge of a run."""
    stands = inner & ~found
    share = (others - int(found.sum())) / max(1, int(stands.sum()))
    weights = np.where(stands, max(1.0, share), NOTHING)
    weights[found] = 1.0
    return weights.astype(np.float32)


_ENTITIES = """SELECT memory, head FROM relations JOIN entities ON entities.id = head
    WHERE memory IN ({0}) AND key <> ?1
    UNION SELECT memory, tail FROM relations JOIN entities ON entities.id = tail
    WHERE memory IN ({0}) AND key <> ?1"""
_SHARING = f"""SELECT * FROM (SELECT memory FROM relations WHERE head = ? LIMIT {NEAR})
    UNION SELECT * FROM (SELECT memory FROM relations WHERE tail = ? AND memory <= ?
                         ORDER BY memory DESC LIMIT {NEAR // 2})
    UNION SELECT * FROM (SELECT memory FROM relations WHERE tail = ? AND memory >= ?
                         ORDER BY memory LIMIT {NEAR // 2})"""
_SUCCESSION = """SELECT replaced_by FROM memories WHERE id IN ({0}) AND replaced_by IS NOT NULL
    UNION SELECT id FROM memories WHERE replaced_by IN ({0})"""
