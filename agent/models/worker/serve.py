"""Inside a worker: take requests one at a time, work, and answer. Ends when its owner does.

The main thread works; a second one reads the pipe, so that a request can be cancelled while the
first is inside llama.cpp. Only the main thread writes.
"""

from __future__ import annotations

import _thread
import contextlib
import faulthandler
import os
import queue
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, NoReturn

from agent.errors import ModelError
from agent.models.worker.served import Served
from agent.models.worker.wire import Frames, Message, pack
from store.errors import MemlaneError

BEAT_S = 0.5
"""Least seconds between two signs of life."""
_CHUNK = 1 << 16


class Cancelled(BaseException):
    """The owner wants this request no longer."""


class Line:
    """The worker's end of the pipes, and which request is worked on."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = requests
        self._replies = replies
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        self.current: int | None = None
        self._cancelled: int | None = None
        self._last = 0.0

    def read(self) -> None:
        """Take in messages until the owner is gone, then end the process."""
        frames = Frames()
        while data := os.read(self._requests, _CHUNK):
            for message in frames.feed(data):
                if "cancel" in message:
                    self._cancelled = message["cancel"]
                    _thread.interrupt_main()
                else:
                    self.inbox.put(message)
        os._exit(0)

    def on_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Runs in the main thread, between two steps of Python."""
        self.check()

    def check(self) -> None:
        """:raises Cancelled: if the request that is worked on was."""
        if self.current is not None and self.current == self._cancelled:
            raise Cancelled

    def say(self, **message: object) -> None:
        """A message about the request that is worked on."""
        self.write(pack({"id": self.current, **message}))

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._replies, left) :]
        self._last = time.monotonic()

    def beat(self) -> None:
        """A sign of life, if the last one is a while ago."""
        if time.monotonic() - self._last > BEAT_S:
            self.say(beat=True)


def main() -> None:
    """``argv``: the source folder, seconds until an idle worker ends, the worker's number."""
    # What native code prints must not get between the frames: it goes to standard error.
    line = Line(os.dup(0), os.dup(1))
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _be_expendable()
    _stay_here()
    signal.signal(signal.SIGINT, line.on_interrupt)
    threading.Thread(target=line.read, daemon=True).start()
    with contextlib.suppress(BrokenPipeError):
        _work(line, idle_s=float(sys.argv[2]), number=int(sys.argv[3]))
    # No tidying up: llama.cpp's own has crashed at exit, and the system frees everything.
    os._exit(0)


def _work(line: Line, *, idle_s: float, number: int) -> None:
    served = Served(line, number)
    while True:
        try:
            request = line.inbox.get(timeout=idle_s)
        except queue.Empty:
            return
        line.current = number = request.pop("id")
        try:
            last = _answered(line, served, request)
            line.current = None  # from here on it can no longer be cancelled
        except Cancelled:
            line.current = None
            last = {"cancelled": True}
        line.write(pack({"id": number, **last}))


def _answered(line: Line, served: Served, request: dict[str, Any]) -> Message:
    """What a request comes to: its last message."""
    try:
        line.check()
        return {"done": served.do(request.pop("do"), request)}
    except (MemlaneError, ValueError, RuntimeError) as error:
        return {"error": type(error).__name__, "message": str(error)}
    except Exception as error:
        # Nobody foresaw it: the owner gets an answer all the same, and the worker goes on.
        return {
            "error": ModelError.__name__,
            "message": f"unexpected {type(error).__name__} in the model's process: {error}",
        }


def _stay_here() -> None:
    """No model needs a network: Python code in here that tries to reach one gets an error.

    An audit hook would see the same calls, and is called for ctypes' own events at each token too.
    """
    import socket

    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError("a model's process may open no connection")

    for name in ("connect", "connect_ex", "sendto", "sendmsg"):
        setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)


def _be_expendable() -> None:
    """No core file with somebody's words in it, and the first to go where memory is short."""
    faulthandler.enable()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")
