"""The resident process: one a home, answering over its socket, losing nothing when it is killed."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.config import load_config
from agent.errors import ModelError
from agent.loading import LocalEmbedder, LocalLanguageModel
from agent.ports import ChatTurn
from agent.resident.calls import CALLS, Remember
from agent.resident.client import Client, Hello, ResidentGone, Running, connect
from agent.resident.codec import decode, encode
from agent.resident.install import launchd_agent, systemd_unit
from agent.resident.models import FreeableModel, Keeper, SharedModel
from agent.resident.openapi import description
from agent.resident.place import LONGEST_SOCKET, Lock, Place, bind, ensure_token, holder
from agent.results import (
    Alternative,
    Doubt,
    FileReport,
    FilledField,
    Mark,
    Remembered,
    Reply,
    Route,
    Standing,
)
from policies.selection import Choice, Selection, Step
from store.connection import connect as open_database
from store.errors import HomeUnavailable, InvalidInput, MemlaneError, StoreBusy
from store.graph import MemoryGraph
from store.journal import Change, Entry
from store.questions import Ask
from store.types import (
    EditKind,
    Memory,
    Source,
    SourceKind,
    SourceStatus,
    Span,
    Status,
    Triple,
    Trust,
)

ROOT = Path(__file__).parent.parent
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
SECRET = "My cat is called Zanzibar."

Started = Callable[..., subprocess.Popen[str]]


@contextmanager
def started(
    home: Path, delay: float = 0.0, port: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A resident process with scripted models, gone at the end."""
    words = [sys.executable, "-m", "tests.resident_work", str(home), str(delay)]
    words += [] if port is None else [str(port)]
    child = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout and child.stderr
        assert child.stdout.readline(), child.stderr.read()
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        child.wait(20)
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()


@pytest.fixture
def up(own_home: Path) -> Iterator[subprocess.Popen[str]]:
    with started(own_home) as child:
        yield child


def client_of(home: Path) -> Client:
    notices: list[str] = []
    found = connect(load_config({"home": str(home)}), notices.append)
    assert found is not None, notices
    return found


# ---- the wire -------------------------------------------------------------------------------


def everything() -> list[tuple[type, object]]:
    """One value of each result, with every field that can be set."""
    memory = Memory(
        id="m1",
        text="Iß „quoted“ 猫\n",
        type="Event",
        subclass="event.travel",
        created=NOW,
        triples=(Triple("I", "likes", "tea"),),
        valid_from=NOW,
        valid_until=NOW,
        place="Oslo",
        source="s1",
        span=Span(0, 3),
        trust=Trust.SEEN,
    )
    entry = Entry(
        id="e1",
        at=NOW,
        kind=EditKind.INSERT,
        actor="user",
        source="s1",
        batch=1,
        undoes=None,
        changes=(Change("m1", None, memory),),
    )
    source = Source("s1", SourceKind.MANUAL, "text", "hash", NOW, None, None, expires=NOW)
    mark = Mark(Standing.HOLDS, NOW, NOW, None, True)
    step = Step("m1", 0.5, True, "near", state=(("cosine", 0.5),), probability=0.25)
    reply = Reply(
        Route.RETRIEVE,
        "text",
        memories=(Choice(memory, 0.5),),
        entries=(entry,),
        timing_ms={"select": 1.5},
        turn="t1",
        selection=Selection("top-k", (Choice(memory, 0.5),), (step,)),
        likely=0.75,
        open=(("m1", "m2"),),
        questions=("Which?",),
        suggested=(Ask.MERGE, "m1", "m2"),
        marks={"m1": mark},
        doubts=(Doubt(memory, memory),),
    )
    filled = FilledField("n", "Name", True, 1, ("m1",), (Alternative(2.5, 0.5, ()),), "name", True)
    return [
        (Reply, reply),
        (Reply, Reply(Route.NEITHER, "")),
        (Remembered, Remembered(source, (entry,), ("m1",), ((memory, memory),), "note", True)),
        (tuple[FilledField, ...], (filled, FilledField("a", "b", None, 0.0))),
        (FileReport, FileReport("/a", "new", 1, None, "s1", (entry,), "r1")),
        (Hello, Hello(1, "0.1", "/code", {"llm": "x"})),
        (Running, Running(1, "/s", 1.5, 0, ("llm",), 80)),
        (Remember, Remember("text", NOW, "Oslo", NOW, True, True)),
    ]


