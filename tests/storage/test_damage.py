"""Damage is one clear line, what can be read is saved, and killed work leaves no copy behind."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config import load_config
from agent.io.rescue import rescue
from agent.memory.home import open_graph
from store.database.connection import DATABASE_NAME
from store.errors import CorruptStore, HomeUnavailable
from store.graph import MemoryGraph
from store.journal import Insert
from store.maintenance.left_overs import PREFIX, remove_left_overs, scratch_folder
from store.types import SourceKind
from tests.conftest import NOW, Result
from tests.support.exports import draft
from tests.support.residents import ROOT

Memlane = Callable[..., Result]
MEMORIES = 120


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A home with some pages of memories."""
    home = tmp_path / "many"
    with MemoryGraph.open(home) as graph:
        for number in range(MEMORIES):
            text = f"My box {number} holds {number * 7} books about topic {number % 11}."
            source = graph.sources.add(SourceKind.MANUAL, text, NOW)
            graph.apply([Insert(draft(text, source=source.id))], at=NOW)
    return home


def flip(path: Path, seed: int, count: int = 8) -> bytes:
    rng, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(count):
        data[rng.randrange(100, len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(data))
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_are_one_line_and_what_can_be_read_is_saved(
    many: Path, memlane: Memlane, tmp_path: Path, seed: int
):
    before = flip(many / DATABASE_NAME, seed)
    for words in (
        ("memories", "list"),
        ("search", "box"),
        ("status",),
        ("export",),
        ("doctor", "--quick"),
    ):
        done = memlane("--home", str(many), *words)
        assert done.code in (0, 1), (words, done)
        assert "unexpected" not in done.err and "Traceback" not in done.err, (words, done.err)
        if done.code == 1 and words[0] != "doctor":
            assert done.err.count("\n") == 1 and "memlane rescue" in done.err, done.err
    saved = memlane("--home", str(many), "rescue", str(tmp_path / "new"))
    assert (many / DATABASE_NAME).read_bytes() == before  # nothing is made worse
    assert saved.code == 0, saved.err
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert graph.verify() == ()
        assert len(graph.memories.list()) >= MEMORIES * 0.4


def test_a_whole_home_is_rescued_whole(full: Path, tmp_path: Path):
    rescued = rescue(full, tmp_path / "new", NOW)
    assert rescued.refused == 0
    with MemoryGraph.open(full) as old, MemoryGraph.open(tmp_path / "new") as new:
        assert new.memories.list() == old.memories.list()
        assert new.journal.list() == old.journal.list()
    assert not list((tmp_path / "new").glob(f"{PREFIX}*"))


def test_nothing_is_rescued_from_nothing_or_over_something(full: Path, tmp_path: Path):
    with pytest.raises(HomeUnavailable, match="no memory"):
        rescue(tmp_path / "none", tmp_path / "new", NOW)
    with pytest.raises(HomeUnavailable, match="already exists"):
        rescue(full, full, NOW)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / DATABASE_NAME).write_bytes(b"\xa5" * 50_000)
    with pytest.raises(CorruptStore):
        rescue(broken, tmp_path / "new", NOW)


# ---- left-overs ---------------------------------------------------------------------------

KILLED = """
import sys, time
from pathlib import Path
from agent.io.transfer.backup import backup
from datetime import UTC, datetime
home = Path(sys.argv[1])
def stop(what, done, total):
    print(what, flush=True)
    time.sleep(60)
backup(home, home / "backups" / "b.zip", datetime.now(UTC), stop)
"""


def test_what_a_killed_backup_leaves_goes_at_the_next_start(full: Path):
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(full)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert child.stdout and child.stdout.readline()
    left = list((full / "backups").glob(f"{PREFIX}*"))
    assert len(left) == 1 and (left[0] / DATABASE_NAME).exists()
    config = load_config({"home": str(full)})
    open_graph(config).close()
    assert left[0].exists()  # its owner lives
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    open_graph(config).close()
    assert not left[0].exists()


def test_a_folder_is_not_taken_from_who_works_in_it(tmp_path: Path):
    with scratch_folder(tmp_path) as first:
        remove_left_overs(tmp_path)
        assert first.exists()
        with scratch_folder(tmp_path) as second:
            assert first.exists() and second.exists()
    assert not list(tmp_path.iterdir())


def test_the_proof_of_forgetting_looks_into_left_overs(told: MemoryGraph):
    home = told.path.parent
    memory = told.memories.list()[-1]
    folder = home / f"{PREFIX}left"
    folder.mkdir()
    (folder / DATABASE_NAME).write_text(memory.text)
    done = told.erase([memory.id], at=NOW, actor="user")
    assert any(PREFIX in str(name) for name in done.searched.found)
