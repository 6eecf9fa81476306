"""Backup, restore and rebuild of whole homes.

Invariants: a copy is taken and put back by SQLite's online backup, so it is one moment of the
database and any process that has it open sees one transaction, never a torn file. Rows are only
written here into a home that has nothing yet, inside one transaction.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from store.database.connection import DATABASE_NAME, Connection, refuse_damaged_log, translated
from store.database.driver import BUSY_SECONDS, open_database, opening
from store.database.encryption.keys import key_of
from store.errors import StoreBusy, StoreError
from store.graph import MemoryGraph
from store.journal import Entry
from store.row_codecs import dumps, iso, public_id, row_id
from store.tables.sources import Turn
from store.types import Source

Pages = Callable[[int, int], None]
"""Called with (pages done, pages in all) while a database is copied."""

_PAGES = 512
"""Pages a step copies while the source may be written: 2 MB, some milliseconds under its lock."""
_FEW_PAGES = 8


def copy_database(source: Path, target: Path, on_pages: Pages | None = None) -> None:
    """Copy a database that may be in use into a new file ``target``, as of one moment.

    The copy of an encrypted database is encrypted with the same key.

    :raises StoreError: if the source cannot be read or the target not be written.
    """
    with ExitStack() as until_open, ExitStack() as stack:
        stack.enter_context(translated(source))
        until_open.enter_context(opening(source))
        key = key_of(source)
        refuse_damaged_log(source)
        reading = stack.enter_context(closing(open_database(source, key)))
        writing = stack.enter_context(closing(open_database(target, key)))
        # A read transaction keeps the moment: without it every write of another process would
        # make the backup begin again.
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
        until_open.close()
        reading.backup(writing, pages=_PAGES, progress=_watched(source, on_pages))
        reading.rollback()
        # One file that stands alone: no -wal and -shm beside it.
        writing.execute("PRAGMA journal_mode = DELETE")


def put_back(
    copy: Path,
    home: Path,
    on_pages: Pages | None = None,
    when_locked: Callable[[], None] | None = None,
) -> None:
    """Make the database of ``home`` what ``copy`` is, in one transaction.

    Processes that have it open go on: what they read next is the copy. ``when_locked`` is called
    while nobody can write and the old content still stands; when it fails nothing is changed.

    :raises StoreBusy: if another process keeps the write lock for more than ``BUSY_SECONDS``.
    :raises CorruptStore: if the write-ahead log of the home is damaged; nothing is changed.
    """
    live = home / DATABASE_NAME
    with opening(live):
        key = key_of(live)
    refuse_damaged_log(live)
    watched = _watched(live, on_pages)
    locked = False

    def progress(status: int, remaining: int, total: int) -> None:
        nonlocal locked
        watched(status, remaining, total)
        # The first pages take the write lock, and the last ones give it back: no schema is so
        # small that both come in one step.
        if when_locked and not locked and status == sqlite3.SQLITE_OK:
            locked = True
            when_locked()

    with (
        translated(live),
        closing(open_database(copy, key_of(copy))) as reading,
        closing(open_database(live, key)) as writing,
    ):
        reading.backup(writing, pages=_FEW_PAGES, progress=progress, sleep=0.05)


def _watched(path: Path, on_pages: Pages | None) -> Callable[[int, int, int], None]:
    deadline = time.monotonic() + BUSY_SECONDS

    def progress(status: int, remaining: int, total: int) -> None:
        nonlocal deadline
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # Python's backup() would wait for ever.
            if time.monotonic() > deadline:
                raise StoreBusy(
                    f"Another process has been writing {path} for {BUSY_SECONDS:.0f} seconds. "
                    "Wait for it to end, then run the command again."
                )
            return
        deadline = time.monotonic() + BUSY_SECONDS
        if on_pages:
            on_pages(total - remaining, total)

    return progress


# ---- reading one moment -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HomeSnapshot:
    """The home as it stood when reading began; what others write meanwhile is not seen."""

    graph: MemoryGraph
    connection: Connection

    def entries(self, page: int = 1000) -> Iterator[Entry]:
        """The journal, oldest first, a page at a time in memory."""
        last = 0
        while found := list(
            self.graph.journal._read("WHERE id > ? ORDER BY id LIMIT ?", (last, page))
        ):
            yield from found
            last = row_id("e", found[-1].id, "edit")

    def sources(self, page: int = 200) -> Iterator[Source]:
        """The sources in the order they came, a page at a time in memory."""
        last = 0
        while keys := self.connection.query(
            "SELECT id FROM sources WHERE id > ? ORDER BY id LIMIT ?", (last, page)
        ):
            for row in keys:
                yield self.graph.sources.get(public_id("s", row["id"]))
            last = keys[-1]["id"]

    def last_ids(self) -> dict[str, int]:
        """The highest id that each table ever gave: none is given twice."""
        rows = self.connection.query("SELECT name, seq FROM sqlite_sequence ORDER BY name")
        return {row["name"]: row["seq"] for row in rows}

    def other_rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Rows of tables that no frozen value stands for, so that a new table travels too."""
        for table in other_tables(self.connection):
            for row in self.connection.query(f'SELECT * FROM "{table}"'):
                yield table, row


@contextmanager
def moment(home: Path) -> Iterator[HomeSnapshot]:
    """Open ``home`` for reads that all see the same moment.

    :raises StoreError: if the home cannot be used.
    """
    with MemoryGraph.open(home):
        pass  # creates the home, brings its schema up to date
    connection = Connection.open(home)
    try:
        with translated(connection.path):
            connection.db.conn.execute("BEGIN")
            yield HomeSnapshot(MemoryGraph(connection), connection)
            connection.db.conn.rollback()
    finally:
        connection.close()


