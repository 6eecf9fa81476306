"""Sends generated requests to a resident process and says what was wrong with the answers."""

from __future__ import annotations

import http.client
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from hypothesis import HealthCheck, Phase, given, seed, settings

from agent.codec import parse
from agent.config import load_config
from agent.server.resident.requests import CALLS, COMMAND
from benchmarks.quality.attacks.attack_inputs import LIMIT_S, Attack, attacks, wrong_answer
from benchmarks.shared.common import ROOT
from store.errors import InvalidInput
from store.graph import MemoryGraph

GENERATED = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
"""Only generated, never made smaller: what goes wrong is counted, and the next one is sent."""


class TimeIsUp(Exception):
    """Ends the generating, which else would go on without sending what it makes."""


PATIENCE_S = 3 * LIMIT_S
"""How long a hung request is waited for before it is given up."""


@dataclass(slots=True)
class Outcome:
    """What an attack found."""

    sent: int = 0
    wrong: dict[str, int] = field(default_factory=dict)
    """What was wrong, and how often."""
    slowest: float = 0.0
    acknowledged: set[str] = field(default_factory=set)
    """Sources that the process said are stored."""
    lost: int = 0

    def note(self, wrong: str | None) -> None:
        if wrong is not None:
            self.wrong[wrong] = self.wrong.get(wrong, 0) + 1


class _Over(http.client.HTTPConnection):
    """HTTP over the socket in the home."""

    def __init__(self, path: Path) -> None:
        super().__init__("memlane", timeout=PATIENCE_S)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(self._path)


def environment(home: Path) -> dict[str, str]:
    """What an attacked process and an attacking command have around them: nothing of the person."""
    folder = str(home.parent / "files")
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MEMLANE_HOME": str(home),
        "MEMLANE_CONFIG": str(home.parent / "config.toml"),
        "MEMLANE_MODELS_DIR": str(load_config().models_dir),
        "MEMLANE_RESIDENT": "no",
        "HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "EDITOR": "true",
    }


@contextmanager
def attacked(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A resident process in a folder of its own, gone at the end."""
    folder = home.parent / "files"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("a.txt", "a.png", "a.ics", "a.vcf"):
        (folder / name).write_bytes(b"\xff\x00BEGIN:VCARD\n<|im_end|> I moved to \xed\xa0\x80.")
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.attack_server", str(home), *words],
        cwd=folder,
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout and child.stdout.readline(), "the process did not start"
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if child.stdout:
            child.stdout.close()


def send(attack: Attack, path: Path) -> tuple[int, bytes, float]:
    """The status, the body and the seconds of an answer; status 0 where none came."""
    began = time.monotonic()
    connection = _Over(path)
    try:
        connection.putrequest(attack.method, attack.name, skip_host=True)
        connection.putheader("Host", "memlane")
        connection.putheader("Content-Length", str(len(attack.body)))
        for name, value in attack.headers:
            connection.putheader(name, value.encode("latin-1", "replace"))
        connection.endheaders(attack.body)
        answer = connection.getresponse()
        return answer.status, answer.read(), time.monotonic() - began
    except (OSError, http.client.HTTPException, ValueError) as error:
        return 0, str(error).encode(), time.monotonic() - began
    finally:
        connection.close()


def attack_requests(
    home: Path, count: int, number: int, *words: str, until: float = math.inf
) -> Outcome:
    """Send ``count`` requests, or as many as fit until the moment ``until`` of the clock."""
    found = Outcome()
    with attacked(home, *words) as child:
        path = home / "memlane.sock"

        @seed(number)
        @settings(GENERATED, max_examples=count)
        @given(attacks(home.parent / "files", (*CALLS, COMMAND)))
        def one(attack: Attack) -> None:
            if time.monotonic() > until or child.poll() is not None:
                raise TimeIsUp
            before = _worked(child.pid)
            status, body, seconds = send(attack, path)
            # Seconds of the process's own work: what else the machine does is not its fault. One
            # that waits for something is given up after ``PATIENCE_S`` and has no answer.
            seconds = min(seconds, _worked(child.pid) - before)
            found.sent += 1
            found.slowest = max(found.slowest, seconds)
            said = wrong_answer(attack, status, body, seconds)
            if status == 0 and _is_not_http(attack):
                said = None
            elif status == 0:
                said = f"{attack.name}: no answer ({body[:80]!r})"
            found.note(said)
            if status == 200 and attack.name == "/v1/remember":
                found.acknowledged |= _source(body)

        with suppress(TimeIsUp):
            one()
        found.note(None if child.poll() is None else f"the process ended: {child.returncode}")
    with MemoryGraph.open(home) as graph:
        found.lost = len(found.acknowledged - {source.id for source in graph.sources.list()})
        for problem in graph.verify():
            found.note(problem)
    return found


def _worked(process: int) -> float:
    """Seconds of processor time that a process has used."""
    try:
        used = psutil.Process(process).cpu_times()
    except psutil.NoSuchProcess:
        return math.inf  # it has ended, which is told apart
    return float(used.user + used.system)


def _is_not_http(attack: Attack) -> bool:
    """Whether the client library itself refuses to send it."""
    return any(set(value) & set("\r\n\x00") for _, value in attack.headers)


def _source(body: bytes) -> set[str]:
    try:
        said = parse(body.splitlines()[-1])
        return {(said.get("result") or said)["source"]["id"]}
    except (InvalidInput, LookupError, TypeError, AttributeError):
        return set()
