"""Groups of related memories for questions (EMG-RAG A.1, Table 10).

The paper asks a language model for associations. A small one names few and wrong ones, and the
graph knows them: memories that share an entity, that tell of one event, that were told in one
breath, or that are near in meaning. Deterministic for a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from agent.language.injection import steers
from store.derived.view import GraphView
from store.types import Memory

MOST = 4
"""Memories that one question may need."""
SIMILAR = 0.5
"""Cosine similarity from which two memories are near in meaning."""
TOLD_TOGETHER = 0.25
"""Cosine similarity from which two memories told in one breath are about the same."""

SameEvent = Callable[[Memory], Sequence[str]]
"""Ids of the memories that tell of the event that this one tells of."""


def associations(
    view: GraphView, *, seed: int = 0, same_event: SameEvent = lambda memory: ()
) -> Iterator[tuple[Memory, ...]]:
    """One to four memories at a time, each set once, in an order drawn with ``seed``.

    Every memory is the first of a set of its own before any is for the second time, so that a short
    run already covers all of the person's life.
    """
    rows = [
        row
        for row, memory in enumerate(view.memories)
        if memory.id in view.current and not steers(memory.text)
    ]
    usable = set(rows)
    random.Random(seed).shuffle(rows)
    ways: list[Callable[[int], Sequence[int]]] = [
        lambda row: _chain(view, row),
        lambda row: (row,),
        lambda row: (row, *_same_event(view, row, same_event)),
        lambda row: (row, *_together(view, row)),
        lambda row: (row, *_similar(view, row)),
    ]
    seen: set[frozenset[int]] = set()
    for turn in range(len(ways)):
        for place, row in enumerate(rows):
            # The ways take turns from memory to memory: singles, chains and the others mix.
            found = [r for r in ways[(place + turn) % len(ways)](row) if r in usable][:MOST]
            if len(found) == 1 and (place + turn) % len(ways) != 1:
                continue  # nothing belongs to it in this way
            if (key := frozenset(found)) not in seen:
                seen.add(key)
                yield tuple(view.memories[r] for r in sorted(found))


def _chain(view: GraphView, row: int) -> Sequence[int]:
    """Along shared entities: one that is linked, and one that only that one is linked to."""
    first = _best(view, row, view.linked(row))
    if not first:
        return (row,)
    beyond = set(view.linked(first[0])) - set(view.linked(row)) - {row}
    return (row, *first, *_best(view, row, sorted(beyond)))


def _same_event(view: GraphView, row: int, same_event: SameEvent) -> Sequence[int]:
    ids = same_event(view.memories[row])
    return [view.row[m] for m in ids if m in view.row and view.row[m] != row][: MOST - 1]


def _together(view: GraphView, row: int) -> Sequence[int]:
    """What was told in the same breath and is not about something else altogether."""
    near = view.vectors @ view.vectors[row]
    return [r for r in view.near(row) if near[r] >= TOLD_TOGETHER]


def _similar(view: GraphView, row: int) -> Sequence[int]:
    near = view.vectors @ view.vectors[row]
    near[row] = -1.0
    best = int(near.argmax())
    return (best,) if near[best] >= SIMILAR else ()


def _best(view: GraphView, row: int, rows: Sequence[int]) -> Sequence[int]:
    """Of some rows the one nearest in meaning."""
    if not rows:
        return ()
    near = view.vectors[np.asarray(rows)] @ view.vectors[row]
    return (rows[int(near.argmax())],)
