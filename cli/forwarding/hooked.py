"""The hook of a coding agent: as little as can be loaded, for an agent waits at each prompt.

The resident process works the message out (``agent.server.hooks.recall``). While there is none, a
prompt gets nothing and one is started for the next; what needs no model is worked out here.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence

from cli.arguments import settings
from cli.forwarding.sockets import home_of, is_mine, socket_of

ANSWER_S = 3.0
"""How long the resident process may take, before the agent goes on without an answer."""
_PROMPTS = ("UserPromptSubmit", "BeforeAgent")
"""What the tools call the event at a prompt (``agent.server.hooks.tools``)."""


def hooked(arguments: Sequence[str]) -> int | None:
    """Answer ``[--home DIR] [--space NAME] hook run TOOL``; None for every other line.

    It never fails: with exit code 2 the agent would withhold the person's prompt.
    """
    words = list(arguments)
    given: dict[str, str] = {}
    while words[:1] in (["--home"], ["--space"]) and len(words) > 4:
        given[words[0][2:]], words = words[1], words[2:]
    if words[:2] != ["hook", "run"] or len(words) != 3 or words[2].startswith("-"):
        return None
    try:
        message = sys.stdin.buffer.read().decode("utf-8", "replace")
        text = _answered(words[2], message, given, arguments)
        if text:
            print(text, flush=True)
    except (Exception, KeyboardInterrupt):
        # Whatever is wrong here, the person's own tool goes on as if there were no hook.
        return 0
    return 0


def _answered(tool: str, message: str, given: Mapping[str, str], arguments: Sequence[str]) -> str:
    event = json.loads(message)["hook_event_name"]
    place = home_of(arguments)
    path = place and socket_of(place)
    if path:
        try:
            said = _asked(path, tool, message) if is_mine(path) else None
        except TimeoutError:
            return ""
        except OSError:
            said = None  # left by a process that was killed
        if said is None:
            _start(arguments[:-3])
            if event in _PROMPTS:
                return ""
        elif "code" in said:
            return str(said["out"])
    from agent.server.hooks.recall import answer

    return answer(tool, message, given.get("home"), given.get("space"))


def _asked(path: str, tool: str, message: str) -> dict[str, object]:
    """What the resident process says to the hook's line; an error where it leaves it to us.

    By hand: http.client and h11 take longer to load than the answer takes.
    """
    line = {
        "words": ["hook", "run", tool],
        "stdin": message,
        "folder": os.getcwd(),
        "settings": settings(os.environ),
        "screen": {},
        "columns": 80,
        "terminal": False,
        "person": False,
        "began": 0.0,
    }
    body = json.dumps(line).encode()
    head = (
        "POST /v1/command HTTP/1.1\r\nHost: memlane\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    told = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(ANSWER_S)
        channel.connect(path)
        channel.sendall(head.encode() + body)
        while piece := channel.recv(1 << 16):
            told += piece
    found = json.loads(told.partition(b"\r\n\r\n")[2])
    return found if isinstance(found, dict) else {}


def _start(options: Sequence[str]) -> None:
    """Begin a resident process for the next prompt, as other commands do, and wait for nothing."""
    import subprocess

    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "cli.app", *options, "hook", "start"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    child.returncode = 0  # it is meant to outlive this process
