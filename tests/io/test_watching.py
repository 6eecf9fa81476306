"""Watched folders: what is new, changed, moved or deleted is handled once, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from agent.config import load_config
from agent.io.platform_events import BUSY
from agent.io.watch import BACK_OFF, SETTLE, SLICE, TRIES, Watcher, only_watcher
from agent.io.watch_status import add_folders, gone_files, remove_folder, watch_status
from agent.ports import TextLine
from agent.session.session import Session
from store.errors import InvalidInput, StoreFull
from store.graph import MemoryGraph
from store.side_tables.watch_queue import FileState
from tests.conftest import NOW
from tests.support.crash_work import HashEncoder, SilentModel

ROOT = Path(__file__).parents[2]


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """A reader that sees one line on every picture, unless it is half written."""

    def read(self, image: Path) -> list[TextLine]:
        text = image.read_text()
        return [TextLine(text, 0, 0, 100, 10, 1.0)]


class Folder:
    """A watched folder, its watcher, and a clock."""

    def __init__(self, path: Path, session: Session, clock: Clock) -> None:
        self.path, self.session, self.clock = path, session, clock
        self.watcher = Watcher(session, clock=clock, wait=lambda: "")

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def settle(self) -> list[str]:
        """Let everything settle, and say what became of each file."""
        told = []
        for _ in range(50):
            self.clock.now += SETTLE + 0.1
            while report := self.watcher.step():
                told.append(f"{report.status} {Path(report.path).name}")
            if not self.session.graph.watched.waiting():
                break
        return told

    def heard(self, *paths: Path) -> list[str]:
        self.watcher.hear(paths)
        return self.settle()

    @property
    def texts(self) -> list[str]:
        memories = self.session.graph.memories.list()
        return sorted(m.text for m in memories if m.status == "current")


@pytest.fixture
def folder(tmp_path: Path, own_home: Path) -> Iterator[Folder]:
    path = tmp_path / "notes"
    path.mkdir()
    config = load_config(now=NOW)
    with MemoryGraph.open(own_home) as graph:
        add_folders(graph, [path], config)
        session = Session(config, graph, llm=SilentModel(), embedder=HashEncoder(), reader=Screen())
        yield Folder(path, session, Clock())


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


# ---- with the real platform -----------------------------------------------------------------


@contextmanager
def running(folder: Folder, **settings: float) -> Iterator[list[str]]:
    stop, told = Event(), []
    watcher = Watcher(folder.session, wait=lambda: "")
    thread = Thread(
        target=watcher.run,
        args=(stop, lambda report: told.append(f"{report.status} {Path(report.path).name}")),
    )
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def test_real_events_of_a_real_folder(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.io.watch.SETTLE", 0.2)
    folder.write("before.md", "My cat is called Miso.")
    with running(folder) as told:
        until(lambda: "new before.md" in told)
        note = folder.write("sub/later.md", "My dog is called Rex.")
        until(lambda: "new later.md" in told)
        note.write_text("My dog is called Bello.")
        until(lambda: "changed later.md" in told)
        note.rename(folder.path / "moved.md")
        until(lambda: "unchanged moved.md" in told)
        (folder.path / "moved.md").unlink()
        until(lambda: told.count("unchanged moved.md") == 2)
    assert folder.texts == ["My cat is called Miso.", "My dog is called Bello."]


def test_killed_again_and_again_nothing_is_lost_or_repeated(tmp_path: Path):
    home, notes = tmp_path / "killed", tmp_path / "notes"
    notes.mkdir()
    count = 60
    for number in range(count):
        (notes / f"{number:02}.md").write_text(f"My shelf {number} holds {number}7 books.")

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.support.watch_work", str(home), str(notes)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )

    told: list[str] = []
    for kill_after in (1, 5, 12):
        process = start()
        assert process.stdout is not None
        told += [process.stdout.readline() for _ in range(kill_after)]
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    process = start()
    assert process.stdout is not None
    done = 0
    for line in process.stdout:
        told.append(line)
        with MemoryGraph.open(home) as graph:
            done = len(graph.memories.list())
            waiting = graph.watched.waiting()
        if done == count and not waiting:
            break
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stdout.close()
    with MemoryGraph.open(home) as graph:
        texts = [memory.text for memory in graph.memories.list()]
        assert len(texts) == len(set(texts)) == count
        assert len(graph.sources.list()) == count
        assert not graph.verify()
    # What a killed process had finished is at most looked at once more, never taken in again.
    new = [line for line in told if line.startswith("new")]
    assert len(new) == len(set(new))
