"""Backups: consistent copies of a home in use, and restore.

A backup is a zip with the database and a manifest that holds its SHA-256. It is verified before it
gets its name, and again before it is restored. The present home is backed up before anything takes
its place. The backup of an encrypted home is encrypted with the same key and brings the envelope of
that key with it, so its passphrase opens it anywhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from store.database.connection import DATABASE_NAME, ensure_home
from store.database.driver import PLAIN
from store.database.encryption.envelope import (
    ENVELOPE_NAME,
    Envelope,
    as_bytes,
    envelope_of,
    parsed,
    write_envelope,
)
from store.database.encryption.keys import key_for
from store.database.whole_files import sync_folder
from store.erasure.fingerprints import ZIP_ERRORS
from store.errors import (
    CorruptStore,
    HomeUnavailable,
    InvalidInput,
    NewerStore,
    StoreError,
    StoreFull,
)
from store.graph import MemoryGraph
from store.maintenance.backup import copy_database, put_back
from store.maintenance.convert import copy_under
from store.maintenance.left_overs import scratch_folder

KIND = "memlane-backup"
VERSION, WITH_SPACES = 1, 2
"""Of the format; one with more than the space ``main`` must not be restored without them."""
FOLDER = "backups"
"""In the home: where a backup goes that is told no other place."""
_MANIFEST = "manifest.json"
_LONGEST_ENVELOPE = 10_000

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


def free_path(folder: Path, now: datetime, prefix: str = "memlane") -> Path:
    """A path in ``folder``, for a backup that is taken now, that no file has yet."""
    base = folder / f"{prefix}-{now:%Y%m%d-%H%M%S}.zip"
    path, number = base, 1
    while path.exists():
        number += 1
        path = base.with_stem(f"{base.stem}-{number}")
    return path


def backup(
    home: Path,
    out: Path,
    now: datetime,
    on_step: Step | None = None,
    *,
    also: Mapping[str, Path] | None = None,
) -> Backup:
    """Write a verified copy of the home to ``out``, a file or a folder; its owner alone reads it.

    Of one space; ``also`` are files of other spaces to pack into it (``agent.io.spaces.backup``).

    :raises HomeUnavailable: if ``out`` cannot be written, or is a file that is no backup.
    :raises CorruptStore: if the home itself does not verify.
    """
    if not (home / DATABASE_NAME).exists():
        raise HomeUnavailable(f"There is no memory in {home} to back up.")
    if out.is_dir():
        out = free_path(out, now)
    if out.exists() and not _is_backup(out):
        raise HomeUnavailable(f"{out} already exists and is not a backup. Choose another --out.")
    if out.parent == home / FOLDER:
        ensure_home(out.parent)
    with _writing_to(out), scratch_folder(out.parent) as folder:
        copy = folder / DATABASE_NAME
        if envelope := envelope_of(home / DATABASE_NAME):
            write_envelope(copy, envelope)
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
        digest = _zipped(copy, scratch, now.isoformat(), memories, on_step, also or {})
        size = scratch.stat().st_size
        scratch.replace(out)
        sync_folder(out.parent)
    return Backup(out, size, digest, now.isoformat(), memories)


def _zipped(
    copy: Path,
    out: Path,
    taken: str,
    memories: dict[str, int],
    on_step: Step | None,
    also: Mapping[str, Path],
) -> str:
    total = copy.stat().st_size
    _private(out)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with copy.open("rb") as source, archive.open(DATABASE_NAME, "w", force_zip64=True) as into:
            digest = _copied(source, into, "writing", total, on_step)
        manifest = {
            "kind": KIND,
            "version": WITH_SPACES if also else VERSION,
            "taken": taken,
            "memlane": version("memlane"),
            "sha256": digest,
            "size": total,
            "memories": memories,
        }
        if envelope := envelope_of(copy):
            archive.writestr(ENVELOPE_NAME, as_bytes(envelope))
        for name, packed in also.items():
            archive.write(packed, name, zipfile.ZIP_STORED)
        archive.writestr(_MANIFEST, json.dumps(manifest, indent=2) + "\n")
    with out.open("rb+") as file:
        os.fsync(file.fileno())
    return digest


def restore(home: Path, file: Path, now: datetime, on_step: Step | None = None) -> Restored:
    """Put a backup in the place of the home, which is backed up first.

    A process that has the home open goes on, and reads what was restored from its next read on.

    :raises CorruptStore: if the file does not verify; the home is as it was.
    :raises NewerStore: if a newer memlane wrote it.
    :raises StoreBusy: if another process keeps the write lock; the home is as it was.
    :raises HomeLocked: if the backup or the home is encrypted and this process has no key for it.
    """
    ensure_home(home)
    with _writing_to(home), scratch_folder(home) as folder:
        found = _extracted(file, folder, on_step)
        live = home / DATABASE_NAME
        copy = _for_home(live, folder / DATABASE_NAME, file)

        def restoring(done: int, total: int) -> None:
            _step(on_step, "restoring", done, total)

        def keep_aside() -> None:
            backup(home, aside, now, on_step)

        if not live.exists():
            _private(live)
            put_back(copy, home, restoring)
            return Restored(found, None)
        aside = free_path(home / FOLDER, now, "before-restore")
        try:
            # Backed up while the write lock is held: nothing written meanwhile can be missed.
            put_back(copy, home, restoring, keep_aside)
            return Restored(found, aside)
        except (CorruptStore, NewerStore):
            moved = _moved_aside(home, now)
            _private(live)
            put_back(copy, home, restoring)
            return Restored(found, moved, damaged=True)


def _for_home(live: Path, copy: Path, file: Path) -> Path:
    """The database of a backup as the home keeps its own: encrypted or plain.

    A home that has no database yet becomes as the backup is.
    """
    theirs, ours = envelope_of(copy), envelope_of(live)
    if not live.exists():
        if theirs is not None:
            write_envelope(live, theirs)
        return copy
    if (theirs is None) == (ours is None):
        return copy
    if theirs is None:
        raise InvalidInput(
            f"{file} is not encrypted, and {live.parent} is: unpacking it there would leave it in "
            "plain on the disk. Restore it into a new home (--home DIR) and encrypt that: memlane "
            "lock"
        )
    plain = copy.with_name("plain") / DATABASE_NAME
    plain.parent.mkdir(mode=0o700)
    copy_under(copy, key_for(theirs, copy.parent), PLAIN, plain)
    return plain


def envelope_in(file: Path) -> Envelope | None:
    """The envelope that an encrypted backup brings; None of a plain one.

    :raises CorruptStore: if it is no backup, or damaged.
    """
    _manifest(file)
    with zipfile.ZipFile(file) as archive:
        if ENVELOPE_NAME not in archive.namelist():
            return None
        with archive.open(ENVELOPE_NAME) as member:
            return parsed(member.read(_LONGEST_ENVELOPE), file)


def encrypt_backup(
    file: Path, key: bytes, envelope: Envelope, also: Mapping[str, Path] | None = None
) -> None:
    """Put an encrypted backup in the place of a plain one, in one step; ``also`` as of ``backup``.

    :raises CorruptStore: if it does not verify; it is as it was.
    """
    with _writing_to(file), scratch_folder(file.parent) as folder:
        found = _extracted(file, folder, None)
        locked = folder / "locked" / DATABASE_NAME
        locked.parent.mkdir(mode=0o700)
        copy_under(folder / DATABASE_NAME, PLAIN, key, locked)
        write_envelope(locked, envelope)
        _zipped(locked, folder / file.name, found.taken, found.memories, None, also or {})
        (folder / file.name).replace(file)
        sync_folder(file.parent)


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
    moved = free_path(home / FOLDER, now, "damaged").with_suffix("")
    ensure_home(moved.parent)
    moved.mkdir(mode=0o700)
    for name in (DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm"):
        if (home / name).exists():
            (home / name).rename(moved / name)
    if (home / ENVELOPE_NAME).exists():  # what decrypts them; the home needs it too
        shutil.copyfile(home / ENVELOPE_NAME, moved / ENVELOPE_NAME)
    return moved


def _extracted(file: Path, folder: Path, on_step: Step | None) -> Backup:
    """The database of a backup, checked, in ``folder``."""
    manifest = _manifest(file)
    copy = folder / DATABASE_NAME
    if envelope := envelope_in(file):
        write_envelope(copy, envelope)
    _private(copy)
    try:
        with (
            zipfile.ZipFile(file) as archive,
            archive.open(DATABASE_NAME) as source,
            copy.open("wb") as into,
        ):
            digest = _copied(source, into, "checking", manifest["size"], on_step)
    except ZIP_ERRORS as error:
        raise _refused(file, f"it is damaged ({error})") from error
    if digest != manifest["sha256"]:
        raise _refused(file, "its SHA-256 does not match")
    _step(on_step, "verifying", 0, 1)
    memories = _verified(folder, str(file))
    _step(on_step, "verifying", 1, 1)
    return Backup(file, file.stat().st_size, manifest["sha256"], manifest["taken"], memories)


def _copied(source: IO[bytes], into: IO[bytes], what: str, total: int, on_step: Step | None) -> str:
    """Copy a file and give its SHA-256."""
    digest, done = hashlib.sha256(), 0
    while block := source.read(1 << 20):
        digest.update(block)
        into.write(block)
        done += len(block)
        _step(on_step, what, done, total)
    return digest.hexdigest()


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
    if not isinstance(number, int) or number > WITH_SPACES:
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


def _step(on_step: Step | None, what: str, done: int, total: int) -> None:
    if on_step:
        on_step(what, done, total)
