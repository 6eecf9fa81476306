"""Generator of ``docs/cli.md`` from the help texts: ``python -m cli.reference``."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import typer.main

from cli.app import app, run

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """# The command line

Written by `python -m cli.reference` from `--help`; a test keeps it true. Global options work
before and after the subcommand. Exit codes: 0 done, 1 the request could not be met (one line on
stderr says why and what to do), 2 wrong usage, 130 interrupted. With `--json` a command prints
exactly one JSON document on stdout.
"""


def commands() -> list[tuple[str, ...]]:
    """Every command and group, by the words that call it."""
    found: list[tuple[str, ...]] = [()]

    def walk(command: object, words: tuple[str, ...]) -> None:
        for name, child in getattr(command, "commands", {}).items():
            found.append((*words, name))
            walk(child, (*words, name))

    walk(typer.main.get_command(app), ())
    return found


def help_of(words: tuple[str, ...]) -> str:
    """What ``memlane WORDS --help`` prints, at a width of 90 columns."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "90"
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run([*words, "--help"])
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def reference() -> str:
    """The whole page."""
    parts = [HEAD]
    for words in commands():
        title = " ".join(("memlane", *words))
        parts.append(f"## {title}\n\n```\n{help_of(words)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(TARGET)
