"""Backups are whole or not there; a restore never takes what stands before it is kept."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.io.transfer.backup import backup, inspect, restore
from store.database.connection import DATABASE_NAME
from store.errors import CorruptStore, HomeUnavailable, NewerStore, StoreBusy, StoreError, StoreFull
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, SourceKind, SourceStatus
from tests.conftest import Result

Memlane = Callable[..., Result]
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[2]

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
now = datetime(2024, 5, 8, tzinfo=UTC)
with MemoryGraph.open(Path(sys.argv[1])) as graph:
    number = 0
    while not Path(sys.argv[2]).exists():
        number += 1
        graph.apply([Insert(Draft(f"Written {number}.", "event.life", now))], at=now)
        if number == 3:
            print("ready", flush=True)
    print(number, flush=True)
"""


def tell(home: Path, *texts: str) -> None:
    with MemoryGraph.open(home) as graph:
        for text in texts:
            source = graph.sources.add(SourceKind.CHAT, text, NOW)
            made = Draft(text, "preference.other", NOW, source=source.id)
            graph.apply([Insert(made)], at=NOW, source=source.id)
            graph.sources.mark(source.id, SourceStatus.EXTRACTED)


def told(home: Path) -> list[str]:
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()
        return [memory.text for memory in graph.memories.list()]


@pytest.fixture
def home(own_home: Path) -> Path:
    tell(own_home, "I like tea.", "My bicycle is red.")
    return own_home


@pytest.fixture
def writer(home: Path, tmp_path: Path):
    """Another process that writes memories all the time, until it is told to stop."""
    stop = tmp_path / "stop"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), str(stop)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def finish() -> int:
        stop.touch()
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return int(out)

    yield finish
    stop.touch()
    process.communicate(timeout=60)


# ---- backup -------------------------------------------------------------------------------


def test_a_backup_is_private_whole_and_says_what_it_holds(home: Path, tmp_path: Path):
    done = backup(home, tmp_path / "b.zip", NOW)
    assert done.memories == {"current": 2}
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("manifest.json"))["sha256"] == done.sha256
    assert [path.name for path in tmp_path.iterdir() if "memlane" in path.name] == []


def test_a_backup_while_another_process_writes_is_one_moment(home: Path, tmp_path: Path, writer):
    for number in range(3):
        done = backup(home, tmp_path / f"{number}.zip", NOW)
        restore(tmp_path / f"copy{number}", done.path, NOW)
        texts = told(tmp_path / f"copy{number}")
        assert texts[2:] == [f"Written {i}." for i in range(1, len(texts) - 1)]
    assert writer() >= 3
    assert told(home)


def test_a_backup_that_breaks_off_leaves_no_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "out").mkdir()
    backup(home, tmp_path / "out" / "b.zip", NOW)
    before = (tmp_path / "out" / "b.zip").read_bytes()

    def no_space(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_space)
    for name in ("b.zip", "new.zip"):
        with pytest.raises(StoreFull):
            backup(home, tmp_path / "out" / name, NOW)
    monkeypatch.undo()
    assert os.listdir(tmp_path / "out") == ["b.zip"]
    assert (tmp_path / "out" / "b.zip").read_bytes() == before


def test_a_file_that_is_no_backup_is_not_overwritten(home: Path, tmp_path: Path):
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8 my holiday")
    with pytest.raises(HomeUnavailable, match="not a backup"):
        backup(home, tmp_path / "photo.jpg", NOW)
    assert (tmp_path / "photo.jpg").read_bytes() == b"\xff\xd8 my holiday"
    backup(home, tmp_path / "b.zip", NOW)
    backup(home, tmp_path / "b.zip", NOW)


def test_a_home_that_does_not_verify_is_not_backed_up(home: Path, tmp_path: Path):
    with sqlite3.connect(home / DATABASE_NAME) as connection:
        connection.execute("UPDATE memories SET text = 'I like coffee.' WHERE id = 1")
    connection.close()
    with pytest.raises(CorruptStore, match="failed verification"):
        backup(home, tmp_path / "b.zip", NOW)
    assert not (tmp_path / "b.zip").exists()


