"""How a process gets its model: with settings that were seen to work on this machine.

The first time that a model file meets a llama.cpp build and a processor, the fastest settings read
a prompt and generate a few tokens, and plain settings say how likely those tokens are. Settings
that crash or that choose what the plain ones find unlikely are left, for the rung below. Whether
repacked weights are faster depends on the processor: they generate faster and may read slower. So a
chat model is timed with and without.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agent.errors import ModelCrashed, ModelError
from agent.models.weight_files import locked
from agent.models.worker.process import WorkerDied, WorkerProcess
from agent.models.worker.settings import (
    Finding,
    Findings,
    Role,
    Rung,
    model_name,
    now,
    plain,
    rungs,
)
from agent.models.worker.wire import Json
from agent.models.worker.worker import OPENING_S, Opened, request
from store.database.notices import notify

log = logging.getLogger("memlane.models")

TOKENS, STEPS = 128, 8
"""Tokens that a trial reads, and then generates or scores."""
LARGE = 2_500_000_000
"""Bytes of a file from which on a trial reads a quarter as much, to stay short."""
GAP = 2.5
"""Most nats by which plain settings may prefer another token. Kernels that are right differ by
some tenths, ones that are wrong by five and more."""
TIMED_STEPS = 4
"""Tokens that a timed trial generates. An answer reads some thirty tokens for each it writes: the
notes twice, once to find which of them answer."""
FASTER = 0.95
"""Of the time with repacked weights, that from which they are left as they are in the file."""
TRIAL_S = 60.0
"""How long a trial may say nothing."""
Start = Callable[[], WorkerProcess]


class GgufOpener:
    """Opens one GGUF for one role. ``options`` are what ``served`` wants beside the settings."""

    def __init__(
        self,
        role: Role,
        path: Path,
        sha256: str,
        *,
        threads: int,
        models_dir: Path,
        options: dict[str, Any],
    ) -> None:
        self._role: Role = role
        self._path = path
        self._sha256 = sha256
        self._threads = threads
        self._options = options
        self._findings = Findings(models_dir)
        self._key = ""
        self.finding: Finding | None = None
        """What it runs with; None before it was opened."""

    @property
    def model(self) -> str:
        return model_name(self._path, self._sha256)

    def open(self, start: Start) -> Opened:
        """See ``Opener.open``. The first time on a machine this takes some seconds."""
        with _ended_on_error(start()) as process:
            if self.finding is None:
                self._key = self._identified(process)
                self.finding = self._findings.find(self._key)
            if self.finding is not None:
                return process, self._load(process, self.finding.rung)
            with self._alone():
                # Another process may have found it while this one waited.
                self.finding = self._findings.find(self._key)
                if self.finding is None:
                    return self._try_out(start, process)
            return process, self._load(process, self.finding.rung)

    def check(self, start: Start) -> Opened:
        """Find the settings again, whatever was found before.

        :raises ModelCrashed: if the model runs with none.
        """
        with _ended_on_error(start()) as process:
            self._key = self._identified(process)
            with self._alone():
                return self._try_out(start, process)

    def _identified(self, process: WorkerProcess) -> str:
        asked = {"sha256": self._sha256, "threads": self._threads}
        # What was found for chat before settings were timed is found again.
        role = f"{self._role}, timed" if self._role == "chat" else self._role
        return f"{request(process, 'identify', asked, OPENING_S)}; for {role}"

    def died(self, death: WorkerDied) -> str:
        """See ``Opener.died``: a fault in native code costs a rung."""
        if death.cause != "native" or self.finding is None:
            return ""
        why = f"{self.finding.rung} {death} in use on {now()[:10]}"
        lower = self._findings.lower(self._key, self.finding, self._threads, why)
        if lower is None:
            return ""
        self.finding = lower
        return f"It now runs with safer settings ({lower.rung})."

    # ---- finding settings -----------------------------------------------------------------

    def _try_out(self, start: Start, first: WorkerProcess) -> Opened:
        """Try one rung after the other, the first of them in the process ``first``."""
        began = time.monotonic()
        why: list[str] = []
        with contextlib.ExitStack() as stack:
            reference = _Reference(self, start, stack)
            for rung in rungs(self._role, self._threads):
                try:
                    with _ended_on_error(start() if why else first) as process:
                        opened = self._load(process, rung)
                        problem = self._trial(process, rung, reference)
                        if not problem:
                            process, opened, rung = self._faster(
                                start, process, opened, rung, reference
                            )
                            seconds = round(time.monotonic() - began, 1)
                            self._found(rung, tuple(why), seconds)
                            return process, opened
                    process.close()
                except WorkerDied as death:
                    if death.cause == "killed":  # from outside: the settings are not at fault
                        raise
                    problem = str(death)
                log.info("%s: %s: %s", self.model, rung, problem)
                why.append(f"{rung}: {problem}")
        raise ModelCrashed(
            f"{self._path.name} does not run on this machine ({'; '.join(why)}). "
            "Choose another model: memlane models list"
        )

    def _faster(
        self,
        start: Start,
        process: WorkerProcess,
        opened: Json,
        rung: Rung,
        reference: _Reference,
    ) -> tuple[WorkerProcess, Json, Rung]:
        """What works, or the same without repacked weights, if that is faster."""
        if not rung.repack:
            return process, opened, rung
        other = replace(rung, repack=False)
        most = FASTER * self._seconds(process)
        try:
            with _ended_on_error(start()) as second:
                beside = self._load(second, other)
                problem = self._trial(second, other, reference)
                if not problem and self._seconds(second) < most:
                    process.close()
                    return second, beside, other
            second.close()
        except (WorkerDied, ModelError) as error:  # then what works is taken
            problem = str(error)
        log.info("%s: %s: %s", self.model, other, problem or "no faster")
        return process, opened, rung

    def _seconds(self, process: WorkerProcess) -> float:
        """Processor time to read a text that was not read before and to generate a little.

        Other programs make the clock say more, and what is found is kept for long.
        """
        asked = {"tokens": self.trial_tokens, "steps": TIMED_STEPS, "skip": self.trial_tokens // 2}
        return float(request(process, "trial", asked, TRIAL_S)["seconds"])

    def _trial(self, process: WorkerProcess, rung: Rung, reference: _Reference) -> str:
        """What is wrong with the settings; empty where nothing is."""
        asked = {"tokens": self.trial_tokens, "steps": STEPS}
        try:
            seen = request(process, "trial", asked, TRIAL_S)
        except ModelError as error:
            return str(error)
        if rung.threads == 1 or rung == plain(rung.threads):
            return ""
        expected = reference.expected(seen)
        log.info("%s: %s: apart by %s nats", self.model, rung, expected)
        if expected is None or expected <= GAP:
            return ""
        return f"computes something else than plain settings (by {expected:.1f} nats)"

    @property
    def trial_tokens(self) -> int:
        return TOKENS if self._path.stat().st_size < LARGE else TOKENS // 4

    def _found(self, rung: Rung, why: tuple[str, ...], seconds: float) -> None:
        self.finding = Finding(self.model, self._role, rung, why, now(), seconds)
        self._findings.keep(self._key, self.finding)
        log.info("%s runs with %s, found in %.1f s", self.model, rung, seconds)
        if why:
            notify(f"{self._path.name} runs with {rung} on this machine, as {'; '.join(why)}.")

    def _load(self, process: WorkerProcess, rung: Rung, *, once: bool = False) -> Json:
        asked = {
            "path": str(self._path),
            "sha256": self._sha256,
            "rung": asdict(rung),
            "once": once,
            **self._options,
        }
        return request(process, f"open_{self._role}", asked, OPENING_S)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process of the machine tries a model out; where no lock can be had, each does."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(ModelError):
                stack.enter_context(locked(self._findings.lock))
            yield


class _Reference:
    """The model with plain settings, started when something is to be compared with it."""

    def __init__(self, opener: GgufOpener, start: Start, stack: contextlib.ExitStack) -> None:
        self._opener = opener
        self._start = start
        self._stack = stack
        self._process: WorkerProcess | None = None

    def expected(self, seen: dict[str, Any]) -> float | None:
        """By how many nats plain settings disagree; None where they do not run either."""
        asked = {"tokens": self._opener.trial_tokens, "steps": STEPS}
        if "tokens" in seen:
            asked["follow"] = seen["tokens"]
        try:
            plainly = request(self._opened(), "trial", asked, TRIAL_S)
        except (WorkerDied, ModelError):
            return None
        if "gaps" in plainly:
            return float(max(plainly["gaps"]))
        pairs = zip(plainly["scores"], seen["scores"], strict=True)
        return float(max(abs(left - right) for left, right in pairs))

    def _opened(self) -> WorkerProcess:
        if self._process is None:
            process = self._start()
            self._stack.callback(process.close)
            self._opener._load(process, plain(self._opener._threads), once=True)
            self._process = process
        return self._process


class ReaderOpener:
    """Opens the text reader, which has no settings to find."""

    def open(self, start: Start) -> Opened:
        """See ``Opener.open``."""
        with _ended_on_error(start()) as process:
            return process, request(process, "open_reader", {}, OPENING_S)

    def died(self, death: WorkerDied) -> str:
        """See ``Opener.died``."""
        return ""


@contextlib.contextmanager
def _ended_on_error(process: WorkerProcess) -> Iterator[WorkerProcess]:
    """End the process if the block fails or is interrupted."""
    try:
        yield process
    except BaseException:
        process.close(at_once=True)
        raise
