"""Paths as arguments."""

from __future__ import annotations

from pathlib import Path

import typer


def named_path(word: str) -> Path:
    """A path that somebody named; ``memlane ingest "$NOTES"`` with nothing in it names none.

    As a path an empty word would be the current folder.

    :raises typer.BadParameter: if the word is empty.
    """
    if not word:
        raise typer.BadParameter("a path is empty; the current folder is '.'.")
    return Path(word)
