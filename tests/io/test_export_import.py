"""What goes out comes in again: nothing of a home is lost, and nothing is doubled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from agent.codec import decode, encode
from agent.io.transfer.export import export_markdown
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Memory, Span, Triple, Trust
from tests.conftest import NOW, Result
from tests.support.exports import draft, lines_of, markdown_of, take_in

# ---- out ----------------------------------------------------------------------------------


def test_the_manifest_counts_the_lines_and_hashes_them(exported: Path):
    head, _, rest = exported.read_bytes().partition(b"\n")
    manifest = json.loads(head)
    assert manifest["kind"] == "memlane"
    assert manifest["sha256"] == hashlib.sha256(rest).hexdigest()
    kinds = [json.loads(line)["kind"] for line in rest.splitlines()]
    assert manifest["counts"] == {kind: kinds.count(kind) for kind in manifest["counts"]}
    assert {"subclass", "source", "edit", "memory", "turn", "row"} == set(kinds)


def test_an_export_is_its_owners_alone(exported: Path):
    assert exported.stat().st_mode & 0o777 == 0o600


def test_every_table_of_the_schema_is_exported_or_can_be_derived(full: Path):
    """A table that a later schema adds travels as rows, without a change of the export."""
    with MemoryGraph.open(full) as graph:
        from store.database.connection import Connection

        connection = Connection.open(graph.path.parent)
        connection.execute("CREATE TABLE later (id INTEGER PRIMARY KEY, what TEXT, raw BLOB)")
        connection.execute("INSERT INTO later VALUES (7, 'x', x'00ff')")
        connection.db.conn.commit()
        connection.close()
    rows = [line for line in lines_of(full) if line["kind"] == "row" and line["table"] == "later"]
    assert rows == [
        {"kind": "row", "table": "later",
         "values": {"id": 7, "what": "x", "raw": {"$base64": "AP8="}}}
    ]  # fmt: skip


def test_a_new_field_of_a_memory_travels_without_a_change_here():
    names = {field.name for field in fields(Memory)}
    memory = Memory("m1", "x", "Event", "event.life", NOW, span=Span(1, 2), trust=Trust.SEEN)
    assert set(encode(memory)) == names
    assert decode(Memory, encode(memory)) == memory


# ---- in, to an empty home -----------------------------------------------------------------


def test_jsonl_rebuilds_a_home_with_ids_statuses_and_history(
    full: Path, exported: Path, tmp_path: Path
):
    done = take_in(exported, tmp_path / "new")
    assert done.complete, done.tally.rejected
    assert (done.mode, done.warnings) == ("restored", ())
    assert lines_of(tmp_path / "new") == lines_of(full)
    with MemoryGraph.open(full) as old, MemoryGraph.open(tmp_path / "new") as new:
        assert new.memories.list() == old.memories.list()
        assert new.journal.list() == old.journal.list()
        assert new.sources.list() == old.sources.list()
        assert new.turns.last() == old.turns.last()
        assert new.verify() == ()
        # No id is given twice, not even that of the memory that was taken back.
        (entry,) = new.apply([Insert(draft("Next."))], at=NOW)
        assert entry.memory == "m7"
        assert new.undo(at=NOW).undoes == entry.id


@pytest.mark.parametrize("name", ["memories.md", "memories"])
def test_markdown_rebuilds_memories_and_sources(full: Path, tmp_path: Path, name: str):
    export_markdown(full, tmp_path / name, NOW)
    done = take_in(tmp_path / name, tmp_path / "new", "markdown")
    assert (done.mode, done.complete) == ("restored", True)
    assert markdown_of(tmp_path / "new") == markdown_of(full)
    with MemoryGraph.open(tmp_path / "new") as new, MemoryGraph.open(full) as old:
        assert new.memories.list() == old.memories.list()
        assert new.sources.list() == old.sources.list()
        assert new.verify() == ()


def test_an_import_that_breaks_off_leaves_the_home_empty(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from store.maintenance.backup import Rebuild

    def crash(self: Rebuild, last: dict[str, int]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Rebuild, "keep_ids", crash)
    with pytest.raises(KeyboardInterrupt):
        take_in(exported, tmp_path / "new")
    monkeypatch.undo()
    assert take_in(exported, tmp_path / "new").mode == "restored"


def test_version_1_of_the_format_is_read(tmp_path: Path):
    memory = {
        "id": "m1", "text": "I like tea.", "type": "Preference", "subclass": "preference.diet",
        "created": NOW.isoformat(), "triples": [["me", "likes", "tea"]], "valid_from": None,
        "valid_until": None, "place": None, "source": None, "status": "current",
        "replaced_by": None,
    }  # fmt: skip
    old = [
        {"kind": "memlane", "version": 1, "exported": NOW.isoformat()},
        {"kind": "subclass", "id": "preference.diet", "type": "Preference", "name": "Diet"},
        {"kind": "memory", **memory},
        {"kind": "edit", "id": "e1", "batch": 1, "at": NOW.isoformat(), "edit_kind": "insert",
         "actor": "auto", "source": None, "undoes": None,
         "changes": [{"memory": "m1", "before": None, "after": memory}]},
    ]  # fmt: skip
    (tmp_path / "v1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old))
    assert take_in(tmp_path / "v1.jsonl", tmp_path / "new").complete
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert [m.text for m in graph.memories.list()] == ["I like tea."]
        assert graph.verify() == ()
        assert next(s for s in graph.subclasses() if s.id == "preference.diet").examples


def test_a_newer_format_is_refused(memlane: Any, tmp_path: Path):
    (tmp_path / "x.jsonl").write_text('{"kind": "memlane", "version": 99}\n')
    result: Result = memlane("import", tmp_path / "x.jsonl")
    assert result.code == 1
    assert "Upgrade memlane" in result.err


# ---- Markdown -----------------------------------------------------------------------------


def test_an_edited_document_is_read(tmp_path: Path):
    (tmp_path / "x.md").write_text(
        "\ufeff---\r\nid: m1\r\ntype: Preference\r\nsubclass: preference.diet\r\n"
        "created: 2024-05-08T09:00:00+00:00\r\nplace: no\r\n"
        "triples:\r\n- {head: me, relation: likes, tail: tea}\r\n---\r\n\r\nI like\r\ntea.\r\n\r\n"
    )
    done = take_in(tmp_path / "x.md", tmp_path / "new", "markdown")
    assert done.complete, done.tally.rejected
    with MemoryGraph.open(tmp_path / "new") as graph:
        (memory,) = graph.memories.list()
    assert (memory.text, memory.place) == ("I like tea.", "no")
    assert memory.triples == (Triple("me", "likes", "tea"),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Only a sentence.\n", "has no fields"),
        ("---\nid: [broken\n---\ntext\n", "not YAML"),
        ("---\nid: m1\n---\ntext\n", "is missing"),
        ("---\nkind: spell\n---\ntext\n", "kind is 'spell'"),
        ("---\nid: !!python/object/apply:os.system [echo]\n---\ntext\n", "not YAML"),
    ],
)
def test_a_document_without_usable_front_matter_is_named(tmp_path: Path, text: str, reason: str):
    memory = Memory("m7", "I like tea.", "Preference", "preference.diet", NOW)
    from agent.io.transfer.export import as_document

    (tmp_path / "x.md").write_text(text + as_document(memory))
    done = take_in(tmp_path / "x.md", tmp_path / "new", "markdown")
    assert done.tally.rejected_count == 1
    assert reason in done.tally.rejected[0].reason
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert [m.id for m in graph.memories.list()] == ["m7"]


def test_a_folder_that_is_not_empty_is_left_alone(memlane: Any, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    result: Result = memlane("export", "--format", "notes", "--out", tmp_path / "out")
    assert result.code == 1
    assert "already exists" in result.err
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"


def test_memlane_does_not_ingest_its_own_export(memlane: Any, full: Path, tmp_path: Path):
    export_markdown(full, tmp_path / "out", NOW)
    export_markdown(full, tmp_path / "out.md", NOW)
    result: Result = memlane("ingest", tmp_path / "out", tmp_path / "out.md", "--json")
    assert result.code == 1  # one of them was named
    assert {source["status"] for source in result.json["sources"]} == {"skipped"}
    assert "memlane import" in result.json["sources"][0]["reason"]


# ---- the commands -------------------------------------------------------------------------


def test_export_and_import_by_command(memlane: Any, full: Path, tmp_path: Path):
    out = tmp_path / "all.jsonl"
    result: Result = memlane("--home", full, "export", "--out", out, "--json")
    assert (result.code, result.json["counts"]["memory"]) == (0, 5)
    assert result.json["lines"] == len(out.read_text().split("\n")) - 1
    result = memlane("import", out, "--json")
    assert result.code == 0, result.err
    assert result.json["mode"] == "restored"
    result = memlane("import", out, "--json")
    assert (result.json["mode"], result.json["new"], result.json["run"]) == ("merged", {}, None)


def test_a_rejected_line_is_named_and_exits_1(memlane: Any, exported: Path):
    exported.write_bytes(exported.read_bytes() + b"{broken\n")
    result: Result = memlane("import", exported)
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert "not JSON" in line and ".rejected" in line
    assert "restored" in result.out


@pytest.mark.parametrize("content", ["", "hello", "[1, 2]", "\x00\x01"])
def test_a_file_that_is_nothing_we_know_is_refused(memlane: Any, tmp_path: Path, content: str):
    (tmp_path / "x.bin").write_text(content)
    result: Result = memlane("import", tmp_path / "x.bin")
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert memlane("import", tmp_path / "gone").code == 1
    assert memlane("import", tmp_path / "x.bin", "--format", "docx").code == 2
