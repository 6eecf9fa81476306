"""Locks between processes, the way of Windows too (its library locks with flock here)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import portalocker
import pytest

from store.database.file_locks import lock


@pytest.fixture(params=["here", "win32"])
def files(request, tmp_path: Path, monkeypatch) -> Iterator[tuple[int, int]]:
    """The same file, opened twice: such two exclude each other as those of two processes do."""
    if request.param == "win32":
        monkeypatch.setattr(sys, "platform", "win32")
    path = tmp_path / "lock"
    one, two = (os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    yield one, two
    os.close(two)


def test_many_may_share_one_may_hold_it_alone(files: tuple[int, int]):
    one, two = files
    assert lock(one, shared=True) and lock(two, shared=True)
    assert not lock(one)
    os.close(one)
    assert lock(two)


def test_it_is_waited_for_as_long_as_was_said(files: tuple[int, int]):
    one, two = files
    assert lock(one)
    began = time.monotonic()
    assert not lock(two, shared=True, seconds=0.1)
    assert time.monotonic() - began >= 0.1
    os.close(one)
    assert lock(two, seconds=1.0)


def test_what_cannot_be_locked_is_an_error_of_the_system(files: tuple[int, int], monkeypatch):
    def refused(file: int, flags: object) -> None:
        raise portalocker.LockException(OSError(38, "no locks"), "no locks")

    os.close(files[0])
    monkeypatch.setattr(portalocker, "lock", refused)
    with pytest.raises(OSError):
        lock(files[0])
