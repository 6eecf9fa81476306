"""Faults on purpose, so that tests see what a crash of native code does to memlane.

``MEMLANE_FAULT=KIND@N`` makes a worker fail at its Nth decode (or picture): ``segv``, ``abort``,
``kill``, ``exit``, ``hang``, ``starve`` or ``garbage`` on the pipe. It befalls the first worker of
its owner; ``KIND@N:always`` befalls every one, ``KIND@N:repack`` every one whose weights are
repacked, as a broken AMX kernel does, ``KIND@N:plain`` every other one.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

_SPELT = re.compile(r"(segv|abort|kill|exit|hang|starve|garbage)@(\d+)(?::(always|repack|plain))?")
_STARVES_S = 7.0
"""How long a worker that starves gets a tenth of a processor."""
_SIGNALS = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT, "kill": signal.SIGKILL}


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens, at which decode, and to which workers."""

    kind: str
    at: int
    to: str

    def befalls(self, number: int, *, repacked: bool) -> bool:
        """Whether it happens to the worker of this number (the first is 1)."""
        if self.to == "repack":
            return repacked
        if self.to == "plain":
            return not repacked
        return self.to == "always" or number == 1

    def happen(self, garbage: Callable[[bytes], None]) -> None:
        """Do it now. Of the kinds only ``garbage`` and ``starve`` return."""
        if self.kind in _SIGNALS:
            os.kill(os.getpid(), _SIGNALS[self.kind])
        elif self.kind == "exit":
            os._exit(3)
        elif self.kind == "garbage":
            garbage(b"\x00\xffllama: this is no frame\n" * 8)
            return
        elif self.kind == "starve":
            end = time.monotonic() + _STARVES_S
            while time.monotonic() < end:
                busy = time.process_time() + 0.02
                while time.process_time() < busy:
                    pass
                time.sleep(0.18)
            return
        while True:  # a hang; a signal arrives in the meantime
            time.sleep(60)


def parse_fault(spelt: str) -> Fault | None:
    """:raises ValueError: if it is spelt otherwise. An empty text is no fault."""
    if not spelt:
        return None
    match = _SPELT.fullmatch(spelt)
    if match is None:
        raise ValueError(f"MEMLANE_FAULT={spelt!r} is none of KIND@N, KIND@N:always, KIND@N:repack")
    return Fault(match[1], int(match[2]), match[3] or "once")
