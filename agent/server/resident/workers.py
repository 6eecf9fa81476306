"""Worker threads, each with its own session.

A job that nobody waits for any more is stopped at its next word or step: it raises ``Stopped``
there, which no code takes for a failure, so what it had stored raw stays PENDING.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """Nobody waits for this any more, or somebody else comes first."""


class Lane:
    """One thread with its queue."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._current: threading.Event | None = None
        self._giving_way: threading.Event | None = None

    async def do(
        self, job: Callable[[], T], stop: threading.Event, *, gives_way: bool = False
    ) -> T:
        """Run ``job`` when its turn has come; setting ``stop`` ends it, before or at its next step.

        One that ``gives_way`` is stopped when another one is asked for.

        :raises Stopped: if it was.
        """
        if gives_way:
            self._giving_way = stop
        elif self._giving_way is not None:
            self._giving_way.set()

        def run() -> T:
            self._current = stop
            try:
                self.check()
                return job()
            finally:
                self._current = None

        try:
            # Whoever is served hears what the models have to say (``store.database.notices``).
            here = copy_context()
            return await asyncio.get_running_loop().run_in_executor(self._pool, here.run, run)
        except asyncio.CancelledError:
            stop.set()
            raise
        finally:
            if self._giving_way is stop:
                self._giving_way = None

    def check(self) -> None:
        """Called within a job. :raises Stopped: if it should go no further."""
        if self._current is not None and self._current.is_set():
            raise Stopped

    def close(self, seconds: float) -> bool:
        """Stop what runs and drop what waits; False if it has not ended in this time."""
        if self._current is not None:
            self._current.set()
        ended = threading.Event()
        threading.Thread(target=self._end, args=(ended,), daemon=True).start()
        return ended.wait(seconds)

    def _end(self, ended: threading.Event) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        ended.set()
