"""The resident process's socket, lock, token, log and port are the person's alone."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from agent.config import load_config
from agent.server.resident.client import connect
from agent.server.resident.paths import (
    LONGEST_SOCKET,
    Lock,
    Place,
    announce,
    bind,
    ensure_token,
    holder,
)
from store.errors import InvalidInput, StoreBusy
from tests.conftest import NOW
from tests.support.residents import ROOT, SECRET, client_of, mode, started


def test_its_files_are_the_persons_alone_and_no_port_is_open(up, own_home: Path):
    place = Place(own_home)
    assert stat.S_ISSOCK(place.socket.stat().st_mode)
    client_of(own_home).remember("I own a kayak.", wait=True)
    for path in own_home.rglob("*"):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path
    assert not place.token.exists()
    if Path("/proc/net/tcp").exists():
        inodes = set()
        for link in Path(f"/proc/{up.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since it was listed
                kind, _, inode = os.readlink(link).partition(":")
                inodes |= {inode.strip("[]")} if kind == "socket" else set()
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
        with pytest.raises(StoreBusy, match=f"already running.*process {child.pid}"):
            Lock(Place(own_home).lock).take()
        child.kill()
        child.wait()
        assert holder(Place(own_home).lock) is None
        assert Place(own_home).socket.exists()  # stale
        assert connect(load_config(), lambda line: pytest.fail(line)) is None
    with started(own_home):
        assert client_of(own_home).remember("I own a kayak.", wait=True).entries


def test_a_process_that_is_starting_has_a_number_from_the_lock_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = Place(tmp_path)
    announce(place)
    seen: list[int | None] = []
    cut = os.ftruncate

    def look(file: int, size: int) -> None:
        cut(file, size)
        seen.append(holder(place.lock))

    monkeypatch.setattr(os, "ftruncate", look)
    lock = Lock(place.lock)
    lock.take()
    assert seen == [os.getpid()]  # else a command that waits for it takes it for one that ended
    monkeypatch.undo()
    lock.release()


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
            [sys.executable, "-m", "cli.app", "up", "--port", str(other.getsockname()[1])],
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
                with urllib.request.urlopen(request, timeout=60) as answer:
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
