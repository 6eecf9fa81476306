"""Disk cache of computed rewards.

EMG-RAG caches answers likewise (section 5.1). A key is a hash of the weights' hash, the token
ids and the settings, so the file holds no text; a value is a few numbers. What was not used for
longest goes first when the cache is full.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.errors import HomeUnavailable

REWARDS = "rewards.sqlite"
"""Its name in the cache folder of a home."""
MEGABYTE = 1_000_000
_VERSION = 2  # of how rewards are computed; a change makes old values unfindable
_ASKED_AT_ONCE = 500


def key(identity: str, kind: str, *parts: Sequence[int] | Sequence[float]) -> bytes:
    """The name of one reward: 32 bytes."""
    digest = hashlib.sha256(f"{_VERSION}\0{identity}\0{kind}".encode())
    for part in parts:
        digest.update(f"\0{len(part)}\0{','.join(map(repr, part))}".encode())
    return digest.digest()


class RewardCache:
    """``cache/rewards.sqlite`` in a home, of at most ``megabytes``. Safe for several processes.

    A cache that cannot be read or written is a cache that knows nothing: rewards are then
    computed again, and nothing fails.
    """

    def __init__(self, path: Path, *, megabytes: int = 200) -> None:
        self.path = path
        self._most = megabytes * MEGABYTE
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def find(self, keys: Sequence[bytes]) -> list[NDArray[np.float32] | None]:
        """The values of ``keys``, None where there is none."""
        found: dict[bytes, bytes] = {}

        def look(db: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _ASKED_AT_ONCE):
                some = keys[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(some))
                found.update(
                    db.execute(f"SELECT key, value FROM rewards WHERE key IN ({marks})", some)
                )
            now = int(time.time())
            with db:
                db.execute(
                    "UPDATE totals SET hits = hits + ?, misses = misses + ?",
                    [len(found), len(keys) - len(found)],
                )
                db.executemany(
                    "UPDATE rewards SET used = ? WHERE key = ? AND used < ?",
                    [(now, name, now - 3600) for name in found],
                )

        self._try(look)
        return [
            np.frombuffer(found[name], "<f4").copy() if name in found else None for name in keys
        ]

    def keep(self, values: Mapping[bytes, NDArray[Any]]) -> None:
        """Store values, and let go of the least used where the cache is full."""
        now = int(time.time())
        rows = [(k, np.ascontiguousarray(v, "<f4").tobytes(), now) for k, v in values.items()]

        def write(db: sqlite3.Connection) -> None:
            with db:
                db.executemany("INSERT OR REPLACE INTO rewards VALUES (?, ?, ?)", rows)
            while _size(db) > self._most:
                with db:
                    (count,) = db.execute("SELECT count(*) FROM rewards").fetchone()
                    if not count:
                        break
                    # A tenth at a time, so that a full cache is not trimmed at every call.
                    db.execute(
                        "DELETE FROM rewards WHERE key IN "
                        "(SELECT key FROM rewards ORDER BY used LIMIT ?)",
                        [max(1, count // 10)],
                    )
                db.execute("PRAGMA incremental_vacuum")

        self._try(write)

    def clear(self) -> tuple[int, int]:
        """Remove everything; how many rewards and bytes there were.

        Emptied, not unlinked: another process may have it open.

        :raises HomeUnavailable: if it cannot be emptied.
        """
        count, size = self.count(), self.size()
        if not self.path.exists():
            return 0, 0
        with self._lock:
            try:
                db = self._connection()
                with db:
                    db.execute("DELETE FROM rewards")
                    db.execute("UPDATE totals SET hits = 0, misses = 0")
                db.execute("VACUUM")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except (sqlite3.Error, OSError) as error:
                self._close()
                raise HomeUnavailable(
                    f"Cannot empty {self.path}: {error}. Close other memlane processes and retry."
                ) from error
        return count, size

    def count(self) -> int:
        """How many rewards it holds."""
        return self._look_up("SELECT count(*) FROM rewards")[0]

    def totals(self) -> tuple[int, int]:
        """Hits and misses of all processes since it was last emptied."""
        hits, misses = self._look_up("SELECT hits, misses FROM totals")
        return hits, misses

    def _look_up(self, query: str) -> tuple[int, ...]:
        """One row of numbers; zeros where there is no cache."""
        rows: list[tuple[int, ...]] = [(0, 0)]
        if self.path.exists():
            self._try(lambda db: rows.extend(db.execute(query).fetchall()))
        return rows[-1]

    def size(self) -> int:
        """Bytes on disk."""
        names = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(path.stat().st_size for path in names if path.exists())

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None

    def _try(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with self._lock:
            try:
                work(self._connection())
            except (sqlite3.DatabaseError, OSError):
                # Damaged, locked for long, read-only or a full disk.
                self._close()

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._open = self._connect()
            except sqlite3.OperationalError:
                raise  # locked or not writable, but sound
            except sqlite3.DatabaseError:
                if self.path.exists() and self.path.stat().st_size:
                    self.path.unlink()  # a damaged cache is worth nothing
                self._open = self._connect()
            # A cache that nobody closes is closed with its last reference, not by the collector.
            weakref.finalize(self, self._open.close)
        return self._open

    def _connect(self) -> sqlite3.Connection:
        fresh = not self.path.exists()
        db = sqlite3.connect(self.path, timeout=10, check_same_thread=False)
        try:
            if fresh:
                self.path.chmod(0o600)
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA secure_delete = ON")
            db.execute(
                "CREATE TABLE IF NOT EXISTS rewards "
                "(key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID"
            )
            db.execute("CREATE INDEX IF NOT EXISTS rewards_used ON rewards(used)")
            db.execute("CREATE TABLE IF NOT EXISTS totals (hits INTEGER, misses INTEGER)")
            with db:
                db.execute("INSERT INTO totals SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM totals)")
        except BaseException:
            db.close()
            raise
        return db


def _size(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def empty(path: Path) -> None:
    """Empty the cache at ``path``; ``store.erasure.secure_delete`` calls this."""
    cache = RewardCache(path)
    try:
        cache.clear()
    finally:
        cache.close()
