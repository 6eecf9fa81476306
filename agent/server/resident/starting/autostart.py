"""Autostart of the resident process: unit file and commands.

Nothing is started or enabled here; the person does that, with the commands that are told.
"""

from __future__ import annotations

import plistlib
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from store.errors import HomeUnavailable

LABEL = "org.memlane.resident"


@dataclass(frozen=True, slots=True)
class Unit:
    """A file of the service manager, and the commands that put it to use and out of it."""

    path: Path
    content: str
    start: str
    remove: str


def systemd_unit(command: Sequence[str], config_folder: Path) -> Unit:
    """A user unit: ``command`` runs in the foreground, again after a crash."""
    line = " ".join(_quoted(word) for word in command)
    content = f"""[Unit]
Description=memlane, a personal memory agent

[Service]
ExecStart={line}
Restart=on-failure
RestartSec=5
UMask=0077
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6

[Install]
WantedBy=default.target
"""
    return Unit(
        config_folder / "systemd" / "user" / "memlane.service",
        content,
        "systemctl --user daemon-reload && systemctl --user enable --now memlane",
        "systemctl --user disable --now memlane",
    )


def _quoted(word: str) -> str:
    """A word as systemd reads it: % and $ stand for themselves, spaces are kept."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def launchd_agent(command: Sequence[str], user_home: Path, user: int) -> Unit:
    """An agent of macOS: started at log-in, again after a crash."""
    content = plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ProcessType": "Background",
            "Umask": 0o077,
        }
    ).decode()
    path = user_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    return Unit(
        path,
        content,
        f"launchctl bootstrap gui/{user} {shlex.quote(str(path))}",
        f"launchctl bootout gui/{user}/{LABEL}",
    )


def unit_for(command: Sequence[str], config_folder: Path, user: int) -> Unit:
    """The unit of this platform."""
    if sys.platform == "darwin":
        return launchd_agent(command, Path.home(), user)
    return systemd_unit(command, config_folder)


def write(unit: Unit) -> None:
    """:raises HomeUnavailable: if the file cannot be written."""
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        unit.path.write_text(unit.content, encoding="utf-8")
    except OSError as error:
        raise HomeUnavailable(f"Cannot write {unit.path}: {error.strerror or error}.") from error
