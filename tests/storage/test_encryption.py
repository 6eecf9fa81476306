"""An encrypted home says nothing without its key, and is whole whatever happens on the way."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent.io.encryption import change_passphrase, decrypt, encrypt, open_in, unlock
from agent.io.rescue import rescue
from agent.io.transfer.backup import backup, envelope_in, restore
from agent.io.transfer.import_ import import_file
from store.database.connection import DATABASE_NAME, is_encrypted
from store.database.driver import errors, open_database, opening
from store.database.encryption.envelope import (
    ENVELOPE_NAME,
    KEY_BYTES,
    is_plain,
    new_key,
    recovery_words,
)
from store.database.encryption.keys import forget_keys, hold
from store.errors import (
    CorruptStore,
    HomeLocked,
    HomeUnavailable,
    InvalidInput,
    StoreBusy,
    StoreError,
)
from store.graph import MemoryGraph
from store.tables.side_tables.shared_homes import looked_into
from tests.conftest import NOW
from tests.storage.conftest import told
from tests.support.lock_work import CHEAP_KIB, PASSPHRASE

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("no_keys")


def test_it_opens_with_the_passphrase_or_the_recovery_key_alone(
    full: Path, key: bytes, tmp_path: Path
):
    before = told(full)
    encrypt(full, key, PASSPHRASE)
    assert not is_plain(full / DATABASE_NAME)
    with pytest.raises(HomeLocked, match="memlane unlock"):
        MemoryGraph.open(full)
    with pytest.raises(InvalidInput, match="not the passphrase"):
        unlock(full, "nine green otter")
    unlock(full, PASSPHRASE)
    assert told(full) == before
    forget_keys()
    unlock(full, recovery_words(key).upper())
    assert told(full) == before
    with pytest.raises(InvalidInput, match="not the passphrase"):
        unlock(full, recovery_words(new_key()))


def test_no_words_are_in_any_byte_while_it_is_open_and_written(locked: Path, key: bytes):
    hold(key)
    with MemoryGraph.open(locked) as graph:
        graph.sources.add("chat", "The Zanzibar locker opens with 4711-zebra.", NOW)  # type: ignore[arg-type]
        assert (locked / f"{DATABASE_NAME}-wal").stat().st_size
        looked = graph.words_left()
        assert looked.files > 3 and not looked.found
        planted = locked / "notes.txt"
        planted.write_text("... the ZANZIBAR locker opens with ...")
        assert graph.words_left().found == ("notes.txt",)


def test_another_key_does_not_open_the_database(locked: Path):
    for wrong in (b"", new_key()):
        conn = open_database(locked / DATABASE_NAME, wrong)
        with pytest.raises(errors("DatabaseError")):
            conn.execute("SELECT * FROM memories")
        conn.close()
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(locked / DATABASE_NAME).execute("SELECT * FROM memories")


def test_what_lay_beside_it_in_plain_is_gone_or_encrypted(full: Path, key: bytes):
    saved = backup(full, full / "backups" / "one.zip", NOW)
    for name in ("cache/glosses/x", "logs/resident.log"):
        (full / name).parent.mkdir(parents=True)
        (full / name).write_text("My tea is green.")
    before = told(full)
    encrypt(full, key, PASSPHRASE)
    assert not (full / "cache").exists() and not (full / "logs").exists()
    assert envelope_in(saved.path) is not None
    with pytest.raises(HomeLocked):
        restore(full, saved.path, NOW)
    unlock(full, PASSPHRASE)
    restore(full, saved.path, NOW)
    assert told(full) == before
    with MemoryGraph.open(full) as graph:
        assert not graph.words_left().found


def test_files_that_would_stay_readable_are_named_before_anything_is_done(full: Path, key: bytes):
    (full / "edits").mkdir()
    (full / "edits" / "edit-1.md").write_text("My tea is green.")
    saved = backup(full, full / "backups" / "one.zip", NOW).path
    cut = full / "backups" / "cut.zip"
    cut.write_bytes(saved.read_bytes()[:-30])
    damaged = bytearray(saved.read_bytes())
    damaged[5000] ^= 255
    (full / "backups" / "damaged.zip").write_bytes(damaged)
    with pytest.raises(InvalidInput) as refused:
        encrypt(full, key, PASSPHRASE)
    for name in ("backups/cut.zip", "backups/damaged.zip", "edits/edit-1.md"):
        assert name in str(refused.value)
    assert "one.zip" not in str(refused.value)
    assert told(full)


OTHER = """
import sys
from pathlib import Path
from store.graph import MemoryGraph
with MemoryGraph.open(Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.readline()
"""


def test_a_home_that_is_open_elsewhere_is_not_changed(full: Path, key: bytes):
    with MemoryGraph.open(full), pytest.raises(StoreBusy, match="open"):
        encrypt(full, key, PASSPHRASE)
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(full)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as other:  # fmt: skip
        assert other.stdout and other.stdout.readline() == "open\n"
        assert open_in(full / DATABASE_NAME) == [other.pid]
        with pytest.raises(StoreBusy, match="open"):
            encrypt(full, key, PASSPHRASE)
        other.communicate("\n")
    assert not is_encrypted(full) and told(full)


def test_who_opens_a_home_waits_while_it_is_changed(full: Path):
    with opening(full / DATABASE_NAME, alone=True):
        waiting = threading.Thread(target=told, args=(full,))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join()


def test_decrypting_brings_the_same_home_back(full: Path, key: bytes):
    before = told(full)
    encrypt(full, key, PASSPHRASE)
    unlock(full, PASSPHRASE)
    decrypt(full, key)
    forget_keys()
    assert told(full) == before
    assert not (full / ENVELOPE_NAME).exists()


def test_a_new_passphrase_takes_the_place_of_the_old_one(locked: Path, key: bytes):
    change_passphrase(locked, PASSPHRASE, "ten blue herons")
    with pytest.raises(InvalidInput):
        unlock(locked, PASSPHRASE)
    unlock(locked, "ten blue herons")
    with pytest.raises(InvalidInput, match="at least 8"):
        change_passphrase(locked, "ten blue herons", "short")


@pytest.mark.parametrize("loss", ["gone", "damaged"])
def test_a_lost_envelope_is_made_again_with_the_recovery_key(locked: Path, key: bytes, loss: str):
    envelope = locked / ENVELOPE_NAME
    envelope.unlink() if loss == "gone" else envelope.write_text("{}")
    with pytest.raises(CorruptStore):
        MemoryGraph.open(locked)
    with pytest.raises(InvalidInput, match="does not open"):
        change_passphrase(locked, recovery_words(new_key()), PASSPHRASE)
    change_passphrase(locked, recovery_words(key), PASSPHRASE)
    assert told(locked)


def test_costs_in_a_changed_envelope_are_bounded(locked: Path):
    path = locked / ENVELOPE_NAME
    path.write_text(path.read_text().replace(f": {CHEAP_KIB}", ": 99999999999"))
    with pytest.raises(CorruptStore, match="damaged"):
        unlock(locked, PASSPHRASE)


def test_a_backup_of_an_encrypted_home_opens_with_its_passphrase_anywhere(
    locked: Path, key: bytes, own: Path, tmp_path: Path
):
    unlock(locked, PASSPHRASE)
    before = told(locked)
    saved = backup(locked, tmp_path / "locked.zip", NOW).path
    new = tmp_path / "new"
    restore(new, saved, NOW)
    assert is_encrypted(new) and told(new) == before
    restore(own, saved, NOW)  # a plain home stays plain
    assert not is_encrypted(own) and told(own) == before
    other = tmp_path / "other"
    MemoryGraph.open(other).close()
    encrypt(other, new_key(), "ten blue herons")
    unlock(other, "ten blue herons")
    restore(other, saved, NOW)  # an encrypted one keeps its own key
    forget_keys()
    unlock(other, "ten blue herons")
    assert told(other) == before


def test_a_plain_backup_is_not_unpacked_into_an_encrypted_home(
    locked: Path, key: bytes, own: Path, tmp_path: Path
):
    saved = backup(own, tmp_path / "plain.zip", NOW).path
    hold(key)
    before = told(locked)
    with pytest.raises(InvalidInput, match="not encrypted"):
        restore(locked, saved, NOW)
    assert told(locked) == before


def test_an_import_into_an_encrypted_home_leaves_nothing_in_plain(
    exported: Path, key: bytes, tmp_path: Path
):
    home = tmp_path / "new"
    encrypt(home, key, PASSPHRASE)
    hold(key)
    for dry_run in (True, False):
        import_file(exported, "jsonl", home, NOW, lambda texts: [], dry_run=dry_run)
    assert told(home)
    with MemoryGraph.open(home) as graph:
        assert not graph.words_left().found


def test_another_home_does_not_read_an_encrypted_one(locked: Path):
    with pytest.raises(StoreError, match="encrypted"), looked_into(locked):
        pass


def test_a_damaged_log_of_an_encrypted_home_is_refused(locked: Path, key: bytes):
    hold(key)
    with MemoryGraph.open(locked) as graph:
        for number in range(20):
            graph.sources.add("chat", f"Told {number}.", NOW)  # type: ignore[arg-type]
        copy = locked.with_name("copy")
        shutil.copytree(locked, copy)
    log = copy / f"{DATABASE_NAME}-wal"
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 255
    log.write_bytes(data)
    with pytest.raises(CorruptStore, match="write-ahead log"):
        MemoryGraph.open(copy)


def test_changed_bytes_cost_an_encrypted_home_no_more_than_a_plain_one(
    locked: Path, key: bytes, tmp_path: Path
):
    hold(key)
    before = told(locked)
    data = bytearray((locked / DATABASE_NAME).read_bytes())
    data[70] ^= 1  # in the first page, without which SQLCipher opens nothing
    (locked / DATABASE_NAME).write_bytes(data)
    with pytest.raises(CorruptStore, match="memlane rescue"):
        MemoryGraph.open(locked)
    rescue(locked, tmp_path / "new", NOW)
    assert not is_encrypted(tmp_path / "new") and told(tmp_path / "new") == before


def test_without_the_extra_one_line_says_how_to_install_it(
    locked: Path, own: Path, key: bytes, monkeypatch: pytest.MonkeyPatch
):
    hold(key)
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    with pytest.raises(HomeUnavailable, match=r"pip install '\.\[encrypted\]'"):
        encrypt(own, new_key(), PASSPHRASE)
    with pytest.raises(HomeUnavailable, match=r"pip install '\.\[encrypted\]'"):
        MemoryGraph.open(locked)
    assert told(own)


def test_a_key_is_as_long_as_its_words_say(key: bytes):
    assert len(key) == KEY_BYTES and len(recovery_words(key).split()) == 24
