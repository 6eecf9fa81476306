"""A resident process that a command leaves behind, so that the next one is answered at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence

from agent.config import Config
from agent.server.resident.paths import Place, announce, holder


def leave_behind(config: Config, command: Sequence[str], say: Callable[[str], None]) -> bool:
    """Start the resident process of the home and do not wait for it; it ends when it is idle.

    Nothing is started where the person turned that off, in a home that belongs to somebody else, or
    beside a process that runs already. The first time it is said. Whether there is a process now.
    """
    place = Place(config.home)
    if not config.resident or config.home.stat().st_uid != os.geteuid():
        return False
    if holder(place.lock) is not None:
        return True
    if not place.log.exists():
        say(
            "the models stay loaded for the next command, in a process that ends after "
            f"{config.idle_minutes} minutes without one (about 600 MB; to turn that off: memlane "
            "config set resident no)"
        )
    announce(place)
    child = subprocess.Popen(
        [*command, "--until-idle"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    child.returncode = 0  # it is meant to outlive this process
    return True
