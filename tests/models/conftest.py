"""A small model in a process of its own, and what it has to tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.models.worker.models import WorkerLanguageModel
from agent.models.worker.settings import FILE
from store.database.notices import listening
from tests.support.workers import HELLO, small_model


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def model(models_dir: Path) -> Iterator[WorkerLanguageModel]:
    model = small_model(models_dir)
    yield model
    model.close()


@pytest.fixture
def own_dir(models_dir: Path, model: WorkerLanguageModel, tmp_path: Path) -> Path:
    """A models folder of the test's own, in which the settings are found already."""
    model.chat(HELLO, max_tokens=1)
    (tmp_path / FILE).write_bytes((models_dir / FILE).read_bytes())
    return tmp_path


@pytest.fixture
def notices() -> Iterator[list[str]]:
    heard: list[str] = []
    with listening(heard.append):
        yield heard
