"""Watched folders: what is new, changed, moved or deleted is handled once, whatever happens."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import pytest

from agent.io.platform_events import BUSY
from agent.io.watch import BACK_OFF, SETTLE, SLICE, TRIES, Watcher, only_watcher
from agent.io.watch_status import add_folders, gone_files, remove_folder, watch_status
from agent.ports import TextLine
from store.errors import InvalidInput, StoreFull
from store.tables.side_tables.watch_queue import FileState
from tests.conftest import NOW
from tests.support.watched_folder import Folder, Screen


def test_new_changed_and_unchanged(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.watcher.begin()
    assert folder.settle() == ["new a.md"]
    assert folder.texts == ["My cat is called Miso."]
    folder.watcher.look()
    assert folder.settle() == []
    note.write_text("My cat is called Nori.")
    assert folder.heard(note) == ["changed a.md"]
    assert folder.texts == ["My cat is called Nori."]


def test_a_file_is_read_only_once_it_stands_still(folder: Folder):
    picture = folder.write("shot.png", "My gate ")
    folder.watcher.hear([picture])
    folder.clock.now += SETTLE + 0.1
    picture.write_text("My gate is D12.")  # still being written
    assert folder.watcher.step() is None
    assert folder.settle() == ["new shot.png"]
    assert any("D12" in text for text in folder.texts)


def test_a_moved_file_is_the_same_file(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.heard(note)
    before = [m.id for m in folder.session.graph.memories.list()]
    new = folder.path / "sub" / "b.md"
    new.parent.mkdir()
    note.rename(new)
    assert folder.heard(note, new) == ["unchanged b.md"]
    assert [m.id for m in folder.session.graph.memories.list()] == before
    assert not gone_files(folder.session.graph)
    new.write_text("My cat is called Nori.")
    folder.heard(new)
    assert folder.texts == ["My cat is called Nori."]


def test_what_came_from_a_deleted_file_is_offered_and_kept(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.heard(note)
    note.unlink()
    folder.heard(note)
    (gone,) = gone_files(folder.session.graph)
    assert gone.path == note
    assert folder.texts == ["My cat is called Miso."]
    folder.session.graph.erase([memory.id for memory in gone.memories], at=NOW)
    assert not gone_files(folder.session.graph)


def test_a_file_that_comes_back_is_no_longer_offered(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.heard(note)
    note.unlink()
    folder.heard(note)
    folder.write("a.md", "My cat is called Miso.")
    folder.heard(note)
    assert not gone_files(folder.session.graph)
    assert len(folder.texts) == 1


def test_a_folder_that_disappears_has_deleted_nothing(folder: Folder, tmp_path: Path):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.heard(note)
    folder.path.rename(tmp_path / "away")
    folder.watcher.hear([note])
    folder.clock.now += SETTLE + 0.1
    assert folder.watcher.step() is None
    folder.watcher.look()
    assert not gone_files(folder.session.graph)
    (tmp_path / "away").rename(folder.path)
    folder.watcher.look()
    folder.settle()
    assert len(folder.texts) == 1


def test_a_deleted_and_an_added_folder(folder: Folder):
    folder.write("trip/a.md", "My cat is called Miso.")
    assert folder.heard(folder.path / "trip") == ["new a.md"]
    (folder.path / "trip" / "a.md").unlink()
    (folder.path / "trip").rmdir()
    folder.heard(folder.path / "trip")
    assert [gone.path.name for gone in gone_files(folder.session.graph)] == ["a.md"]


def test_failures_back_off_and_end(folder: Folder):
    note = folder.write("a.md", "")  # empty: unreadable
    folder.watcher.hear([note])
    folder.clock.now += SETTLE + 0.1
    waits = []
    for number in range(TRIES):
        report = folder.watcher.step()
        assert report is not None
        assert report.status == "failed"
        assert folder.watcher.step() is None  # not again at once
        waits.append(BACK_OFF * 2**number)
        folder.clock.now += waits[-1] + 0.1
    assert folder.watcher.step() is None
    row = folder.session.graph.watched.get(note)
    assert row is not None
    assert row.state is FileState.FAILED
    assert (
        "is empty"
        in watch_status(folder.session.graph, folder.session.config)["errors"][0]["error"]
    )
    note.write_text("My cat is called Miso.")  # a change is another chance
    assert folder.heard(note) == ["new a.md"]


def test_one_unreadable_file_among_good_ones(folder: Folder):
    folder.write("a.md", "My cat is called Miso.")
    folder.write("b.md", "")
    folder.write("c.md", "My dog is called Rex.")
    folder.watcher.look()
    told = folder.settle()
    assert {"new a.md", "failed b.md", "new c.md"} <= set(told)
    assert len(folder.texts) == 2


def test_an_error_nobody_foresaw_stops_no_other_file(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
):
    folder.write("a.md", "My cat is called Miso.")
    picture = folder.write("b.png", "x")

    def crash(self: Screen, image: Path) -> list[TextLine]:
        raise ZeroDivisionError("text of the picture")

    monkeypatch.setattr(Screen, "read", crash)
    folder.watcher.look()
    assert {"new a.md", "failed b.png"} <= set(folder.settle())
    row = folder.session.graph.watched.get(picture)
    assert row is not None
    assert row.reason == "ZeroDivisionError"


def test_more_files_than_the_queue_holds(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.io.watch.QUEUE", 10)
    for number in range(25):
        folder.write(f"{number:02}.md", f"My shelf {number} holds {number} books.")
    folder.watcher.look()
    graph = folder.session.graph
    assert graph.watched.waiting() == 10
    assert graph.watched.folders()[0].more
    told = folder.settle()
    while graph.watched.folders()[0].more:
        folder.watcher.look()
        told += folder.settle()
    assert len(told) == len(set(told)) == 25


def test_a_full_disk_loses_nothing(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.watcher.hear([note])
    folder.clock.now += SETTLE + 0.1

    def full(*given: object, **named: object) -> object:
        raise StoreFull("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("agent.io.watch.ingest_into", full)
        report = folder.watcher.step()
        assert report is not None
        assert report.reason == "The disk is full."
        assert folder.watcher.step() is None
    folder.clock.now += 61
    assert folder.settle() == ["new a.md"]


def test_a_clock_that_was_set_back_stops_nothing(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    folder.watcher.hear([note])
    folder.clock.now -= 400 * 86_400
    report = folder.watcher.step()
    assert report is not None
    assert report.status == "new"


def test_ignored_and_hidden_files_are_left_alone(folder: Folder):
    folder.write(".memlaneignore", "private/\n*.txt\n!keep.txt\n")
    for name in ("private/a.md", "b.txt", "keep.txt", ".hidden.md"):
        folder.write(name, f"My file {name.replace('/', ' ')} is blue.")
    told = folder.heard(*folder.path.rglob("*"))
    assert told == ["new keep.txt"]
    folder.watcher.look()
    assert folder.settle() == []


def test_it_waits_while_the_machine_is_busy(folder: Folder):
    note = folder.write("a.md", "My cat is called Miso.")
    reason = ["on battery"]
    watcher = Watcher(folder.session, clock=folder.clock, wait=lambda: reason[0])
    watcher.hear([note])
    folder.clock.now += SETTLE + 0.1
    told: list[str] = []
    watcher.work(Event(), lambda report: told.append(report.status))
    assert watcher.paused == "on battery"
    assert not told
    reason[0] = ""
    watcher.work(Event(), lambda report: told.append(report.status))
    assert told == ["new"]


def test_a_machine_that_is_always_busy_reads_a_file_now_and_then(folder: Folder):
    notes = [folder.write(f"{name}.md", f"My cat is called {name}.") for name in ("Ada", "Bo")]
    watcher = Watcher(folder.session, clock=folder.clock, wait=lambda: BUSY)
    watcher.hear(notes)
    told: list[str] = []
    for _ in range(2):
        folder.clock.now += SLICE
        watcher.work(Event(), lambda report: told.append(report.status))
    assert told == ["new", "new"]
    assert not watcher.table.waiting()


def test_of_files_that_wait_the_newest_and_smallest_is_first(folder: Folder):
    day = 86_400
    for name, text, age in (("old", "I row.", 3 * day), ("long", "I row. " * 9, 0), ("a", "I.", 0)):
        path = folder.write(f"{name}.md", text)
        os.utime(path, (age_of := 1_700_000_000 - age, age_of))
    folder.watcher.look()
    order = []
    folder.clock.now += SETTLE + 0.1
    while row := folder.watcher.table.next_due(folder.clock.now, 3600):
        order.append(row.path.stem)
        folder.watcher.table.drop(row.path)
    assert order == ["a", "long", "old"]


def test_the_queue_holds_no_text_of_a_file(folder: Folder):
    text = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Secret dinner\nDTSTART:2024\nEND:VEVENT\n"
        "END:VCALENDAR"
    )
    folder.heard(folder.write("a.ics", text))
    rows = folder.session.graph._rows.query("SELECT * FROM watched_files")
    assert "dinner" not in repr(rows)


def test_folders_are_checked(folder: Folder, own_home: Path, tmp_path: Path):
    graph, config = folder.session.graph, folder.session.config
    for wrong, why in (
        (tmp_path / "none", "not a folder"),
        (own_home, "own home"),
        (tmp_path, "already watched"),
    ):
        with pytest.raises(InvalidInput, match=why):
            add_folders(graph, [wrong], config)
    add_folders(graph, [folder.path], config)  # again is nothing new
    assert len(graph.watched.folders()) == 1
    remove_folder(graph, folder.path)
    with pytest.raises(InvalidInput, match="not watched"):
        remove_folder(graph, folder.path)


def test_only_one_process_watches_a_home(own_home: Path, folder: Folder):
    with (
        only_watcher(own_home),
        pytest.raises(InvalidInput, match="Another memlane"),
        only_watcher(own_home),
    ):
        pass


def test_forgetting_what_came_from_a_watched_screenshot_leaves_no_trace(folder: Folder):
    folder.heard(folder.write("shot.png", "My locker number is 48213377."))
    graph = folder.session.graph
    assert graph.sources.layout("s1")
    graph.erase([m.id for m in graph.memories.list()], at=NOW)
    assert not graph.prove_forgotten().left
    assert not graph.verify()
    assert "48213377" not in repr(graph.sources.get("s1"))
