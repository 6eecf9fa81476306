"""Encrypted homes, for the tests of encryption and of what happens when it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import agent.io.encryption
from agent.io.encryption import encrypt
from store.database.encryption.envelope import new_key, wrapped
from store.database.encryption.keys import forget_keys
from store.graph import MemoryGraph
from tests.support.lock_work import CHEAP_KIB, PASSPHRASE


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys of one test are of no other, and guesses are cheap."""
    monkeypatch.setattr(
        agent.io.encryption, "wrapped", lambda key, text: wrapped(key, text, CHEAP_KIB)
    )
    forget_keys()
    yield
    forget_keys()


@pytest.fixture
def key() -> bytes:
    return new_key()


@pytest.fixture
def locked(full: Path, key: bytes, no_keys: None) -> Path:
    """A home with everything that a home can have, encrypted; nobody holds its key."""
    encrypt(full, key, PASSPHRASE)
    forget_keys()
    return full


def told(home: Path) -> list[str]:
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()
        return [memory.text for memory in graph.memories.list()]
