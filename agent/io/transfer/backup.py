"""Backups: consistent copies of a home in use, and restore.

A backup is a zip with the database and a manifest that holds its SHA-256. It is verified before it
gets its name, and again before it is restored. The present home is backed up before anything takes
its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from store.connection import DATABASE_NAME, ensure_home
from store.erasure.fingerprints import ZIP_ERRORS
from store.errors import CorruptStore, HomeUnavailable, NewerStore, StoreError, StoreFull
from store.graph import MemoryGraph
from store.maintenance.backup import copy_database, put_back
from store.maintenance.left_overs import scratch_folder

KIND = "memlane-backup"
VERSION = 1
FOLDER = "backups"
_MANIFEST = "manifest.json"

Step = Callable[[str, int, int], None]
"""Called with (what is done, done, in all)."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that verifies."""

    path: Path
    size: int
    sha256: str
    """Of the database inside."""
    taken: str
    memories: dict[str, int]
    """How many have which status."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back, and where the home is that stood before; None if there was none."""

    backup: Backup
    aside: Path | None
    damaged: bool = False
    """Whether the home that stood before could not be read and was kept as it was."""


def default_path(home: Path, now: datetime, prefix: str = "memlane") -> Path:
    """Where a backup of ``home`` goes that is taken now and told no other place."""
    return _free_name(home / FOLDER, now, prefix)


def _free_name(folder: Path, now: datetime, prefix: str = "memlane") -> Path:
    """A name in ``folder`` that no file has yet."""
    base = folder / f"{prefix}-{now:%Y%m%d-%H%M%S}.zip"
    path, number = base, 1
    while path.exists():
        number += 1
        path = base.with_stem(f"{base.stem}-{number}")
    return path


def backup(home: Path, out: Path, now: datetime, on_step: Step | None = None) -> Backup:
    """Write a verified copy of the home to ``out``, a file or a folder; its owner alone reads it.

    :raises HomeUnavailable: if ``out`` cannot be written, or is a file that is no backup.
    :raises CorruptStore: if the home itself does not verify.
    """
    if not (home / DATABASE_NAME).exists():
        raise HomeUnavailable(f"There is no memory in {home} to back up.")
    if out.is_dir():
        out = _free_name(out, now)
    if out.exists() and not _is_backup(out):
        raise HomeUnavailable(f"{out} already exists and is not a backup. Choose another --out.")
    if out.parent == home / FOLDER:
        ensure_home(out.parent)
    with _writing_to(out), scratch_folder(out.parent) as folder:
        copy = folder / DATABASE_NAME
        _private(copy)
        copy_database(
            home / DATABASE_NAME,
            copy,
            lambda done, total: _step(on_step, "copying", done, total),
        )
        _step(on_step, "verifying", 0, 1)
        memories = _verified(folder, "The home")
        _step(on_step, "verifying", 1, 1)
        scratch = folder / out.name
        digest = _zipped(copy, scratch, now, memories, on_step)
        size = scratch.stat().st_size
        scratch.replace(out)
        _sync(out.parent)
    return Backup(out, size, digest, now.isoformat(), memories)


def _zipped(
    copy: Path, out: Path, now: datetime, memories: dict[str, int], on_step: Step | None
) -> str:
    digest = hashlib.sha256()
    total = copy.stat().st_size
    _private(out)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        done = 0
        with copy.open("rb") as source, archive.open(DATABASE_NAME, "w", force_zip64=True) as into:
            while block := source.read(1 << 20):
                digest.update(block)
                into.write(block)
                done += len(block)
                _step(on_step, "writing", done, total)
        manifest = {
            "kind": KIND,
            "version": VERSION,
            "taken": now.isoformat(),
            "memlane": version("memlane"),
            "sha256": digest.hexdigest(),
            "size": total,
            "memories": memories,
        }
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=2) + "\n")
    with out.open("rb+") as file:
        os.fsync(file.fileno())
    return digest.hexdigest()


