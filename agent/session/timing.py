"""Timing of the stages of a message."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self._stages: dict[str, float] = {}
        self._start = time.perf_counter()

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[stage] = round((time.perf_counter() - start) * 1000, 1)

    def total(self) -> dict[str, float]:
        return {**self._stages, "total": round((time.perf_counter() - self._start) * 1000, 1)}
