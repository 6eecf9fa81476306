"""Looking into the arrays of a large home: by meaning, and by the words of a question.

Both are rough: a cosine is that of the 8-bit codes in the nearest lists, a word counts by how rare
it is. Whoever asks looks closely at what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from store.derived.cache import rarity
from store.derived.large.arrays import Arrays, Ints
from store.tables.vectors import Vector, product

PROBES = 64
"""Lists that are looked into."""
COMMON = 4
"""A word that more than a part of this size of all memories holds finds nothing."""
AROUND = (1.0, 0.6, 0.3)
"""What a word counts that a memory holds, and that is told one and two steps beside it."""
FEW = 50
"""Words that fewer than a part of this size hold count for what was told around them too."""
Floats = NDArray[np.float32]


def nearest(arrays: Arrays, vector: Vector, mask: NDArray[np.bool_]) -> tuple[Ints, Floats]:
    """Rows of the nearest lists where ``mask`` is true, each with its rough cosine."""
    order = np.argsort(-product(arrays.centres, vector))[:PROBES]
    spans = [slice(int(arrays.list_starts[n]), int(arrays.list_starts[n + 1])) for n in order]
    rows = np.concatenate([arrays.listed[span] for span in spans])
    cosines = np.concatenate([_cosines(arrays, span, vector) for span in spans])
    kept = mask[rows]
    return rows[kept], cosines[kept]


def cosines_of(arrays: Arrays, rows: NDArray[np.integer], vector: Vector) -> Floats:
    """The rough cosine of some rows."""
    return _cosines(arrays, arrays.place[rows], vector)


def _cosines(arrays: Arrays, places: slice | Ints, vector: Vector) -> Floats:
    found = product(arrays.codes[places].astype(np.float32), vector)
    found *= arrays.scales[places]
    return found


def by_words(arrays: Arrays, words: Iterable[str]) -> tuple[Floats, float]:
    """What each row holds of the words, and what the common ones of them come to together.

    Of shape (rows + 1,): to the last place, always 0, leads a row without a neighbour.
    """
    count = len(arrays.keys)
    weight = np.zeros(count + 1, np.float32)
    common = 0.0
    for word in sorted(set(words)):
        rows = arrays.holding(word)
        if not len(rows) or len(rows) * COMMON > count:
            continue
        rare = rarity(len(rows), count)
        weight[rows] += rare
        if len(rows) * FEW > count:
            common += rare
            continue
        for beside in (arrays.before, arrays.after):
            weight[beside[rows]] += AROUND[1] * rare
    weight[-1] = 0.0
    return weight, common


def around(arrays: Arrays, words: Iterable[str], rows: Ints) -> Floats:
    """What each of a few rows and what was told around it hold of the words, as the fusion counts
    it (``policies.baselines.fusion.covered``)."""
    rings = [(rows, rows)]
    for _ in AROUND[1:]:
        one, other = rings[-1]
        rings.append((_beside(arrays.before, one), _beside(arrays.after, other)))
    total = np.zeros(len(rows), np.float32)
    for word in sorted(set(words)):
        holding = arrays.holding(word)
        if not len(holding):
            continue
        nearest = np.zeros(len(rows), np.float32)
        for weight, ring in zip(AROUND[::-1], rings[::-1], strict=True):
            for side in ring:
                place = np.minimum(np.searchsorted(holding, side), len(holding) - 1)
                nearest[holding[place] == side] = weight
        total += rarity(len(holding), len(arrays.keys)) * nearest
    return total


def _beside(stored: Ints, rows: Ints) -> Ints:
    """The rows beside some; -1 for none, and beside none."""
    return np.where(rows < 0, np.int32(-1), stored[rows])


def ring(arrays: Arrays, rows: Sequence[int] | Ints, steps: int) -> list[Ints]:
    """What was told up to so many steps before and after the rows."""
    found = []
    for beside in (arrays.before, arrays.after):
        at = np.asarray(rows, np.int32)
        for _ in range(steps):
            at = beside[at]
            at = at[at >= 0]
            found.append(at)
    return found
