"""What scripts rely on: one JSON object whatever happens, ``-`` for a stream, exit codes."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Triple
from tests.conftest import NOW, Result

Memlane = Callable[..., Result]
Stdin = Callable[[bytes], None]
TEXT = "I keep *spare* keys at Ana's."


@pytest.fixture
def kept(graph: MemoryGraph) -> MemoryGraph:
    graph.apply([Insert(Draft(TEXT, "attribute.belongings", NOW))], at=NOW, actor="user")
    return graph


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Stdin:
    """Puts bytes on standard input."""

    def put(given: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))

    return put


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("why", "--json"), 1),
        (("memories", "show", "m99", "--json"), 1),
        (("--json", "undo"), 1),
        (("search", " ", "--json"), 2),
        (("nonsense", "--json"), 2),
        (("ask", "--json"), 2),
    ],
)
def test_a_failure_is_one_json_object_on_stdout_too(
    memlane: Memlane, words: tuple[str, ...], code: int
):
    result = memlane(*words)
    assert result.code == code
    assert result.json["exit_code"] == code
    assert result.err == f"memlane: {result.json['error']}\n"
    plain = memlane(*(word for word in words if word != "--json"))
    assert (plain.code, plain.out) == (code, "")


def test_what_stands_behind_two_dashes_is_no_option(memlane: Memlane):
    assert memlane("why", "--", "--json").out == ""


def test_an_export_goes_to_stdout_and_comes_back_from_stdin(
    kept: MemoryGraph, memlane: Memlane, stdin: Stdin, tmp_path: Path
):
    at = ("--now", NOW.isoformat())
    given = memlane(*at, "export", "-o", "-").out
    assert given == memlane(*at, "export").out
    assert not Path("-").exists()
    stdin(given.encode())
    home = ("--home", str(tmp_path / "other"))
    assert memlane(*home, "import", "-", "--json").json["mode"] == "restored"
    assert memlane(*home, "list", "--json").json["memories"][0]["text"] == TEXT


def test_lines_of_stdin_that_cannot_be_read_are_kept_in_the_home(
    own_home: Path, memlane: Memlane, stdin: Stdin
):
    stdin(b'{"kind": "memory", "broken\n')
    result = memlane("import", "-", "--format", "jsonl")
    assert result.code == 1
    assert (own_home / "stdin.rejected").exists()


def test_a_backup_goes_to_stdout_and_is_restored_from_stdin(
    kept: MemoryGraph, stdin: Stdin, capfdbinary: pytest.CaptureFixture[bytes]
):
    from cli.app import run

    capfdbinary.readouterr()
    assert run(["backup", "--out", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert zipfile.ZipFile(io.BytesIO(out)).testzip() is None
    assert b"1 memory" in err
    stdin(out)
    assert run(["restore", "-", "--yes"]) == 0


def test_pictures_and_calendars_go_to_stdout(kept: MemoryGraph, memlane: Memlane):
    home = (Triple("I", "lives_in", "Bedok"),)
    kept.apply([Insert(Draft("I live in Bedok.", "attribute.address", NOW, home))], at=NOW)
    assert memlane("memories", "graph", "-o", "-").out.lstrip().startswith("<")
    assert memlane("remind", "--ics", "-").out.startswith("BEGIN:VCALENDAR")
    both = memlane("remind", "--ics", "-", "--json")
    assert both.code == 2 and "stdout" in both.json["error"]


def test_a_named_file_that_is_not_read_gives_exit_code_1(memlane: Memlane, tmp_path: Path):
    (tmp_path / "song.mp3").write_bytes(b"ID3")
    named = memlane("ingest", str(tmp_path / "song.mp3"), "--json")
    assert named.code == 1
    assert named.json["sources"][0]["status"] == "skipped"
    assert "song.mp3" in named.err
    assert memlane("ingest", str(tmp_path)).code == 0


def test_markdown_is_for_reading(kept: MemoryGraph, memlane: Memlane):
    kept.apply(
        [Insert(Draft("I lived in Bedok.", "attribute.address", NOW, valid_until=NOW))], at=NOW
    )
    told = memlane("--now", "2024-06-01", "export", "--format", "markdown").out
    assert told.startswith("# What memlane remembers\n\n2024-06-01: 1 memory, and 1 no longer true")
    assert "\n## Attribute\n\n### Personal belongings" in told
    assert "\n\n- I keep \\*spare\\* keys at Ana's. (2024-05-08)\n" in told
    assert "## No longer true\n\n- I lived in Bedok. (2024-05-08 until 2024-05-08" in told
    assert "---" not in told


def test_notes_are_markdown_that_can_be_imported(
    kept: MemoryGraph, memlane: Memlane, tmp_path: Path
):
    memlane("export", "--format", "notes", "-o", str(tmp_path / "all.md"))
    home = ("--home", str(tmp_path / "other"))
    assert memlane(*home, "import", str(tmp_path / "all.md")).code == 0
    assert memlane(*home, "list", "--json").json["memories"][0]["text"] == TEXT


def test_undo_without_a_name_says_whose_edit_it_takes_back(kept: MemoryGraph, memlane: Memlane):
    done = memlane("undo")
    assert done.err == (
        f"The last edit is e1 (insert by you, 2024-05-08 09:00). Undoing it: removes m1 {TEXT}\n"
    )
    kept.apply([Insert(Draft("I like tea.", "preference.diet", NOW))], at=NOW, actor="agent goose")
    assert "insert by goose" in memlane("undo").err


def test_undo_without_a_name_asks_a_person(
    kept: MemoryGraph, memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("cli.commands.memories.undo.interactive", lambda run: True)
    monkeypatch.setattr("cli.commands.memories.undo.confirmed", lambda *_, **__: False)
    kept_back = memlane("undo")
    assert "Nothing was changed." in kept_back.err
    assert memlane("list", "--json").json["memories"]
    assert memlane("undo", "e1").code == 0


def shown(text: str, *, likely: float | None = None) -> str:
    """What a person sees of an answer that rests on one memory."""
    from rich.console import Console

    from agent.results import Reply, Route
    from cli.output import render
    from policies.selection import Choice
    from store.types import Memory

    memory = Memory("m1", TEXT, "attribute", "attribute.belongings", NOW)
    printed = io.StringIO()
    out = Console(file=printed, markup=False, width=80)
    render.reply(out, Reply(Route.RETRIEVE, text, (Choice(memory, 1.0),), likely=likely))
    return printed.getvalue()


def test_a_list_without_an_answer_says_when_none_is_likely():
    for likely, said in ((0.12, True), (0.9, False), (None, False)):
        told = shown("", likely=likely)
        assert TEXT in told
        assert ("Probably none of these answers it (chance 12%):" in told) is said


def test_a_memory_whose_words_the_answer_quotes_is_named_by_its_id_alone():
    text = f"It is blue.\nOn 2024-05-08 you said: “{TEXT}”"
    assert shown(text) == f"{text}\n  m1 1.00 (as quoted)\n"