# ---- restore ------------------------------------------------------------------------------


def test_restore_brings_all_back_and_keeps_what_stood(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW)
    tell(home, "Told after the backup.")
    done = restore(home, saved.path, NOW)
    assert told(home) == ["I like tea.", "My bicycle is red."]
    assert done.aside is not None and done.aside.parent == home / "backups"
    again = restore(home, done.aside, NOW)
    assert told(home)[-1] == "Told after the backup."
    assert again.aside != done.aside
    for path in home.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_restore_into_a_home_that_is_not_there_yet(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW)
    done = restore(tmp_path / "fresh", saved.path, NOW)
    assert done.aside is None
    assert told(tmp_path / "fresh") == told(home)
    assert (tmp_path / "fresh" / DATABASE_NAME).stat().st_mode & 0o777 == 0o600


def test_an_open_home_goes_on_with_what_was_restored(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW)
    tell(home, "Told after the backup.")
    with MemoryGraph.open(home) as graph:
        assert len(graph.memories.list()) == 3
        restore(home, saved.path, NOW)
        assert len(graph.memories.list()) == 2
        graph.apply([Insert(Draft("Told after the restore.", "event.life", NOW))], at=NOW)
        assert graph.verify() == ()
    assert told(home)[-1] == "Told after the restore."


def test_restore_while_another_process_writes_loses_and_breaks_nothing(
    home: Path, tmp_path: Path, writer
):
    saved = backup(home, tmp_path / "b.zip", NOW)
    asides = [restore(home, saved.path, NOW).aside for _ in range(3)]
    written = writer()
    assert told(home)
    # Whatever was written before a restore is in what it kept, and what came after in the home.
    kept = set(told(home))
    for number, aside in enumerate(asides):
        assert aside is not None
        restore(tmp_path / f"aside{number}", aside, NOW)
        kept |= set(told(tmp_path / f"aside{number}"))
    assert {f"Written {i}." for i in range(1, written + 1)} <= kept