@pytest.mark.parametrize(("kind", "value"), everything(), ids=lambda x: getattr(x, "__name__", ""))
def test_what_crosses_the_wire_comes_out_as_it_went_in(kind: type, value: object):
    assert decode(kind, json.loads(json.dumps(encode(value)))) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "lacks the field 'text'"),
        ({"text": 1}, "body.text must be a text"),
        ({"text": "a", "txet": "b"}, "has no field 'txet'"),
        ({"text": "a", "at": "yesterday"}, "body.at is no datetime"),
        ({"text": "a", "at": "2024-01-01"}, "a time with an offset"),
        ([], "must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(body: object, said: str):
    with pytest.raises(InvalidInput, match=said):
        decode(Remember, body, "body")


def test_the_client_imports_nothing_heavy():
    code = (
        "import sys; import cli.quick, agent.resident.client; "
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    heavy = {"numpy", "faiss", "torch", "sqlite3", "sqlite_utils", "typer", "pydantic", "rich"}
    assert not set(done.stdout.split()) & (heavy | {"networkx", "starlette", "uvicorn"})


def test_the_description_names_every_call_and_type():
    document = description()
    assert set(document["paths"]) == {f"/v1/{c.name}" for c in CALLS} | {"/v1/hello", "/v1/status"}
    schemas = document["components"]["schemas"]
    assert {"Reply", "Memory", "Entry", "Error"} <= set(schemas)
    said = json.dumps(document)
    for reference in said.split('"$ref": "#/components/schemas/')[1:]:
        assert reference.split('"')[0] in schemas


# ---- its files ------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_its_files_are_the_persons_alone_and_no_port_is_open(up, own_home: Path):
    place = Place(own_home)
    assert stat.S_ISSOCK(place.socket.stat().st_mode)
    client_of(own_home).remember("I own a kayak.", wait=True)
    for path in own_home.rglob("*"):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path
    assert not place.token.exists()
    if Path("/proc/net/tcp").exists():
        inodes = {
            os.readlink(link).removeprefix("socket:[").rstrip("]")
            for link in Path(f"/proc/{up.pid}/fd").iterdir()
            if os.readlink(link).startswith("socket:")
        }
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for line in Path(f"/proc/{up.pid}/net/{table}").read_text().splitlines()[1:]:
                assert line.split()[9] not in inodes, line


def test_a_home_with_a_long_path_has_its_socket_elsewhere_and_still_its_own(tmp_path: Path):
    home = tmp_path / ("x" * LONGEST_SOCKET)
    home.mkdir()
    path = Place(home).socket
    assert path.parent == Path(f"/tmp/memlane-{os.getuid()}")
    with bind(Place(home)) as listening:
        assert listening.getsockname() == str(path)
        assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    path.unlink()


def test_a_lock_is_held_by_one_and_let_go_of_by_a_kill(own_home: Path):
    with started(own_home) as child:
        assert holder(Place(own_home).lock) == child.pid
        with pytest.raises(StoreBusy, match=f"up already.*process {child.pid}"):
            Lock(Place(own_home).lock).take()
        child.kill()
        child.wait()
        assert holder(Place(own_home).lock) is None
        assert Place(own_home).socket.exists()  # stale
        assert connect(load_config(), lambda line: pytest.fail(line)) is None
    with started(own_home):
        assert client_of(own_home).remember("I own a kayak.", wait=True).entries


def test_a_token_is_made_once_and_is_never_empty(own_home: Path):
    own_home.mkdir()
    place = Place(own_home)
    place.token.touch()
    token = ensure_token(place)
    assert len(token) > 30 and mode(place.token) == 0o600
    assert ensure_token(place) == token


def test_an_occupied_port_is_one_clear_line(own_home: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = subprocess.run(
            [sys.executable, "-m", "cli.quick", "up", "--port", str(other.getsockname()[1])],
            cwd=ROOT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "Cannot listen on port" in done.stderr
    assert not Place(own_home).socket.exists()


def test_a_port_is_on_loopback_and_wants_the_token(own_home: Path):
    with started(own_home, port=0):
        port = client_of(own_home).running().port
        address = f"http://127.0.0.1:{port}/v1/ask"
        body = json.dumps({"question": "which kayak?", "use_llm": False}).encode()

        def status(headers: dict[str, str]) -> int:
            request = urllib.request.Request(address, body, headers)
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                with error:
                    return int(error.code)

        token = Place(own_home).token.read_text().strip()
        assert mode(Place(own_home).token) == 0o600
        assert status({}) == 401
        assert status({"Authorization": f"Bearer {token[:-1]}"}) == 401
        assert status({"Authorization": f"Bearer {token}"}) == 200
        if Path("/proc/net/tcp").exists():
            listening = [
                line.split()[1]
                for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
            ]
            assert listening == [f"0100007F:{port:04X}"]


def test_the_log_never_holds_what_was_said(up, own_home: Path):
    client = client_of(own_home)
    client.remember(SECRET, wait=True)
    client.ask("What is Zanzibar?", use_llm=False)
    with pytest.raises(InvalidInput):
        client.ask("Zanzibar", policy="Zanzibar")
    with pytest.raises(InvalidInput):
        client.remember("Zanzibar", at=NOW, expires=NOW)
    log = Place(own_home).log.read_text()
    assert "remember ok" in log and "ask InvalidInput" in log
    assert "zanzibar" not in log.lower() and "cat" not in log.lower()


# ---- the same work --------------------------------------------------------------------------


def test_commands_give_the_same_with_it_and_without_it(own_home: Path, tmp_path: Path, memlane):
    """With the real encoder: the process is the one that ``memlane up`` starts."""
    from cli.quick import start

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
    assert start(["--home", str(home), "up"]) == 0
    try:
        client_of(home)

        def quick(*words: str):
            done = subprocess.run(
                [sys.executable, "-m", "cli.quick", *words],
                cwd=ROOT, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            return type(
                "Result", (), {"code": done.returncode, "out": done.stdout, "err": done.stderr}
            )

        assert outcomes(home, quick) == direct
        assert memlane("--home", str(home), "--json", "status").json["running"] is True
    finally:
        assert start(["--home", str(home), "down"]) == 0
    assert memlane("--home", str(home), "--json", "status").json["running"] is False
    with MemoryGraph.open(home) as graph:
        assert graph.verify() == ()


def test_another_configuration_or_version_works_without_it(up, own_home: Path, monkeypatch):
    notices: list[str] = []
    assert connect(load_config({"llm": "smollm2-135m"}), notices.append) is None
    assert "llm = " in notices[0] and "memlane down && memlane up" in notices[0]
    monkeypatch.setattr("agent.resident.client.__version__", "9.9")
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
            "import sys; from pathlib import Path; from tests.crash_work import say_many; "
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


def settle(home: Path) -> None:
    """Wait until nothing waits any more."""
    client, deadline = client_of(home), time.monotonic() + 30
    while client.running().queue:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_model_that_nobody_uses_is_freed_and_comes_back(embedder):
    model = LocalLanguageModel(load_config({"llm": "smollm2-135m"}))
    keeper = Keeper[FreeableModel](model)
    shared = SharedModel(keeper, lambda: None)
    said = shared.chat([ChatTurn("user", "Say hello.")], max_tokens=4)
    held = model._model
    assert not keeper.free(idle_s=3600) and keeper.loaded
    assert keeper.free(idle_s=0) and not keeper.loaded
    with pytest.raises(ModelError, match="was closed"):
        held.chat([ChatTurn("user", "Say hello.")], max_tokens=4)
    assert shared.chat([ChatTurn("user", "Say hello.")], max_tokens=4) == said
    assert keeper.free(idle_s=0)
    encoder = LocalEmbedder(load_config())
    vectors, weights = encoder.encode(["hello"]), weakref.ref(encoder._model)
    encoder.free()
    if not embedder.loaded:  # else another test of this run holds the same weights
        gc.collect()
        assert weights() is None
    assert (encoder.encode(["hello"]) == vectors).all()


def test_watched_folders_are_taken_in(own_home: Path, tmp_path: Path, memlane):
    folder = tmp_path / "cards"
    folder.mkdir()
    with started(own_home):
        assert memlane("watch", str(folder)).code == 0
        (folder / "ana.vcf").write_text(
            "BEGIN:VCARD\nVERSION:3.0\nFN:Ana Silva\nTEL:+351 912 345 678\nEND:VCARD\n"
        )
        deadline = time.monotonic() + 30
        while "Ana" not in memlane("memories", "list").out:
            assert time.monotonic() < deadline, memlane("watch", "--list").out
            time.sleep(0.2)
        log = Place(own_home).log.read_text()
        assert "watched: a file is new" in log and "ana" not in log.lower()


# ---- bad days -------------------------------------------------------------------------------


def test_killed_at_any_moment_nothing_acknowledged_is_lost(own_home: Path):
    kills, rng = 4, random.Random(8)
    acknowledged: list[str] = []
    for trial in range(kills):
        with started(own_home, delay=0.3) as child:
            timer = threading.Timer(rng.uniform(0.0, 0.8), child.kill)
            timer.start()
            try:
                for number in range(1000):
                    text = f"My box {trial}-{number} holds {number} books."
                    client_of(own_home).remember(text)
                    acknowledged.append(text)
            except (MemlaneError, OSError, AssertionError):
                pass
            child.wait()
            timer.join()
    with started(own_home):
        settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        kept = {source.text for source in graph.sources.list(SourceStatus.EXTRACTED)}
        assert set(acknowledged) <= kept
        stored = [memory.text for memory in graph.memories.list(Status.CURRENT)]
        assert len(stored) == len(set(stored)) and set(acknowledged) <= set(stored)
        assert graph.verify("hash:1") == ()


def test_what_was_stored_with_an_end_keeps_it_over_a_kill(own_home: Path):
    until = datetime(2031, 1, 1, tzinfo=UTC)
    with started(own_home, delay=30.0) as child:
        assert client_of(own_home).remember(SECRET, expires=until, place="Oslo").queued
        child.kill()
        child.wait()
    with started(own_home):
        settle(own_home)
    with MemoryGraph.open(own_home) as graph:
        (memory,) = graph.memories.list(Status.CURRENT)
    assert (memory.text, memory.valid_until, memory.place) == (SECRET, until, "Oslo")


def test_sigterm_in_the_middle_of_an_answer_ends_it_in_order(own_home: Path):
    with started(own_home) as child:
        client = client_of(own_home)
        client.remember(SECRET, wait=True)
        words: list[str] = []
        told: list[str] = []

        def talk() -> None:
            try:
                client.ask("cat", policy="all", on_text=words.append)
            except ResidentGone as error:
                told.append(str(error))

        talking = threading.Thread(target=talk)
        talking.start()
        while not words:
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
        talking.join()
    assert len(told) == 1 and "\n" not in told[0]
    assert not Place(own_home).socket.exists()
    with sqlite3.connect(own_home / "memlane.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_another_process_that_closes_does_not_take_the_log_from_under_a_second_connection(
    own_home: Path,
):
    """Closing any descriptor of the file would drop the locks of all our connections."""
    first, second = open_database(own_home), open_database(own_home)
    try:
        first.execute("INSERT INTO turns (at, text, route, reply, trace) VALUES ('','','','','{}')")
        first.conn.commit()
        code = "import sys; from pathlib import Path; from store.connection import connect; "
        code += "connect(Path(sys.argv[1])).close()"
        subprocess.run([sys.executable, "-c", code, str(own_home)], cwd=ROOT, check=True)
        assert (own_home / "memlane.db-wal").exists()
        second.execute(
            "INSERT INTO turns (at, text, route, reply, trace) VALUES ('','','','','{}')"
        )
        second.conn.commit()
        with open_in_turn(own_home) as other:
            assert other.execute("SELECT count(*) FROM turns").fetchone() == (2,)
    finally:
        first.close()
        second.close()


@contextmanager
def open_in_turn(home: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(home / "memlane.db")
    try:
        yield connection
    finally:
        connection.close()


def test_two_at_once_one_wins_and_the_other_says_so(own_home: Path):
    words = [sys.executable, "-m", "cli.quick", "up", "--foreground"]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as first:
        try:
            assert first.stderr and "memlane is up at" in first.stderr.readline()
            second = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
            assert second.returncode == 1
            assert "memlane is up already" in second.stderr and str(first.pid) in second.stderr
        finally:
            first.send_signal(signal.SIGINT)
            assert first.wait(20) == 0


# ---- started by the system ------------------------------------------------------------------


def test_a_unit_quotes_what_systemd_would_read(tmp_path: Path):
    unit = systemd_unit(["/opt/my py/python", "--home", '/home/a"b/100%$x'], tmp_path)
    assert 'ExecStart="/opt/my py/python" "--home" "/home/a\\"b/100%%$$x"' in unit.content
    assert unit.path == tmp_path / "systemd" / "user" / "memlane.service"


def test_an_agent_of_macos_is_a_property_list(tmp_path: Path):
    import plistlib

    unit = launchd_agent(["/usr/bin/python3", "up"], tmp_path, 501)
    assert plistlib.loads(unit.content.encode())["ProgramArguments"] == ["/usr/bin/python3", "up"]
    assert unit.start.startswith("launchctl bootstrap gui/501 ")


def test_install_writes_the_file_and_starts_nothing(own_home, tmp_path, memlane, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    done = memlane("up", "--install", "--json")
    assert Path(done.json["file"]).is_relative_to(tmp_path)
    assert "up" in Path(done.json["file"]).read_text()
    assert not Place(own_home).socket.exists()


def test_down_without_one_says_so(memlane):
    done = memlane("down", "--json")
    assert (done.code, done.json["stopped"]) == (0, None)


def test_a_home_that_cannot_hold_a_socket_says_so(tmp_path: Path, monkeypatch):
    home = tmp_path / ("x" * LONGEST_SOCKET)
    home.mkdir()
    shared = tmp_path / "open"
    shared.mkdir(mode=0o755)
    monkeypatch.setattr(Place, "socket", property(lambda self: shared / "a.sock"))
    with pytest.raises(HomeUnavailable, match="not yours alone"):
        bind(Place(home))
