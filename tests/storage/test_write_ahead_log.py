"""A damaged write-ahead log is one line, not a silent loss; what is whole in it is rescued."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.io.rescue import rescue
from agent.io.transfer.backup import backup, restore
from store.database import connection
from store.database.connection import DATABASE_NAME
from store.database.write_ahead_log import HEADER, damage_of
from store.errors import CorruptStore
from store.graph import MemoryGraph
from tests.conftest import NOW, Result
from tests.support.residents import ROOT

Memlane = Callable[..., Result]
COUNT = 30
LOG, INDEX = f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"
FRAME = 24 + 4096

KILLED = f"""
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from store.graph import MemoryGraph
from store.types import SourceKind
graph = MemoryGraph.open(Path(sys.argv[1]))
for number in range({COUNT}):
    graph.sources.add(SourceKind.MANUAL, f"Box {{number}}.", datetime.now(UTC))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose writer was killed: all that it stored last is in the log alone."""
    home = tmp_path_factory.mktemp("killed") / "home"
    done = subprocess.run([sys.executable, "-c", KILLED, str(home)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    assert (home / LOG).stat().st_size > COUNT * FRAME and (home / INDEX).exists()
    return home


@pytest.fixture
def home(killed: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it, which no process has opened."""
    copy = tmp_path / "home"
    shutil.copytree(killed, copy)
    yield copy


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def boxes(home: Path) -> int:
    with MemoryGraph.open(home) as graph:
        return len(graph.sources.list())


def files(home: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in home.iterdir() if p.name.startswith(DATABASE_NAME)}


def test_a_killed_writer_is_no_damage(home: Path):
    assert damage_of(home / DATABASE_NAME) is None
    assert boxes(home) == COUNT


def test_what_stands_behind_the_damage_is_not_dropped_in_silence(
    home: Path, memlane: Memlane, tmp_path: Path
):
    middle = HEADER + (home / LOG).stat().st_size // 2
    flip(home / LOG, middle)
    before = files(home)
    for words in (("status",), ("memories", "list"), ("backup",)):
        done = memlane("--home", str(home), *words)
        assert done.code == 1 and done.err.count("\n") == 1, done
        assert "write-ahead log" in done.err and "memlane rescue" in done.err
    checks = memlane("--home", str(home), "doctor", "--quick", "--json").json["checks"]
    assert "write-ahead log" in next(c for c in checks if c["name"] == "database")["detail"]
    assert files(home) == before  # nothing is made worse
    saved = memlane("--home", str(home), "rescue", str(tmp_path / "new"), "--json")
    assert saved.code == 0 and "cannot be read" in saved.json["log"], saved
    assert files(home) == before
    # SQLite would have read half of them.
    assert boxes(tmp_path / "new") >= COUNT - 3


@pytest.mark.parametrize("index", [True, False], ids=["with its index", "without"])
def test_any_flipped_bit_is_found_before_the_last_change(home: Path, index: bool):
    if not index:
        (home / INDEX).unlink()
    whole, rng = (home / LOG).read_bytes(), random.Random(0)
    last = len(whole) - 8 * FRAME  # more than the last change: nothing behind it would tell
    for _ in range(40):
        flip(home / LOG, rng.randrange(HEADER, last))
        assert damage_of(home / DATABASE_NAME) is not None
        (home / LOG).write_bytes(whole)


def test_a_cut_log_is_told_by_its_index(home: Path):
    whole = (home / LOG).read_bytes()
    for size in (0, 10, HEADER, HEADER + 5 * FRAME, len(whole) - FRAME - 1, len(whole) - 1):
        (home / LOG).write_bytes(whole[:size])
        assert damage_of(home / DATABASE_NAME) is not None
        with pytest.raises(CorruptStore, match="write-ahead log"):
            boxes(home)
    (home / LOG).unlink()
    assert damage_of(home / DATABASE_NAME) is not None


def test_a_damaged_header_hides_nothing(home: Path, tmp_path: Path):
    for index in (True, False):
        if not index:
            (home / INDEX).unlink()
        flip(home / LOG, 20)
        with pytest.raises(CorruptStore, match="write-ahead log"):
            boxes(home)
        assert rescue(home, tmp_path / f"new {index}", NOW).log
        assert boxes(tmp_path / f"new {index}") == COUNT
        flip(home / LOG, 20)


def test_a_change_that_was_being_written_is_no_damage(home: Path):
    """A torn last change was never acknowledged: without an index nothing says that it was."""
    (home / INDEX).unlink()
    whole = (home / LOG).read_bytes()
    (home / LOG).write_bytes(whole[: -FRAME // 2])
    assert damage_of(home / DATABASE_NAME) is None
    assert boxes(home) == COUNT - 1


def test_a_log_that_others_write_is_read_as_whole(tmp_path: Path):
    """A first look while another process writes finds no damage, whatever the moment."""
    home = tmp_path / "live"
    code = KILLED.replace(f"range({COUNT})", "range(100_000)")
    MemoryGraph.open(home).close()
    with subprocess.Popen([sys.executable, "-c", code, str(home)], cwd=ROOT) as child:
        try:
            looked = 0
            while looked < 200:
                assert damage_of(home / DATABASE_NAME) is None
                looked += (home / LOG).exists() and (home / LOG).stat().st_size > HEADER
        finally:
            child.kill()


def test_a_log_is_looked_at_before_the_first_opening_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    with MemoryGraph.open(home):
        monkeypatch.setattr(connection, "damage_of", pytest.fail)
        MemoryGraph.open(home).close()


def test_a_log_that_is_in_the_database_already_may_go(home: Path):
    reader = sqlite3.connect(home / DATABASE_NAME)
    reader.execute("PRAGMA wal_checkpoint(FULL)")
    index, database = (home / INDEX).read_bytes(), (home / DATABASE_NAME).read_bytes()
    reader.close()
    (home / INDEX).write_bytes(index)
    (home / DATABASE_NAME).write_bytes(database)
    (home / LOG).write_bytes(b"")
    assert damage_of(home / DATABASE_NAME) is None


def test_a_backup_takes_the_place_of_a_home_with_a_damaged_log(home: Path, tmp_path: Path, full):
    kept = tmp_path / "kept.zip"
    backup(full, kept, NOW)
    flip(home / LOG, HEADER + 10 * FRAME)
    log = (home / LOG).read_bytes()
    done = restore(home, kept, NOW)
    assert done.damaged and done.aside is not None
    assert (done.aside / LOG).read_bytes() == log
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()
