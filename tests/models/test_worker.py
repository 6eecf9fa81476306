"""Models in processes of their own: the same answers, and one that dies costs time at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from agent.errors import EmptyContinuation, ModelCrashed, ModelDamaged, PromptTooLong
from agent.models.adapters.llama.bf16_weights import unpacked
from agent.models.adapters.llama.language_model import LlamaModel
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.registry import ModelRegistry
from agent.models.worker import worker
from agent.models.worker.models import WorkerLanguageModel, WorkerReader
from agent.models.worker.opening import GgufOpener, ReaderOpener
from agent.models.worker.settings import rungs
from agent.models.worker.worker import Worker
from agent.ports import ChatTurn, Prompt
from tests.support.residents import ROOT
from tests.support.workers import (
    HELLO,
    SMALL,
    found,
    nothing_left_behind,
    small_model,
    small_rewards,
)

# ---- the same answers -----------------------------------------------------------------------


def test_it_answers_as_the_model_in_this_process_does(models_dir: Path):
    # Its settings are known: a cache that a trial was in would sum in another order.
    assert small_model(models_dir).check()
    model = small_model(models_dir)
    pieces: list[str] = []
    said = model.chat(HELLO, max_tokens=16, on_text=pieces.append)
    assert "".join(pieces) == said != ""
    registry = ModelRegistry(models_dir)
    path = registry.resolve_llm(SMALL)
    rung = found(model).rung
    with LlamaModel(
        path,
        sha256=registry.sha256(path),
        n_ctx=2048,
        n_threads=2,
        repack=rung.repack,
        flash=rung.flash,
    ) as here:
        assert here.identity == model.identity
        assert here.chat(HELLO, max_tokens=16) == said
        drawn: dict[str, Any] = {"max_tokens": 16, "temperature": 0.9, "seed": 7, "stop": ["."]}
        assert here.chat(HELLO, **drawn) == model.chat(HELLO, **drawn)
    model.close()


def test_rewards_are_the_same_to_the_last_bit(models_dir: Path, tmp_path: Path):
    cache = tmp_path / "rewards.sqlite"
    rewards = small_rewards(models_dir, cache)
    prompts: list[Prompt] = ["User: What is the sea?\nAssistant:", HELLO]
    registry = ModelRegistry(models_dir)
    path = registry.resolve_llm(SMALL)
    copy = unpacked(path, models_dir / "unpacked", registry.sha256(path))
    try:
        with LlamaRewards(copy, identity="here", n_ctx=2048, n_threads=2) as here:
            drawn: dict[str, Any] = {"samples": 3, "max_tokens": 8, "seed": 5}
            assert rewards.entropy(prompts, **drawn) == here.entropy(prompts, **drawn)
            far, near = (
                m.log_likelihood(prompts, [" It is blue.", " Hi"]) for m in (rewards, here)
            )
            assert [row.tobytes() for row in far] == [row.tobytes() for row in near]
            options = [["Tea", "Rain"], ["Hello", "No"]]
            for by in ("likelihood", "letter"):
                chosen = (m.choose(prompts, options, by=by) for m in (rewards, here))
                there, at_home = ([row.tobytes() for row in rows] for rows in chosen)
                assert there == at_home
        assert rewards.batches == here_sizes(copy)
        assert cache.exists(), "what was computed is kept, by the worker"
    finally:
        rewards.close()


def here_sizes(path: Path) -> tuple[int, ...]:
    with LlamaRewards(path, identity="here", n_ctx=512, n_threads=2) as here:
        return here.engine.sizes


def test_a_request_larger_than_a_pipe_goes_through(models_dir: Path):
    rewards = small_rewards(models_dir)
    try:
        words = " ".join(f"word{n}" for n in range(60))
        prompts = [f"{words} {n}:" for n in range(400)]  # some 200 kB; they share a beginning
        scores = rewards.log_likelihood(prompts, [" yes"] * len(prompts))
        assert len(scores) == 400 and all(np.isfinite(score).all() for score in scores)
    finally:
        rewards.close()


def test_errors_keep_their_kind(model: WorkerLanguageModel, models_dir: Path, tmp_path: Path):
    with pytest.raises(PromptTooLong, match="2048"):
        model.chat([ChatTurn("user", "word " * 3000)], max_tokens=8)
    with pytest.raises(ValueError, match="grammar"):
        model.chat(HELLO, max_tokens=8, grammar="nonsense ::=")
    rewards = small_rewards(models_dir)
    with pytest.raises(EmptyContinuation):
        rewards.log_likelihood(["x"], [""])
    rewards.close()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(64))
    options = {"context": 512, "models_dir": str(tmp_path)}
    opener = GgufOpener("chat", broken, "0" * 64, threads=2, models_dir=tmp_path, options=options)
    with pytest.raises(ModelDamaged, match="cannot be loaded"):
        Worker("The model", opener, idle_s=60, timeout_s=60).opened()
    assert model.chat(HELLO, max_tokens=2)


def test_pictures_are_read_in_a_worker_and_bad_ones_named(tmp_path: Path):
    from agent.errors import UnreadableSource

    reader = WorkerReader(Worker("The text reader", ReaderOpener(), idle_s=60, timeout_s=60))
    try:
        lines = reader.read(ROOT / "cli" / "assets" / "boarding-pass.png")
        assert any("EK349" in line.text for line in lines)
        with pytest.raises(UnreadableSource, match="no file"):
            reader.read(tmp_path / "nothing.png")
        assert "rapidocr" not in sys.modules or reader.worker.running
    finally:
        reader.close()


# ---- stopping -------------------------------------------------------------------------------


def test_an_answer_that_nobody_wants_is_stopped_at_its_next_word(model: WorkerLanguageModel):
    class Enough(Exception):
        pass

    pieces: list[str] = []

    def until_three(piece: str) -> None:
        pieces.append(piece)
        if len(pieces) == 3:
            raise Enough

    pid = model.worker.pid
    with pytest.raises(Enough):
        model.chat([ChatTurn("user", "Count to a thousand.")], max_tokens=500, on_text=until_three)
    began = time.monotonic()
    assert model.chat(HELLO, max_tokens=4)
    assert time.monotonic() - began < 10, "the 500 tokens were not waited for"
    assert model.worker.pid == pid


def test_ctrl_c_returns_at_once_and_the_model_goes_on(model: WorkerLanguageModel):
    model.chat(HELLO, max_tokens=2)
    pid = model.worker.pid
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.chat([ChatTurn("user", "Write a long story. " * 80)], max_tokens=900)
    assert time.monotonic() - began < 5
    assert model.chat(HELLO, max_tokens=4)
    assert model.worker.pid == pid


def test_on_text_may_not_call_the_model(model: WorkerLanguageModel):
    def call_again(piece: str) -> None:
        model.chat(HELLO, max_tokens=1)

    with pytest.raises(RuntimeError, match="must not call"):
        model.chat(HELLO, max_tokens=4, on_text=call_again)
    assert model.chat(HELLO, max_tokens=2)


def test_two_threads_take_turns(model: WorkerLanguageModel):
    said: dict[int, str] = {}

    def ask(number: int) -> None:
        said[number] = model.chat(HELLO, max_tokens=8)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(said.values())) == 1


def test_an_idle_worker_ends_and_comes_back_without_a_word(own_dir: Path, notices: list[str]):
    model = small_model(own_dir, idle_s=0.5)
    said = model.chat(HELLO, max_tokens=8)
    pid = model.worker.pid
    deadline = time.monotonic() + 20
    while model.worker.running:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not psutil.pid_exists(pid), "its memory went back to the system"
    assert model.chat(HELLO, max_tokens=8) == said
    assert notices == []
    model.close()


def test_no_worker_outlives_a_killed_owner(own_home: Path, own_dir: Path, monkeypatch):
    script = (
        "import sys; from pathlib import Path; from tests.support.workers import small_model; "
        "from tests.models.test_worker import HELLO; m = small_model(Path(sys.argv[1])); "
        "m.chat(HELLO, max_tokens=2); print(m.worker.pid, flush=True); "
        "m.chat(HELLO * 40, max_tokens=1000)"
    )
    with nothing_left_behind(own_home):
        owner = subprocess.Popen(
            [sys.executable, "-c", script, str(own_dir)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert owner.stdout
        pid = int(owner.stdout.readline())
        assert psutil.pid_exists(pid)
        owner.kill()
        owner.wait()
        owner.stdout.close()


def test_a_worker_leaves_no_core_file_and_reaches_no_network(model: WorkerLanguageModel):
    model.chat(HELLO, max_tokens=1)
    assert model.worker.pid is not None
    if sys.platform == "linux":
        limits = Path(f"/proc/{model.worker.pid}/limits").read_text()
        assert "Max core file size        0                    0" in limits
    for call in (
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.socket().connect(('127.0.0.1', 9))",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1:9')",
    ):
        script = f"from agent.models.worker import serve; serve._stay_here(); import socket; {call}"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True
        )
        assert "may open no connection" in done.stderr


# ---- dying ----------------------------------------------------------------------------------

FAULTS = ("segv", "abort", "kill", "exit", "hang", "garbage")


@pytest.mark.parametrize("kind", FAULTS)
def test_a_worker_that_dies_costs_no_request(
    kind: str, own_dir: Path, model: WorkerLanguageModel, notices: list[str], monkeypatch
):
    monkeypatch.setenv("MEMLANE_FAULT", f"{kind}@6")
    failing = small_model(own_dir, timeout_s=3.0)
    pieces: list[str] = []
    said = failing.chat(HELLO, max_tokens=12, on_text=pieces.append)
    assert "".join(pieces) == said == model.chat(HELLO, max_tokens=12)
    (notice,) = notices
    assert notice.startswith("The language model ") and notice.endswith("Nothing is lost.")
    lowered = kind in ("segv", "abort")
    assert ("safer settings" in notice) == lowered
    ladder = rungs("chat", 2)
    assert found(failing).rung == ladder[ladder.index(found(model).rung) + lowered]
    assert failing.chat(HELLO, max_tokens=12) == said and len(notices) == 1
    failing.close()


def test_a_worker_that_other_programs_leave_no_processor_is_waited_for(
    own_dir: Path, model: WorkerLanguageModel, notices: list[str], monkeypatch
):
    monkeypatch.setenv("MEMLANE_FAULT", "starve@6")
    starved = small_model(own_dir, timeout_s=3.0)
    assert starved.chat(HELLO, max_tokens=12) == model.chat(HELLO, max_tokens=12)
    assert notices == []
    starved.close()


def test_two_deaths_on_one_request_end_it_and_not_the_next(own_dir: Path, monkeypatch):
    monkeypatch.setenv("MEMLANE_FAULT", "kill@30:always")
    failing = small_model(own_dir)
    with pytest.raises(ModelCrashed, match="twice on this request"):
        failing.chat([ChatTurn("user", "Count to a thousand: one, two,")], max_tokens=100)
    assert failing.chat(HELLO, max_tokens=8), "a shorter one goes through"
    failing.close()


def test_a_model_that_always_dies_is_left_alone_for_a_while(own_dir: Path, monkeypatch):
    monkeypatch.setenv("MEMLANE_FAULT", "exit@1:always")
    failing = small_model(own_dir)
    for _ in range(worker.PATIENCE):
        with pytest.raises(ModelCrashed, match="twice"):
            failing.chat(HELLO, max_tokens=2)
    began = time.monotonic()
    with pytest.raises(ModelCrashed, match="not used for a minute"):
        failing.chat(HELLO, max_tokens=2)
    assert time.monotonic() - began < 0.1
    monkeypatch.delenv("MEMLANE_FAULT")
    failing.worker._paused_until = 0.0
    assert failing.chat(HELLO, max_tokens=2)
    failing.close()


def test_what_a_dead_worker_said_last_is_logged(own_dir: Path, monkeypatch, caplog):
    monkeypatch.setenv("MEMLANE_FAULT", "segv@2")
    failing = small_model(own_dir)
    with caplog.at_level("INFO", logger="memlane.models"):
        failing.chat(HELLO, max_tokens=2)
    assert "Segmentation fault" in caplog.text
    assert "Ann" not in caplog.text, "no word of the prompt"
    failing.close()
