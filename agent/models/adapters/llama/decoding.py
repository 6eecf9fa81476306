"""``llama_decode`` with a hook before each call (heartbeat, test faults)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llama_cpp as ll


def _nothing() -> None:
    pass


before_each: Callable[[], None] = _nothing
"""Called before every batch of this process. A worker puts its own function here."""


def decode(context: Any, batch: Any) -> int:
    """llama.cpp's own code: 0 for done."""
    before_each()
    return int(ll.llama_decode(context, batch))
