"""Generator of ``docs/cli.md`` from the help texts and ``docs/cli-examples.json``.

``python -m tests.support.reference`` writes the page; ``python -m tests.support.json_examples``
runs the examples anew and writes both.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent, wrap
from typing import Any

import typer.main

from cli.app import app, run
from tests.support.json_layout import MAPS, Example, block, brief

TARGET = Path(__file__).parents[2] / "docs" / "cli.md"
EXAMPLES = TARGET.with_name("cli-examples.json")
RECORDER = "python -m tests.support.json_examples"
LONGEST = 60
"""Letters of a text that an example shows."""
FEW = 3
"""Values of a list that an example shows."""
MOST = 6
"""Keys of ``MAPS`` that an example shows."""
WITHOUT_JSON = {
    ("help",): "it prints the help of a command",
    ("hook", "run"): "it answers in the form that the coding agent wants",
    ("hook", "start"): "it prints nothing",
}
"""The commands that have no example, as ``--json`` changes nothing there, and what they do."""
_NAMES = indent("\n".join(wrap(", ".join(f"`{name}`" for name in MAPS), 96)), "  ")
HEAD = f"""# The command line

Written by `python -m tests.support.reference` from `--help`; a test keeps it true. Global options
work before and after the subcommand. Exit codes: 0 done, 1 the request could not be met (one line
on stderr says why and what to do), 2 wrong usage, 130 interrupted.

## --json

With `--json` a command prints exactly one JSON document on stdout; `chat` prints one for each line
that it reads. `export` without `--out` writes the export itself to stdout, `mcp` without `--codes`
speaks the protocol there. `watch --foreground` prints the document of `watch` when it ends, with
`sources` as of `ingest`. A failure is a document too:

%s

Below the help of each command are examples. `{RECORDER}` ran them, one
after the other in one home, at 2024-05-08 09:00, with a language model that says what it is told
to; a test runs the same lines and compares keys, types and nesting with what stands here. For them
`demo` plays its first two steps, and what `models pull` and `models check` find is made up.

- Values may differ: ids, times, scores, sizes, hashes, keys, paths, numbers of processes and ports.
- A text ends after {LONGEST} letters with "…". Of a list of objects the one with the most in it is
  shown, of another list at most {FEW} values. What is empty in this home is `[]` or `null`.
- Of objects with a number for each kind at most {MOST} are shown; another home has other kinds:
{_NAMES}.
- `...` after the first bracket stands for the keys of an example above it, after the text of a
  memory for the other keys that `memlane list` shows.
"""


def commands() -> list[tuple[str, ...]]:
    """Every command and group, by the words that call it."""
    return [words for words, _ in _walk()]


def _walk() -> Iterator[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(app))]
    while found:
        words, command = found.pop()
        yield words, command
        inside = getattr(command, "commands", {})
        found += reversed([((*words, name), child) for name, child in inside.items()])


def doing() -> dict[tuple[str, ...], object]:
    """The commands, and the groups that do something alone, with their functions."""
    return {
        words: inspect.unwrap(command.callback)
        for words, command in _walk()
        if words and (not hasattr(command, "commands") or command.invoke_without_command)
    }


def same_as() -> dict[tuple[str, ...], tuple[str, ...]]:
    """The commands that are an earlier one under another name."""
    first: dict[object, tuple[str, ...]] = {}
    names = {words: first.setdefault(function, words) for words, function in doing().items()}
    return {words: other for words, other in names.items() if words != other}


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


def examples() -> list[Example]:
    """The recorded examples, in the order in which they were run."""
    return [
        Example(tuple(one["command"]), one["line"], one["code"], tuple(one["documents"]))
        for one in json.loads(EXAMPLES.read_text(encoding="utf-8"))
    ]


def reference() -> str:
    """The whole page."""
    recorded, others = examples(), same_as()
    parts = [HEAD % block(one for one in recorded if one.failed)]
    (lists,) = (one for one in recorded if one.command == ("list",))
    memory = lists.documents[0]["memories"][0]
    for words in commands():
        title = " ".join(("memlane", *words))
        parts.append(f"## {title}\n\n```\n{help_of(words)}\n```\n")
        shown = [one for one in recorded if one.command == words and not one.failed]
        if shown:
            whole = words in (("list",), ("search",))
            parts.append(block(one if whole else brief(one, memory) for one in shown) + "\n")
        elif words in others:
            parts.append(f"With `--json`: as `memlane {' '.join(others[words])}`.\n")
        elif words in WITHOUT_JSON:
            parts.append(f"`--json` changes nothing: {WITHOUT_JSON[words]}.\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(TARGET)
