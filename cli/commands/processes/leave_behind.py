"""A resident process that a command leaves behind, so that the next one is answered at once."""

from __future__ import annotations

import os
import subprocess

from agent.server.resident.paths import Place, holder
from cli.commands.processes.resident import command_of
from cli.context import Run


def leave_behind(run: Run) -> None:
    """Start the resident process of the home and do not wait for it; it ends when it is idle.

    Nothing is started where the person turned that off, in continuous integration, in a home that
    belongs to somebody else, or beside a process that runs already. The first time it is said.
    """
    config = run.config
    place = Place(config.home)
    if not config.resident or os.environ.get("CI"):
        return
    if config.home.stat().st_uid != os.geteuid() or holder(place.lock) is not None:
        return
    if not place.log.exists():
        run.note(
            "the models stay loaded for the next command, in a process that ends after "
            f"{config.idle_minutes} minutes without one (about 300 MB; to turn that off: memlane "
            "config set resident no)"
        )
    child = subprocess.Popen(
        [*command_of(run), "--until-idle"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    child.returncode = 0  # it is meant to outlive this process
