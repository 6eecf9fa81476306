"""Backup and restore of a home with all its spaces.

The backup of ``main`` (``agent.io.transfer.backup``) has that of each other space packed in it,
which is whole by itself. A home without other spaces has the backup that it always had.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath

from agent.io.transfer.backup import (
    Backup,
    Restored,
    Step,
    backup,
    encrypt_backup,
    inspect,
    restore,
)
from store.database.connection import DATABASE_NAME, ensure_home
from store.database.encryption.envelope import Envelope
from store.errors import CorruptStore
from store.maintenance.left_overs import scratch_folder
from store.spaces import FOLDER, checked_name, home_of, names, rules_file

_ENDING = ".zip"
_RULES = f"{FOLDER}/rules.json"


def backup_all(root: Path, out: Path, now: datetime, on_step: Step | None = None) -> Backup:
    """Write a verified copy of the home with all its spaces; errors as of ``backup``."""
    others = [name for name in names(root)[1:] if (home_of(root, name) / DATABASE_NAME).exists()]
    if not others:
        return backup(root, out, now, on_step)
    with scratch_folder(ensure_home(root)) as scratch:
        also = {}
        for name in others:
            copy = scratch / f"{name}{_ENDING}"
            backup(home_of(root, name), copy, now, on_step)
            also[f"{FOLDER}/{copy.name}"] = copy
        if rules_file(root).exists():
            also[_RULES] = rules_file(root)
        return backup(root, out, now, on_step, also=also)


def encrypt_backup_all(file: Path, key: bytes, envelope: Envelope) -> None:
    """Put an encrypted backup in the place of a plain one, with the spaces that are in it.

    :raises CorruptStore: if it does not verify; it is as it was.
    """
    with _unpacked(file, file.parent) as copies:
        also = {}
        for name, copy in copies.items():
            encrypt_backup(copy, key, envelope)
            also[f"{FOLDER}/{name}{_ENDING}"] = copy
        if copies:
            rules = next(iter(copies.values())).with_name("rules.json")
            with zipfile.ZipFile(file) as archive:
                if _RULES in archive.namelist():
                    rules.write_bytes(archive.read(_RULES))
                    also[_RULES] = rules
        encrypt_backup(file, key, envelope, also)


def spaces_in(file: Path) -> tuple[str, ...]:
    """The other spaces that a backup holds. It was verified before, or is by ``inspect``."""
    with zipfile.ZipFile(file) as archive:
        found = [PurePosixPath(name) for name in archive.namelist()]
    inner = (one for one in found if one.parent.name == FOLDER and one.suffix == _ENDING)
    return tuple(sorted(checked_name(one.stem) for one in inner))


def inspect_all(file: Path, root: Path, on_step: Step | None = None) -> dict[str, Backup]:
    """Check the backups of the other spaces in a backup, by name; errors as of ``inspect``."""
    with _unpacked(file, root) as copies:
        return {name: inspect(copy, root, on_step) for name, copy in copies.items()}


def restore_all(
    root: Path, file: Path, now: datetime, on_step: Step | None = None
) -> tuple[Restored, Mapping[str, Restored]]:
    """Put a backup in the place of the home, each of its spaces in the place of that space.

    All are verified before the first is put back; killed on the way, it can be repeated. Spaces
    that the backup does not hold stay as they are. What spaces may see comes along only into a
    home that has no other space yet: a backup must not allow again what was taken back since.
    Errors as of ``restore``.
    """
    inspect_all(file, root, on_step)
    had_spaces = len(names(root)) > 1
    done = restore(root, file, now, on_step)
    found = {}
    with _unpacked(file, root) as copies:
        for name, copy in copies.items():
            ensure_home(root / FOLDER)
            found[name] = restore(home_of(root, name), copy, now, on_step)
    if found and not had_spaces:
        with zipfile.ZipFile(file) as archive:
            if _RULES in archive.namelist():
                rules_file(root).write_bytes(archive.read(_RULES))
                rules_file(root).chmod(0o600)
    return done, found


@contextmanager
def _unpacked(file: Path, root: Path) -> Iterator[dict[str, Path]]:
    """The backups of the other spaces in a backup, in files that are gone afterwards."""
    names_inside = spaces_in(file)
    if not names_inside:
        yield {}
        return
    with scratch_folder(ensure_home(root)) as scratch:
        copies = {name: scratch / f"{name}{_ENDING}" for name in names_inside}
        try:
            with zipfile.ZipFile(file) as archive:
                for name, copy in copies.items():
                    with (
                        archive.open(f"{FOLDER}/{name}{_ENDING}") as packed,
                        copy.open("wb") as into,
                    ):
                        shutil.copyfileobj(packed, into)
        except zipfile.BadZipFile as error:
            raise CorruptStore(
                f"{file} was not restored: it is damaged ({error}). The home is unchanged."
            ) from error
        yield copies
