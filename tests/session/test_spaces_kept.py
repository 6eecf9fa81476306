"""Spaces as they are kept: memories brought across, forgetting, removal, files, backups."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.io.spaces.carry import carry
from agent.ports import Embedder
from agent.session.session import open_session
from store.spaces import MAIN, Space, names, spaces
from tests.conftest import NOW, ScriptedModel
from tests.support.spaces import (
    OWN,
    SECRET,
    TOLD,
    Memlane,
    asked_in,
    config_in,
    ids_in,
    told_in,
)

# ---- moved and copied -------------------------------------------------------------------------


def test_a_memory_moves_with_its_date_and_its_words_alone(three: Memlane):
    said = "My sister Ada lives in Bergen. The boiler code is 5521."
    three("--now", "2024-05-01T10:00", "remember", said)
    (moved,) = [k for k, text in ids_in(three, MAIN).items() if "Bergen" in text]
    done = three("memories", "move", moved, "--to", "work", "--json").json
    (there,) = done["memories"]
    shown = three("--space", "work", "memories", "show", there["there"], "--json").json
    assert shown["text"] == "My sister Ada lives in Bergen." and "boiler" not in shown["raw"]
    assert shown["created"].startswith("2024-05-01T10:00")
    assert moved not in ids_in(three, MAIN)
    for command in done["undo"]:
        assert three(*command.split()[1:]).code == 0, command
    assert moved in ids_in(three, MAIN)
    assert not any("Bergen" in text for text in ids_in(three, "work").values())


def test_a_copy_stands_by_itself(three: Memlane):
    three("memories", "copy", "m1", "--to", "club")
    (copied,) = [k for k, text in ids_in(three, "club").items() if text == OWN[MAIN]]
    three("memories", "forget", "m1", "--yes")
    assert copied in ids_in(three, "club") and not ids_in(three, MAIN)


def test_a_killed_move_loses_nothing_and_can_be_repeated(
    three: Memlane, own_home: Path, embedder: Embedder, scripted: ScriptedModel
):
    with (
        open_session(config_in(MAIN), llm=scripted, embedder=embedder) as here,
        open_session(config_in("work"), llm=scripted, embedder=embedder) as there,
    ):
        main = Space(MAIN, own_home)
        carry(["m1"], main, here.graph, there.graph, there, NOW)  # and killed before the end
    assert OWN[MAIN] in ids_in(three, MAIN).values()
    assert OWN[MAIN] in ids_in(three, "work").values()
    done = three("memories", "move", "m1", "--to", "work")
    assert done.code == 0 and "there already" in done.out
    assert OWN[MAIN] not in ids_in(three, MAIN).values()
    assert list(ids_in(three, "work").values()).count(OWN[MAIN]) == 1


def test_what_cannot_move_changes_nothing(three: Memlane):
    before = ids_in(three, MAIN), ids_in(three, "work")
    for words in (("m1", "--to", "main"), ("m9", "--to", "work"), ("m1", "m9", "--to", "work"),
                  ("m1", "--to", "nowhere"), ("work:m1", "--to", "work")):  # fmt: skip
        assert three("memories", "move", *words).code != 0, words
    assert (ids_in(three, MAIN), ids_in(three, "work")) == before


# ---- forgotten, removed, watched --------------------------------------------------------------


def test_forgetting_reaches_other_spaces_only_when_asked(three: Memlane):
    for space in OWN:
        told_in(three, space)
    done = three("memories", "forget", "m2", "--yes")
    assert "searched: main." in done.out and "Not searched: club, work" in done.out
    assert SECRET in asked_in(three, "work")
    done = three("--space", "work", "memories", "forget", "m2", "--yes", "--all-spaces", "--json")
    assert done.json["spaces"] == {"main": [], "club": ["m2"]}
    assert SECRET not in asked_in(three, "work") + asked_in(three, "club")
    for space in OWN:
        assert three("--space", space, "doctor", "--forgotten").code == 0


def test_a_removed_space_is_gone_and_can_be_brought_back(three: Memlane, own_home: Path):
    told_in(three, "club")
    three("spaces", "allow", "main", "--see", "club")
    assert three("spaces", "remove", "club").code != 0, "it asks"
    done = three("spaces", "remove", "club", "--yes", "--json").json
    assert names(own_home) == (MAIN, "work") and SECRET not in asked_in(three, MAIN)
    three("spaces", "add", "club")
    assert not ids_in(three, "club")
    assert three("--space", "club", "restore", done["backup"], "--yes").code == 0
    assert SECRET in asked_in(three, "club")
    assert SECRET not in asked_in(three, MAIN), "what was allowed once is not allowed again"
    assert three("spaces", "remove", "main", "--yes").code == 2


def test_a_watched_folder_belongs_to_one_space(three: Memlane, tmp_path: Path):
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    assert three("--space", "work", "watch", str(folder)).code == 0
    for path in (folder, folder / "deep", tmp_path):
        done = three("watch", str(path))
        assert done.code == 2 and "work" in done.err
    assert str(folder) in three("spaces").out
    assert "notes" not in three("watch", "--list").out


def test_files_are_ingested_into_the_space_alone(three: Memlane, tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text(f"# Archive\n\n{TOLD}\n", encoding="utf-8")
    assert three("--space", "work", "ingest", str(note)).code == 0
    assert SECRET in three("--space", "work", "search", SECRET).out
    assert "is kept by" not in three("search", SECRET).out


# ---- backup and restore -----------------------------------------------------------------------


def test_a_backup_of_the_home_has_all_spaces(
    three: Memlane, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    told_in(three, "club")
    three("spaces", "allow", "work", "--see", "club")
    file = tmp_path / "all.zip"
    assert three("backup", "-o", str(file)).code == 0
    three("--space", "club", "memories", "forget", "m2", "--yes")
    three("spaces", "deny", "work", "--see", "club")
    assert three("--space", "work", "restore", str(file), "--yes").code == 2
    done = three("restore", str(file), "--yes")
    assert done.code == 0 and "club (2)" in done.out
    assert SECRET in asked_in(three, "club")
    assert SECRET not in asked_in(three, "work"), "a restore allows nothing again"
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path / "new"))
    done = three("restore", str(file), "--yes", "--json")
    assert {one["path"] for one in done.json["spaces"].values()} == {str(file)}
    assert [space.sees for space in spaces(tmp_path / "new")] == [(), (), ("club",)]
    assert SECRET in asked_in(three, "club") and SECRET in asked_in(three, "work")


def test_the_backup_of_a_space_has_that_space_alone(three: Memlane, tmp_path: Path):
    told_in(three, MAIN)
    file = tmp_path / "work.zip"
    assert three("--space", "work", "backup", "-o", str(file)).code == 0
    assert SECRET.encode() not in file.read_bytes()
    three("--space", "work", "memories", "forget", "m1", "--yes")
    assert three("--space", "work", "restore", str(file), "--yes").code == 0
    assert "Rosa" in three("--space", "work", "list").out
    assert SECRET in asked_in(three, MAIN)


def test_sync_says_which_spaces_it_leaves_out(three: Memlane, tmp_path: Path):
    pytest.importorskip("pyrage")
    done = three("sync", str(tmp_path), "--pair")
    assert done.code == 0 and "main alone, not: club, work" in done.err


def test_a_space_is_synchronised_by_itself_and_never_with_another(three: Memlane, tmp_path: Path):
    pytest.importorskip("pyrage")
    told_in(three, "work")
    for name in ("main", "work"):
        (tmp_path / name).mkdir()
    assert three("sync", str(tmp_path / "main"), "--pair").code == 0
    shared = tmp_path / "work"
    done = three("--space", "work", "--json", "sync", str(shared), "--pair")
    assert done.code == 0 and done.json["told"] > 0
    for space in (MAIN, "club"):
        refused = three("--space", space, "sync", str(shared), "--pair")
        assert refused.code == 2 and "shared folder of the space work" in refused.err
    assert SECRET not in three("list").out
