"""Worker processes for tests: small models in them, and what is left of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from agent.models.registry import ModelRegistry
from agent.models.worker.models import WorkerLanguageModel, WorkerRewards
from agent.models.worker.opening import GgufOpener
from agent.models.worker.settings import Finding
from agent.models.worker.worker import Worker
from agent.ports import ChatTurn

SMALL = "smollm2-135m"
HELLO = [ChatTurn("user", "Say hello to Ann.")]


def small_model(
    models_dir: Path, *, idle_s: float = 600.0, timeout_s: float = 60.0, threads: int = 2
) -> WorkerLanguageModel:
    """The 135M in a worker; what is found out about it is kept in ``models_dir``."""
    registry = ModelRegistry(models_dir)
    path = registry.resolve_llm(SMALL)
    opener = GgufOpener(
        "chat",
        path,
        registry.sha256(path),
        threads=threads,
        models_dir=models_dir,
        options={"context": 2048, "models_dir": str(models_dir)},
    )
    worker = Worker("The language model", opener, idle_s=idle_s, timeout_s=timeout_s)
    return WorkerLanguageModel(worker, opener)


def found(model: WorkerLanguageModel) -> Finding:
    """What the model runs with."""
    assert model.finding is not None
    return model.finding


def small_rewards(models_dir: Path, cache: Path | None = None) -> WorkerRewards:
    """The 135M as a reward model in a worker."""
    registry = ModelRegistry(models_dir)
    path = registry.resolve_llm(SMALL)
    options = {
        "models_dir": str(models_dir),
        "context": 2048,
        "batch": 128,
        "cache": None if cache is None else str(cache),
        "megabytes": 10,
    }
    opener = GgufOpener(
        "rewards",
        path,
        registry.sha256(path),
        threads=2,
        models_dir=models_dir,
        options=options,
    )
    worker = Worker("The reward model", opener, idle_s=600.0, timeout_s=60.0)
    return WorkerRewards(worker, opener)


def workers_of(home: Path) -> list[int]:
    """Processes of models that were started for this home and are there now."""
    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            if "agent.models.worker" in words and process.environ().get("MEMLANE_HOME") == str(
                home
            ):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@contextmanager
def nothing_left_behind(home: Path) -> Iterator[None]:
    """Fail if a worker of this home outlives its owner by more than five seconds."""
    yield
    deadline = time.monotonic() + 5
    while left := workers_of(home):
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.05)
