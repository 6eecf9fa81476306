"""Whole uses of memlane while the processes of its models die: nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.config import Config, load_config
from agent.errors import ModelError
from agent.models.lazy import LocalLanguageModel
from agent.models.worker.models import WorkerLanguageModel
from agent.ports import ChatTurn, Embedder
from agent.session.session import open_session
from store.database.notices import listening
from store.errors import MemlaneError
from store.graph import MemoryGraph
from store.types import SourceStatus, Status
from tests.conftest import NOW, Result
from tests.support.residents import ROOT
from tests.support.workers import SMALL, nothing_left_behind

KINDS = ("segv", "kill", "hang", "exit", "garbage")
NOTES = 20
MESSAGES = KILLS = 200
SMALL_TALK = (ChatTurn("user", "Hello."),)
DONE = {SourceStatus.EXTRACTED, SourceStatus.PENDING, SourceStatus.FAILED}


@pytest.fixture
def own_models(tmp_path: Path, settings: Config, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with the machine's weights, whose settings the faults may spoil."""
    folder = tmp_path / "models"
    folder.mkdir()
    for path in settings.models_dir.glob("*.gguf"):
        (folder / path.name).symlink_to(path)
    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(folder))
    return folder


def memlane(words: Sequence[str], home: Path, given: str = "", **environment: str) -> Result:
    """A command in a process of its own, which must leave none behind."""
    environment = {**os.environ, "MEMLANE_HOME": str(home), **environment}
    with nothing_left_behind(home):
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", *words],
            cwd=ROOT, env=environment, input=given, capture_output=True, text=True, timeout=500,
        )  # fmt: skip
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.llm
def test_the_demo_passes_while_its_models_die(own_home: Path, own_models: Path):
    """The first worker of each model hangs at its fortieth decode, in the middle of an answer.

    The other kinds of death are met by a chat and an ingest.
    """
    # Where settings are found first, the worker that is kept need not be the first one.
    assert memlane(["models", "check"], own_home).code == 0
    fault = {"MEMLANE_FAULT": "hang@40", "MEMLANE_MODEL_TIMEOUT": "20"}
    done = memlane(["demo", "--json"], own_home, **fault)
    assert [step for step in json.loads(done.out)["steps"] if not step["ok"]] == []
    assert done.code == 0
    told = [line for line in done.err.splitlines() if "was restarted" in line]
    assert len(told) == 1, done.err


@pytest.mark.llm
def test_a_question_is_answered_on_a_processor_whose_fastest_kernels_crash(
    own_home: Path, own_models: Path
):
    """As on machines with AMX: each worker with repacked weights dies at its first decode."""
    crashing = {"MEMLANE_FAULT": "segv@1:repack"}
    told = memlane(["say", "My sister Mia lives in Porto."], own_home, **crashing)
    asked = memlane(["ask", "Where does my sister live?"], own_home, **crashing)
    assert told.code == asked.code == 0 and "Porto" in asked.out
    (line,) = (told.err + asked.err).strip().splitlines()
    assert "no repacking" in line and "SIGSEGV" in line
    shown = memlane(["models", "list"], own_home).out
    assert "runs with no repacking" in shown and "SIGSEGV" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_goes_on(kind: str, own_home: Path, own_models: Path):
    """Every worker dies after 150 decodes, so that several die in one conversation."""
    lines = [
        "My sister Mia lives in Porto.",
        "so yesterday me and tom went climbing, which was great fun, and he broke his helmet",
        "Hello, how are you?",
        "Where does my sister live?",
        "btw the new job starts in august i think and the pay is ok",
        "What is the capital of France?",
    ]
    done = memlane(
        ["--json", "chat"], own_home, "\n".join(lines) + "\n",
        MEMLANE_LLM=SMALL, MEMLANE_FAULT=f"{kind}@150:always", MEMLANE_MODEL_TIMEOUT="5",
    )  # fmt: skip
    assert done.code == 0, done.err
    replies = len(done.out.splitlines())
    crashed = sum("twice on this request" in line for line in done.err.splitlines())
    assert replies + crashed == len(lines), done.err
    with MemoryGraph.open(own_home) as graph:
        # Each message is stored; those that an answer came of as well, but for none lost.
        assert sorted(source.text for source in graph.sources.list()) == sorted(lines)
        assert any("Porto" in memory.text for memory in graph.memories.list(Status.CURRENT))
        assert graph.verify() == ()


