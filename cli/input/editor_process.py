"""The user's text editor as an external process."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from store.errors import HomeUnavailable, InvalidInput

FALLBACKS = ("sensible-editor", "nano", "vim", "vi")
"""Editors for a terminal, when neither $VISUAL nor $EDITOR names one."""


def editor_command() -> list[str]:
    """$VISUAL, else $EDITOR, else an editor that this terminal has.

    :raises InvalidInput: if there is none, or it cannot be started.
    """
    for variable in ("VISUAL", "EDITOR"):
        if given := os.environ.get(variable, "").strip():
            try:
                words = shlex.split(given)
            except ValueError:
                words = []
            if not words or shutil.which(words[0]) is None:
                raise InvalidInput(
                    f"The editor {given!r} of ${variable} cannot be found. "
                    "Set EDITOR to one that is installed, such as EDITOR=nano."
                )
            return words
    if sys.stdin.isatty() and sys.stdout.isatty():
        for name in FALLBACKS:
            if shutil.which(name):
                return [name]
    raise InvalidInput(
        "No editor is set. Set EDITOR, such as EDITOR=nano, or use --text and the other options."
    )


def scratch(home: Path, text: str) -> Path:
    """A private file in the home, whose folder is open to its owner alone.

    :raises InvalidInput: in an encrypted home, as an editor reads and writes plain files.
    """
    from store.database.connection import is_encrypted
    from store.erasure.secure_delete import EDITS_FOLDER

    if is_encrypted(home):
        raise InvalidInput(
            "An editor needs a plain file, and the home is encrypted. Use --text and the other "
            "options, or --file with a file of your own."
        )

    folder = home / EDITS_FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(".md", "edit-", folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HomeUnavailable(
            f"Cannot write into {folder}: {error.strerror or error}. Check the free space and the "
            "permissions."
        ) from error
    return Path(name)


def open_editor(command: Sequence[str], path: Path, original: str) -> None:
    """:raises InvalidInput: if the editor fails; what was typed stays in the file."""
    name = command[0]
    try:
        # With stdout in a pipe, as for --json, an editor draws on stderr instead.
        to = None if sys.stdout.isatty() else 2
        code = subprocess.call([*command, str(path)], stdout=to)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise InvalidInput(
            f"The editor {name} cannot be started: {error.strerror or error}. Set EDITOR."
        ) from error
    if code == 0:
        return
    with suppress(OSError, UnicodeDecodeError):
        if path.read_text(encoding="utf-8") == original:
            path.unlink()
            raise InvalidInput(f"The editor {name} exited with code {code}; nothing was changed.")
    raise InvalidInput(
        f"The editor {name} exited with code {code}; nothing was changed. What you typed is kept "
        f"in {path}; to apply it: memlane memories edit --file {shlex.quote(str(path))}"
    )
