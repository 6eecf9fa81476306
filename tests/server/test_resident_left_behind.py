"""A command leaves a resident process behind, which ends by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from agent.config import load_config
from agent.server.resident.client import Running
from agent.server.resident.paths import (
    START_S,
    Lock,
    Place,
    announce,
    holder,
    is_mine,
    wait_for_start,
)
from agent.server.resident.service import Desk
from agent.server.resident.starting import until_idle
from agent.server.resident.starting.leave_behind import leave_behind
from cli.commands.processes.resident import running_of
from store.graph import MemoryGraph

Say = Callable[..., subprocess.CompletedProcess[str]]
PATIENCE_S = 120.0


@pytest.fixture
def say(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Say]:
    """Runs a command as a person does, in a process of its own; what it leaves is ended."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MEMLANE_RESIDENT", "yes")
    monkeypatch.delenv("CI", raising=False)
    homes = [own_home]

    def run(
        *arguments: str, home: Path = own_home, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        homes.append(home)
        return subprocess.run(
            [sys.executable, "-m", "cli.main", "--home", str(home), *arguments],
            capture_output=True,
            text=True,
            check=check,
        )

    yield run
    for home in homes:
        _stop(Place(home).lock)


def _stop(lock: Path) -> None:
    if pid := holder(lock):
        os.kill(pid, signal.SIGTERM)
        _until(lambda: holder(lock) is None)


def test_the_second_command_is_answered_by_what_the_first_left(own_home: Path, say: Say):
    first = say("remember", "My bicycle is red.")
    assert "memlane config set resident no" in first.stderr
    left = _up(own_home)
    assert left.ends_after_minutes == load_config().idle_minutes
    _until(lambda: "embedder" in (_running(own_home) or left).loaded)
    second = say("ask", "--no-llm", "What colour is my bicycle?")
    assert "red" in second.stdout
    assert second.stderr == ""
    status = say("status").stdout
    assert "ends after" in status
    assert " MB)" in status
    assert _up(own_home).pid == left.pid


def test_a_command_right_after_it_waits_for_what_the_first_left(
    own_home: Path, say: Say, monkeypatch: pytest.MonkeyPatch
):
    # Where other tests load models it took more than ten seconds for Python to start.
    monkeypatch.setattr("agent.server.resident.paths.SHOWS_UP_S", START_S)
    say("remember", "My bicycle is red.")
    place = Place(own_home)
    wait_for_start(place)
    assert is_mine(place.socket)


def test_nothing_is_waited_for_where_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = Place(tmp_path)
    slept: list[float] = []
    monkeypatch.setattr("agent.server.resident.paths.time.sleep", slept.append)
    wait_for_start(place)
    announce(place)  # and then it never comes up
    os.utime(place.lock, (0, 0))
    wait_for_start(place)
    held = Lock(place.lock)
    held.take()
    os.utime(place.lock, (0, 0))  # it runs for long: somebody deleted its socket
    wait_for_start(place)
    held.release()
    wait_for_start(place)
    assert slept == []


@pytest.mark.parametrize("how", ["option", "setting", "ci", "another model", "no model"])
def test_nothing_is_left_where_nobody_wants_it(
    own_home: Path, say: Say, monkeypatch: pytest.MonkeyPatch, how: str
):
    if how == "setting":
        say("config", "set", "resident", "no")
        monkeypatch.delenv("MEMLANE_RESIDENT")
    if how == "ci":
        monkeypatch.setenv("CI", "true")
    if how == "no model":
        for words in (
            "--help",
            "say --help",
            "status",
            "memories list",
            "memories history",
            "undo",
        ):
            say(*words.split(), check=False)
    else:
        options = {"option": ["--no-resident"], "another model": ["--llm", "smollm2-135m"]}
        say(*options.get(how, []), "remember", "My bicycle is red.")
    time.sleep(1.0)
    assert holder(Place(own_home).lock) is None
    assert not Place(own_home).log.exists()


def test_of_two_that_are_left_at_once_one_stays_and_its_clock_goes_on(own_home: Path, say: Say):
    words = ("--now", "2020-01-01T09:00+00:00", "remember", "My bicycle is red.")
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda _: say(*words), range(2)):
            pass
    left = _up(own_home)
    _until(lambda: len(_serving(own_home)) == 1)
    say("remember", "--wait", "My car is blue.")
    assert _up(own_home).pid == left.pid
    with MemoryGraph.open(own_home) as graph:
        newest = max(source.captured for source in graph.sources.list())
    assert newest.year > 2020


def test_nothing_is_left_in_the_home_of_somebody_else(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
):
    with MemoryGraph.open(own_home):
        pass
    monkeypatch.setenv("MEMLANE_RESIDENT", "yes")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    said: list[str] = []
    assert not leave_behind(load_config(), ["false"], said.append)
    assert said == []


def test_it_ends_with_its_home_and_when_one_is_left_for_another(
    own_home: Path, tmp_path: Path, say: Say
):
    say("remember", "My bicycle is red.")
    _up(own_home)
    other = tmp_path / "other"
    say("remember", "My car is blue.", home=other)
    _up(other)
    _until(lambda: holder(Place(own_home).lock) is None)
    with MemoryGraph.open(own_home) as graph:
        assert len(graph.sources.list()) == 1
    lock = Place(other).lock
    pid = holder(lock)
    assert pid
    lock.rename(tmp_path / "elsewhere")
    _until(lambda: not _alive(pid))


def test_it_ends_after_the_idle_minutes_but_for_watched_folders(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(until_idle, "STEP_S", 0.01)
    with MemoryGraph.open(own_home):
        Place(own_home).lock.touch()
    desk = Desk(load_config())
    idle = [0.0]
    monkeypatch.setattr(desk, "idle_s", lambda: idle[0])

    async def ends_within(seconds: float) -> bool:
        ended = asyncio.Event()
        work = asyncio.create_task(until_idle.end_when_idle(desk, ended.set))
        try:
            await asyncio.wait_for(ended.wait(), seconds)
        except TimeoutError:
            work.cancel()
        return ended.is_set()

    try:
        assert not asyncio.run(ends_within(0.2))
        idle[0] = desk.config.idle_minutes * 60.0 + 1
        assert asyncio.run(ends_within(5.0))
        with MemoryGraph.open(own_home) as graph:
            graph.watched.add_folder(tmp_path, desk.config.now())
        assert not asyncio.run(ends_within(0.2))
    finally:
        desk.close()


def _running(home: Path) -> Running | None:
    return running_of(load_config({"home": str(home)}))


def _up(home: Path) -> Running:
    _until(lambda: _running(home) is not None)
    found = _running(home)
    assert found
    return found


def _serving(home: Path) -> list[int]:
    """The resident processes of a home that have its lock or still wait for it."""
    wanted = {"--until-idle", str(home)}
    return [
        one.pid
        for one in psutil.process_iter(["cmdline"])
        if wanted <= set(one.info["cmdline"] or ())
    ]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child of nobody is buried by the system; in a container perhaps by nobody.
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(") ", 1)[1][0] != "Z"


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
