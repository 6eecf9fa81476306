"""Secure deletion and byte search of a home after an erasure.

The database is rewritten (``VACUUM``) and its write-ahead log cut to nothing; caches are thrown
away, lines of logs taken out. Then every byte of every file is looked at, packed ones too: a backup
in the home is found and named, and is the person's to delete. What lies outside of the home (the
note itself, a backup elsewhere, blocks that a disk has not reused yet) is not memlane's.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from store.database.connection import Connection
from store.database.driver import errors
from store.database.whole_files import whole_file
from store.erasure.fingerprints import (
    SHORTEST,
    Fingerprint,
    Fingerprints,
    occurrences,
    parts_of,
    stream,
    streams_of,
)
from store.row_codecs import public_id
from store.spaces import FOLDER

KEY_NAME = "forgotten.key"
CACHE_FOLDER = "cache"
EDITS_FOLDER = "edits"
"""Where a memory lies as Markdown while it is edited, and stays when that cannot be applied."""
_LINES = frozenset({".log", ".jsonl", ".txt", ".history", ".rejected"})
"""Endings of files in a home that are read line by line, so that a line may leave."""

_OURS = frozenset({"agent", "cli", "policies", "store"})

_caches: dict[str, Callable[[Path], None]] = {}


def register_cache(name: str, clear: Callable[[Path], None]) -> None:
    """Say how to empty the cache at ``<home>/cache/<name>``; it is called with that path.

    What lies in the cache folder under no registered name is deleted, which is right for whatever
    can be made again. An owner registers when a file that it holds open must not be unlinked.
    """
    _caches[name] = clear


def clear_caches(home: Path) -> None:
    """Throw away what models said before: it may have been made of what is forgotten."""
    folder = home / CACHE_FOLDER
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        owner = next((c for name, c in _caches.items() if path.name.startswith(name)), None)
        if owner is not None:
            if path.name in _caches:
                owner(path)
        elif path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def clean_lines(home: Path, texts: Iterable[str]) -> tuple[str, ...]:
    """Take the lines that say one of the texts out of logs and histories; returns their names."""
    needles = [text for text in texts if len(stream(text)) >= SHORTEST]
    cleaned: list[str] = []
    for path in files_of(home):
        if path.suffix not in _LINES and "history" not in path.name:
            continue
        lines = path.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)
        kept = [line for line in lines if not any(occurrences(needle, line) for needle in needles)]
        if len(kept) < len(lines):
            with whole_file(path) as file:
                file.write("".join(kept).encode("utf-8", "surrogateescape"))
            cleaned.append(path.name)
    return tuple(cleaned)


def clean_edits(home: Path, ids: Collection[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Delete the files of the editor that hold one of the memories; returns their names.

    The whole file, with what was typed about others: a memory that was reworded there says the
    same in words that no search knows.
    """
    named = re.compile(rf"^id:[ \t]*['\"]?(?:{'|'.join(map(re.escape, ids))})\b", re.M | re.I)
    needles = [text for text in texts if len(stream(text)) >= SHORTEST]
    gone: list[str] = []
    for path in files_of(home / EDITS_FOLDER):
        typed = path.read_bytes().decode("utf-8", "replace")
        if named.search(typed) or any(occurrences(needle, typed) for needle in needles):
            path.unlink()
            gone.append(path.relative_to(home).as_posix())
    return tuple(gone)


def files_of(home: Path) -> Iterator[Path]:
    """Every file of a space but the key, which is random; what other spaces say is their own."""
    for folder, folders, names in os.walk(home):
        if Path(folder) == home and FOLDER in folders:
            folders.remove(FOLDER)
        for name in sorted(names):
            path = Path(folder) / name
            if name != KEY_NAME and path.is_file() and not path.is_symlink():
                yield path


# ---- the database -------------------------------------------------------------------------


PATIENCE = 5.0
"""Seconds to wait for other processes before the rewriting is put off."""


