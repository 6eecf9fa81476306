"""One worker process: started, talked to, and found dead, silent or confused in time.

The process is a new Python interpreter (never a fork: llama.cpp and OpenMP do not survive one). It
ends when its pipe closes, so none outlives its owner, however that ended. It is in a session of
its own: Ctrl-C in the terminal reaches the owner only, who then cancels the request.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections import deque
from pathlib import Path
from typing import IO, Any, Literal

import psutil

from agent.models.worker.wire import Frames, Message, Nonsense, pack

_CHUNK = 1 << 16
_ENDING_S = 2.0
"""How long a process may take to end after its pipe was closed."""
_STARVED = (0.01, 0.5)
"""The share of a processor that a worker without a word gets where other programs take the rest.
One that gets more is too slow or in a loop, one that gets less hangs."""
_LAST_WORDS = 2000
"""Bytes of what a dead worker wrote to its standard error that are kept for the log."""
NATIVE_FAULTS = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP"})
"""Signals of a fault in native code; other settings may avoid it."""
_SOURCE = Path(__file__).resolve().parents[3]
"""The folder that holds ``agent``: the worker runs the same code as its owner."""
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from agent.models.worker.serve import main; main()"
)


Cause = Literal["native", "killed", "silent", "nonsense", "ended", "idle"]
"""A fault in native code; SIGKILL from outside; no sign of life; no frame; an exit in the middle of
a request; an exit with nothing to do, before the request was seen."""


class WorkerDied(Exception):
    """The process ended, fell silent or spoke nonsense; ``str`` of it says which."""

    def __init__(self, reason: str, cause: Cause) -> None:
        super().__init__(reason)
        self.cause = cause


class WorkerProcess:
    """A running worker. Used by one thread at a time; ``close`` may be called from any."""

    def __init__(self, *, idle_s: float, number: int) -> None:
        self._frames = Frames()
        self._messages: deque[dict[str, Any]] = deque()
        self._heard = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in ``close``
        # -P: a json.py in the person's current folder must not take the place of Python's own.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(_SOURCE), str(idle_s), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout
        self._to = self._process.stdin.fileno()
        self._from = self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        # At the end of the interpreter, or when the owner is forgotten, the process goes too.
        self._finalizer = weakref.finalize(self, _end, self._process, self._errors)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def send(self, message: Message, timeout: float) -> None:
        """Write a message.

        :raises WorkerDied: if the process is gone, or takes nothing for ``timeout`` seconds.
        """
        left = memoryview(pack(message))
        self._heard = False
        waiter = select.poll()
        waiter.register(self._to, select.POLLOUT)
        while left:
            if not waiter.poll(1000 * timeout):
                raise self._silent(timeout)
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self.how_it_ended() from error

    def receive(self, timeout: float) -> dict[str, Any]:
        """The next message.

        On a busy machine a worker that works may say nothing for long; then its own processor time
        counts.

        :raises WorkerDied: if the process ended, said nothing for ``timeout`` seconds, or nonsense.
        """
        waiter = select.poll()
        waiter.register(self._from, select.POLLIN)
        began = worked = self._worked()
        while not self._messages:
            if not waiter.poll(1000 * timeout):
                before, worked = worked, self._worked()
                least, most = (share * timeout for share in _STARVED)
                if not (least < worked - before < most and worked - began < timeout):
                    raise self._silent(timeout)
                continue
            data = os.read(self._from, _CHUNK)
            if not data:
                raise self.how_it_ended()
            try:
                self._messages += self._frames.feed(data)
            except Nonsense as error:
                self.close(at_once=True)
                raise WorkerDied(f"sent an invalid reply ({error})", "nonsense") from error
            self._heard = True
        return self._messages.popleft()

    def how_it_ended(self) -> WorkerDied:
        """Why the pipe is closed."""
        try:
            code = self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self.close(at_once=True)
            return WorkerDied("closed its pipe", "ended")
        if code >= 0:
            idle = code == 0 and not self._heard
            return WorkerDied(f"ended with code {code}", "idle" if idle else "ended")
        name = _signal_name(-code)
        if name in NATIVE_FAULTS:
            return WorkerDied(f"crashed ({name})", "native")
        hint = "; was there too little memory?" if name == "SIGKILL" else ""
        return WorkerDied(f"was killed ({name}{hint})", "killed")

    def last_words(self) -> str:
        """The end of what the process wrote to its standard error, for the log."""
        with contextlib.suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - _LAST_WORDS))
            return self._errors.read().decode("utf-8", "replace").strip()
        return ""

    def close(self, *, at_once: bool = False) -> None:
        """End the process: let it finish its step, or kill it ``at_once``. Twice is fine."""
        if at_once:
            with contextlib.suppress(OSError):
                self._process.kill()
        self._finalizer()

    def _worked(self) -> float:
        """Seconds of processor time that the process has had; 0.0 if it is gone."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def _silent(self, seconds: float) -> WorkerDied:
        self.close(at_once=True)
        return WorkerDied(f"did not respond for {seconds:.0f} s and was stopped", "silent")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end(process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """Close the pipes of a process, which ends it, and wait for that; kill it if it stays."""
    assert process.stdin and process.stdout
    with contextlib.suppress(OSError):
        process.stdin.close()
    limit = time.monotonic() + _ENDING_S
    try:
        process.wait(max(0.0, limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
    errors.close()
