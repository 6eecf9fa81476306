"""The everyday commands read at once, everything else by ``cli.app``; ``cli.relay`` comes before.

The parser behind ``cli.app`` takes 0.15 s to load, which is longer than the resident process needs
for an answer. So while that is up the four everyday commands are read here, when they are spelt in
the plainest way; whatever else is said, and all help and every mistake, goes the other way.
Invariant: what is read here means what it means there (``tests/test_quick.py`` compares the two).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli import everyday
from cli.exits import exit_code
from cli.run import Run

FLAGS = ("--json", "--debug")
VALUED = ("--home", "--now", "--llm")
"""The global options, with and without a value."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a command is written: its words in order, and its options."""

    does: Callable[..., None]
    words: tuple[str, ...]
    needed: int
    flags: tuple[str, ...] = ()
    values: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()
    kinds: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """What words are turned into, but for texts."""


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(text)
    return int(text)


EVERYDAY: Mapping[str, Spelling] = {
    "say": Spelling(everyday.say, ("text",), 1),
    "ask": Spelling(
        everyday.ask, ("question",), 1, ("--no-llm",), {"--policy": str, "--k": _count}
    ),
    "remember": Spelling(
        everyday.remember,
        ("text",),
        1,
        ("--keep-secrets", "--wait"),
        {"--at": str, "--place": str, "--expires": str},
    ),
    "fill": Spelling(
        everyday.fill,
        ("form",),
        0,
        ("--no-llm", "--apply", "--overwrite", "--consent"),
        {"--field": str, "--output": Path, "--site": str},
        repeated=("--field",),
        kinds={"form": Path},
    ),
}


def main() -> None:
    """The ``memlane`` command in this process."""
    # Collecting while a few thousand functions are imported takes a tenth of a short command's time
    # and frees nothing; a command that loads models or stays goes on with it (``cli.app``).
    gc.disable()
    sys.exit(start(sys.argv[1:]))


def start(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    read = understood(arguments)
    if read is not None:
        run, spelling, given = read
        if _is_up(run):
            return exit_code(lambda: spelling.does(run, **given), arguments)
    from cli.app import run as run_all

    gc.enable()
    return run_all(arguments)


def _is_up(run: Run) -> bool:
    """Whether there may be a resident process; what is wrong with the settings is told later."""
    from agent.resident.place import Place, is_mine
    from store.errors import MemlaneError

    try:
        return is_mine(Place(run.config.home).socket)
    except MemlaneError:
        return False


def understood(arguments: Sequence[str]) -> tuple[Run, Spelling, dict[str, Any]] | None:
    """A command line in its plainest spelling; None for the other parser."""
    words = hoisted(arguments)
    options: dict[str, str | None] = {"home": None, "llm": None}
    flags: set[str] = set()
    now = None
    while words and words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        if name in FLAGS and not value:
            flags.add(name)
        elif name in VALUED and (value or words):
            value = value or words.pop(0)
            if name == "--now":
                now = value
            else:
                options[name[2:]] = value
        else:
            return None
    spelling = EVERYDAY.get(words[0]) if words else None
    given = None if spelling is None else _given(spelling, words[1:])
    if spelling is None or given is None:
        return None
    return Run(options, now, "--json" in flags, "--debug" in flags), spelling, given


def _given(spelling: Spelling, rest: list[str]) -> dict[str, Any] | None:
    given: dict[str, Any] = {}
    plain: list[str] = []
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            plain.append(word)
        elif word in spelling.flags:
            given[_parameter(word)] = True
        elif name in spelling.values and (equals or rest):
            value = value if equals else rest.pop(0)
            try:
                read = spelling.values[name](value)
            except ValueError:
                return None
            if name in spelling.repeated:
                given.setdefault(_parameter(name), []).append(read)
            else:
                given[_parameter(name)] = read
        else:
            return None
    if not spelling.needed <= len(plain) <= len(spelling.words):
        return None
    for name, value in zip(spelling.words, plain, strict=False):
        given[name] = spelling.kinds.get(name, str)(value)
    return given


def _parameter(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


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


if __name__ == "__main__":
    main()
