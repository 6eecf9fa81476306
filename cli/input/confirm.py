"""Confirmation prompts before destructive commands."""

from __future__ import annotations

import typer

from cli.context import Run
from store.errors import InvalidInput


def interactive(run: Run) -> bool:
    """Whether there is a person to ask: a terminal on both sides, and people's output."""
    return not run.json and run.has_person()


def confirmed(run: Run, question: str, *, yes: bool, otherwise: str) -> bool:
    """Ask on the terminal; ``yes`` answers beforehand.

    :raises InvalidInput: with ``otherwise``, if there is nobody to ask.
    """
    if yes:
        return True
    if not interactive(run):
        raise InvalidInput(otherwise)
    return typer.confirm(question, err=True)
