"""Folders for work in progress, and removal of what a killed process left of them.

A folder is locked while its owner lives, and the system gives the lock back however that ends. So
what can be locked by somebody else is a left-over, and holds memories that no forgetting reaches.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".memlane-"


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A folder of the owner's alone, gone afterwards; left-overs beside it are removed first."""
    remove_left_overs(beside)
    folder, held = _made(beside)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _made(beside: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        with suppress(FileNotFoundError):  # taken for a left-over before it was locked
            held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            with suppress(OSError):  # a file system without locks has no left-overs removed either
                fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                return folder, held
            os.close(held)


def remove_left_overs(folder: Path) -> int:
    """Remove the scratch folders in ``folder`` whose owner is gone; returns how many."""
    with suppress(OSError):
        return sum(map(_removed, list(folder.glob(f"{PREFIX}*/"))))
    return 0


def _removed(path: Path) -> bool:
    if path.is_symlink():
        return False
    try:
        held = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # its owner works with it
        return False
    finally:
        os.close(held)
    return not path.exists()
