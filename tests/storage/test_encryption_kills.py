"""Encryption and decryption of a home that are killed on the way: the home is whole."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import time
from pathlib import Path

import pytest

from agent.io.encryption import encrypt, unlock
from agent.io.transfer.backup import backup
from store.database.connection import DATABASE_NAME, is_encrypted
from store.database.encryption.envelope import envelope_of, is_plain
from store.database.encryption.keys import forget_keys, hold
from store.errors import HomeLocked
from store.graph import MemoryGraph
from tests.conftest import NOW
from tests.storage.conftest import told
from tests.support.lock_work import PASSPHRASE
from tests.support.lock_work import decrypt as decrypt_killed
from tests.support.lock_work import encrypt as encrypt_killed

STEP = 3
"""Every how many works on a file a process is killed."""
KILLS = 12
"""By the clock."""
pytestmark = pytest.mark.usefixtures("no_keys")


@pytest.fixture(scope="module")
def workers():
    """Processes that start at once, because their parent has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.lock_work"])
    return context


def killed(workers, target, home: Path, key: bytes, number: int) -> bool:
    """Whether a process was killed at its n-th work on a file; it was done before otherwise."""
    process = workers.Process(target=target, args=(home, key, number))
    process.start()
    process.join(120)
    assert process.exitcode in (0, -9)
    return bool(process.exitcode == -9)


def is_whole(home: Path, key: bytes, before: list[str]) -> bool | None:
    """Checks a home whose encryption was killed; whether it was finished, None if it is plain."""
    envelope = envelope_of(home / DATABASE_NAME)
    if envelope is None:
        assert told(home) == before  # as it was
        encrypt(home, key, PASSPHRASE)
    elif not envelope.finished:
        with pytest.raises(HomeLocked, match="interrupted"):
            MemoryGraph.open(home)
    unlock(home, PASSPHRASE)
    assert told(home) == before
    with MemoryGraph.open(home) as graph:
        assert not graph.words_left().found
    assert not any(is_plain(path) for path in home.rglob("*") if path.is_file())
    forget_keys()
    shutil.rmtree(home)
    return None if envelope is None else envelope.finished


def test_killed_at_any_work_on_a_file_while_it_is_encrypted_the_home_is_whole(
    full: Path, key: bytes, workers, tmp_path: Path
):
    backup(full, full / "backups" / "one.zip", NOW)
    before, states, number = told(full), set(), 1
    while True:
        home = Path(shutil.copytree(full, tmp_path / f"home{number}"))
        if not killed(workers, encrypt_killed, home, key, number):
            break
        states.add(is_whole(home, key, before))
        number += STEP
    assert states >= {None, False}
    assert number > 20


def test_killed_at_any_time_while_it_is_encrypted_the_home_is_whole(
    full: Path, key: bytes, workers, tmp_path: Path
):
    backup(full, full / "backups" / "one.zip", NOW)
    before = told(full)
    random.seed(8)
    for number in range(KILLS):
        home = Path(shutil.copytree(full, tmp_path / f"home{number}"))
        process = workers.Process(target=encrypt_killed, args=(home, key, 0))
        process.start()
        while process.is_alive() and not any(home.glob(".memlane-*")):
            time.sleep(0.001)
        # SQLite writes between what the other test stops at.
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        process.join()
        is_whole(home, key, before)


def test_killed_at_any_work_on_a_file_while_it_is_decrypted_the_home_is_whole(
    locked: Path, key: bytes, workers, tmp_path: Path
):
    hold(key)
    before, states, number = told(locked), set(), 1
    while True:
        home = Path(shutil.copytree(locked, tmp_path / f"home{number}"))
        if not killed(workers, decrypt_killed, home, key, number):
            break
        states.add(is_encrypted(home))
        assert told(home) == before
        shutil.rmtree(home)
        number += 1
    assert states == {True, False}
