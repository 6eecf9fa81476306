"""Database connections and readable SQLite errors.

Owns: the home directory's permissions, connection settings, the write transaction, and the
translation of SQLite's errors into ``store.errors``. Invariant: the home is 0700 and every
file of the database 0600 before anything is written into it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from store.database.driver import BUSY_SECONDS, errors, open_database, opening
from store.database.encryption.envelope import envelope_of
from store.database.encryption.keys import key_of
from store.database.migrations import migrations
from store.database.write_ahead_log import damage_of
from store.errors import CorruptStore, HomeUnavailable, NewerStore, StoreBusy, StoreFull

DATABASE_NAME = "memlane.db"
DATABASE_FILES = tuple(DATABASE_NAME + part for part in ("", "-wal", "-shm", "-journal"))
"""What SQLite keeps a database in."""
ROWS_AT_ONCE = 500
"""Rows of a large read that are taken from SQLite together."""

seconds_spent: ContextVar[Callable[[float], None] | None] = ContextVar("spent", default=None)
"""Gets the seconds of each use of the database, where somebody in this context counts them."""


_open_here: dict[int, str] = {}


def is_open_here(path: Path) -> bool:
    """Whether a ``Connection`` of this process has the database open.

    The locks of SQLite and of SQLCipher in one process do not see one another.
    """
    return os.path.realpath(path) in _open_here.values()


class Connection:
    """The open database, with reads and writes that fail in our words."""

    def __init__(self, db: Database, path: Path) -> None:
        self.db = db
        self.path = path
        _open_here[id(self)] = os.path.realpath(path)

    @classmethod
    def open(cls, home: Path) -> Connection:
        """Open or create the database of ``home``; errors as of ``connect``."""
        return cls(connect(home), home / DATABASE_NAME)

    def close(self) -> None:
        self.db.close()
        _open_here.pop(id(self), None)

    def writing(self) -> AbstractContextManager[None]:
        """One write transaction; what is done inside stands or falls together."""
        return write_transaction(self.db, self.path)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """The rows of a read."""
        with translated(self.path), _counted():
            # Not ``Database.query``, which runs two more statements around each read.
            cursor = self.db.conn.execute(sql, list(parameters))
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def tuples(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a large read, a few at a time and without names."""
        with translated(self.path):
            with _counted():
                cursor = self.db.conn.execute(sql, list(parameters))
                rows = cursor.fetchmany(ROWS_AT_ONCE)
            while rows:
                yield from rows
                with _counted():
                    rows = cursor.fetchmany(ROWS_AT_ONCE)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one write; returns the id of the last row that an INSERT made."""
        with translated(self.path), _counted():
            return self.db.execute(sql, list(parameters)).lastrowid or 0

    def execute_many(self, sql: str, parameters: Iterable[Sequence[object]]) -> None:
        """Run one write for each set of parameters, inside ``writing``."""
        with translated(self.path), _counted():
            self.db.conn.executemany(sql, parameters)

    def next_id(self, table: str) -> int:
        """The id that the next row of an AUTOINCREMENT table gets: one never given before."""
        rows = self.query("SELECT seq FROM sqlite_sequence WHERE name = ?", [table])
        return int(rows[0]["seq"]) + 1 if rows else 1


_kept_open: dict[tuple[int, int], int] = {}


def read_blocks(path: Path, size: int) -> Iterator[bytes]:
    """The bytes of a file of a database that this process may have open, ``size`` at a time.

    The system drops every lock that a process has on a file when it closes any descriptor of it
    (fcntl), and another process would then delete the write-ahead log under our connection. So
    the descriptor stays open as long as the process lives: one a file.

    :raises OSError: if it cannot be read.
    """
    found = path.stat()
    key = (found.st_dev, found.st_ino)
    if key not in _kept_open:
        _kept_open[key] = os.open(path, os.O_RDONLY)
    at = 0
    while block := os.pread(_kept_open[key], size, at):
        yield block
        at += len(block)


def ensure_home(home: Path) -> Path:
    """Get or create the home with owner-only permissions.

    :raises HomeUnavailable: if it cannot be created or used.
    :raises StoreFull: if no space is left for it.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.stat().st_mode & 0o077:
            home.chmod(0o700)
    except OSError as error:
        raise _home_error(home, error) from error
    return home


def is_encrypted(home: Path) -> bool:
    """Whether nothing of a home may lie on the disk in plain. Needs no key."""
    return envelope_of(home / DATABASE_NAME) is not None


def _home_error(home: Path, error: OSError) -> HomeUnavailable | StoreFull:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return HomeUnavailable(f"{home} is not a directory. Choose another with --home DIR.")
    reason = error.strerror or str(error)
    if error.errno == 28:  # ENOSPC
        return StoreFull(f"The disk of {home} is full. Free some space and run the command again.")
    return HomeUnavailable(
        f"Cannot use the home {home}: {reason}. Make it writable or choose another with --home DIR."
    )


_looked_at: set[str] = set()
_looking = threading.Lock()


