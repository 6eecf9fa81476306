"""Forwards a short command line to the resident process, if one is running.

Python takes 0.3 s to load what reads a command and shows its outcome, several times as long as the
outcome takes. The process has all of that loaded (``cli.forwarding.forwarded``), so while it is up
a short command hands its line over and prints what comes back.

Invariants: what is printed is what ``cli.app`` would print (``tests/terminal/test_forward.py``).
Whatever only a process of our own can do (read standard input, ask the person, say what is wrong
with the settings, use others) is left to it. A line is handed over once: after that it is never
worked out here too. Importing this loads h11 and little else.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import h11

from agent.version import __version__
from cli import BEGAN
from cli.arguments import settings, subcommand
from cli.forwarding.sockets import home_of, is_mine, socket_of

HELLO_S = 5.0
"""How long a process that is up may take to say so, before a command works without it."""
_SCREEN = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES")
_CHUNK = 1 << 16


def relayed(arguments: Sequence[str]) -> int | None:
    """Let the resident process work a command line out; None where that has to be done here."""
    home = home_of(arguments) if _short(arguments) else None
    path = home and socket_of(home)
    if not path or not is_mine(path):
        return None
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as channel:
        try:
            channel.settimeout(HELLO_S)
            channel.connect(path)
            wire = h11.Connection(h11.CLIENT)
            hello = _exchanged(wire, channel, "GET", "/v1/hello")
            channel.settimeout(None)
        except (OSError, ValueError, h11.ProtocolError):
            return None  # the long way says what is wrong
        if (hello.get("version"), hello.get("code")) != (__version__, _code_folder()):
            return None
        try:
            wire.start_next_cycle()
            said = _exchanged(wire, channel, "POST", "/v1/command", _line(arguments))
        except (OSError, ValueError, h11.ProtocolError):
            line = (
                "the resident process stopped before it answered. What it stored is kept; see: "
                "memlane status"
            )
            from cli.exit_codes import report

            report(line, 1, arguments)
            return 1
    if "code" not in said:
        return None  # it leaves the line to us
    return _printed(said["out"], said["err"], said["code"])


def _short(arguments: Sequence[str]) -> bool:
    """Whether a line may be one of the commands that take no time and no standard input."""
    words = set(arguments)
    if words & {"--debug", "--llm", "--wait", "--apply", "--consent", "--help", "-"}:
        return False
    if any(word.startswith(("--llm=", "/dev/", "/proc/")) for word in arguments):
        return False
    try:
        "".join(arguments).encode()
    except UnicodeEncodeError:
        return False  # bytes that are no UTF-8: no JSON can carry them there and back
    command = subcommand(arguments)
    known = (command == "ask" and "--no-llm" in words) or command in ("remember", "fill")
    return known and (sys.stdout.encoding or "").lower() == "utf-8"


def _code_folder() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def _line(arguments: Sequence[str]) -> dict[str, Any]:
    """What ``agent.server.resident.requests.CommandLine`` is made of."""
    screen = {key: os.environ[key] for key in _SCREEN if key in os.environ}
    return {
        "words": list(arguments),
        "folder": os.getcwd(),
        "settings": settings(os.environ),
        "screen": screen,
        "columns": _columns(),
        "terminal": sys.stdout.isatty(),
        "person": sys.stdin.isatty() and sys.stderr.isatty(),
        "began": BEGAN,
    }


def _columns() -> int:
    """How wide the screen is; 80 where there is none, as everywhere."""
    for number in (0, 1, 2):
        try:
            return os.get_terminal_size(number).columns or 80
        except OSError:
            continue
    return 80


def _exchanged(
    wire: h11.Connection, channel: socket.socket, method: str, path: str, asked: object = None
) -> dict[str, Any]:
    """One request and the JSON document that answers it."""
    body = b"" if asked is None else json.dumps(asked).encode()
    headers = [("Host", "memlane"), ("Content-Length", str(len(body)))]
    request = h11.Request(method=method, target=path, headers=headers)
    parts = [wire.send(request), wire.send(h11.Data(data=body)), wire.send(h11.EndOfMessage())]
    channel.sendall(b"".join(part for part in parts if part))
    told = b""
    while True:
        event = wire.next_event()
        if event is h11.NEED_DATA:
            wire.receive_data(channel.recv(_CHUNK))
        elif isinstance(event, h11.Data):
            told += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            said = json.loads(told)
            return said if isinstance(said, dict) else {}
        elif isinstance(event, h11.ConnectionClosed):
            raise ConnectionError(path)


def _printed(out: str, err: str, code: int) -> int:
    try:
        sys.stdout.write(out)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.stderr.write(err)
    return code
