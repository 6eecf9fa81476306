"""Kills, signals, stale files and other processes cost the resident process nothing stored."""

from __future__ import annotations

import logging
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.config import load_config
from agent.server.resident.client import Client, ResidentGone
from agent.server.resident.log_file import KEPT, open_log
from agent.server.resident.paths import Place
from store.database.connection import connect as open_database
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.types import (
    SourceStatus,
    Status,
)
from tests.conftest import NOW
from tests.support.residents import ROOT, SECRET, client_of, mode, settle, started


def test_killed_at_any_moment_nothing_acknowledged_is_lost(own_home: Path):
    kills, rng = 4, random.Random(8)
    acknowledged: list[str] = []
    for trial in range(kills):
        with started(own_home, delay=0.3) as child:
            timer = threading.Timer(rng.uniform(0.0, 0.8), child.kill)
            timer.start()
            try:
                for number in range(1000):
                    text = f"My box {trial}-{number} holds {number} books."
                    client_of(own_home).remember(text)
                    acknowledged.append(text)
            except (MemlaneError, OSError, AssertionError):
                pass
            child.wait()
            timer.join()
    with started(own_home):
        settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        kept = {source.text for source in graph.sources.list(SourceStatus.EXTRACTED)}
        assert set(acknowledged) <= kept
        stored = [memory.text for memory in graph.memories.list(Status.CURRENT)]
        assert len(stored) == len(set(stored)) and set(acknowledged) <= set(stored)
        assert graph.verify("hash:1") == ()


def test_what_was_stored_with_an_end_keeps_it_over_a_kill(own_home: Path):
    until = datetime(2031, 1, 1, tzinfo=UTC)
    with started(own_home, delay=30.0) as child:
        assert client_of(own_home).remember(SECRET, expires=until, place="Oslo").queued
        child.kill()
        child.wait()
    with started(own_home):
        settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        (memory,) = graph.memories.list(Status.CURRENT)
    assert (memory.text, memory.valid_until, memory.place) == (SECRET, until, "Oslo")


def test_sigterm_in_the_middle_of_an_answer_ends_it_in_order(own_home: Path):
    with started(own_home) as child:
        client = client_of(own_home)
        client.remember(SECRET, wait=True)
        words: list[str] = []
        told: list[str] = []

        def talk() -> None:
            try:
                client.ask("cat", policy="all", on_text=words.append)
            except ResidentGone as error:
                told.append(str(error))

        talking = threading.Thread(target=talk)
        talking.start()
        while not words:
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
        talking.join()
    assert len(told) == 1 and "\n" not in told[0]
    assert not Place(own_home).socket.exists()
    with sqlite3.connect(own_home / "memlane.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_another_process_that_closes_does_not_take_the_log_from_under_a_second_connection(
    own_home: Path,
):
    """Closing any descriptor of the file would drop the locks of all our connections."""
    first, second = open_database(own_home), open_database(own_home)
    try:
        first.execute("INSERT INTO turns (at, text, route, reply, trace) VALUES ('','','','','{}')")
        first.conn.commit()
        code = (
            "import sys; from pathlib import Path; from store.database.connection import connect; "
        )
        code += "connect(Path(sys.argv[1])).close()"
        subprocess.run([sys.executable, "-c", code, str(own_home)], cwd=ROOT, check=True)
        assert (own_home / "memlane.db-wal").exists()
        second.execute(
            "INSERT INTO turns (at, text, route, reply, trace) VALUES ('','','','','{}')"
        )
        second.conn.commit()
        with open_in_turn(own_home) as other:
            assert other.execute("SELECT count(*) FROM turns").fetchone() == (2,)
    finally:
        first.close()
        second.close()


