"""One model in a worker: started at its first request, and again after it ended or died."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from agent.errors import ModelCrashed, ModelError, of_kind
from agent.models.worker.process import WorkerDied, WorkerProcess
from agent.models.worker.wire import Json, is_over
from store.database.notices import notify
from store.errors import MemlaneError

log = logging.getLogger("memlane.models")

OPENING_S = 300.0
"""How long a model may take to load: a large one from a slow disk."""
STOPPING_S = 30.0
"""How long a cancelled request may take to its next step."""
TRIES = 2
"""How often a request is tried: once more after a crash, by a fresh process."""
PATIENCE = 3
"""After so many failed requests in a row a model is left alone for ``PAUSE_S``, by default."""
PAUSE_S = 60.0
_BUILTIN = {"ValueError": ValueError, "RuntimeError": RuntimeError}

Opened = tuple[WorkerProcess, Json]
"""A process with its model loaded, and what it said when that was done."""


class Opener(Protocol):
    """Starts processes for one model, and learns how they end."""

    def open(self, start: Callable[[], WorkerProcess]) -> Opened:
        """A process that is ready for requests.

        :raises ModelError: if the model cannot be loaded.
        :raises WorkerDied: if the process dies on that.
        """
        ...

    def died(self, death: WorkerDied) -> str:
        """Note a crash in use; in words what will be otherwise from now on, or nothing."""
        ...


class Worker:
    """Requests to one model, one at a time; callers take turns on a lock.

    ``name`` is what a person calls it ("The language model"). After ``patience`` failed requests in
    a row the model is left alone for a minute. A request is over when it was
    answered, failed, or was cancelled by an exception in the caller (Ctrl-C, or one that
    ``on_text`` raises). A process that dies costs nothing but time where its successor succeeds.
    """

    def __init__(
        self,
        name: str,
        opener: Opener,
        *,
        idle_s: float,
        timeout_s: float,
        patience: int = PATIENCE,
    ) -> None:
        self._name = name
        self._patience = patience
        self._opener = opener
        self._idle_s = idle_s
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._numbers = itertools.count(1)
        self._process: WorkerProcess | None = None
        self._opened: Json = None
        self._cancelled: int | None = None
        self._busy = False
        self._failures = 0
        self._paused_until = 0.0

    @property
    def running(self) -> bool:
        """Whether its process, and with it the weights, is in memory now."""
        process = self._process
        return process is not None and process.running

    @property
    def pid(self) -> int | None:
        """Of its process, if there is one now; for tests and for showing."""
        process = self._process
        return process.pid if process is not None and process.running else None

    def opened(self) -> Json:
        """What the process said when it had loaded the model; starts it if need be.

        :raises ModelError: if it cannot be loaded.
        """
        with self._lock:
            return self._attempts(self._ready)

    def reopen(self, how: Callable[[Callable[[], WorkerProcess]], Opened]) -> None:
        """End the process, if there is one, and start one in another way than usual.

        :raises ModelError: if that fails.
        """
        with self._lock:
            self.close()
            self._failures = 0
            try:
                self._process, self._opened = how(self._start)
            except WorkerDied as death:
                raise ModelCrashed(f"{self._name} {death}. Try again.") from death

    def call(
        self, what: str, arguments: dict[str, Any], on_text: Callable[[str], None] | None = None
    ) -> Json:
        """One request and its result.

        ``on_text`` receives pieces of the answer; if a process dies in the middle, only what its
        successor says beyond them. It must not call the model.

        :raises ModelCrashed: if the process died twice on it.
        :raises ModelError: what the model itself says.
        """
        with self._lock:
            if self._busy:
                raise RuntimeError("on_text must not call the model")
            stream = _Stream(on_text)
            self._busy = True
            try:
                return self._attempts(lambda: self._exchange(what, arguments, stream))
            finally:
                self._busy = False

    def close(self) -> None:
        """End the process; the next request starts another. Closing twice is fine."""
        with self._lock:
            if self._process is not None:
                self._process.close()
            self._process = None
            self._cancelled = None

    # ---- one request ----------------------------------------------------------------------

    def _attempts(self, work: Callable[[], Json]) -> Json:
        """Do ``work``, and once more if the process dies on it."""
        if self._failures >= self._patience and time.monotonic() < self._paused_until:
            raise ModelCrashed(
                f"{self._name} crashed on the last {self._failures} requests and is not used "
                "for a minute. Try other settings (memlane models check) or another model "
                "(memlane models list)."
            )
        tried = idle = 0
        while True:
            try:
                given = work()
            except WorkerDied as death:
                self._bury()
                if death.cause == "idle" and not idle:  # it had nothing to do: no fault
                    idle = 1
                    continue
                tried += 1
                changed = self._opener.died(death)
                if tried == TRIES:
                    raise self._failed(death) from death
                then = f" {changed}" if changed else ""
                notify(f"{self._name} {death} and was restarted.{then} Nothing is lost.")
            else:
                self._failures = 0
                return given

    def _failed(self, death: WorkerDied) -> ModelCrashed:
        self._failures += 1
        self._paused_until = time.monotonic() + PAUSE_S
        return ModelCrashed(
            f"{self._name} {death}, twice on this request. Your message is stored. Try again, "
            "or try other settings: memlane models check"
        )

    def _exchange(self, what: str, arguments: dict[str, Any], stream: _Stream) -> Json:
        self._ready()
        process = self._process
        assert process is not None
        number = next(self._ids)
        stream.begin()
        try:
            process.send({"id": number, "do": what, **arguments}, self._timeout_s)
            while True:
                message = process.receive(self._timeout_s)
                if message.get("id") != number:
                    continue  # the end of a request that was cancelled
                if "text" in message:
                    stream.add(str(message["text"]))
                elif "note" in message:
                    log.debug("%s: %s", self._name, message["note"])
                elif is_over(message):
                    break
        except WorkerDied:
            raise
        except BaseException:  # Ctrl-C, or whatever ``on_text`` raises
            self._cancel(number)
            raise
        return _result(message)

    def _ready(self) -> Json:
        """A process with the model loaded and nothing else to do."""
        if self._process is not None and self._cancelled is not None:
            self._wait_for_cancelled(self._process, self._cancelled)
        if self._process is None:
            self._process, self._opened = self._opener.open(self._start)
        return self._opened

    def _start(self) -> WorkerProcess:
        return WorkerProcess(idle_s=self._idle_s, number=next(self._numbers))

    def _cancel(self, number: int) -> None:
        """Tell the process to stop at its next step; nobody waits for that now."""
        try:
            if self._process is not None:
                self._process.send({"cancel": number}, timeout=1.0)
                self._cancelled = number
        except WorkerDied:
            self._bury()

    def _wait_for_cancelled(self, process: WorkerProcess, number: int) -> None:
        """Read away the rest of a cancelled request; a process that does not stop is ended."""
        self._cancelled = None
        try:
            while True:
                message = process.receive(min(STOPPING_S, self._timeout_s))
                if message.get("id") == number and is_over(message):
                    return
        except WorkerDied as death:
            log.info("%s %s after it was stopped", self._name, death)
            self._bury()

    def _bury(self) -> None:
        if self._process is not None:
            if words := self._process.last_words():
                log.info("%s, last words: %s", self._name, words)
            self._process.close(at_once=True)
        self._process = None
        self._cancelled = None


class _Stream:
    """Passes pieces of an answer on; after a restart only what goes beyond those passed on."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._passed = ""
        self._now = ""

    def begin(self) -> None:
        self._now = ""

    def add(self, piece: str) -> None:
        """A piece of the answer. One that is told otherwise the second time is not told again."""
        self._now += piece
        if len(self._now) <= len(self._passed) or not self._now.startswith(self._passed):
            return
        new, self._passed = self._now[len(self._passed) :], self._now
        if self._on_text:
            self._on_text(new)


def request(process: WorkerProcess, what: str, arguments: dict[str, Any], timeout: float) -> Json:
    """A request outside of a ``Worker``: to open a model, or to try one.

    :raises WorkerDied: if the process dies, or says nothing for ``timeout`` seconds.
    :raises ModelError: what the model says.
    """
    process.send({"id": 0, "do": what, **arguments}, timeout)
    while not is_over(message := process.receive(timeout)):
        pass
    return _result(message)


def _result(message: dict[str, Any]) -> Json:
    """What a request gave, or the error it ended in."""
    if "done" in message:
        return message["done"]
    kind, text = str(message.get("error", "")), str(message.get("message", ""))
    if kind in _BUILTIN:
        raise _BUILTIN[kind](text)
    found = of_kind(kind)
    raise (ModelError if found is MemlaneError else found)(text)
