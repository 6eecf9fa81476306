"""Policy protocol: choose memories for a question from a graph view.

A policy knows arrays and the view. It never meets a language model: rewards reach training as
callables, and inference needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from policies.selection import Selection
from store.derived.view import GraphView


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked, with its unit vector of shape (dimension,) and the time it is asked at."""

    text: str
    vector: NDArray[np.float32]
    now: datetime


class Policy(Protocol):
    """Chooses memories for a question."""

    @property
    def name(self) -> str: ...

    def select(self, question: Question, view: GraphView) -> Selection:
        """Choose from ``view``; it is never changed. An empty view gives an empty selection."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """A question as training meets it: what could be chosen, and what should be if that is known.

    ``key`` names the episode in logs and caches. ``required`` are the ids of the memories that the
    answer needs (EMG-RAG section 4.1, step 3); empty where nothing should be chosen, None where
    nobody knows.
    """

    key: str
    question: Question
    view: GraphView
    required: frozenset[str] | None = None


Value = Callable[[Episode, Sequence[tuple[str, ...]]], Sequence[float]]
"""What answers are worth with each of several selections (ids, in order), the empty one included.

The reward of a step is the difference that it makes (EMG-RAG equation 3). Asked for many at once,
so that whoever computes it can share their work.
"""
