"""A home, a disk or a database that refuses: one clear line, and nothing stored is lost."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.session.session import Session
from store.errors import StoreFull
from store.graph import MemoryGraph
from tests.conftest import NOW, Result
from tests.support.refusals import KEPT, refused

Memlane = Callable[..., Result]


def as_nobody(work: Callable[[], None]) -> str:
    """Run ``work`` in a forked child without root's rights; its error's class and line."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            work()
            said = "no error"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


@pytest.fixture
def open_tmp(tmp_path: Path) -> Path:
    """A folder that users other than root can reach."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder not in (Path("/"), Path("/tmp")):
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


def test_a_folder_without_permission(session, open_tmp: Path):
    from agent.io.ignore_rules import Ignore
    from agent.io.ingest import plan_change

    closed = open_tmp / "closed"
    closed.mkdir()
    (closed / "a.md").write_text(KEPT)
    closed.chmod(0o000)

    def work() -> None:
        raise RuntimeError(
            [
                plan_change(found.path, session.graph).reason
                for found in Ignore(home=session.config.home).find([closed])
            ]
        )

    assert "no permission" in as_nobody(work)
    closed.chmod(0o700)


def test_a_home_that_cannot_be_written(open_tmp: Path):
    home = open_tmp / "read-only"
    MemoryGraph.open(home).close()
    (home / "memlane.db").chmod(0o444)
    home.chmod(0o555)
    said = as_nobody(lambda: MemoryGraph.open(home).close())
    assert said.startswith("HomeUnavailable: Cannot use the home")
    assert "--home DIR" in said
    nested = as_nobody(lambda: MemoryGraph.open(home / "inner").close())
    assert nested.startswith("HomeUnavailable")
    home.chmod(0o700)


def test_a_home_on_a_file_system_that_refuses(memlane: Memlane):
    refused(memlane("--home", "/proc/memlane", "memories", "list"), 1, "--home DIR")


def test_a_home_that_is_a_file(memlane: Memlane, tmp_path: Path):
    (tmp_path / "file").touch()
    refused(memlane("--home", str(tmp_path / "file"), "status"), 1, "is not a directory")


# ---- disk and database --------------------------------------------------------------------


def test_a_full_disk_loses_nothing_and_says_so(graph: MemoryGraph):
    from store.journal import Insert
    from store.types import Draft, SourceKind

    def insert(text: str) -> None:
        source = graph.sources.add(SourceKind.MANUAL, text, NOW)
        graph.apply([Insert(Draft(text, "attribute.belongings", NOW, source=source.id))], at=NOW)

    insert(KEPT)
    # SQLite answers exactly as on a full disk when a database may grow no further.
    pages = graph._rows.query("PRAGMA page_count")[0]["page_count"]
    graph._rows.query(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreFull, match="Free some space"):
        for number in range(1000):
            insert(f"{number} " + "x" * 3000)
    assert graph.memories.get("m1").text == KEPT
    assert graph.verify() == ()


def test_what_is_known_is_told_on_a_full_disk(session: Session):
    asked = "What is my locker code?"
    session.remember(KEPT)
    session.ask(asked, use_llm=False)
    pages = session.graph._rows.query("PRAGMA page_count")[0]["page_count"]
    session.graph._rows.query(f"PRAGMA max_page_count = {pages}")
    for size in (3000, 30):  # until not even a short row finds room
        with pytest.raises(StoreFull):
            for _ in range(1000):
                session.graph.turns.log(NOW, "x" * size, "neither", "", {})
    reply = session.ask(asked, use_llm=False)
    assert reply.memories and reply.turn is None


def test_a_file_that_is_no_database(memlane: Memlane, own_home: Path):
    own_home.mkdir()
    (own_home / "memlane.db").write_bytes(b"this is a letter, not a database" * 100)
    before = (own_home / "memlane.db").read_bytes()
    refused(memlane("memories", "list"), 1, "not a memlane database", "backup")
    assert (own_home / "memlane.db").read_bytes() == before


def test_a_database_damaged_inside(memlane: Memlane, own_home: Path):
    memlane("memories", "add", KEPT, "--subclass", "attribute.belongings")
    path = own_home / "memlane.db"
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(bytes(data))
    refused(memlane("memories", "list"), 1, "damaged", "backup")
    checks = memlane("doctor", "--quick", "--json")
    assert checks.code == 1
    assert not next(c for c in checks.json["checks"] if c["name"] == "database")["ok"]


def test_a_database_from_a_newer_version(memlane: Memlane, own_home: Path):
    memlane("memories", "list")
    other = sqlite3.connect(own_home / "memlane.db")
    with other:
        other.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('memlane', 'm999_from_the_future', '2030-01-01')"
        )
    other.close()
    refused(memlane("memories", "list"), 1, "newer memlane", "Upgrade")


def test_a_writer_that_never_ends(graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch):
    from store.errors import StoreBusy

    other = sqlite3.connect(graph.path)
    other.execute("BEGIN IMMEDIATE")
    graph._rows.query("PRAGMA busy_timeout = 50")
    began = time.monotonic()
    with pytest.raises(StoreBusy, match="Wait for it"), graph.writing():
        pass
    assert time.monotonic() - began < 5
    other.close()
