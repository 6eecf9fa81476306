"""How much of the machine's memory the resident process holds on to (glibc; elsewhere nothing)."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_ARENA_MAX, _ARENAS = -8, 2
"""The option's number in malloc.h. By default each thread has an arena, and none reuses what
another one freed."""


def share_arenas() -> None:
    """Let threads allocate from the same memory; before they begin."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)


def give_back_freed() -> None:
    """Give freed memory back to the system: glibc keeps it to itself until it is asked for it."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
