"""Killed at any point, an ingest loses nothing it acknowledged and doubles nothing when it is run
again."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

import pytest

from store.types import SourceStatus, Status
from tests.support.crash_work import ingest_and_acknowledge, open_here, say_many

KILLS = 40  # of a running ingest
MOST_RUNS = 100
NOTES = 12


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    for number in range(NOTES):
        (folder / f"note{number:02}.md").write_text(
            f"My locker {number} is in building {number}.\n"
            f"My friend Ana{number} lives in Porto.\n"
            f"I like tea number {number}.\n",
            encoding="utf-8",
        )
    return folder


@pytest.fixture(scope="module")
def workers():
    """Processes that start at once, because their parent has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.crash_work"])
    return context


def texts(home: Path) -> list[str]:
    with open_here(home) as session:
        assert session.graph.verify("hash:1") == ()
        return sorted(memory.text for memory in session.graph.memories.list(Status.CURRENT))


def acknowledged(log: Path) -> list[str]:
    """The notes that are said to be done."""
    return [line for line in log.read_text().splitlines() if not line.startswith("#")]


def test_killed_at_any_point_it_ends_as_if_it_had_not_been(notes: Path, workers, tmp_path: Path):
    def start(home: Path, acknowledged: Path):
        process = workers.Process(
            target=ingest_and_acknowledge, args=(home, notes, acknowledged), daemon=True
        )
        process.start()
        return process

    durations = []
    for name in ("whole", "warm"):  # the first is slower than those that will be killed
        whole = start(tmp_path / name, tmp_path / f"{name}.txt")
        while not (tmp_path / f"{name}.txt").exists():
            time.sleep(0.002)
        began = time.monotonic()
        whole.join()
        durations.append(time.monotonic() - began)
    duration = min(durations)
    expected = texts(tmp_path / "whole")
    assert len(expected) == 3 * NOTES

    random.seed(8)
    interrupted = 0
    # A busy machine may finish before it is killed: that run is checked too, but is no kill.
    for run in range(MOST_RUNS):
        if interrupted == KILLS:
            break
        home, log = tmp_path / f"home{run}", tmp_path / f"log{run}.txt"
        process = start(home, log)
        while not log.exists():
            time.sleep(0.002)
        # By what was done, not by the clock alone: how long a note takes depends on the machine.
        reached = random.randrange(NOTES)
        while process.is_alive() and len(acknowledged(log)) < reached:
            time.sleep(0.001)
        time.sleep(random.uniform(0, duration / NOTES))
        process.kill()
        process.join()
        interrupted += process.exitcode == -9

        done = acknowledged(log)
        with open_here(home) as session:
            assert session.graph.verify() == ()
            by_path = {
                source.locator: source.id
                for source in session.graph.sources.list(SourceStatus.EXTRACTED)
            }
            for path in done:  # nothing acknowledged is missing
                assert len(session.graph.memories.made_from(by_path[path])) == 3
            list(session.ingest([notes]))
        assert texts(home) == expected  # nothing is missing and nothing doubled
    assert interrupted == KILLS, "most kills must hit a running ingest"


def test_two_processes_writing_at_once_both_store_everything(workers, tmp_path: Path):
    home = tmp_path / "shared"
    both = [workers.Process(target=say_many, args=(home, name, 20)) for name in ("ox", "yak")]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert len(texts(home)) == 40