def clear_readings() -> None:
    """Drop what functions of this process keep of texts that they have read.

    By our convention (docs/forgetting.md) ``lru_cache`` with a size is for texts and what was read
    off them, and ``cache`` for models and tables.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in _OURS:
            continue
        for value in list(vars(module).values()):
            parameters = getattr(value, "cache_parameters", None)
            if parameters is not None and parameters()["maxsize"] is not None:
                value.cache_clear()


def sweep(rows: Connection, patience: float | None = None) -> bool:
    """Rewrite the database so that nothing deleted is left in it; False while others use it.

    What could not be swept is swept when the home is next opened.
    """
    conn = rows.db.conn
    if not rows.query(
        "SELECT 1 FROM forgotten WHERE swept = 0 UNION SELECT 1 FROM sync_unswept LIMIT 1"
    ):
        return True
    before = conn.execute("PRAGMA busy_timeout").fetchone()[0]
    try:
        conn.execute(
            f"PRAGMA busy_timeout = {int((PATIENCE if patience is None else patience) * 1000)}"
        )
        conn.execute("PRAGMA temp_store = MEMORY")
        conn.execute("PRAGMA secure_delete = ON")
        conn.execute("VACUUM")
        if conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            return False
        with rows.writing():
            rows.execute("UPDATE forgotten SET swept = 1 WHERE swept = 0")
            rows.execute("DELETE FROM sync_unswept")
        return not conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except errors("OperationalError"):
        return False  # another process reads or writes
    finally:
        conn.execute(f"PRAGMA busy_timeout = {before}")


# ---- the proof ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchedFiles:
    """What was looked through, and in which files something was found."""

    files: int
    size: int
    """Bytes."""
    found: tuple[str, ...]
    """Names of files that hold something of it."""


def key_of(home: Path, *, create: bool = False) -> bytes | None:
    """The key of the marks, in a file of its own beside the database; None where there is none.

    Without the key the marks say nothing to anybody: delete the file to make them worthless.
    """
    path = home / KEY_NAME
    with suppress(FileNotFoundError):
        if key := path.read_bytes():
            return key
    if not create:
        return None
    key = secrets.token_bytes(32)
    with suppress(FileExistsError):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key)
        return key
    return path.read_bytes()


def search_for(
    home: Path, windows: Iterable[str], texts: Iterable[str], still_in: Collection[str]
) -> SearchedFiles:
    """Look for what was just erased, in clear, in every byte of the home.

    ``windows``, ``texts`` and ``still_in`` are those of ``store.erasure.plan.Erased`` and its plan.
    """
    marker = Fingerprints(secrets.token_bytes(32))
    marks = {marker.mark(window): None for window in windows}
    exact = [text.encode() for text in (() if still_in else texts)]
    looked = list(_each(home, marker, marks, [said for said in exact if len(said) >= SHORTEST]))
    return SearchedFiles(
        len(looked),
        sum(size_of(path) for path, _ in looked),
        tuple(path.relative_to(home).as_posix() for path, found in looked if found),
    )


@dataclass(frozen=True, slots=True)
class Proof:
    """What ``doctor --forgotten`` found."""

    forgotten: int
    """How many times something was forgotten for good."""
    unproven: int
    """Of those, how many nothing can be proved about: no proof was kept, or the key is gone."""
    unswept: bool
    searched: SearchedFiles
    left: tuple[str, ...]
    """Ids of the forget edits of which something was found."""


def prove(rows: Connection, home: Path) -> Proof:
    """Look for everything that was ever forgotten for good, by its marks.

    What has been told again since is no leftover: rows newer than the forgetting may say it.
    """
    erased = {row["id"]: row for row in rows.query("SELECT * FROM forgotten")}
    key = key_of(home)
    marks: dict[Fingerprint, set[int]] = {}
    for row in rows.query("SELECT * FROM forgotten_marks") if key else ():
        mark = Fingerprint(row["length"], row["sieve"], bytes(row["mark"]))
        marks.setdefault(mark, set()).add(row["forgotten"])
    marker = Fingerprints(key or b"")
    hits: dict[Fingerprint, list[str]] = {}
    files = size = 0
    for path, found in _each(home, marker, marks, []):
        files, size = files + 1, size + size_of(path)
        for mark in found:
            hits.setdefault(mark, []).append(path.relative_to(home).as_posix())
    told = _told_since(rows, marker, hits, erased.values()) if hits else {}
    left: dict[int, None] = {}
    where: dict[str, None] = {}
    for mark, paths in hits.items():
        for number in marks[mark] - told.get(mark, set()):
            left[number] = None
            where.update(dict.fromkeys(paths))
    proven = {number for numbers in marks.values() for number in numbers}
    return Proof(
        len(erased),
        len(erased) - len(proven),
        any(not row["swept"] for row in erased.values()),
        SearchedFiles(files, size, tuple(where)),
        tuple(public_id("e", erased[number]["entry"]) for number in left),
    )


def _told_since(
    rows: Connection,
    marker: Fingerprints,
    hits: Mapping[Fingerprint, object],
    erased: Iterable[dict[str, int]],
) -> dict[Fingerprint, set[int]]:
    """For each mark the forgettings after which a new source, turn or edit says it again."""
    told: dict[Fingerprint, set[int]] = {}
    for row in erased:
        newer = [
            *rows.query("SELECT text FROM sources WHERE id > ?", [row["last_source"]]),
            *rows.query("SELECT text || ' ' || reply FROM turns WHERE id > ?", [row["last_turn"]]),
            *rows.query("SELECT changes FROM journal WHERE id > ?", [row["last_entry"]]),
            # Those that said it before went with it, so one that says it now is newer.
            *rows.query("SELECT answer FROM feedback WHERE answer IS NOT NULL"),
            *rows.query("SELECT text || ' ' || coalesce(hand, '') FROM persona_lines"),
        ]
        for text in (value for found in newer for value in found.values()):
            for mark in marker.find(hits, stream(text)):
                told.setdefault(mark, set()).add(row["id"])
    return told


def _each(
    home: Path, marker: Fingerprints, marks: Mapping[Fingerprint, object], exact: list[bytes]
) -> Iterator[tuple[Path, set[Fingerprint]]]:
    """Each file of the home with the marks found in it."""
    for path in files_of(home):
        try:
            found = {mark for piece in streams_of(path) for mark in marker.find(marks, piece)}
            whole = (b"".join(part) for part in parts_of(path)) if exact else ()
            if any(text in data for data in whole for text in exact):
                found.add(Fingerprint(0, 0, b"as it was written"))
        except FileNotFoundError:
            continue  # a log that was just turned over
        yield path, found


def size_of(path: Path) -> int:
    """Bytes of a file; 0 of one that is gone."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
