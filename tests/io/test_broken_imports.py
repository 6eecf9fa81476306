"""A broken line, or half a file, is named and loses nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.io.transfer.records import to_document
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Memory
from tests.conftest import NOW, Result
from tests.support.exports import draft, take_in, texts


def test_one_broken_line_loses_nothing_else(full: Path, exported: Path, tmp_path: Path):
    """Memories and journal tell the same twice, so any one line may break."""
    lines = exported.read_bytes().splitlines(keepends=True)
    with MemoryGraph.open(full) as graph:
        wanted = graph.memories.list()
    for number in range(1, len(lines)):
        kind = json.loads(lines[number])["kind"]
        if kind in ("subclass", "row") and number % 7:
            continue
        damaged = [*lines]
        damaged[number] = damaged[number][: len(damaged[number]) // 2] + b"\n"
        path = tmp_path / "damaged.jsonl"
        path.write_bytes(b"".join(damaged))
        home = tmp_path / f"home{number}"
        done = take_in(path, home)
        # The row that says which ingest a source was part of goes with it.
        assert done.tally.rejected_count == (2 if kind == "source" and number < 27 else 1)
        assert done.tally.rejected[0].line == number + 1
        kept = path.with_name("damaged.jsonl.rejected").read_bytes()
        assert kept.startswith(damaged[number])
        with MemoryGraph.open(home) as graph:
            assert graph.verify() == ()
            found = graph.memories.list()
            if kind == "source":  # its memories stay, without what they were read from
                assert [m.text for m in found] == [m.text for m in wanted]
            else:
                assert found == wanted, (kind, number)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('"text"', "not a JSON object"),
        ('{"kind": "spell"}', "kind is 'spell'"),
        ('{"kind": "memory", "id": "m1"}', "text is missing"),
        ('{"kind": "memory", "id": 5}', "id is not text"),
        ("\x00\x00", "not JSON"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path: Path, line: str, reason: str):
    path = tmp_path / "x.jsonl"
    path.write_text(line + "\n")
    done = take_in(path, tmp_path / "new")
    assert done.tally.rejected_count == 1
    assert reason in done.tally.rejected[0].reason
    assert len(done.tally.rejected[0].reason) < 300


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"created": "2024-05-08T09:00:00"}, "created is not a time with an offset"),
        ({"status": "lost"}, "status is 'lost', not one of"),
        ({"triples": [["a", "b"]]}, "triples[0].tail is missing"),
        ({"id": "x1"}, "is not a valid memory id"),
        ({"text": "  "}, "text is empty"),
        ({"valid_from": "2024-05-09T00:00:00+00:00", "valid_until": "2024-05-08T00:00:00+00:00"},
         "ends before it begins"),
        ({"colour": "blue"}, "colour is not a known field"),
        ({"text": "half \ud83d"}, "half a character"),
    ],
)  # fmt: skip
def test_a_memory_that_cannot_be_is_named(tmp_path: Path, change: dict[str, Any], reason: str):
    memory = Memory("m1", "I like tea.", "Preference", "preference.diet", NOW)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(to_document(memory) | change) + "\n")
    for home in (tmp_path / "new", tmp_path / "filled"):
        if home.name == "filled":
            with MemoryGraph.open(home) as graph:
                graph.apply([Insert(draft("My bicycle is red."))], at=NOW)
        done = take_in(path, home)
        assert done.tally.rejected_count == 1
        assert reason in done.tally.rejected[0].reason


def test_a_mended_line_can_be_imported_alone(exported: Path, tmp_path: Path):
    lines = exported.read_text().splitlines(keepends=True)
    number = next(i for i, s in enumerate(lines) if "green tea" in s and '"kind": "memory"' in s)
    kept = [line for line in lines if "green tea" not in line] + [lines[number][:-3] + "\n"]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(kept))
    home = tmp_path / "new"
    take_in(path, home)
    rejected = path.with_name("x.jsonl.rejected")
    rejected.write_text(rejected.read_text().rstrip("\n") + lines[number][-3:])
    assert take_in(rejected, home).complete
    with MemoryGraph.open(home) as graph:
        assert "I like green tea." in texts(graph)


def test_lines_that_are_refused_of_the_current_folder_are_kept_beside_it(
    memlane: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "m1.md").write_text("---\nid: m1\n---\n")
    monkeypatch.chdir(folder)
    result: Result = memlane("import", ".")
    assert result.code == 1
    assert (tmp_path / "notes.rejected").exists()


def test_a_cut_off_export_says_how_much_is_missing(memlane: Any, exported: Path, tmp_path: Path):
    lines = exported.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(lines[:-4]))
    result: Result = memlane("import", tmp_path / "cut.jsonl")
    assert result.code == 1
    assert "4 exported lines are missing" in result.err


def test_a_file_changed_by_hand_is_taken_in_and_said(memlane: Any, exported: Path, tmp_path: Path):
    changed = tmp_path / "x.jsonl"
    changed.write_text(exported.read_text().replace("Voucher ABC", "Voucher XYZ"))
    result: Result = memlane("import", changed, "--json")
    assert result.code == 0
    assert any("SHA-256" in warning for warning in result.json["warnings"])


def test_a_broken_line_among_a_hundred_thousand(tmp_path: Path):
    """Streamed: nothing but the line at hand and 16 bytes a statement are kept."""
    path = tmp_path / "many.jsonl"
    memory = Memory("m1", "x", "Preference", "preference.other", NOW)
    plain = to_document(memory)
    with path.open("w") as file:
        for number in range(1, 100_001):
            if number == 51_234:
                file.write('{"kind": "memory", "id": "m51234", "te\n')
            else:
                document = plain | {"id": f"m{number}", "text": "The same is told again."}
                file.write(json.dumps(document) + "\n")
    with MemoryGraph.open(tmp_path / "own") as graph:
        graph.apply([Insert(draft("The same is told again."))], at=NOW)
    done = take_in(path, tmp_path / "own")
    assert [r.line for r in done.tally.rejected] == [51_234]
    assert done.tally.unchanged["memory"] == 99_999
    assert path.with_name("many.jsonl.rejected").read_text() == (
        '{"kind": "memory", "id": "m51234", "te\n'
    )
