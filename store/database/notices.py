"""One line for whoever is waiting: what takes long, and what a model met and got over.

The line goes to whoever is served in this context: a terminal, or the client of the resident
process. Where nobody listens it goes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

log = logging.getLogger("memlane.notices")

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Send notices of this context to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def notify(line: str) -> None:
    """Tell whoever listens, in one line; the log has it too."""
    listener = _listener.get()
    # A warning that no handler takes is printed, and whoever listens would read it twice.
    log.log(logging.INFO if listener else logging.WARNING, "%s", line)
    if listener:
        listener(line)
