"""Resident processes for tests: started, asked, waited for."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.config import load_config
from agent.server.resident.client import Client, connect

ROOT = Path(__file__).parents[2]
SECRET = "My cat is called Zanzibar."


@contextmanager
def started(
    home: Path, delay: float = 0.0, port: int | None = None, space: str = "main"
) -> Iterator[subprocess.Popen[str]]:
    """A resident process with scripted models, gone at the end."""
    words = [sys.executable, "-m", "tests.support.resident_work", str(home), str(delay)]
    words += [] if port is None else [str(port)]
    child = subprocess.Popen(
        words,
        cwd=ROOT,
        env={**os.environ, "MEMLANE_SPACE": space},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout and child.stderr
        assert child.stdout.readline(), child.stderr.read()
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
        child.wait(60)
        for stream in (child.stdout, child.stderr):
            if stream:
                stream.close()


def client_of(home: Path) -> Client:
    notices: list[str] = []
    found = connect(load_config({"home": str(home)}), notices.append)
    assert found is not None, notices
    return found


def settle(home: Path) -> None:
    """Wait until nothing waits any more."""
    client, deadline = client_of(home), time.monotonic() + 60
    while client.running().queue:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def mode(path: Path) -> int:
    """Who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)
