"""Watched folders with the events of the real platform, and in a process that is killed."""

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

from agent.io.watch import Watcher
from store.graph import MemoryGraph
from tests.support.watched_folder import Folder

ROOT = Path(__file__).parents[2]


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
