"""Command lines that the resident process works out: the same output, or the long way."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from agent.server.resident.paths import Place, ensure_token
from agent.version import __version__
from cli.app import run
from cli.forwarding import forward
from cli.forwarding.sockets import home_of
from tests.support.residents import ROOT, SECRET, client_of, started

NOW = ["--now", "2024-05-08T09:00:00+00:00"]
COMMANDS = [
    ["ask", "--no-llm", "Where does the cat sleep?"],
    ["--json", "ask", "--no-llm", "Where does the cat sleep?"],
    ["ask", "--no-llm", "cat", "--policy", "bm25", "--k=1"],
    ["ask", "--no-llm", "x", "--policy", "nonsense"],
    ["ask", "--no-llm", "x", "--k", "0"],
    ["ask", "--no-llm"],
    ["fill", "--no-llm", "--field", "City", "--field", "Password"],
    ["fill", "--no-llm", "form.html"],
    ["fill", "--no-llm", "nowhere.html"],
    ["--json", "fill", "--no-llm", "--field", "Name"],
    ["fill", "--no-llm", "--field", "A", "form.html"],
    ["remember", "  "],
]


@pytest.fixture
def served(own_home: Path, tmp_path: Path) -> Iterator[Path]:
    """A home with a resident process, and a form in the folder that commands are given in."""
    (tmp_path / "form.html").write_text("<form><label>City <input name=city></label></form>")
    with started(own_home):
        client_of(own_home).remember(SECRET, wait=True)
        yield tmp_path


def command(module: str, folder: Path, words: list[str]) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", module, *NOW, *words],
        cwd=folder, capture_output=True, text=True, timeout=120, env=environment,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return (
        done.returncode,
        re.sub(r'("turn": ".+"|"timing_ms": {[^}]*})', "", done.stdout),
        done.stderr,
    )


def test_what_is_printed_is_what_the_command_would_print(served: Path):
    for words in COMMANDS:
        assert command("cli.main", served, words) == command("cli.app", served, words), words


def test_timing_is_told_beside_the_answer_in_both_ways(served: Path):
    for module in ("cli.main", "cli.app"):
        code, out, err = command(module, served, ["ask", "--no-llm", "--timing", "cat"])
        assert code == 0
        assert SECRET in out and "share" not in out
        rows = {line.split()[0] for line in err.splitlines()}
        assert {"stage", "starting", "select", "log", "total", "database"} <= rows, err


def relays(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> int | None:
    monkeypatch.chdir(folder)
    return forward.relayed([*NOW, *words])


def test_short_commands_are_handed_over_and_others_are_not(
    served: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    assert relays(monkeypatch, served, "ask", "--no-llm", "cat", "--policy=all") == 0
    assert SECRET in capfd.readouterr().out
    assert relays(monkeypatch, served, "fill", "--no-llm", "form.html") == 0
    assert relays(monkeypatch, served, "remember", "  ") == 2
    capfd.readouterr()
    for words in (
        ["ask", "cat"],
        ["ask", "fill"],
        ["say", "remember"],
        ["ask", "--no-llm", "cat", "--debug"],
        ["ask", "--no-llm", "cat", "--llm", "smollm2-135m"],
        ["fill", "-"],
        ["fill", "/dev/stdin"],
        ["fill", "form.html", "--apply"],
        ["remember", "text", "--wait"],
        ["remember", "a\udcffb"],
        ["status"],
        ["--home", str(served), "ask", "--no-llm", "cat"],
    ):
        assert relays(monkeypatch, served, *words) is None, words
    monkeypatch.setenv("MEMLANE_K", "2")
    assert relays(monkeypatch, served, "ask", "--no-llm", "cat") is None
    assert capfd.readouterr() == ("", "")


def test_a_person_at_a_terminal_is_asked_by_the_command_itself(
    served: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    client_of(own_home).remember("My passport number is X1234567.", wait=True)
    words = ["fill", "--no-llm", "--field", "Passport number"]
    assert relays(monkeypatch, served, *words) == 0
    assert "use --consent once" in capfd.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert relays(monkeypatch, served, *words) is None
    assert capfd.readouterr() == ("", "")


def test_the_home_is_where_the_settings_say(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from agent.config import load_config

    def same(*words: str, home: str | None = None) -> bool:
        return home_of(words) == str(load_config({"home": home}).home)

    assert same("ask", "--no-llm", "x")
    assert same("--home", "~/else", "ask", home="~/else")
    assert same("ask", "--home=else", home="else")
    assert same("ask", "--", "--home", "x")
    monkeypatch.delenv("MEMLANE_HOME")
    file = tmp_path / "config.toml"
    monkeypatch.setenv("MEMLANE_CONFIG", str(file))
    assert same("ask")
    file.write_text('home = "~/elsewhere"\n')
    assert same("ask") and "elsewhere" in str(home_of(["ask"]))
    file.write_text("home = ")
    assert home_of(["ask"]) is None


def test_a_process_of_another_version_or_none_is_the_long_way(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(forward, "__version__", "9.9")
    assert relays(monkeypatch, served, "ask", "--no-llm", "cat") is None
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
    assert relays(monkeypatch, served, "ask", "--no-llm", "cat") is None
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "memlane.sock"))
    assert relays(monkeypatch, served, "ask", "--no-llm", "cat") is None


def test_a_process_that_goes_away_with_the_line_is_said_and_nothing_is_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MEMLANE_HOME", str(tmp_path))
    said = b'{"version": "%s", "code": "%s"}' % (
        __version__.encode(), forward._code_folder().encode()
    )  # fmt: skip

    def answer(listening: socket.socket) -> None:
        channel, _ = listening.accept()
        with channel:
            channel.recv(65536)
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(said)
            channel.sendall(head + said)
            channel.recv(65536)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "memlane.sock"))
        listening.listen()
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        assert relays(monkeypatch, tmp_path, "remember", "My cat is grey.") == 1
        thread.join()
    assert "stopped before it answered" in capfd.readouterr().err


def test_only_the_socket_in_the_home_takes_command_lines(own_home: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started(own_home, port=port):
        token = ensure_token(Place(own_home))
        found = httpx2.post(
            f"http://127.0.0.1:{port}/v1/command",
            json={"words": ["fill", "/etc/passwd"]},
            headers={"Authorization": f"Bearer {token}"},
        )
    assert found.status_code == 404


def test_the_way_in_loads_little():
    code = "import sys; import cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"rich", "typer", "tomllib", "agent.config", "cli.app"}


def test_without_a_process_the_command_is_the_long_one(own_home: Path, capfd):
    assert forward.relayed(["ask", "--no-llm", "cat"]) is None
    assert run(["status"]) == 0
    capfd.readouterr()
