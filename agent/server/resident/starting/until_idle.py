"""The end of a resident process that a command left behind.

It ends when nobody has asked it anything for ``idle_minutes``, when its home is gone, and when one
was left behind for another home of this person: one is enough for a small machine. A process that
holds the key of an encrypted home ends likewise, however it was started: its end locks the home.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from agent.config import APP
from agent.server.resident.paths import Place, holder
from agent.server.resident.service import Desk

log = logging.getLogger("memlane.resident")
STEP_S = 5.0
"""How often is looked."""
BETWEEN_S = 2.0
"""Seconds without a request after which nothing is interrupted: the files of one ingest are asked
for one after another."""


async def end_when_idle(desk: Desk, end: Callable[[], None]) -> None:
    """Call ``end`` once, when it is time."""
    asked = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, asked.set)
    place = Place(desk.config.home)
    _take_over(place)
    patience = desk.config.idle_minutes * 60.0
    lock = _file(place.lock)
    while lock == _file(place.lock):
        idle = desk.idle_s()
        if idle > (BETWEEN_S if asked.is_set() else patience) and (
            asked.is_set() or desk.forgets_key or not (desk.encoding or await desk.watches())
        ):
            break
        with suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), STEP_S)
            await asyncio.sleep(BETWEEN_S / 4)
    log.info("nobody needs this process any more")
    end()


def _file(path: Path) -> tuple[int, int] | None:
    """Which file it is; another one after a home was deleted and made anew."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _take_over(place: Place) -> None:
    """Write down that this process is the one; ask the one before, of another home, to end."""
    record = user_cache_path(APP) / "resident"
    with suppress(OSError, ValueError):
        record.parent.mkdir(parents=True, exist_ok=True)
        pid, home = _read(record)
        if home != place.home and holder(Place(home).lock) == pid:
            os.kill(pid, signal.SIGUSR1)
    with suppress(OSError):
        scratch = record.with_suffix(f".{os.getpid()}")
        scratch.write_text(f"{os.getpid()}\n{place.home}\n", encoding="utf-8")
        scratch.replace(record)


def _read(record: Path) -> tuple[int, Path]:
    pid, home = record.read_text("utf-8").splitlines()[:2]
    return int(pid), Path(home)