def test_restore_waits_for_the_write_lock_and_gives_up(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    saved = backup(home, tmp_path / "b.zip", NOW)
    tell(home, "Told after the backup.")
    for module in ("store.database.driver", "store.maintenance.backup"):
        monkeypatch.setattr(f"{module}.BUSY_SECONDS", 0.3)
    with MemoryGraph.open(home) as graph, graph.writing():
        graph.sources.add(SourceKind.CHAT, "in the middle of something", NOW)
        with pytest.raises(StoreBusy):
            restore(home, saved.path, NOW)
    assert told(home)[-1] == "Told after the backup."


def test_a_damaged_home_is_kept_as_it_is(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW)
    (home / DATABASE_NAME).write_bytes(b"this is no database at all" * 100)
    done = restore(home, saved.path, NOW)
    assert done.damaged and done.aside is not None
    assert (done.aside / DATABASE_NAME).read_bytes().startswith(b"this is no database")
    assert told(home) == ["I like tea.", "My bicycle is red."]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_half_written_backup_is_refused(home: Path, tmp_path: Path, share: float):
    data = backup(home, tmp_path / "b.zip", NOW).path.read_bytes()
    (tmp_path / "half.zip").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(CorruptStore, match=r"half\.zip was not restored"):
        restore(home, tmp_path / "half.zip", NOW)
    assert told(home) == ["I like tea.", "My bicycle is red."]
    assert not (home / "backups").exists()


def test_a_backup_with_a_changed_byte_is_refused_or_as_it_was(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW)
    data = saved.path.read_bytes()
    with zipfile.ZipFile(saved.path) as archive:
        content, manifest = archive.infolist()
    # Every byte of what a ZIP says about its files, and some of the files themselves.
    beginning = content.header_offset + 100
    places = {*range(beginning), *range(manifest.header_offset, len(data))}
    places |= set(range(beginning, len(data), len(data) // 12))
    refused = 0
    for place in sorted(places):
        changed = bytearray(data)
        changed[place] ^= 0x55
        (tmp_path / "x.zip").write_bytes(changed)
        # Dates in a header mean nothing to us, and a packed byte may unpack to the same.
        try:
            assert inspect(tmp_path / "x.zip", tmp_path / "look").sha256 == saved.sha256
        except StoreError:
            refused += 1
    assert refused > len(places) / 2
    assert told(home) == ["I like tea.", "My bicycle is red."]


def repacked(saved: Path, out: Path, change: Callable[[Path], None]) -> Path:
    """A backup with another database, its hash made right again."""
    import hashlib

    folder = out.with_suffix("")
    with zipfile.ZipFile(saved) as archive:
        archive.extractall(folder)
    change(folder / DATABASE_NAME)
    data = (folder / DATABASE_NAME).read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"] = hashlib.sha256(data).hexdigest()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(DATABASE_NAME, data)
        archive.writestr("manifest.json", json.dumps(manifest))
    return out


def test_what_does_not_verify_is_refused_even_with_the_right_hash(home: Path, tmp_path: Path):
    saved = backup(home, tmp_path / "b.zip", NOW).path

    def forge(database: Path) -> None:
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE memories SET text = 'I owe Mallory money.' WHERE id = 1")
        connection.close()

    with pytest.raises(CorruptStore, match="failed verification"):
        restore(home, repacked(saved, tmp_path / "forged.zip", forge), NOW)

    def newer(database: Path) -> None:
        with sqlite3.connect(database) as connection:
            connection.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
                "VALUES ('memlane', 'm999_future', '2030-01-01')"
            )
        connection.close()

    with pytest.raises(NewerStore):
        restore(home, repacked(saved, tmp_path / "newer.zip", newer), NOW)
    assert told(home) == ["I like tea.", "My bicycle is red."]


def test_an_older_schema_is_brought_up_to_date(home: Path, tmp_path: Path):
    from sqlite_utils import Database

    from store.database.migrations import migrations

    saved = backup(home, tmp_path / "b.zip", NOW).path

    def older(database: Path) -> None:
        database.unlink()
        db = Database(database)
        migrations.apply(db, stop_before="m006_provenance")
        db.close()

    restore(home, repacked(saved, tmp_path / "older.zip", older), NOW)
    assert told(home) == []
    tell(home, "Told after the restore.")
    assert told(home) == ["Told after the restore."]


# ---- the commands -------------------------------------------------------------------------


def test_backup_and_restore_by_command(memlane: Memlane, home: Path):
    made = memlane("backup", "--json").json
    assert Path(made["path"]).parent == home / "backups"
    tell(home, "Told after the backup.")
    asked = memlane("restore", made["path"])
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert len(told(home)) == 3
    done = memlane("restore", made["path"], "--yes", "--json").json
    assert done["memories"] == {"current": 2}
    assert Path(done["aside"]).exists()
    assert memlane("doctor", "--quick").code == 0
    assert "Restored 2 memories" in memlane("restore", made["path"], "--yes").out


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\x00", b"PK\x03\x04"])
def test_a_file_that_is_no_backup_is_refused_in_one_line(
    memlane: Memlane, home: Path, tmp_path: Path, content: bytes
):
    (tmp_path / "x.zip").write_bytes(content)
    result = memlane("restore", tmp_path / "x.zip", "--yes")
    assert result.code == 1
    assert "not a backup of memlane" in result.err
    assert len(result.err.splitlines()) == 1
    assert memlane("restore", tmp_path / "gone.zip", "--yes").code == 1
    assert memlane("backup", "--out", "/proc/no/b.zip").code == 1


def test_a_backup_goes_into_a_folder_that_is_named(memlane, home: Path, tmp_path: Path):
    stick = tmp_path / "stick"
    stick.mkdir()
    done = memlane("--home", home, "backup", "--out", stick, "--json")
    assert done.code == 0, done.err
    assert [str(path) for path in stick.iterdir()] == [done.json["path"]]