@contextmanager
def open_in_turn(home: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(home / "memlane.db")
    try:
        yield connection
    finally:
        connection.close()


def test_two_at_once_one_wins_and_the_other_says_so(own_home: Path):
    words = [sys.executable, "-m", "cli.app", "up", "--foreground"]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stderr and "memlane is up at" in first.stderr.readline()
            second = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
            assert second.returncode == 1
            assert "memlane is already running" in second.stderr and str(first.pid) in second.stderr
        finally:
            first.send_signal(signal.SIGINT)
            assert first.wait(60) == 0


def test_sigterm_in_the_middle_of_an_ingest_loses_and_repeats_nothing(
    own_home: Path, tmp_path: Path
):
    folder, count = tmp_path / "cards", 40
    cards(folder, count)
    with started(own_home, delay=0.5) as child:
        reports = client_of(own_home).ingest([folder])
        assert next(reports).status == "new"
        child.send_signal(signal.SIGTERM)
        with pytest.raises(ResidentGone, match=r"^The resident process [^\n]*$"):
            assert len(list(reports)) < count - 1
        assert child.wait(60) == 0
    with started(own_home):
        assert len(list(client_of(own_home).ingest([folder]))) == count
        settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        assert len(graph.sources.list(SourceStatus.EXTRACTED)) == len(graph.sources.list()) == count
        texts = [memory.text for memory in graph.memories.list(Status.CURRENT)]
        assert len(texts) == len(set(texts)) >= count
        assert graph.verify() == ()


def cards(folder: Path, count: int) -> None:
    """Contact cards, which need no language model."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:02}.vcf").write_text(
            f"BEGIN:VCARD\nVERSION:3.0\nFN:Ana Silva{number}\nTEL:+351 912 345 6{number:02}\n"
            "END:VCARD\n"
        )


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
def test_a_full_disk_is_one_line_and_the_process_goes_on_answering(own_home: Path):
    with started(own_home) as child:
        client = client_of(own_home)
        client.remember(SECRET, wait=True)
        # No file of the process may grow any more: what it meets is what a full disk is to it.
        _, hard = resource.prlimit(child.pid, resource.RLIMIT_FSIZE)
        largest = max(path.stat().st_size for path in own_home.glob("memlane.db*"))
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (largest, hard))
        with pytest.raises(MemlaneError) as told:
            for number in range(50):
                client.remember(f"My box {number} holds {'books ' * 500}", wait=True)
        assert "\n" not in str(told.value)
        assert client.running().pid == child.pid
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert client.remember("I own a kayak.", wait=True).entries
    with MemoryGraph.open(own_home) as graph:
        assert {SECRET, "I own a kayak."} <= {m.text for m in graph.memories.list()}
        assert graph.verify("hash:1") == ()


def test_a_picture_of_200_megabytes_is_left_aside_and_the_others_are_taken_in(
    own_home: Path, tmp_path: Path
):
    folder = tmp_path / "files"
    cards(folder, 1)
    with (folder / "00.png").open("wb") as huge:
        huge.truncate(200_000_000)
    with started(own_home) as child:
        picture, card = client_of(own_home).ingest([folder])
        assert (picture.status, card.status) == ("skipped", "new")
        assert "200,000,000 bytes; at most 50,000,000 are read" in (picture.reason or "")
        peak = Path(f"/proc/{child.pid}/status")
        if peak.exists():
            held = next(x for x in peak.read_text().splitlines() if x.startswith("VmHWM"))
            assert int(held.split()[1]) < 400_000  # kB: it was never read


def test_a_clock_that_was_set_back_or_far_ahead_stops_nothing(own_home: Path):
    with started(own_home):
        for moment in (NOW, NOW - timedelta(days=4000), NOW + timedelta(days=9000)):
            client = Client(
                load_config({"home": str(own_home)}, now=moment), Place(own_home).socket
            )
            assert client.remember(f"I own box {moment.year}.", wait=True).entries
            assert client.ask("box", policy="all", use_llm=False).memories
        assert client_of(own_home).running().queue == 0
    with MemoryGraph.open(own_home) as graph:
        assert graph.verify("hash:1") == ()


def test_a_folder_that_disappears_while_it_is_taken_in_is_one_line_a_file(
    own_home: Path, tmp_path: Path
):
    folder = tmp_path / "cards"
    cards(folder, 40)
    with started(own_home, delay=0.3):
        reports = client_of(own_home).ingest([folder])
        first = next(reports)
        shutil.rmtree(folder)
        rest = list(reports)
        assert first.status == "new"
        assert {r.status for r in rest} <= {"new", "failed"} and rest[-1].status == "failed"
        assert all("\n" not in (r.reason or "") for r in rest)
        assert client_of(own_home).running().queue == 0


def test_the_log_is_turned_over_and_stays_the_persons_own(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("agent.server.resident.log_file.MOST_BYTES", 1000)
    path = tmp_path / "logs" / "resident.log"
    handler = open_log(path, debug=False)
    try:
        for number in range(200):
            logging.getLogger("memlane.resident").info("say ok %d ms", number)
    finally:
        logging.getLogger("memlane").removeHandler(handler)
        handler.close()
    logs = sorted(path.parent.iterdir())
    assert len(logs) == KEPT + 1
    assert all(log.stat().st_size <= 1000 and mode(log) == 0o600 for log in logs)
