"""A whole home encrypted, and decrypted again (docs/security.md).

The database changes in one step (``store.maintenance.convert``). Before that step the home is
plain, after it encrypted. What else lies in plain then is removed or encrypted, and until that is
done the envelope says so and the home opens for nobody. Killed at any moment, ``finish`` goes on
from there.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil

from agent.io.spaces.backup import encrypt_backup_all
from agent.io.transfer.backup import FOLDER as BACKUPS
from agent.io.transfer.backup import envelope_in, inspect
from store.database.connection import DATABASE_FILES, DATABASE_NAME
from store.database.driver import PLAIN, errors, open_database, sqlcipher
from store.database.encryption.envelope import (
    ENVELOPE_NAME,
    Envelope,
    envelope_of,
    id_of,
    is_plain,
    key_of_words,
    opened,
    wrapped,
    write_envelope,
)
from store.database.encryption.keys import found, hold, put_into_keyring
from store.erasure.secure_delete import CACHE_FOLDER
from store.errors import CorruptStore, HomeUnavailable, InvalidInput, MemlaneError
from store.graph import MemoryGraph
from store.maintenance.convert import convert
from store.maintenance.left_overs import PREFIX, remove_left_overs, scratch_folder
from store.spaces import FOLDER as SPACES
from store.spaces import SETTINGS_NAME, home_of, names, rules_file

_WITHOUT_WORDS = frozenset(
    {
        *DATABASE_FILES,
        ENVELOPE_NAME,
        "encryption.new",
        f".{ENVELOPE_NAME}.part",
        "memlane.lock",
        "memlane.sock",
        "resident.lock",
        "watch.lock",
        "token",
        CACHE_FOLDER,
        "logs",
        SETTINGS_NAME,
    }
)
"""What a home has beside its database that holds no words, is emptied, or is encrypted itself."""
_NAMED = 5
"""Files that an error names."""


def encrypt(home: Path, key: bytes, passphrase: str | None) -> None:
    """Encrypt a plain home under a new key; without a passphrase the keyring keeps the key.

    :raises HomeUnavailable: if the extra is not installed, or there is no keyring.
    :raises InvalidInput: if a file in the home would stay readable, or the passphrase is too short.
    :raises StoreBusy: if another process has the home open. Nothing is changed by any of these.
    """
    database = home / DATABASE_NAME
    sqlcipher()
    MemoryGraph.open(home).close()  # there, of the present schema, and whole
    refuse_plain_files(home)
    envelope = Envelope(id_of(key), wrapped(key, passphrase) if passphrase else None, False)
    if envelope.passphrase is None:
        put_into_keyring(key)
    with scratch_folder(home) as scratch:
        convert(database, PLAIN, key, scratch, lambda: write_envelope(database, envelope))
    finish(home, key)


def encrypt_spaces(root: Path, key: bytes) -> None:
    """Encrypt the other spaces of an encrypted home with its key; done again, it goes on.

    :raises InvalidInput: if a file in one would stay readable.
    :raises StoreBusy: if another process has one open.
    """
    envelope = _envelope(root)
    for name in names(root)[1:]:
        home = home_of(root, name)
        database = home / DATABASE_NAME
        if envelope_of(database) is None:
            MemoryGraph.open(home).close()  # there, of the present schema, and whole
            refuse_plain_files(home)
            half = replace(envelope, finished=False)
            with scratch_folder(home) as scratch:
                convert(database, PLAIN, key, scratch, partial(write_envelope, database, half))
        finish(home, key)


def is_whole(root: Path) -> bool:
    """Whether every space of an encrypted home is encrypted too."""
    found = [envelope_of(home_of(root, name) / DATABASE_NAME) for name in names(root)]
    return all(one is not None and one.finished for one in found)


def finish(home: Path, key: bytes) -> None:
    """Remove or encrypt what still lies in plain beside an encrypted database.

    It may be called again and again; where nothing is left it does nothing.

    :raises CorruptStore: if a backup does not verify.
    """
    envelope = envelope_of(home / DATABASE_NAME)
    if envelope is None or envelope.finished:
        return
    done = replace(envelope, finished=True)
    remove_left_overs(home)
    remove_left_overs(home / BACKUPS)
    for folder in (CACHE_FOLDER, "logs"):
        shutil.rmtree(home / folder, ignore_errors=True)
    for backup in _plain_backups(home):
        encrypt_backup_all(backup, key, done)
    write_envelope(home / DATABASE_NAME, done)


def decrypt(home: Path, key: bytes) -> None:
    """Make an encrypted home plain again. Its backups stay encrypted with the key that they have.

    Its other spaces come first: killed on the way, it can be repeated.

    :raises StoreBusy: if another process has the home open; nothing is changed.
    """
    for name in names(home)[1:]:
        if envelope_of(home_of(home, name) / DATABASE_NAME) is not None:
            decrypt(home_of(home, name), key)
    with scratch_folder(home) as scratch:
        convert(home / DATABASE_NAME, key, PLAIN, scratch, lambda: None)
    shutil.rmtree(home / CACHE_FOLDER, ignore_errors=True)  # sealed files that nobody can read
    (home / ENVELOPE_NAME).unlink(missing_ok=True)


def unlock(home: Path, typed: str) -> bytes:
    """The key of a home, by its passphrase or recovery key, held by this process from here on.

    :raises InvalidInput: if it is neither.
    """
    envelope = _envelope(home)
    key = opened(envelope, typed)
    hold(key)
    remove_left_overs(home)
    finish(home, key)
    encrypt_spaces(home, key)
    return key


def change_passphrase(home: Path, old: str, new: str) -> bytes:
    """Wrap the key of a home anew; with its recovery key also where the envelope is lost.

    Backups keep the passphrase that they were made with.

    :raises HomeUnavailable: if the home is not encrypted.
    :raises InvalidInput: if ``old`` opens nothing, or ``new`` is too short.
    """
    database = home / DATABASE_NAME
    refuse_plain(home)
    try:
        envelope = envelope_of(database)
    except CorruptStore:
        envelope = None
    key = key_of_words(old) if envelope is None else opened(envelope, old)
    if key is None:
        raise InvalidInput(f"{home / ENVELOPE_NAME} is missing or damaged: the recovery key is it.")
    finished = envelope is None or envelope.finished
    made = Envelope(id_of(key), wrapped(key, new), finished)
    if envelope is None:
        _refuse_wrong_key(database, key)
    write_envelope(database, made)
    hold(key)
    finish(home, key)
    encrypt_spaces(home, key)
    for name in names(home)[1:]:
        write_envelope(home_of(home, name) / DATABASE_NAME, _envelope(home))
    return key


def refuse_plain(home: Path) -> None:
    """:raises HomeUnavailable: if the home is not encrypted, whatever its envelope says."""
    database = home / DATABASE_NAME
    if is_plain(database) or not database.exists():
        raise _not_encrypted(home)


def _not_encrypted(home: Path) -> HomeUnavailable:
    return HomeUnavailable(f"The home {home} is not encrypted. To encrypt it: memlane lock")


def key_at_hand(home: Path) -> bytes | None:
    """The key of an encrypted home, where the keyring or another process has it."""
    return found(_envelope(home), home)


def open_in(database: Path) -> list[int]:
    """The processes of this user that have the database open."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if any(file.path == str(database) for file in process.open_files()):
                found.append(process.pid)
    return [pid for pid in found if pid != os.getpid()]


