"""What a policy is: it chooses memories for a question from a view of the graph.

A policy knows arrays and the view. It never meets a language model: rewards reach training as
callables, and inference needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from store.types import Memory
from store.view import GraphView


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked, with its unit vector of shape (dimension,) and the time it is asked at."""

    text: str
    vector: NDArray[np.float32]
    now: datetime


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen memory and how well it fits, in [0, 1]."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of a policy, for ``memlane why``."""

    memory: str
    score: float
    chosen: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What a policy chose, best first, with the trace of why. An empty one is an abstention."""

    policy: str
    chosen: tuple[Choice, ...]
    trace: tuple[Step, ...]


class Policy(Protocol):
    """Chooses memories for a question."""

    @property
    def name(self) -> str: ...

    def select(self, question: Question, view: GraphView) -> Selection:
        """Choose from ``view``; it is never changed. An empty view gives an empty selection."""
        ...
