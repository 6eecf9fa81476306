"""Question flag and day of each memory, for the fusion.

Kept by number in a cache, and as arrays with a view.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policies.scoring.features import asks, days_in
from store.derived.view import GraphView
from store.types import Memory


class MemoryFlags:
    """By number: whether a memory is a question; year, month and day of what it tells."""

    def __init__(self) -> None:
        self.asks = array("b")
        self.days = array("h")
        """Three a memory."""

    def catch_up(self, memories: Sequence[Memory]) -> None:
        for number in range(len(self.asks), len(memories)):
            memory = memories[number]
            day = memory.valid_from or memory.created
            self.asks.append(asks(memory))
            self.days.extend((day.year, day.month, day.day))


def asking(view: GraphView) -> NDArray[np.float32]:
    """1 for the rows that ask something."""
    return np.array(view.index(MemoryFlags).asks, np.float32)[view.numbers]


def on_days_of(text: str, view: GraphView) -> NDArray[np.float32]:
    """1 for the rows of a day, month or year that the text names."""
    found = np.zeros(len(view.memories), bool)
    for named in days_in(text):
        day = np.array([named.year, named.month, named.day])
        said = day > 0
        if said.any():
            found |= (view.once(_days)[:, said] == day[said]).all(axis=1)
    return found.astype(np.float32)


def _days(view: GraphView) -> NDArray[np.int16]:
    return np.array(view.index(MemoryFlags).days, np.int16).reshape(-1, 3)[view.numbers]
