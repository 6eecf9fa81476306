"""Folders for work in progress, and removal of what a killed process left of them.

A file in it is locked while its owner lives, and the system gives the lock back however that ends.
So what can be locked by somebody else is a left-over. It holds memories that no forgetting reaches.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from store.database.file_locks import lock

PREFIX = ".memlane-"
_LOCK = "in-use"


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A folder of the owner's alone, gone afterwards; left-overs beside it are removed first."""
    remove_left_overs(beside)
    folder, held = _made(beside)
    try:
        yield folder
    finally:
        os.close(held)
        shutil.rmtree(folder, ignore_errors=True)


def _made(beside: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        with suppress(FileNotFoundError):  # taken for a left-over before it was locked
            held = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            with suppress(OSError):  # a file system without locks has no left-overs removed either
                lock(held, seconds=math.inf)
            if folder.exists():
                return folder, held
            os.close(held)


def remove_left_overs(folder: Path) -> None:
    """Remove the scratch folders in ``folder`` whose owner is gone."""
    with suppress(OSError):
        for path in list(folder.glob(f"{PREFIX}*/")):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_symlink():
        return
    try:
        held = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return
    try:
        if not lock(held):  # its owner works with it
            return
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # a file system without locks
        return
    finally:
        os.close(held)
    if sys.platform == "win32":  # which keeps a file that is open, as the lock just was
        with suppress(OSError):
            (path / _LOCK).unlink()
            path.rmdir()