_TOLD = frozenset("types subclasses sources turns memories journal".split())
_DERIVED = frozenset("entities relations journal_memories vectors".split())
"""Told again by the journal, or made from the memories when they are needed."""


def other_tables(connection: Connection) -> list[str]:
    """Tables that are neither told by frozen values nor derived from them.

    Those of synchronisation stay at home: they hold its key, and are made anew when it is paired.
    """
    rows = connection.query(
        """SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'
           AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_%' ESCAPE '\\'
           AND name NOT LIKE 'memories\\_fts%' ESCAPE '\\'
           AND name NOT LIKE 'sync\\_%' ESCAPE '\\' ORDER BY name"""
    )
    left = [row["name"] for row in rows if row["name"] not in _TOLD | _DERIVED]
    ordered: list[str] = []
    while left:
        # What a table refers to comes before it.
        waiting = {name: _parents(connection, name) & set(left) - {name} for name in left}
        ready = [name for name in left if not waiting[name]] or left[:1]
        ordered += ready
        left = [name for name in left if name not in ready]
    return ordered


def _parents(connection: Connection, table: str) -> set[str]:
    rows = connection.query(f'PRAGMA foreign_key_list("{table}")')
    return {row["table"] for row in rows}


# ---- rebuilding ---------------------------------------------------------------------------


CACHE_KIB = 200_000
"""What the pages of the database take at most in memory while a home is written anew."""


class Rebuild:
    """Writes a home anew with its old ids and its history. Use it inside ``graph.writing()``."""

    def __init__(self, home: Path) -> None:
        self.connection = Connection.open(home)
        # The rows of an index lie anywhere in it: each page that is read again costs, and each
        # that is written again makes the log of a large import longer.
        self.connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self.graph = MemoryGraph(self.connection)
        self._columns: dict[str, frozenset[str]] = {}

    def close(self) -> None:
        self.connection.close()

    def is_empty(self) -> bool:
        """Whether nothing was ever stored here."""
        rows = self.connection.query(
            """SELECT EXISTS (SELECT 1 FROM journal) OR EXISTS (SELECT 1 FROM sources)
               OR EXISTS (SELECT 1 FROM turns) AS filled"""
        )
        return not rows[0]["filled"]

    def put_source(self, source: Source, *, anew: bool = False) -> str:
        """Store a source with its id (or, ``anew``, under the next one); returns the id."""
        row = {**_row(source), "id": None if anew else row_id("s", source.id, "source")}
        return public_id("s", self._insert("sources", row))

    def put_turn(self, turn: Turn, *, anew: bool = False) -> str:
        """Store an exchange with its id (or, ``anew``, under the next one); returns the id."""
        row = {**_row(turn), "id": None if anew else row_id("t", turn.id, "turn")}
        return public_id("t", self._insert("turns", {**row, "trace": dumps(turn.trace)}))

    def put_entry(self, entry: Entry) -> None:
        """Write a line of the journal with its id, and do what it says."""
        for change in entry.changes:
            if not change.redacted:  # what it did is not known any more
                self.graph.memories.set(change)
        self.graph.journal.write([entry])

    def put_inserts(self, entries: Sequence[Entry]) -> None:
        """The same of lines that do nothing but insert memories that were never there."""
        changes = (change for entry in entries for change in entry.changes)
        self.graph.memories.add([change.after for change in changes if change.after])
        self.graph.journal.write(entries)

    def holds(self, table: str, public: str | None) -> bool:
        """Whether a table has the row of an id whose form has been checked."""
        return public is not None and bool(
            self.connection.query(f"SELECT 1 FROM {table} WHERE id = ?", [int(public.strip()[1:])])
        )

    def put_row(self, table: str, row: dict[str, Any]) -> None:
        """Store a row of a table that no frozen value stands for."""
        if table not in other_tables(self.connection):
            raise StoreError(f"This memlane has no table {table!r}. Upgrade memlane.")
        # A new home may bring such a row with it.
        self._insert(table, row, "OR IGNORE")

    def keep_ids(self, last: dict[str, int]) -> None:
        """Never give an id again that was given before, even where its row is gone."""
        for table, number in last.items():
            done = self.connection.query("SELECT seq FROM sqlite_sequence WHERE name = ?", [table])
            if not done:
                self.connection.execute(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number)
                )
            elif done[0]["seq"] < number:
                self.connection.execute(
                    "UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (number, table)
                )

    def _insert(self, table: str, row: dict[str, Any], conflict: str = "") -> int:
        # A field without a column would be lost in silence.
        if unknown := sorted(row.keys() - self._columns_of(table)):
            raise StoreError(f"{table} has no column {unknown[0]!r}. Upgrade memlane.")
        marks = ", ".join("?" * len(row))
        return self.connection.execute(
            f'INSERT {conflict} INTO "{table}" ({", ".join(row)}) VALUES ({marks})',
            list(row.values()),
        )

    def _columns_of(self, table: str) -> frozenset[str]:
        if table not in self._columns:
            rows = self.connection.query(f'PRAGMA table_info("{table}")')
            self._columns[table] = frozenset(row["name"] for row in rows)
        return self._columns[table]


def _row(value: Source | Turn) -> dict[str, Any]:
    row = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: iso(item) if isinstance(item, datetime) else item for name, item in row.items()}
