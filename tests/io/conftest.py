"""Homes that synchronise."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.io.sync.keys import new_key
from store.graph import MemoryGraph
from tests.support.syncing import Homes


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[Homes]:
    MemoryGraph.open(tmp_path / "empty").close()
    skews = (timedelta(), timedelta(days=-3), timedelta(days=5))
    made = Homes(tmp_path, new_key(), tmp_path / "empty", skews)
    yield made
    made.close()