def refuse_plain_files(home: Path) -> None:
    """:raises InvalidInput: if a file in the home would stay readable beside the database."""
    backups = _plain_backups(home)
    plain = [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and not _is_covered(path, home) and path not in backups
    ]
    plain += [str(path.relative_to(home)) for path in backups if not _verifies(path, home)]
    if plain:
        more = f" and {len(plain) - _NAMED} more" if len(plain) > _NAMED else ""
        raise InvalidInput(
            f"These files in {home} would stay readable: {', '.join(plain[:_NAMED])}{more}. Move "
            "them elsewhere or delete them, then run memlane lock again."
        )


def _is_covered(path: Path, home: Path) -> bool:
    """Whether a file holds no words, is removed, or is an encrypted backup."""
    folders = path.relative_to(home).parts
    if folders[0] == SPACES:  # each space is looked at by itself
        return path == rules_file(home) or folders[1] in names(home)
    if any(name.startswith(PREFIX) for name in folders) or folders[0] in _WITHOUT_WORDS:
        return True
    if path.parent == home / BACKUPS:
        with suppress(MemlaneError):
            return envelope_in(path) is not None
    return len(folders) == 1 and path.suffix == ".key"


def _plain_backups(home: Path) -> list[Path]:
    """Plain backups, whatever they are called; what is no backup is not among them."""
    backups = []
    for path in sorted((home / BACKUPS).glob("*")):
        with suppress(MemlaneError, OSError):
            if path.is_file() and envelope_in(path) is None:
                backups.append(path)
    return backups


def _verifies(backup: Path, home: Path) -> bool:
    with suppress(MemlaneError):
        inspect(backup, home)
        return True
    return False


def _envelope(home: Path) -> Envelope:
    """:raises HomeUnavailable: if the home is not encrypted."""
    envelope = envelope_of(home / DATABASE_NAME)
    if envelope is None:
        raise _not_encrypted(home)
    return envelope


def _refuse_wrong_key(database: Path, key: bytes) -> None:
    try:
        with closing(open_database(database, key, read_only=True)) as conn:
            conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except errors() as error:
        raise InvalidInput(f"That recovery key does not open {database}.") from error
