"""A synchronisation in a process of its own that is killed on the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.io.sync import run
from agent.io.sync.run import synchronise
from store.database.connection import Connection
from store.graph import MemoryGraph
from tests.conftest import NOW


def killed_at(home: Path, folder: Path, step: int) -> None:
    """Kill this process at its n-th write into the database or the folder."""
    left = step

    def counted(work: Callable[..., Any]) -> Callable[..., Any]:
        def working(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*given, **named)

        return working

    places: tuple[tuple[object, str], ...] = (
        (Connection, "execute"), (run, "put_file"), (os, "fsync"),
        (Path, "unlink"), (Path, "replace"),
    )  # fmt: skip
    for owner, name in places:
        setattr(owner, name, counted(getattr(owner, name)))
    with MemoryGraph.open(home) as graph:
        synchronise(graph, folder, NOW)
