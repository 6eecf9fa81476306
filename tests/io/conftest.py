"""Homes that synchronise, and a folder that is watched."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.config import load_config
from agent.io.sync.keys import new_key
from agent.io.watch_status import add_folders
from agent.session.session import Session
from store.graph import MemoryGraph
from tests.conftest import NOW
from tests.support.crash_work import HashEncoder, SilentModel
from tests.support.syncing import Homes
from tests.support.watched_folder import Clock, Folder, Screen


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[Homes]:
    MemoryGraph.open(tmp_path / "empty").close()
    skews = (timedelta(), timedelta(days=-3), timedelta(days=5))
    made = Homes(tmp_path, new_key(), tmp_path / "empty", skews)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path, own_home: Path) -> Iterator[Folder]:
    path = tmp_path / "notes"
    path.mkdir()
    config = load_config(now=NOW)
    with MemoryGraph.open(own_home) as graph:
        add_folders(graph, [path], config)
        session = Session(config, graph, llm=SilentModel(), embedder=HashEncoder(), reader=Screen())
        yield Folder(path, session, Clock())
