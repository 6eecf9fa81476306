"""Building the arrays of a large home: one pass over the texts and two over the vectors.

Lists are the cells of a k-means over a sample (an inverted file; Jégou et al., 2011). Memory stays
below that of the codes twice, as vectors are read in blocks.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from store.database.connection import Connection
from store.derived.large.arrays import Arrays, Ints, Taken, code_of
from store.derived.tokenize import words
from store.derived.view import beside
from store.row_codecs import moment
from store.tables.vectors import Vector, VectorTable
from store.types import Status

LISTS_EACH = 2.0
"""Lists, by the square root of the memories."""
SAMPLE = 32
"""Vectors for each list that its centre is learned from."""
ROUNDS = 6
BLOCK = 4096
_TABLE = """SELECT id, text, status, valid_from, valid_until, created, source FROM memories
    WHERE status <> 'forgotten' ORDER BY id"""


def build(rows: Connection, vectors: VectorTable, taken: Taken) -> Arrays:
    """The arrays of what the database holds; ``taken`` names what was last when this began."""
    model = taken.model
    encoded = np.fromiter(vectors.keys(model), np.int32)
    table = _Table(rows, frozenset(encoded.tolist()))
    vocabulary, starts, postings = table.words()
    before, after = beside(np.array(table.at), np.array(table.source))
    keys = np.array(table.keys, np.int32)
    centres = _centres(vectors, model, len(keys))
    coded = _Coded(vectors, model, keys, centres)
    nearest = coded.nearest
    listed = np.argsort(nearest, kind="stable").astype(np.int32)
    sizes = np.bincount(nearest, minlength=len(centres))
    return Arrays(
        taken=Taken(model, taken.line, taken.last_vector, table.begins_last),
        keys=keys,
        current=np.array(table.current, bool),
        ends=np.array(table.ends),
        before=before.astype(np.int32),
        after=after.astype(np.int32),
        vocabulary=vocabulary,
        word_starts=starts,
        postings=postings,
        centres=centres,
        list_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        listed=listed,
        codes=coded.codes[listed],
        scales=coded.scales[listed],
        mean=coded.mean,
        covariance=coded.covariance,
        bare=np.array(table.bare, np.int32),
    )


class _Table:
    """What is read off the rows of memories."""

    def __init__(self, rows: Connection, encoded: frozenset[int]) -> None:
        self.keys, self.bare, self.source = array("i"), array("i"), array("i")
        self.current = array("b")
        self.at, self.ends = array("d"), array("d")
        self.begins_last = 0.0
        self._number: dict[str, int] = {}
        self._words, self._counts = array("i"), array("i")
        for key, text, status, begins, until, created, source in rows.tuples(_TABLE):
            if key not in encoded:
                self.bare.append(key)
                continue
            self.keys.append(key)
            self.current.append(status == Status.CURRENT.value)
            self.at.append(datetime.fromisoformat(created).timestamp())
            self.source.append(source or 0)
            ends = moment(until)
            self.ends.append(np.inf if ends is None else ends.timestamp())
            if begins is not None:
                last = datetime.fromisoformat(begins).timestamp()
                self.begins_last = max(self.begins_last, last)
            found = set(words(text))
            self._words.extend(self._number.setdefault(word, len(self._number)) for word in found)
            self._counts.append(len(found))

    def words(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], Ints]:
        """The vocabulary, where the rows of each word begin, and these."""
        codes = np.array([code_of(word) for word in self._number], np.uint64)
        order = np.argsort(codes, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        held = rank[np.array(self._words, np.int32)]
        rows = np.repeat(np.arange(len(self.keys), dtype=np.int32), np.array(self._counts))
        starts = np.concatenate([[0], np.cumsum(np.bincount(held, minlength=len(codes)))])
        return codes[order], starts.astype(np.int64), rows[np.argsort(held, kind="stable")]


def _centres(vectors: VectorTable, model: str, count: int) -> Vector:
    """Centres of the lists, of unit length."""
    lists = max(1, round(LISTS_EACH * count**0.5))
    step = max(1, count // (SAMPLE * lists))
    sample = np.concatenate([found for _, found in vectors.blocks(model, every=step)])
    centres = sample[:: max(1, len(sample) // lists)][:lists].copy()
    for _ in range(ROUNDS):
        near = np.concatenate([_nearest(block, centres) for block in _blocks(sample)])
        order = np.argsort(near, kind="stable")
        begins = np.flatnonzero(np.diff(near[order], prepend=-1))
        sums = np.add.reduceat(sample[order], begins, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres[near[order][begins]] = sums / np.maximum(lengths, 1e-9)
    return centres


class _Coded:
    """Of each row the code, its scale, and the list that it belongs to; of all how they spread."""

    def __init__(self, vectors: VectorTable, model: str, keys: Ints, centres: Vector) -> None:
        dimension = centres.shape[1]
        self.codes = np.zeros((len(keys), dimension), np.int8)
        self.scales = np.zeros(len(keys), np.float32)
        self.nearest = np.zeros(len(keys), np.int32)
        total, squares = np.zeros(dimension), np.zeros((dimension, dimension))
        for found, block in vectors.blocks(model, BLOCK):
            numbers = np.array(found)
            rows = np.minimum(np.searchsorted(keys, numbers), len(keys) - 1)
            known = keys[rows] == numbers
            rows, block = rows[known], block[known]
            largest = np.maximum(np.abs(block).max(axis=1), 1e-9)
            self.scales[rows] = largest / 127
            self.codes[rows] = np.rint(block * (127 / largest)[:, None])
            self.nearest[rows] = _nearest(block, centres)
            total += block.sum(axis=0, dtype=np.float64)
            squares += block.T @ block
        mean = total / len(keys)
        self.mean = mean.astype(np.float32)
        self.covariance = (squares / len(keys) - np.outer(mean, mean)).astype(np.float32)


def _nearest(block: Vector, centres: Vector) -> NDArray[np.intp]:
    found: NDArray[np.intp] = np.argmax(block @ centres.T, axis=1)
    return found


def _blocks(sample: Vector) -> Iterator[Vector]:
    for start in range(0, len(sample), BLOCK):
        yield sample[start : start + BLOCK]
