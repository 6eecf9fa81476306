"""Fast scan of command-line arguments before parsing; imports nothing slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

FLAGS = ("--json", "--debug", "--no-resident")
VALUED = ("--home", "--now", "--llm", "--space")
"""The global options, with and without a value."""
_PLACES = ("MEMLANE_HOME", "MEMLANE_SPACE")
_SETTINGS = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HOME", "TZ")


def hoisted(arguments: Sequence[str]) -> list[str]:
    """Global options moved to the front, so that they work before and after the subcommand.

    What follows ``--`` stays where it is.
    """
    rest = list(arguments)
    front: list[str] = []
    kept: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            kept += [word, *rest]
            break
        if word in FLAGS or word.startswith(tuple(f"{name}=" for name in VALUED)):
            front.append(word)
        elif word in VALUED and rest:
            front += [word, rest.pop(0)]
        else:
            kept.append(word)
    return front + kept


def asked_for(flag: str, arguments: Sequence[str]) -> bool:
    """Whether a flag is among the arguments; what follows ``--`` is none."""
    return flag in takewhile(lambda word: word != "--", arguments)


def subcommand(arguments: Sequence[str]) -> str:
    """The first word that is neither a global option nor the value of one; empty without one."""
    rest = hoisted(arguments)
    while rest and rest[0].startswith("-"):
        if rest.pop(0) in VALUED and rest:
            rest.pop(0)
    return rest[0] if rest else ""


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What of the environment decides on settings; home and space are where the line goes."""
    return {
        key: value
        for key, value in environment.items()
        if key in _SETTINGS or (key.startswith("MEMLANE_") and key not in _PLACES)
    }
