"""Import report: counts and rejected lines."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.io.transfer.records import Rejected

NAMED = 20
"""How many rejected lines are named; all of them are kept in the file."""


@dataclass(slots=True)
class Tally:
    """Counts of one import; ``keep`` is where rejected lines go, None in a dry run."""

    keep: Path | None = None
    new: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    """Records that a merge does not take in: the history of another home."""
    rejected: list[Rejected] = field(default_factory=list)
    """The first ``NAMED``, without their text."""
    rejected_count: int = 0
    warnings: list[str] = field(default_factory=list)
    kept: Path | None = None
    """The file with the rejected lines, once there is one."""
    _started: bool = False

    def reject(self, rejected: Rejected) -> None:
        """Count a rejected line, name it if it is among the first, and keep its text."""
        self.rejected_count += 1
        if len(self.rejected) < NAMED:
            self.rejected.append(Rejected(rejected.line, rejected.reason, ""))
        if self.keep is None or not rejected.raw:
            return
        try:
            mode = os.O_APPEND if self._started else os.O_TRUNC
            handle = os.open(self.keep, os.O_WRONLY | os.O_CREAT | mode, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(rejected.raw.rstrip("\n") + "\n")
            self._started = True
            self.kept = self.keep
        except OSError as error:
            # The lines still stand in the file itself, under the numbers that are named.
            self.warnings.append(f"cannot write {self.keep}: {error.strerror or error}")
            self.keep = None

    def forget_kept(self) -> None:
        """Take the file of rejected lines away again: the import was given up."""
        if self.kept is not None:
            with suppress(OSError):
                self.kept.unlink()
            self.kept = None
