"""What a model runs with on this machine: the fastest settings that were seen to work.

llama.cpp chooses kernels by processor, and now and then one of them crashes or computes nonsense
(AMX in builds of 2025 and 2026, for one). So settings stand on rungs, fastest first, and what was
found is kept beside the hashes of the weights, under the identity of model, build and processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from agent.models.weight_files import Record

Role = Literal["chat", "rewards"]
"""What a model is loaded for. A reward model is laid out otherwise, so it has rungs of its own."""
FILE = "settings.json"
"""The record's name in the models folder."""


@dataclass(frozen=True, slots=True)
class Rung:
    """How llama.cpp is told to run a model."""

    repack: bool
    """Lay weights out anew for faster generation; AMX is used for such weights only."""
    flash: bool
    """Flash attention."""
    threads: int

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return ", ".join(
            (
                "weights repacked" if self.repack else "no repacking",
                "flash attention" if self.flash else "no flash attention",
                threads,
            )
        )


def rungs(role: Role, threads: int) -> tuple[Rung, ...]:
    """The settings to try, fastest first. Rewards never repack: it would move their sums."""
    ladder = [
        Rung(repack=role == "chat", flash=True, threads=threads),
        Rung(repack=False, flash=True, threads=threads),
        plain(threads),
        Rung(repack=False, flash=False, threads=1),
    ]
    return tuple(dict.fromkeys(ladder))


def plain(threads: int) -> Rung:
    """The settings that others are compared with: llama.cpp without its special kernels."""
    return Rung(repack=False, flash=False, threads=threads)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one model on this machine."""

    model: str
    """File name and the first digits of its hash."""
    role: Role
    rung: Rung
    why: tuple[str, ...]
    """Why faster settings are not used, one line each; empty where the fastest are."""
    checked: str
    """When, as an ISO date and time."""
    seconds: float
    """What finding it out took; 0 where a crash in use decided."""

    def __str__(self) -> str:
        because = f"; {'; '.join(self.why)}" if self.why else ""
        return f"{self.rung} (checked {self.checked[:10]}{because})"


class Findings:
    """The record in the models folder. Best effort, like every record there."""

    def __init__(self, models_dir: Path) -> None:
        self._record = Record(models_dir / FILE)
        self.lock = models_dir / f".{FILE}.lock"

    def find(self, key: str) -> Finding | None:
        """What is known of ``key``: the identity of weights, build, processor and role."""
        return _parsed(self._record.read().get(key))

    def of(self, path: Path, sha256: str, role: Role) -> Finding | None:
        """The newest of one model, whatever it ran on; for showing."""
        model = model_name(path, sha256)
        found = [f for f in map(_parsed, self._record.read().values()) if f is not None]
        fitting = [f for f in found if f.model == model and f.role == role]
        return max(fitting, key=lambda finding: finding.checked, default=None)

    def keep(self, key: str, finding: Finding) -> None:
        self._record.put(key, asdict(finding))

    def lower(self, key: str, finding: Finding, threads: int, why: str) -> Finding | None:
        """Take the rung below, because of a crash in use; None where there is none."""
        ladder = rungs(finding.role, threads)
        place = ladder.index(finding.rung) + 1 if finding.rung in ladder else len(ladder)
        if place == len(ladder):
            return None
        lower = Finding(
            finding.model, finding.role, ladder[place], (*finding.why, why), now(), seconds=0.0
        )
        self.keep(key, lower)
        return lower


def model_name(path: Path, sha256: str) -> str:
    """File name and the first digits of the hash, as in ``LanguageModel.identity``."""
    return f"{path.name}:{sha256[:12]}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _parsed(entry: object) -> Finding | None:
    if not isinstance(entry, Mapping):
        return None
    try:
        fields: dict[str, Any] = dict(entry)
        fields["rung"] = Rung(**fields["rung"])
        fields["why"] = tuple(map(str, fields["why"]))
        return Finding(**fields)
    except (KeyError, TypeError):
        return None
