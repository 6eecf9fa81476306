"""The two ways of reading an everyday command give the same; whatever is unusual goes one way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli import everyday
from cli.app import run
from cli.quick import EVERYDAY, start, understood
from cli.run import Run

COMMANDS = [
    "say hello",
    "--json say hello",
    "say hello --json --debug",
    "ask where",
    "ask where --no-llm --policy bm25 --k 3",
    "ask --k=3 where --policy=all",
    "--home /tmp/x --now 2024-01-01 --llm smollm2-135m ask where",
    "ask where --home=/tmp/x",
    "remember text --at 2024-01-01 --place Oslo --expires 2030-01-01 --keep-secrets --wait",
    "fill form.html",
    "fill - --no-llm",
    "fill --field Name --field City",
    "fill form.html --apply --output out.html --overwrite --consent --site air.example",
]
ELSEWHERE = [
    "", "--help", "ask", "ask --help", "ask a b", "ask a --k 0", "ask a --k x", "ask a --policy",
    "ask a --nonsense", "ask -- --a", "say", "fill a b", "memories list", "status", "--version",
    "--home", "chat",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_a_plain_command_means_the_same_to_both(line: str, monkeypatch: pytest.MonkeyPatch):
    words = line.split()
    read = understood(words)
    assert read is not None
    quick_run, spelling, quick_given = read
    seen: list[tuple[Run, tuple[Any, ...], dict[str, Any]]] = []
    for name, one in EVERYDAY.items():
        if one is spelling:
            monkeypatch.setattr(everyday, name, lambda run, *a, **k: seen.append((run, a, k)))
            code = spelling.does.__code__
            parameters = code.co_varnames[1 : code.co_argcount]
            defaults = dict(
                zip(parameters[-len(d) :] if (d := spelling.does.__defaults__) else (), d or (),
                    strict=True)
            )  # fmt: skip
    assert run(words) == 0
    ((slow_run, positional, named),) = seen
    slow_given = {**dict(zip(parameters, positional, strict=False)), **named}
    assert {**defaults, **quick_given} == slow_given
    assert (quick_run.options, quick_run.now) == (slow_run.options, slow_run.now)
    assert (quick_run.json, quick_run.debug) == (slow_run.json, slow_run.debug)


@pytest.mark.parametrize("line", ELSEWHERE)
def test_what_is_unusual_is_left_to_the_parser(line: str):
    assert understood(line.split()) is None


def test_every_option_of_an_everyday_command_is_read_quickly():
    from typer.core import TyperGroup
    from typer.main import get_command

    from cli.app import app

    group = get_command(app)
    assert isinstance(group, TyperGroup)
    commands = group.commands
    for name, spelling in EVERYDAY.items():
        options = {
            option
            for parameter in commands[name].params
            for option in parameter.opts
            if option.startswith("--") and option != "--help"
        }
        assert options == {*spelling.flags, *spelling.values}, name
        words = [p.name for p in commands[name].params if not p.opts[0].startswith("-")]
        assert tuple(words) == spelling.words, name


def test_without_a_process_the_way_is_the_long_one(own_home: Path, capfd):
    assert start(["ask"]) == 2
    assert "Missing argument" in capfd.readouterr().err
