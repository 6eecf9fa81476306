"""Where the time of a request goes: its stages, and what in them the models and the database took.

Whoever serves a request has a ``Stopwatch``; a model says with ``measured`` that it is at work, and
the stopwatch of the stage that is open in this context counts it. Nothing is counted elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from store.database.connection import seconds_spent


class Stopwatch:
    """Milliseconds by stage and by part (``agent.results.PARTS``)."""

    def __init__(self) -> None:
        self._stages: dict[str, float] = {}
        self._parts: dict[str, float] = {}
        self._inside = 0.0
        self._start = time.perf_counter()

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Count what is done as this stage, and the parts that are at work in it."""
        tokens = _open.set(self), seconds_spent.set(self._spent)
        start = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - start
            self._stages[stage] = self._stages.get(stage, 0.0) + took
            _open.reset(tokens[0])
            seconds_spent.reset(tokens[1])

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what is done as this part, but for the parts that work for it."""
        outer, self._inside = self._inside, 0.0
        start = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - start
            self._parts[name] = self._parts.get(name, 0.0) + took - self._inside
            self._inside = outer + took

    def _spent(self, seconds: float) -> None:
        self._parts["database"] = self._parts.get("database", 0.0) + seconds
        self._inside += seconds

    def total(self) -> dict[str, float]:
        """Stages in their order, the whole, then the parts."""
        total = {"total": time.perf_counter() - self._start}
        seconds = {**self._stages, **total, **self._parts}
        return {name: round(1000 * took, 1) for name, took in seconds.items()}


_open: ContextVar[Stopwatch | None] = ContextVar("stopwatch", default=None)


@contextmanager
def measured(part: str) -> Iterator[None]:
    """Count what is done as a part of the stage that is open here; also a decorator."""
    clock = _open.get()
    if clock is None:
        yield
        return
    with clock.part(part):
        yield
