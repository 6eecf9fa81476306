"""What a newcomer types first: nothing, help, the short names of everyday commands, Tab."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.app import app
from cli.output.command_groups import GROUPS
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
from tests.conftest import NOW, Result
from tests.support import reference

Memlane = Callable[..., Result]
ROOT = Path(__file__).parents[2]
LONG = "I told the landlord of the small flat in Jurong West that the heating is too loud at night."
LONGER = "The extraordinarily friendly receptionist of the physiotherapy practice is called Maria."


@pytest.fixture
def kept(graph: MemoryGraph) -> MemoryGraph:
    """A home with texts that are longer than a line."""
    graph.apply(
        [
            Insert(Draft(LONG, "relationship.colleague_friends", NOW)),
            Insert(Draft(LONGER, "attribute.occupation", NOW, valid_until=NOW.replace(year=2030))),
            Insert(Draft("I like green tea.", "preference.diet", NOW)),
        ],
        at=NOW,
    )
    return graph


def children(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = command.commands
    return found


def test_every_command_stands_in_one_group():
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(children(typer.main.get_command(app)))
    assert set(GROUPS["Experiments"]) == {
        "rate", "predict", "persona", "travel", "train", "feedback",
    }  # fmt: skip


@pytest.mark.parametrize("group", ["memories", "entities", "models", "browser"])
def test_a_group_alone_shows_its_help(memlane: Memlane, group: str):
    result = memlane(group)
    assert (result.code, result.err) == (0, "")
    assert result.out == memlane(group, "--help").out
    assert len(result.out.splitlines()) > 5
    assert memlane(group, "--json").code == 2


def test_a_bad_command_line_names_the_help_of_that_command(memlane: Memlane):
    result = memlane("memories", "show")
    assert result.code == 2
    assert result.err.endswith("Try 'memlane memories show --help'.\n")


def test_without_a_command_there_is_a_short_screen(memlane: Memlane):
    result = memlane()
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) < 80
    for heading, names in GROUPS.items():
        assert f"{heading}:" in result.out
        for name in names:
            assert name in result.out.replace(",", " ").split()
    assert "memlane --help" in result.out


@pytest.mark.parametrize("module", ["cli.main", "cli.app"])
def test_the_short_screen_goes_through_a_pipe(module: str):
    done = subprocess.run(
        [sys.executable, "-m", module], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Start here:" in done.stdout


def test_help_has_the_groups_as_headings():
    lines = reference.help_of(()).splitlines()
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", *GROUPS]
    under, heading = {}, ""
    for line in lines[lines.index("Start here:") :]:
        if line.startswith("  "):
            under[line.split()[0]] = heading
        elif line:
            heading = line[:-1]
    assert under == {name: heading for heading, names in GROUPS.items() for name in names}


def test_the_short_names_are_the_same_functions():
    top = typer.main.get_command(app)
    inside = children(children(top)["memories"])
    for name in ("undo", "forget", "list"):
        one, other = children(top)[name], inside[name]
        assert one.callback.__wrapped__ is other.callback.__wrapped__
        assert [p.name for p in one.params] == [p.name for p in other.params]


def test_list_forget_and_undo_work_without_memories_before_them(
    kept: MemoryGraph, memlane: Memlane
):
    assert memlane("list", "--json").json == memlane("memories", "list", "--json").json
    assert memlane("forget", "--soft", "m3").code == 0
    assert [one["id"] for one in memlane("list", "--json").json["memories"]] == ["m1", "m2"]
    assert memlane("undo").code == 0
    assert [one["id"] for one in memlane("list", "--json").json["memories"]] == ["m1", "m2", "m3"]
    assert memlane("forget", "m3", "--yes").code == 0
    assert [one["id"] for one in memlane("list", "--json").json["memories"]] == ["m1", "m2"]


def test_search_lists_what_contains_the_words(kept: MemoryGraph, memlane: Memlane):
    found = memlane("search", "green", "tea", "--json").json
    assert [one["id"] for one in found["memories"]] == ["m3"]
    assert found == memlane("memories", "list", "--search", "green tea", "--json").json
    nothing = memlane("search", "xylophone")
    assert (nothing.code, nothing.out) == (0, "No memory contains these words.\n")
    assert memlane("search", " ").code == 2
    assert memlane("search").code == 2
    memlane("forget", "--soft", "m3")
    assert memlane("search", "green tea", "--json").json["memories"] == []
    assert memlane("search", "green tea", "--all", "--json").json["memories"]


@pytest.mark.parametrize("words", [(), ("ask",), ("memories",), ("memories", "list"), ("help",)])
def test_help_prints_what_the_option_prints(words: tuple[str, ...], memlane: Memlane):
    result = memlane("help", *words)
    assert (result.code, result.err) == (0, "")
    assert result.out == memlane(*words, "--help").out
    assert result.out.startswith(" ".join(("Usage: memlane", *words)))


@pytest.mark.parametrize("words", [("recall",), ("memories", "recall"), ("ask", "why")])
def test_help_on_what_there_is_not(words: tuple[str, ...], memlane: Memlane):
    result = memlane("help", *words)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1 and repr(words[-1]) in result.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_says_how_to_install_it(shell: str, memlane: Memlane):
    result = memlane("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert "To install it:" in result.out.splitlines()[0]
    assert f"memlane completion {shell} > " in result.out.splitlines()[1]
    document = memlane("completion", shell, "--json").json
    assert set(document) == {"shell", "install", "script"}
    assert document["script"] == result.out
    assert memlane("completion", "tcsh").code == 2


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("mem", {"memories"}),
        ("memories un", {"undo", "unlink"}),
        ("ask --no", {"--no-llm"}),
        ("", {name for names in GROUPS.values() for name in names}),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_told_what_can_follow(shell: str, typed: str, offered: set[str]):
    words = ["memlane", *typed.split(" ")]
    asked = {
        "_MEMLANE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": f"memlane {typed}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-m", "cli.main"],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **asked}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    if shell == "zsh":
        assert all(f'"{name}"' in done.stdout for name in offered)
    else:
        assert {line.split("\t")[0] for line in done.stdout.splitlines()} >= offered
    assert "Start here" not in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes_with_the_script(memlane: Memlane, tmp_path: Path):
    program = tmp_path / "memlane"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cli.main "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "completion.bash"
    script.write_text(memlane("completion", "bash").out)
    code = (
        f"source '{script}'; COMP_WORDS=(memlane memories l); COMP_CWORD=2; "
        f"_memlane_completion '{program}'; echo \"${{COMPREPLY[@]}}\"; complete -p memlane"
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.splitlines()[0] == "list"
    assert "_memlane_completion" in done.stdout.splitlines()[1]


@pytest.mark.parametrize("columns", [80, 100])
def test_the_list_fits_the_screen_and_cuts_no_word(
    columns: int, kept: MemoryGraph, memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = memlane("--now", NOW.isoformat(), "memories", "list").out
    assert max(map(len, out.splitlines())) <= columns
    shown = out.split()
    for text in (LONG, LONGER, "relationship.colleague_friends", "until 2030-05-08 09:00"):
        assert set(text.split()) <= set(shown)


def test_the_list_says_what_is_not_current(kept: MemoryGraph, memlane: Memlane):
    memlane("forget", "--soft", "m3")
    assert "forgotten" not in memlane("list").out
    assert "forgotten" in memlane("list", "--all").out
