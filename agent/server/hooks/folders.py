"""The folders that coding agents work in: the project of each, and those that are excluded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def is_excluded(folder: str, excluded: Sequence[str]) -> bool:
    """Whether a folder is one of those, or in one; links are followed."""
    here = Path(os.path.realpath(folder)) if folder else None
    return here is not None and any(
        here.is_relative_to(os.path.realpath(os.path.expanduser(one))) for one in excluded
    )


def project_of(folder: str) -> str:
    """The checkout that a folder is in, or itself where it is in none; links are followed."""
    if not folder:
        return ""
    here = Path(os.path.realpath(folder))
    return str(next((one for one in (here, *here.parents) if (one / ".git").exists()), here))


def name_of(project: str) -> str:
    """What a person may call the project; empty where its folder's name says nothing of it."""
    path = Path(project)
    return "" if not project or path == Path.home() or path.parent == path else path.name
