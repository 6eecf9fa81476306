"""Encryption of a home that kills itself at its n-th work on a file, for ``test_encryption``."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import agent.io.encryption as encryption
from store.database.encryption.envelope import wrapped

PASSPHRASE = "nine green otters"
CHEAP_KIB = 64
_WORK = frozenset({"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"})
"""Audit events of work on files; SQLite's own is between them."""


def kill_at(number: int, home: Path) -> None:
    """End this process by SIGKILL at its n-th work on a file of the home."""
    seen = 0

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in _WORK and str(arguments[0]).startswith(str(home)):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def encrypt(home: Path, key: bytes, number: int) -> None:
    encryption.wrapped = partial(wrapped, memory_kib=CHEAP_KIB)  # type: ignore[attr-defined]
    kill_at(number, home)
    encryption.encrypt(home, key, PASSPHRASE)


def decrypt(home: Path, key: bytes, number: int) -> None:
    kill_at(number, home)
    encryption.decrypt(home, key)
