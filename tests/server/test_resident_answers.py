"""Requests to the resident process: the same results, streamed, side by side, nothing lost."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import psutil
import pytest

from agent.config import load_config
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, LocalReader
from agent.models.readers.note_reader import note_reader
from agent.models.readers.second_reader import second_reader
from agent.ports import ChatTurn
from agent.server.resident.client import connect
from agent.server.resident.paths import Place
from agent.server.resident.service import Desk
from agent.server.resident.shared_models import (
    FreeableModel,
    Keeper,
    SharedEmbedder,
    SharedModel,
    SharedReader,
)
from agent.session.session import open_session
from store.graph import MemoryGraph
from store.types import (
    SourceStatus,
    Status,
)
from tests.support.resident_work import Talker
from tests.support.residents import ROOT, SECRET, client_of, settle, started


def test_commands_give_the_same_with_it_and_without_it(own_home: Path, tmp_path: Path, memlane):
    """With the real encoder: the process is the one that ``memlane up`` starts."""
    from cli.app import run

    note = tmp_path / "note.md"
    note.write_text("My locker is number 12.\n", encoding="utf-8")
    commands = [
        ["remember", "My sister Mia lives in Porto.", "--wait", "--expires", "2024-06-01"],
        ["remember", "My sister Mia lives in Porto.", "--wait"],
        ["remember", "  ", "--wait"],
        ["ask", "--no-llm", "Where does my sister live?"],
        ["ask", "--no-llm", "Where does my sister live?", "--policy", "bm25", "--k", "1"],
        ["ask", "--no-llm", "x", "--policy", "nonsense"],
        ["fill", "--no-llm", "--field", "City", "--field", "Sister"],
        ["memories", "list"],
    ]

    def outcomes(home: Path, capfd_run) -> list[tuple[int, object, str]]:
        told = []
        for command in commands:
            words = ["--home", str(home), "--now", "2024-05-08T09:00:00+00:00", "--json", *command]
            result = capfd_run(*words)
            document = json.loads(result.out) if result.out else None
            if isinstance(document, dict):
                document.pop("timing_ms", None)
            told.append((result.code, document, result.err))
        return told

    direct = outcomes(tmp_path / "direct", memlane)
    home = tmp_path / "served"
    assert run(["--home", str(home), "up"]) == 0
    try:
        client_of(home)

        def quick(*words: str):
            done = subprocess.run(
                [sys.executable, "-m", "cli.main", *words],
                cwd=ROOT, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            return type(
                "Result", (), {"code": done.returncode, "out": done.stdout, "err": done.stderr}
            )

        assert outcomes(home, quick) == direct
        assert memlane("--home", str(home), "--json", "status").json["running"] is True
    finally:
        assert run(["--home", str(home), "down"]) == 0
    assert memlane("--home", str(home), "--json", "status").json["running"] is False
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()


def test_another_configuration_or_version_works_without_it(up, own_home: Path, monkeypatch):
    notices: list[str] = []
    assert connect(load_config({"llm": "smollm2-135m"}), notices.append) is None
    assert "llm = " in notices[0] and "memlane down && memlane up" in notices[0]
    monkeypatch.setattr("agent.server.resident.client.__version__", "9.9")
    assert connect(load_config(), notices.append) is None
    assert "this is 9.9" in notices[1]


def test_remember_is_acknowledged_before_a_slow_encoder_and_asked_after(own_home: Path):
    with started(own_home, delay=2.0):
        client = client_of(own_home)
        began = time.monotonic()
        done = client.remember(SECRET)
        assert time.monotonic() - began < 1.0
        assert done.queued and done.source.status is SourceStatus.PENDING
        # What is asked after is answered after.
        reply = client.ask("cat", policy="all", use_llm=False)
        assert [choice.memory.text for choice in reply.memories] == [SECRET]


def test_the_language_model_can_be_loaded_before_anything_is_asked(up, own_home: Path):
    client = client_of(own_home)
    assert "llm" not in client.running().loaded
    client.prepare()
    assert "llm" in client.running().loaded
    with MemoryGraph.open(own_home) as graph:
        assert graph.turns.last() == ()


def test_a_chat_lets_it_be_loaded_while_the_person_types(up, own_home: Path, monkeypatch):
    from cli.main import main

    def typed(_: object, *, private: bool) -> str:
        deadline = time.monotonic() + 60
        while "llm" not in client_of(own_home).running().loaded:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return "/quit"

    monkeypatch.setattr("cli.input.line_input.Pipe.next", typed)
    monkeypatch.setattr(sys, "argv", ["memlane", "chat"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code


def test_words_are_streamed_and_a_client_that_hangs_up_stops_them(up, own_home: Path):
    client = client_of(own_home)
    client.remember(SECRET, wait=True)
    said: list[str] = []
    times: list[float] = []

    def interrupt(piece: str) -> None:
        said.append(piece)
        times.append(time.monotonic())
        if len(said) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.ask("cat", policy="all", on_text=interrupt)
    assert times[-1] - times[0] > 0.05  # one by one, not all at the end
    began = time.monotonic()  # 200 words take 4 s: the second does not wait for all of the first
    said.clear()
    with pytest.raises(KeyboardInterrupt):
        client.ask("cat", policy="all", on_text=interrupt)
    assert time.monotonic() - began < 3.5


def test_a_long_answer_holds_up_neither_memories_nor_what_is_told(up, own_home: Path):
    client = client_of(own_home)
    client.remember(SECRET, wait=True)
    words: list[str] = []
    talking = threading.Thread(target=lambda: client.ask("cat", policy="all", on_text=words.append))
    talking.start()
    while not words:
        time.sleep(0.01)
    assert client.remember("I own a kayak.", wait=True).entries
    assert len(client.ask("kayak", policy="all", use_llm=False).memories) == 2
    assert talking.is_alive()
    talking.join()


def test_two_clients_and_a_direct_writer_at_once_lose_nothing(up, own_home: Path):
    count = 8
    failed: list[Exception] = []

    def tell(name: str) -> None:
        try:
            for number in range(count):
                client_of(own_home).remember(f"My {name} number {number} is {number}{name}.")
        except Exception as error:  # told in the test itself: a thread's own goes unheard
            failed.append(error)

    direct = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from tests.support.crash_work import say_many; "
            f"say_many(Path(sys.argv[1]), 'box', {count})",
            str(own_home),
        ],
        cwd=ROOT,
    )
    threads = [threading.Thread(target=tell, args=(name,)) for name in ("key", "bag")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert direct.wait(60) == 0 and not failed
    settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        assert len(graph.memories.list(Status.CURRENT)) == 3 * count
        assert graph.verify("hash:1") == ()


def test_a_model_that_nobody_uses_is_freed_and_comes_back(embedder):
    model = LocalLanguageModel(load_config({"llm": "smollm2-135m"}))
    keeper = Keeper[FreeableModel](model)
    shared = SharedModel(keeper, lambda: None)
    said = shared.chat([ChatTurn("user", "Say hello.")], max_tokens=4)
    pid = model.pid
    assert pid is not None
    assert not keeper.free(idle_s=3600) and keeper.loaded
    assert keeper.free(idle_s=0) and not keeper.loaded
    assert not psutil.pid_exists(pid), "its memory goes back because its process is gone"
    assert shared.chat([ChatTurn("user", "Say hello.")], max_tokens=4) == said
    assert keeper.free(idle_s=0)
    encoder = LocalEmbedder(load_config())
    vectors, weights = encoder.encode(["hello"]), weakref.ref(encoder._model)
    encoder.free()
    if not embedder.loaded:  # else another test of this run holds the same weights
        gc.collect()
        assert weights() is None
    assert (encoder.encode(["hello"]) == vectors).all()


@pytest.mark.parametrize(
    ("own", "shared"),
    [
        (LocalLanguageModel, SharedModel),
        (LocalEmbedder, SharedEmbedder),
        (LocalReader, SharedReader),
    ],
)
def test_what_readers_ask_of_a_model_is_there_in_the_resident_process(own: type, shared: type):
    # Readers that find no hidden states go without them and say nothing, so answers get worse.
    about_its_process = {"free", "finding", "pid", "check"}
    if own is not LocalLanguageModel:  # of that one the second reader asks it
        about_its_process.add("loaded")
    asked = {name for name in vars(own) if not name.startswith("_")} - about_its_process
    assert asked <= vars(shared).keys()


def test_who_does_not_wait_does_without_a_model_that_another_has():
    talker = Talker()
    talker.loaded = True
    keeper = Keeper[FreeableModel](talker)
    patient = SharedModel(keeper, lambda: None)
    hasty = SharedModel(keeper, lambda: None, waits=False)
    assert patient.loaded and hasty.loaded
    seen: list[tuple[bool, bool]] = []
    with keeper.lent():
        other = threading.Thread(target=lambda: seen.append((patient.loaded, hasty.loaded)))
        other.start()
        other.join()
    assert seen == [(True, False)]


@pytest.mark.llm
def test_the_language_model_reads_notes_in_the_resident_process_too(own_home: Path):
    config = load_config()
    told = ("The bedroom is painted Setting Plaster.", "The kitchen is painted Lime White.")
    question = "What colour is the bedroom?"
    with open_session(config) as session:
        for text in told:
            session.remember(text)
        alone = session.ask(question, private=True)
    desk = Desk(config)
    try:
        served = desk.sessions[desk.slow]
        assert note_reader(served.llm) is not None and served.field_reader is not None
        assert second_reader(served.llm) is not None
        assert served.ask(question, private=True).text == alone.text
    finally:
        desk.close()


def test_watched_folders_are_taken_in(own_home: Path, tmp_path: Path, memlane):
    folder = tmp_path / "cards"
    folder.mkdir()
    with started(own_home):
        assert memlane("watch", str(folder)).code == 0
        (folder / "ana.vcf").write_text(
            "BEGIN:VCARD\nVERSION:3.0\nFN:Ana Silva\nTEL:+351 912 345 678\nEND:VCARD\n"
        )
        deadline = time.monotonic() + 60
        while "Ana" not in memlane("memories", "list").out:
            assert time.monotonic() < deadline, memlane("watch", "--list").out
            time.sleep(0.2)
        log = Place(own_home).log.read_text()
        assert "watched: a file is new" in log and "ana" not in log.lower()
