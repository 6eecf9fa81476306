"""Fixtures: a fresh home, real models shared by the whole run, and a command line to drive.

Every test has its own home and configuration file; the weights lie where the person's commands
put them, so they are assembled once.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import pytest

from agent.config import SETTINGS, Config, load_config
from agent.io.transfer.export import export_jsonl
from agent.models.lazy import LocalEmbedder, LocalLanguageModel
from agent.ports import ChatTurn, Decoding, Embedder, LanguageModel
from agent.session.session import Session, open_session
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import SourceKind

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def settings() -> Config:
    """Where this machine keeps its weights."""
    return load_config()


@pytest.fixture(scope="session")
def embedder(settings: Config) -> Embedder:
    """The real sentence encoder."""
    return LocalEmbedder(settings)


@pytest.fixture(scope="session")
def llm(settings: Config) -> LanguageModel:
    """The real 1.5B language model."""
    return LocalLanguageModel(settings)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Config) -> Path:
    """No test sees the person's own memory or configuration."""
    home = tmp_path / "home"
    monkeypatch.setenv("MEMLANE_HOME", str(home))
    monkeypatch.setenv("MEMLANE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(settings.models_dir))
    for setting in SETTINGS:
        if setting.kind != "path":
            monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.delenv("MEMLANE_SPACE", raising=False)
    monkeypatch.setenv("MEMLANE_RESIDENT", "no")  # no test leaves a process behind
    return home


@pytest.fixture
def graph(own_home: Path) -> Iterator[MemoryGraph]:
    with MemoryGraph.open(own_home) as opened:
        yield opened


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A home with everything that a home can have."""
    from tests.support.exports import fill

    home = tmp_path / "full"
    with MemoryGraph.open(home) as graph:
        fill(graph)
    return home


@pytest.fixture
def exported(full: Path, tmp_path: Path) -> Path:
    """The JSONL of ``full``."""
    path = tmp_path / "all.jsonl"
    export_jsonl(full, path, NOW)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A home with memories and ids of its own."""
    from tests.support.exports import draft

    home = tmp_path / "own"
    with MemoryGraph.open(home) as graph:
        source = graph.sources.add(SourceKind.CHAT, "I like green tea!", NOW)
        graph.apply([Insert(draft("I like  GREEN tea", source=source.id))], at=NOW)
        graph.apply([Insert(draft("My bicycle is red."))], at=NOW)
    return home


@pytest.fixture
def told(graph: MemoryGraph) -> MemoryGraph:
    """A home where a secret was told; see ``tests.support.forgetting``."""
    from tests.support.forgetting import tell_a_secret

    return tell_a_secret(graph)


class ScriptedModel:
    """A language model that says what it was told to, in order, and keeps what it was asked."""

    identity = "scripted"

    def __init__(self, replies: Sequence[str | Exception] = ()) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[ChatTurn, ...]] = []
        self.score: float | None = None
        """Log-probability of each reply; None where it tells none."""

    def chat(self, turns: Sequence[ChatTurn], **decoding: Unpack[Decoding]) -> str:
        self.asked.append(tuple(turns))
        reply = self.reply_to(turns)
        if isinstance(reply, Exception):
            raise reply
        if on_text := decoding.get("on_text"):
            on_text(reply)
        if (on_scores := decoding.get("on_scores")) and self.score is not None:
            on_scores([self.score])
        return reply

    def reply_to(self, turns: Sequence[ChatTurn]) -> str | Exception:
        """The next reply; a model that decides by what it is asked is a subclass."""
        if not self.replies:
            raise AssertionError(f"an unexpected call: {turns[-1].content!r}")
        return self.replies.pop(0)


@pytest.fixture
def scripted() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def session(own_home: Path, embedder: Embedder, scripted: ScriptedModel) -> Iterator[Session]:
    """A session with the real encoder and a scripted language model, at ``NOW``."""
    with open_session(load_config(now=NOW), llm=scripted, embedder=embedder) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def memlane(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run ``memlane ARGUMENTS`` in this process, which loads each model once."""
    from cli.app import run

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def up(own_home: Path) -> Iterator[subprocess.Popen[str]]:
    """A resident process of this home, with scripted models."""
    from tests.support.residents import started

    with started(own_home) as child:
        yield child
