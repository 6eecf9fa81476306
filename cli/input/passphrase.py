"""Passphrases: typed without being shown, or a line of standard input."""

from __future__ import annotations

import sys

from cli.context import Run
from store.errors import InvalidInput


def asked(run: Run, prompt: str, *, twice: bool = False) -> str:
    """A passphrase from the terminal; where there is none, the next line of standard input.

    :raises InvalidInput: if there is none, or the second time it is another one.
    """
    if not run.has_person():
        line = sys.stdin.readline()
        if not line.strip():
            raise InvalidInput(
                f"{prompt}: there is no terminal to ask at. Write it to standard input."
            )
        return line.rstrip("\r\n")
    import getpass

    typed = getpass.getpass(f"{prompt}: ", stream=sys.stderr)
    if twice and getpass.getpass("The same again: ", stream=sys.stderr) != typed:
        raise InvalidInput("The two passphrases differ. Run the command again.")
    return typed
