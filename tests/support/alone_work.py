"""A day's work that may reach nothing: ``python -m tests.support.alone_work NOTES``.

What it starts inherits the guard by PYTHONPATH (``write_guard``). With ``--namespace`` the system
itself has no way out: network and mount namespaces with nothing but their own loopback, and a name
server there that writes down what is looked up. Compiled libraries do not pass the guard, which
hears Python alone, but to reach anybody they look up a name.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUARD = """
import os, sys

_HOME, _LOG = os.environ["GUARD_HOME"], os.environ["GUARD_LOG"]
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


def _hear(event, given):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = given[1]
    elif event == "socket.getaddrinfo":
        address = (given[0],)
    else:
        return
    if address is None:
        return
    if isinstance(address, (str, bytes)):
        name = os.fsdecode(address)
        inside = not name or name.startswith(_HOME)
    else:
        name = os.fsdecode(address[0]) if isinstance(address[0], (str, bytes)) else ""
        inside = not name or name.startswith(_LOCAL)
    if not inside:
        with open(_LOG, "a") as log:
            log.write(f"{event} {name}\\n")
        raise PermissionError(f"a connection out of the home: {name}")


sys.addaudithook(_hear)
"""


def write_guard(folder: Path, home: Path) -> dict[str, str]:
    """The environment in which every Python process fails on a connect out of ``home``."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(GUARD)
    return {
        **os.environ,
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "GUARD_HOME": str(home),
        "GUARD_LOG": str(folder / "reached"),
        "MEMLANE_HOME": str(home),
    }


def loopback_up() -> None:
    """Turn on the loopback of a new network namespace; nothing else is there."""
    assert [name for _, name in socket.if_nameindex()] == ["lo"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        flags = struct.pack("16sh22x", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(control, 0x8914, flags)  # SIOCSIFFLAGS


def hear_names(log: Path) -> None:
    """Be the name server of the namespace, which answers nothing."""
    server = log.with_name("resolv.conf")
    server.write_text("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", str(server), "/etc/resolv.conf"], check=True)
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind(("127.0.0.1", 53))

    def hear() -> None:
        while True:
            asked, _ = listening.recvfrom(512)
            with log.open("a") as file:
                file.write(f"name {asked[12:]!r}\n")

    threading.Thread(target=hear, daemon=True).start()


def memlane(*words: str, said: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *words],
        input=said,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=550,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def work(notes: Path, models: bool) -> None:
    """An ingest, a question and the page; with the language model the demo and a chat too."""
    memlane("ingest", str(notes))
    assert "Zanzibar" in memlane("ask", "--no-llm", "What is my cat called?")
    if models:
        memlane("demo")
        memlane("chat", said="My wife Anna is allergic to peanuts.\nHow is my cat called?\n/quit\n")
    try:
        link = json.loads(memlane("web", "--json", "--no-open"))["address"]
        with urllib.request.urlopen(link.split("#")[0], timeout=60) as page:
            assert page.status == 200 and b"memlane" in page.read().lower()
    finally:
        memlane("down")


if __name__ == "__main__":
    if "--namespace" in sys.argv:
        loopback_up()
        hear_names(Path(os.environ["GUARD_LOG"]))
    work(Path(sys.argv[1]), "--models" in sys.argv)
