"""Watched folders and their queue of files, on disk.

A file is one row, from the moment it is seen until its folder is no longer watched: waiting, done,
skipped, failed, or gone. A row changes after the file's own transaction, so a process that is
killed between the two looks at the file once more and finds that nothing is left to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from store.row_codecs import Table, iso, public_id, row_id


class FileState(StrEnum):
    """How far a watched file has come."""

    WAITING = "waiting"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    """Tried often enough; it is tried again when it changes or memlane starts anew."""
    GONE = "gone"
    """Deleted; what came from it is offered for forgetting."""


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder that is watched."""

    path: Path
    since: datetime
    more: bool
    """Whether it holds files that found no place in the queue yet."""


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """What is known of a file."""

    path: Path
    folder: Path
    state: FileState
    size: int | None
    changed: int | None
    """Its modification time in nanoseconds, as it was last seen."""
    due: float
    """Seconds since the epoch before which it is left alone."""
    tries: int
    at: datetime
    """When its state was last told."""
    source: str | None
    reason: str | None
    """Why it was skipped or failed, where it has no source that tells."""


TOGETHER = 2.0
"""Seconds within which files that become due are due together."""
DAY = 86_400_000_000_000
"""In nanoseconds, as times of change are kept: of one day the smallest file is first."""


class WatchTable(Table):
    """The watched folders of one home and their files."""

    # ---- folders --------------------------------------------------------------------------

    def folders(self) -> tuple[WatchedFolder, ...]:
        rows = self._rows.query("SELECT * FROM watched ORDER BY path")
        return tuple(
            WatchedFolder(
                Path(row["path"]), datetime.fromisoformat(row["since"]), bool(row["more"])
            )
            for row in rows
        )

    def add_folder(self, path: Path, at: datetime) -> None:
        with self._rows.writing():
            self._rows.execute(
                "INSERT OR IGNORE INTO watched VALUES (?, ?, 0)", (str(path), iso(at))
            )

    def remove_folder(self, path: Path) -> bool:
        """Watch it no longer; whether it was. What came from its files stays."""
        with self._rows.writing():
            known = self._rows.query("SELECT 1 FROM watched WHERE path = ?", [str(path)])
            self._rows.execute("DELETE FROM watched WHERE path = ?", [str(path)])
            self._rows.execute("DELETE FROM watched_files WHERE folder = ?", [str(path)])
        return bool(known)

    def mark_more(self, path: Path, more: bool) -> None:
        with self._rows.writing():
            self._rows.execute("UPDATE watched SET more = ? WHERE path = ?", (more, str(path)))

    # ---- files ----------------------------------------------------------------------------

    def get(self, path: Path) -> WatchedFile | None:
        rows = self._rows.query("SELECT * FROM watched_files WHERE path = ?", [str(path)])
        return _file(rows[0]) if rows else None

    def files(self, folder: Path) -> dict[Path, WatchedFile]:
        """Every known file of a watched folder."""
        rows = self._rows.query("SELECT * FROM watched_files WHERE folder = ?", [str(folder)])
        return {Path(row["path"]): _file(row) for row in rows}

    def below(self, path: Path) -> tuple[Path, ...]:
        """The known files at this path or in it."""
        start = f"{path}/"
        rows = self._rows.query(
            "SELECT path FROM watched_files WHERE path = ? OR substr(path, 1, ?) = ?",
            (str(path), len(start), start),
        )
        return tuple(Path(row["path"]) for row in rows)

    def put(self, files: Iterable[WatchedFile]) -> None:
        """Write these rows as they are, all or none."""
        with self._rows.writing():
            for file in files:
                self._rows.execute(
                    "INSERT OR REPLACE INTO watched_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        str(file.path),
                        str(file.folder),
                        file.state,
                        file.size,
                        file.changed,
                        file.due,
                        file.tries,
                        iso(file.at),
                        row_id("s", file.source, "source") if file.source else None,
                        file.reason,
                    ),
                )

    def drop(self, path: Path) -> None:
        with self._rows.writing():
            self._rows.execute("DELETE FROM watched_files WHERE path = ?", [str(path)])

    def next_due(self, now: float, horizon: float) -> WatchedFile | None:
        """The file whose turn it is: of those that became due together, the newest and smallest.

        One due later than ``horizon`` from now is due at once: nothing waits so long, so the clock
        was moved.
        """
        rows = self._rows.query(
            """SELECT * FROM watched_files
               WHERE state = ? AND (due <= ? OR due > ?)
               ORDER BY CAST(due / ? AS INTEGER), changed / ? DESC, size, path LIMIT 1""",
            (FileState.WAITING, now, now + horizon, TOGETHER, DAY),
        )
        return _file(rows[0]) if rows else None

    def in_state(self, state: FileState, limit: int = 1_000_000) -> tuple[WatchedFile, ...]:
        """The files of this state, the latest first."""
        rows = self._rows.query(
            "SELECT * FROM watched_files WHERE state = ? ORDER BY at DESC, path LIMIT ?",
            (state, limit),
        )
        return tuple(map(_file, rows))

    def counts(self) -> dict[str, dict[str, int]]:
        """How many files of each folder have which state."""
        found: dict[str, dict[str, int]] = {}
        for row in self._rows.query(
            "SELECT folder, state, count(*) AS n FROM watched_files GROUP BY folder, state"
        ):
            found.setdefault(row["folder"], {})[row["state"]] = row["n"]
        return found

    def waiting(self) -> int:
        """How many files wait for their turn."""
        rows = self._rows.query(
            "SELECT count(*) AS n FROM watched_files WHERE state = ?", [FileState.WAITING]
        )
        return int(rows[0]["n"])


def _file(row: Mapping[str, Any]) -> WatchedFile:
    return WatchedFile(
        Path(row["path"]),
        Path(row["folder"]),
        FileState(row["state"]),
        row["size"],
        row["changed"],
        row["due"],
        row["tries"],
        datetime.fromisoformat(row["at"]),
        public_id("s", row["source"]) if row["source"] else None,
        row["reason"],
    )
