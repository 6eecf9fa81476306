"""Reading what can still be read of a damaged database into a new one.

Row by row, past what SQLite cannot read or what is no value of ours. The damaged file is opened as
a copy: opening it in place could already write into it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from store.database.connection import DATABASE_NAME, Connection, translated
from store.database.driver import errors, open_database
from store.database.encryption.keys import key_of
from store.database.encryption.pages import decrypt_pages
from store.database.write_ahead_log import LogDamage, damage_of, fold_in
from store.errors import CorruptStore
from store.graph import MemoryGraph
from store.journal import changes_from_payload
from store.row_codecs import moment, source_from_row, subclass_from_row
from store.types import EditKind, Status

Row = dict[str, Any]
_FAILURES = 2_000
"""Reads in a row that fail before the rest of a table is given up."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was found beside what was read."""

    refused: int
    """Rows that are not what they should be."""
    log: LogDamage | None
    """Of the write-ahead log; what is whole behind the damage was read too."""


def salvage(home: Path, scratch: Path) -> Salvaged:
    """Read the database of ``home`` into a new one in ``scratch``, which may hold anything.

    What comes out need not agree with itself: it is to be exported and imported.

    :raises CorruptStore: if nothing of it can be read.
    """
    copy, fresh = scratch / "damaged", scratch / "salvaged"
    key = key_of(home / DATABASE_NAME)
    copy.mkdir(mode=0o700)
    for name in (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        if (home / name).exists():
            shutil.copyfile(home / name, copy / name)
    if (log := damage_of(copy / DATABASE_NAME)) or key is not None:
        fold_in(copy / DATABASE_NAME)
    if key is not None:
        decrypt_pages(copy / DATABASE_NAME, key)
    MemoryGraph.open(fresh).close()
    rows: dict[str, int] = {}
    refused = 0
    target = Connection.open(fresh)
    try:
        with translated(), closing(open_database(copy / DATABASE_NAME)) as source:
            # Without it one definition that cannot be read hides all the others.
            source.execute("PRAGMA writable_schema = ON")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            target.db.conn.execute("PRAGMA foreign_keys = OFF")
            for table, columns, ordered in _tables(target):
                rows[table], wrong = _copied(source, target, table, columns, ordered)
                refused += wrong
    finally:
        target.close()
    if not any(rows[table] for table in ("sources", "memories", "journal", "turns")):
        raise CorruptStore(
            f"Nothing can be read of {home / DATABASE_NAME}. It was not changed; restore a backup."
        )
    return Salvaged(refused, log)


def _tables(target: Connection) -> list[tuple[str, list[str], bool]]:
    """Tables of the present schema with their columns, and whether their rows have numbers."""
    found = target.query(
        """SELECT name, wr FROM pragma_table_list WHERE type = 'table' AND schema = 'main'
           AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_%' ESCAPE '\\'
           AND name NOT LIKE 'memories\\_fts%' ESCAPE '\\'
           AND name NOT LIKE 'sync\\_%' ESCAPE '\\'"""
    )  # without those of synchronisation: they count lines of a journal that may be another one
    return [
        (
            row["name"],
            [column["name"] for column in target.query(f'PRAGMA table_info("{row["name"]}")')],
            not row["wr"],
        )
        for row in found
    ]


def _copied(
    source: sqlite3.Connection, target: Connection, table: str, columns: list[str], numbered: bool
) -> tuple[int, int]:
    """How many rows of a table were copied, and how many are not what they should be."""
    read = _numbered(source, table) if numbered else _from_both_ends(source, table)
    marks = ", ".join("?" * len(columns))
    done = wrong = 0
    refused: tuple[type[Exception], ...] = (
        ValueError, LookupError, TypeError, AttributeError, CorruptStore, *errors()
    )  # fmt: skip
    for values in read:
        try:
            # By position: a definition that is damaged may call a column otherwise.
            row = dict(zip(columns, values, strict=True))
            _CHECKS.get(table, dict)(row)
            with target.writing():
                # What a new home brings with it is there already.
                target.execute(
                    f'INSERT OR REPLACE INTO "{table}" VALUES ({marks})', list(row.values())
                )
            done += 1
        except refused:
            wrong += 1
    return done, wrong


def _numbered(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows by number: a stretch that cannot be read is halved until the rest of it can."""
    waiting, failures = [(0, _last(source, table))], 0
    while waiting and failures < _FAILURES:
        low, high = waiting.pop()
        try:
            found = source.execute(
                f'SELECT * FROM "{table}" NOT INDEXED WHERE rowid BETWEEN ? AND ?', (low, high)
            ).fetchall()
            failures = 0 if found else failures
        except errors():
            failures += 1
            if low < high:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]
            continue
        yield from found


def _last(source: sqlite3.Connection, table: str) -> int:
    """A number that no row is beyond."""
    for query in (
        f'SELECT max(rowid) FROM "{table}" NOT INDEXED',
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
    ):
        with suppress(*errors()):
            row = source.execute(query).fetchone()
            if row and isinstance(row[0], int):
                return int(row[0])
    return 1_000_000


def _from_both_ends(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows from the first on and from the last back, each until one cannot be read."""
    key = ", ".join(_keys(source, table))
    for order in ("", f"ORDER BY {key.replace(',', ' DESC,')} DESC" if key else ""):
        whole = False
        with suppress(*errors()):
            yield from source.execute(f'SELECT * FROM "{table}" {order}')
            whole = True
        if whole or not key:
            return


def _keys(source: sqlite3.Connection, table: str) -> list[str]:
    with suppress(*errors()):
        rows = source.execute(f'PRAGMA table_info("{table}")').fetchall()
        return [f'"{row[1]}"' for row in sorted(rows, key=lambda row: row[5]) if row[5]]
    return []


# ---- whether a row is a value of ours -----------------------------------------------------


def _memory(row: Row) -> None:
    datetime.fromisoformat(row["created"])
    moment(row["valid_from"]), moment(row["valid_until"])
    Status(row["status"])
    _text(row["text"])


def _turn(row: Row) -> None:
    datetime.fromisoformat(row["at"])
    json.loads(row["trace"])


def _entry(row: Row) -> None:
    datetime.fromisoformat(row["at"])
    EditKind(row["kind"])
    changes_from_payload(json.loads(row["changes"]))


def _text(value: object) -> None:
    if not isinstance(value, str):
        raise TypeError("no text")


def _source(row: Row) -> None:
    source_from_row(row)
    _text(row["text"])


_CHECKS: Mapping[str, Callable[[Row], object]] = {
    "sources": _source,
    "subclasses": subclass_from_row,
    "memories": _memory,
    "turns": _turn,
    "journal": _entry,
}