@pytest.mark.parametrize("kind", KINDS)
def test_an_ingest_ends_with_each_note_taken_in_or_waiting(
    kind: str, own_home: Path, own_models: Path, tmp_path: Path
):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"note{number:02}.md").write_text(
            f"My locker {number} is in building {number}.\n\n"
            f"met ana{number} at the fair, she said she might move to porto or so, dunno\n",
            encoding="utf-8",
        )
    faults = {
        "MEMLANE_LLM": SMALL,
        "MEMLANE_FAULT": f"{kind}@300:always",
        "MEMLANE_MODEL_TIMEOUT": "5",
    }
    done = memlane(["--json", "ingest", str(folder)], own_home, **faults)
    assert done.code in (0, 1), done.err
    with MemoryGraph.open(own_home) as graph:
        sources = graph.sources.list()
        assert len(sources) == NOTES, "each note once"
        assert {source.status for source in sources} <= DONE
        waiting = [s for s in sources if s.status is not SourceStatus.EXTRACTED]
        assert graph.verify() == ()
    again = memlane(["--json", "ingest", "--retry"], own_home, MEMLANE_LLM=SMALL)
    assert again.code == 0 or waiting == [], again.err
    with MemoryGraph.open(own_home) as graph:
        assert {s.status for s in graph.sources.list()} == {SourceStatus.EXTRACTED}
        texts = [memory.text for memory in graph.memories.list(Status.CURRENT)]
        for number in range(NOTES):
            assert sum(f"locker {number} is" in text for text in texts) == 1, (
                "not lost, not doubled"
            )
        assert graph.verify() == ()


def test_what_needs_no_language_model_goes_on_where_none_runs(own_home: Path, own_models: Path):
    """Every worker dies at its first decode, whatever the settings."""
    broken = {"MEMLANE_LLM": SMALL, "MEMLANE_FAULT": "segv@1:always"}
    assert memlane(["say", "My sister Mia lives in Porto."], own_home, **broken).code == 0
    assert memlane(["remember", "My email is ann@example.org."], own_home, **broken).code == 0
    asked = memlane(["ask", "--no-llm", "Where does my sister live?"], own_home, **broken)
    assert "Porto" in asked.out
    filled = memlane(["fill", "--field", "Email", "--json"], own_home, **broken)
    assert filled.code == 0 and "ann@example.org" in filled.out
    message = "so yesterday me and tom went climbing and he broke his helmet lol"
    told = memlane(["say", message], own_home, **broken)
    (line,) = told.err.strip().splitlines()
    assert told.code == 1 and "does not run on this machine" in line
    with MemoryGraph.open(own_home) as graph:
        assert message in [source.text for source in graph.sources.list()]
        assert graph.verify() == ()
    assert memlane(["ingest", "--retry"], own_home, MEMLANE_LLM=SMALL).code == 0


class Brief(LocalLanguageModel):
    """The 135M in its real process, asked for a few words; what it then says is settled, since
    deaths are tested and not the wording of a small model."""

    def chat(self, turns: Sequence[ChatTurn], **options: Any) -> str:
        super().chat(turns[-1:], max_tokens=6)
        number = re.search(r"no(\d+)", turns[-1].content)
        return f"1. My friend No{number[1]} has locker {number[1]}." if number else "NONE"


@contextmanager
def killer(model: LocalLanguageModel, kills: int) -> Iterator[list[int]]:
    """Kill the model's process at random moments, ``kills`` times, while the block runs."""
    killed: list[int] = []
    stop = threading.Event()
    chance = random.Random(22)

    def work() -> None:
        while len(killed) < kills and not stop.is_set():
            time.sleep(chance.uniform(0, 0.3))
            pid = model.pid
            if pid is not None and (not killed or killed[-1] != pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                killed.append(pid)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def test_200_random_kills_while_200_messages_are_told(
    own_home: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
):
    """Whatever the model's process was doing: each message is stored, none twice."""
    config = load_config({"llm": SMALL}, now=NOW)
    model = Brief(config)
    assert isinstance(model._model, WorkerLanguageModel)
    monkeypatch.setattr(model._model.worker, "_patience", 10**6)  # or it is left alone for minutes
    told = [f"so my friend no{n} got locker {n}, he says it smells odd" for n in range(MESSAGES)]
    failed = 0
    with (
        nothing_left_behind(own_home),
        listening(lambda line: None),
        open_session(config, llm=model, embedder=embedder) as session,
    ):
        with killer(model, KILLS) as killed:
            for number, message in enumerate(told):
                try:
                    session.respond(message)
                except MemlaneError:
                    failed += 1
                while len(killed) < number + 1:  # one death a message, at whatever moment
                    with suppress(ModelError):
                        session.llm.chat(SMALL_TALK, max_tokens=6)
        assert len(killed) == KILLS
        sources = session.graph.sources.list()
        assert sorted(source.text for source in sources) == sorted(told), "kept, none twice"
        assert session.graph.verify() == ()
        waiting = session.graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED)
        assert len(waiting) <= failed
        for report in session.retry():
            assert report.status != "failed", report
        texts = [memory.text for memory in session.graph.memories.list(Status.CURRENT)]
        for number in range(MESSAGES):
            assert sum(f"locker {number}," in text for text in texts) == 1, (number, texts)
        assert session.graph.verify() == ()
        model.free()
