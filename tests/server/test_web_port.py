"""The port of memlane web: open as long as its page, closed by whatever ends that."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent.config import load_config
from agent.server.resident.client import Client
from agent.server.resident.paths import Place
from store.errors import HomeUnavailable, InvalidInput
from store.graph import MemoryGraph
from tests.conftest import Result
from tests.support.residents import started
from tests.support.web_sample import fill

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sample(own_home: Path) -> Path:
    with MemoryGraph.open(own_home) as graph:
        fill(graph)
    return own_home


def reachable(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_port_is_open_as_long_as_the_page(sample: Path, memlane: Callable[..., Result]):
    with started(sample):
        said = memlane("--json", "web").json
        port = said["port"]
        assert said["address"].startswith(f"http://127.0.0.1:{port}/#enter=") and reachable(port)
        again = memlane("web", "--json").json
        assert again["port"] == port and again["address"] != said["address"]
        other = memlane("--json", "web", "--port", str(port + 1))
        assert other.code == 2 and "memlane web --stop" in other.err
        assert memlane("--json", "web", "--stop").json["open"] is False
        assert not reachable(port)
        assert memlane("web", "--stop").code == 0


def test_the_port_closes_when_its_command_goes_away(sample: Path):
    with started(sample) as child:
        client = Client(load_config({"home": str(sample)}), Place(sample).socket)
        pages = client.web(hold=True)
        port = next(pages).port or 0
        assert reachable(port)
        pages.close()
        until(lambda: not reachable(port))
        held = client.web(hold=True)
        port = next(held).port or 0
        assert reachable(port)
        child.terminate()
        child.wait(60)
        assert not reachable(port)


def test_a_port_that_is_taken_is_named(sample: Path):
    with started(sample), closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        client = Client(load_config({"home": str(sample)}), Place(sample).socket)
        with pytest.raises(HomeUnavailable, match="Choose another"):
            list(client.web(port=taken.getsockname()[1]))
        (page,) = client.web()
        with pytest.raises(InvalidInput, match="--stop"):
            list(client.web(port=(page.port or 0) + 1))


def test_without_a_page_there_is_nothing_to_stop(own_home: Path, memlane: Callable[..., Result]):
    assert memlane("web", "--stop").code == 0


def test_ctrl_c_closes_the_page(sample: Path):
    words = [sys.executable, "-m", "cli.app", "--home", str(sample), "web", "--no-open"]
    with (
        started(sample),
        subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child,
    ):
        assert child.stdout
        said = child.stdout.readline().decode()
        port = int(re.findall(r":(\d+)/#enter=", said)[0])
        assert reachable(port)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=60)
        assert child.returncode == 0 and b"The page is closed." in told, told
        until(lambda: not reachable(port))


def test_the_resident_process_is_started_for_the_page(sample: Path, memlane: Callable[..., Result]):
    try:
        said = memlane("web", "--json")
        assert said.code == 0, said.err
        assert reachable(said.json["port"])
    finally:
        memlane("down")
    assert not reachable(said.json["port"])