def restore(home: Path, file: Path, now: datetime, on_step: Step | None = None) -> Restored:
    """Put a backup in the place of the home, which is backed up first.

    A process that has the home open goes on, and reads what was restored from its next read on.

    :raises CorruptStore: if the file does not verify; the home is as it was.
    :raises NewerStore: if a newer memlane wrote it.
    :raises StoreBusy: if another process keeps the write lock; the home is as it was.
    """
    ensure_home(home)
    with _writing_to(home), scratch_folder(home) as folder:
        found = _extracted(file, folder, on_step)
        copy, live = folder / DATABASE_NAME, home / DATABASE_NAME

        def restoring(done: int, total: int) -> None:
            _step(on_step, "restoring", done, total)

        def keep_aside() -> None:
            backup(home, aside, now, on_step)

        if not live.exists():
            _private(live)
            put_back(copy, home, restoring)
            return Restored(found, None)
        aside = default_path(home, now, "before-restore")
        try:
            # Backed up while the write lock is held: nothing written meanwhile can be missed.
            put_back(copy, home, restoring, keep_aside)
            return Restored(found, aside)
        except (CorruptStore, NewerStore):
            moved = _moved_aside(home, now)
            _private(live)
            put_back(copy, home, restoring)
            return Restored(found, moved, damaged=True)


def inspect(file: Path, home: Path, on_step: Step | None = None) -> Backup:
    """Check a backup without restoring it; it is unpacked in ``home``, where nobody else reads.

    :raises CorruptStore: if it does not verify.
    """
    with scratch_folder(ensure_home(home)) as folder:
        return _extracted(file, folder, on_step)


def _moved_aside(home: Path, now: datetime) -> Path:
    """Trigger: the database that stands cannot be read or does not verify.

    Why: that is often the reason to restore, and it must not be thrown away either.
    Outcome: its files are moved; a process that has them open keeps these files.
    """
    moved = default_path(home, now, "damaged").with_suffix("")
    ensure_home(moved.parent)
    moved.mkdir(mode=0o700)
    for name in (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        if (home / name).exists():
            (home / name).rename(moved / name)
    return moved


def _extracted(file: Path, folder: Path, on_step: Step | None) -> Backup:
    """The database of a backup, checked, in ``folder``."""
    manifest = _manifest(file)
    copy = folder / DATABASE_NAME
    _private(copy)
    digest = hashlib.sha256()
    total = manifest["size"]
    done = 0
    try:
        with (
            zipfile.ZipFile(file) as archive,
            archive.open(DATABASE_NAME) as source,
            copy.open("wb") as into,
        ):
            while block := source.read(1 << 20):
                digest.update(block)
                into.write(block)
                done += len(block)
                _step(on_step, "checking", done, total)
    except ZIP_ERRORS as error:
        raise _refused(file, f"it is damaged ({error})") from error
    if digest.hexdigest() != manifest["sha256"]:
        raise _refused(file, "its SHA-256 does not match")
    _step(on_step, "verifying", 0, 1)
    memories = _verified(folder, str(file))
    _step(on_step, "verifying", 1, 1)
    return Backup(file, file.stat().st_size, manifest["sha256"], manifest["taken"], memories)


def _manifest(file: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(archive.read(_MANIFEST))
    except OSError as error:
        raise HomeUnavailable(f"Cannot read {file}: {error.strerror or error}.") from error
    except (*ZIP_ERRORS, ValueError) as error:
        raise _refused(file, "it is not a backup of memlane, or it is incomplete") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise _refused(file, "it is not a backup of memlane")
    number = manifest.get("version")
    if not isinstance(number, int) or number > VERSION:
        raise NewerStore(f"{file} was written by a newer memlane. Upgrade memlane to restore it.")
    texts = all(isinstance(manifest.get(name), str) for name in ("sha256", "taken"))
    if not texts or not isinstance(manifest.get("size"), int):
        raise _refused(file, "its manifest is damaged")
    return manifest


def _is_backup(file: Path) -> bool:
    try:
        _manifest(file)
    except StoreError:
        return False
    return True


def _verified(folder: Path, what: str) -> dict[str, int]:
    """The counts of the database in ``folder``, brought to the present schema and checked."""
    try:
        with MemoryGraph.open(folder) as graph:
            if problems := graph.verify():
                raise CorruptStore(
                    f"{what} failed verification: {problems[0]}. `memlane doctor` checks a home."
                )
            memories = graph.memories.counts()
    except NewerStore as error:
        raise NewerStore(f"{what} was written by a newer memlane. Upgrade memlane.") from error
    for name in (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        (folder / name).unlink(missing_ok=True)  # left behind empty by the last close at most
    return memories


def _refused(file: Path, reason: str) -> CorruptStore:
    return CorruptStore(f"{file} was not restored: {reason}. The home is unchanged.")


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == 28:  # ENOSPC
            raise StoreFull(f"The disk of {path} is full. Nothing was written.") from error
        raise HomeUnavailable(
            f"Cannot write {path}: {error.strerror or error}. Choose another --out."
        ) from error


def _private(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _sync(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _step(on_step: Step | None, what: str, done: int, total: int) -> None:
    if on_step:
        on_step(what, done, total)
