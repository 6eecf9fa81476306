"""Where the resident process of a home listens, found without loading the settings."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

MAIN, FOLDER = "main", "spaces"
"""As in ``store.spaces``, which takes longer to load."""
_LONGEST = 103
"""Bytes of a socket's address."""


def home_of(arguments: Sequence[str]) -> str | None:
    """The folder of the database that a line is about, as ``agent.config`` settles it.

    Of a space its own. None where that has to be asked.
    """
    root = root_of(arguments)
    space = _given("space", arguments) or MAIN
    if root is None or space == MAIN:
        return root
    plain = space.replace("-", "").replace("_", "")
    home = os.path.join(root, FOLDER, space)
    # Whatever is no name of a space, such as '..', gets its error the long way.
    return home if plain.isalnum() and space == space.lower() and os.path.isdir(home) else None


def _given(name: str, arguments: Sequence[str]) -> str:
    """What the line says of ``--home`` or ``--space``, else the environment; else empty."""
    given = os.environ.get(f"MEMLANE_{name.upper()}", "")
    for number, word in enumerate(arguments):
        if word == "--":
            break
        if word == f"--{name}" and number + 1 < len(arguments):
            given = arguments[number + 1]
        elif word.startswith(f"--{name}="):
            given = word.partition("=")[2]
    return given


def root_of(arguments: Sequence[str]) -> str | None:
    """The person's home; None where the settings have to be asked."""
    given = _given("home", arguments)
    if not given:
        from platformdirs import user_config_path, user_data_path

        file = os.environ.get("MEMLANE_CONFIG") or str(user_config_path("memlane") / "config.toml")
        if os.path.exists(file):
            import tomllib

            try:
                with open(file, "rb") as opened:
                    given = str(tomllib.load(opened).get("home", ""))
            except (OSError, ValueError):
                return None
        given = given or str(user_data_path("memlane"))
    return os.path.join(os.getcwd(), os.path.expanduser(given))


def socket_of(home: str) -> str | None:
    """The address of its resident process; None where the path is too long to be one.

    ``agent.server.resident.paths`` says the same and takes 10 ms to load.
    """
    path = os.path.join(home, "memlane.sock")
    return path if len(os.fsencode(path)) <= _LONGEST else None


def is_mine(path: str) -> bool:
    """Whether there is a socket that this user made."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
