"""File system events, battery and load of the platform."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event

TICK = 1.0
"""Seconds after which ``changes`` speaks up though nothing changed."""
BUSY = "the machine is busy"
LOAD = 2.0
"""Processes a core that want to run, from which the machine is busy with something else."""


def changes(folders: Sequence[Path], stop: Event) -> Iterator[set[Path]]:
    """The paths that changed in these folders, at least every ``TICK`` seconds (then none).

    Ends when ``stop`` is set. Where the platform cannot tell (too many folders for it, a network
    drive), it only ticks: whoever listens has to look for himself now and then.
    """
    from watchfiles import watch

    if folders:
        with suppress(OSError, RuntimeError):
            for batch in watch(
                *folders,
                watch_filter=None,
                debounce=300,
                step=100,
                rust_timeout=int(TICK * 1000),
                yield_on_timeout=True,
                stop_event=stop,
                raise_interrupt=True,
                ignore_permission_denied=True,
            ):
                yield {Path(path) for _, path in batch}
    while not stop.wait(TICK):
        yield set()


def why_wait(on_battery: bool = False) -> str:
    """Why background work should wait now; empty where nothing speaks against it.

    ``on_battery`` is whether it may run on battery. Platforms that do not tell are taken as idle.
    """
    import psutil

    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if battery is not None and not battery.power_plugged and not on_battery:
        return "on battery"
    with suppress(OSError):
        cores = psutil.cpu_count() or 1
        if os.getloadavg()[0] > LOAD * cores:
            return BUSY
    return ""