def refuse_damaged_log(path: Path) -> None:
    """Look through the write-ahead log of a database before this process opens it first.

    SQLite would drop what stands behind the damage, and say nothing.

    :raises CorruptStore: if changes that were stored would be lost.
    """
    key = os.path.realpath(path)
    with _looking:
        if key in _looked_at:
            return  # closing the log would drop the locks of our connections (see read_blocks)
        if damage := damage_of(path):
            raise CorruptStore(
                f"The write-ahead log of {path} is damaged: {damage}, and with them changes that "
                "were stored. memlane has not changed it. Save what can be read: memlane rescue "
                "FOLDER, or restore a backup."
            )
        _looked_at.add(key)


def connect(home: Path) -> Database:
    """Open (or create) the database of a home and bring its schema up to date.

    :raises HomeUnavailable: if directory or file cannot be used.
    :raises CorruptStore: if the file or its log is damaged, or it is no database.
    :raises NewerStore: if a newer memlane wrote it.
    :raises HomeLocked: if it is encrypted and this process has no key.
    """
    path = ensure_home(home) / DATABASE_NAME
    with opening(path):
        return _connected(path)


def _connected(path: Path) -> Database:
    key = key_of(path)
    try:
        # SQLite gives the -wal and -shm files the permissions of the database file. One that is
        # there is not opened here: closing it again would drop the locks of this process's other
        # connections (see ``read_blocks``), and another process would take them for gone.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise _home_error(path.parent, error) from error
    refuse_damaged_log(path)
    with translated(path):
        conn = open_database(path, key)
        try:
            conn.execute("PRAGMA foreign_keys = ON")
            _ensure_wal(conn)
            # FULL: what was acknowledged survives a power cut, not only a crash of the process.
            conn.execute("PRAGMA synchronous = FULL")
            db = Database(conn)
            _ensure_schema(db, path)
        except BaseException:
            conn.close()
            raise
    return db


def _ensure_wal(conn: sqlite3.Connection) -> None:
    # Two first openers race for the switch, and SQLite does not call the busy handler for it.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if conn.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                conn.execute("PRAGMA journal_mode = WAL")
            return
        except errors("OperationalError") as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _ensure_schema(db: Database, path: Path) -> None:
    known = {migration.name for migration in migrations._migrations}
    applied = {migration.name for migration in migrations.applied(db)}
    if unknown := sorted(applied - known):
        raise NewerStore(
            f"{path} was written by a newer memlane (it has the migration {unknown[-1]}). "
            "Upgrade memlane, or choose another home with --home DIR."
        )
    if applied == known:
        return
    # Apply under one write lock, so that two first runs do not both create the tables.
    with write_transaction(db, path):
        migrations.apply(db)


@contextmanager
def write_transaction(db: Database, path: Path | None = None) -> Iterator[None]:
    """One transaction that holds the write lock from its first statement.

    ``Database.atomic`` begins deferred: after a first read it could no longer wait for another
    writer. Inside an open transaction this nests as a savepoint.

    :raises StoreBusy: if another process holds the lock for more than ``BUSY_SECONDS``.
    :raises StoreFull: if the disk is full; nothing of the transaction is stored.
    """
    with translated(path):
        if db.conn.in_transaction:
            with db.atomic():
                yield
            return
        with _counted():
            db.conn.execute("BEGIN IMMEDIATE")
        try:
            yield
            with _counted():
                db.conn.execute("COMMIT")
        except BaseException:
            with suppress(*errors()):
                db.rollback()
            raise


@contextmanager
def _counted() -> Iterator[None]:
    tell = seconds_spent.get()
    if tell is None:
        yield
        return
    start = time.perf_counter()
    try:
        yield
    finally:
        tell(time.perf_counter() - start)


@contextmanager
def translated(path: Path | None = None) -> Iterator[None]:
    """Turn SQLite's errors into ours; everything else passes."""
    try:
        yield
    except errors() as error:
        raise _store_error(error, path) from error


_DAMAGE = frozenset(
    {
        0,  # a text that is no UTF-8
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_INTERNAL,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_SCHEMA,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_NOTADB,
    }
)


def _store_error(error: sqlite3.Error, path: Path | None) -> Exception:
    where = f"{path}" if path else "the database"
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(
            "The disk is full: this change was not stored, and no older data is lost. "
            "Free some space and run the command again."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(
            f"Another process has been writing {where} for {BUSY_SECONDS:.0f} seconds. "
            "Wait for it to end, then run the command again."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return HomeUnavailable(
            f"Cannot write {where}: {error}. Make it writable or choose another with --home DIR."
        )
    if code == sqlite3.SQLITE_IOERR:
        return HomeUnavailable(f"Cannot read or write {where}: {error}. Check the disk.")
    general = errors("OperationalError") + errors("DatabaseError")
    if type(error) not in general or code not in _DAMAGE:
        return error
    # All statements are fixed, so one that SQLite cannot carry out is the file's fault.
    return CorruptStore(
        f"{where} is damaged or is not a memlane database ({error}). memlane has not changed it. "
        "Save what can be read: memlane rescue FOLDER, or restore a backup."
    )
