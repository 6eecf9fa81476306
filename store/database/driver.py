"""Opening of database files: Python's ``sqlite3`` for plain ones, SQLCipher for encrypted ones.

Both modules speak the same interface, but neither's errors are the other's: catch ``errors()``.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal, cast
from urllib.parse import quote

from store.database.file_locks import lock
from store.errors import HomeUnavailable, StoreBusy

BUSY_SECONDS = 30.0
"""How long a writer waits for another process before it gives up."""
PLAIN = b""
"""In the place of a key: a plain file, opened by SQLCipher so that it can attach encrypted ones."""
INSTALL = "Install what it needs from the checkout: pip install '.[encrypted]'"
_MODULE = "sqlcipher3.dbapi2"

ErrorKind = Literal["Error", "DatabaseError", "OperationalError", "IntegrityError"]


def errors(kind: ErrorKind = "Error") -> tuple[type[sqlite3.Error], ...]:
    """The errors of this kind that an open database may raise, for ``except``."""
    own: type[sqlite3.Error] = getattr(sqlite3, kind)
    other = sys.modules.get(_MODULE)
    return (own,) if other is None else (own, getattr(other, kind))


def sqlcipher() -> ModuleType:
    """SQLCipher's module.

    :raises HomeUnavailable: if the extra ``encrypted`` is not installed.
    """
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise HomeUnavailable(f"Encryption is not installed. {INSTALL}") from error
    module: ModuleType = dbapi2
    return module


def key_literal(key: bytes) -> str:
    """A key as SQLCipher's PRAGMA and ATTACH take it, in quotes."""
    return f"\"x'{key.hex()}'\"" if key else "''"


def open_database(
    path: Path, key: bytes | None = None, *, read_only: bool = False
) -> sqlite3.Connection:
    """Open a database file: plain where ``key`` is None, else by SQLCipher with this key.

    A wrong key is told by the first read, as "file is not a database".

    :raises HomeUnavailable: if the extra ``encrypted`` is needed and not installed.
    """
    module = sqlite3 if key is None else sqlcipher()
    address = f"file:{quote(str(path))}?mode=ro" if read_only else str(path)
    conn = module.connect(address, uri=read_only, timeout=BUSY_SECONDS, check_same_thread=False)
    if key is not None:
        conn.execute("PRAGMA cipher_log_level = NONE")  # it writes to standard error
    if key:
        conn.execute(f"PRAGMA key = {key_literal(key)}")
    # Typed as Python's: SQLCipher's module is built from the same source.
    return cast(sqlite3.Connection, conn)


@contextmanager
def opening(database: Path, *, alone: bool = False) -> Iterator[None]:
    """Hold off a change of encryption while a database is opened; ``alone`` to make that change.

    An open connection holds SQLite's own lock. What has to be covered is the time before: from the
    look whether the file is encrypted to the first read.

    :raises StoreBusy: if the database is being encrypted or decrypted for ``BUSY_SECONDS``.
    :raises HomeUnavailable: if it should be held alone and the file system has no locks.
    """
    try:
        file = os.open(database.with_name("memlane.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if alone:
            raise HomeUnavailable(f"Cannot write {database.parent}: {error.strerror}.") from error
        yield  # a folder that cannot be written is not encrypted just now either
        return
    try:
        _lock(file, database, alone)
        yield
    finally:
        os.close(file)


def _lock(file: int, database: Path, alone: bool) -> None:
    try:
        free = lock(file, shared=not alone, seconds=BUSY_SECONDS)
    except OSError as error:
        if not alone:
            return
        raise HomeUnavailable(
            f"The file system of {database.parent} has no locks, so the home cannot be "
            "encrypted there. Move the home to another disk."
        ) from error
    if not free:
        raise StoreBusy(
            f"{database.parent} is being opened, encrypted or decrypted by another "
            "process. Wait for it to end, then run the command again."
        )
