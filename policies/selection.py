"""Result types of a selection; light to import."""

from __future__ import annotations

from dataclasses import dataclass

from store.types import Memory


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
    activated: bool = False
    """Whether the walk began here; else it came along a relation, or the policy does not walk."""
    via: str | None = None
    """The memory that it was reached from."""
    state: tuple[tuple[str, float], ...] = ()
    """What the decision rested on, by name."""
    probability: float | None = None
    """Of taking the memory; None where the policy does not decide by chance."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a policy chose, best first, with the trace of why. An empty one is an abstention."""

    policy: str
    chosen: tuple[Choice, ...]
    trace: tuple[Step, ...]
