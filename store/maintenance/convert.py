"""A database under another key: from plain to encrypted and back, in one step.

A copy is made beside it and takes its name when it is whole and on the disk. Nobody has the old
file open at that moment, so nobody goes on writing into it. Killed before the step the old file
stands; killed after it, the new one does.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from store.database.connection import is_open_here, translated
from store.database.driver import errors, key_literal, open_database, opening
from store.database.whole_files import sync_folder
from store.errors import CorruptStore, StoreBusy

BUSY_MS = 2000
"""How long is waited for others who have the database open."""


def convert(
    database: Path, old: bytes, new: bytes, scratch: Path, before: Callable[[], None]
) -> None:
    """Put a copy under the key ``new`` in the place of the database, whose key is ``old``.

    ``database.driver.PLAIN`` in the place of a key is none. ``before`` is called when the copy is
    whole, right before it takes the name; when it fails nothing is changed. ``scratch`` is a folder
    on the same disk.

    :raises StoreBusy: if another process has the database open; nothing is changed.
    :raises CorruptStore: if the copy is not the same; nothing is changed.
    """
    copy = scratch / database.name
    with opening(database, alone=True):
        copy_under(database, old, new, copy)
        with translated(database), closing(open_database(copy, new)) as conn:
            conn.execute("PRAGMA journal_mode = WAL")  # as a home is: readers wait for no writer
        _sync(copy)
        before()
        copy.replace(database)
        sync_folder(database.parent)


def copy_under(database: Path, old: bytes, new: bytes, copy: Path) -> None:
    """Write a database whose key is ``old`` into the new file ``copy`` under the key ``new``.

    :raises StoreBusy: if somebody else has the database open.
    :raises CorruptStore: if the copy is not the same.
    """
    with translated(database), closing(open_database(database, old)) as conn:
        _alone(conn, database)
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _export(conn, copy, new)
    _sync(copy)


def _sync(file: Path) -> None:
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def _export(conn: sqlite3.Connection, copy: Path, key: bytes) -> None:
    attach = f"ATTACH DATABASE ? AS copy KEY {key_literal(key)}"
    conn.execute(attach, [str(copy)])
    conn.execute("PRAGMA copy.synchronous = FULL")
    conn.execute("SELECT sqlcipher_export('copy')")
    for name in ("user_version", "application_id"):
        (value,) = conn.execute(f"PRAGMA main.{name}").fetchone()
        conn.execute(f"PRAGMA copy.{name} = {int(value)}")
    if conn.in_transaction:
        conn.commit()
    conn.execute("DETACH DATABASE copy")
    conn.execute(attach, [str(copy)])  # anew: virtual tables are not seen before
    _compare(conn)
    conn.execute("DETACH DATABASE copy")


def _compare(conn: sqlite3.Connection) -> None:
    """:raises CorruptStore: if a table has other rows, or the copy is damaged."""
    names = {
        schema: [
            row[0]
            for row in conn.execute(
                f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table' ORDER BY name"
            )
        ]
        for schema in ("main", "copy")
    }
    same = names["main"] == names["copy"] and all(
        conn.execute(f'SELECT count(*) FROM main."{name}"').fetchone()
        == conn.execute(f'SELECT count(*) FROM copy."{name}"').fetchone()
        for name in names["main"]
    )
    if not same or conn.execute("PRAGMA copy.quick_check").fetchone()[0] != "ok":
        raise CorruptStore(
            "The copy of the database is not the same, so nothing was changed. Check the home: "
            "memlane doctor"
        )


def _alone(conn: sqlite3.Connection, database: Path) -> None:
    """Keep every other process out of the database, and have all of it in the one file."""
    conn.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    conn.execute("PRAGMA locking_mode = EXCLUSIVE")
    try:
        # SQLite leaves the write-ahead log only where nobody else has the database open.
        (mode,) = conn.execute("PRAGMA journal_mode = DELETE").fetchone()
        conn.execute("BEGIN EXCLUSIVE")
        conn.execute("COMMIT")  # the lock stays until the connection is closed
    except errors("OperationalError") as error:
        if "locked" not in str(error):
            raise
        mode = "locked"
    if mode != "delete" or is_open_here(database):
        raise StoreBusy(
            f"Another process has {database} open. Close chats, memlane mcp and other memlane "
            "commands of this home, then run the command again."
        )
