"""Rescue of a damaged home: what can be read goes into a new one.

Invariant: the damaged home is only read. What is read is exported and imported, which leaves aside
what does not hold together, so the new home verifies.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.io.transfer.export import export_jsonl
from agent.io.transfer.import_ import import_file
from store.database.connection import DATABASE_NAME, ensure_home
from store.erasure.secure_delete import KEY_NAME
from store.errors import CorruptStore, HomeUnavailable
from store.maintenance.left_overs import scratch_folder
from store.maintenance.salvage import salvage


@dataclass(frozen=True, slots=True)
class Rescued:
    """What came over into the new home."""

    home: Path
    kept: Mapping[str, int]
    """By kind, as an export names them."""
    refused: int
    """Rows that were found and are not what they should be."""
    history: bool
    """Whether the journal came over; the memories stand without it too."""
    log: str
    """What was damaged of the write-ahead log; empty where nothing was."""


def rescue(home: Path, target: Path, now: datetime) -> Rescued:
    """Copy what can be read of ``home`` into the new home ``target``.

    :raises HomeUnavailable: if there is nothing to read, or something at the target already.
    :raises CorruptStore: if nothing can be read.
    """
    if not (home / DATABASE_NAME).exists():
        raise HomeUnavailable(f"There is no memory in {home} to rescue.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise HomeUnavailable(f"{target} already exists. Name a folder that is not there yet.")
    with scratch_folder(ensure_home(target)) as scratch:
        found = salvage(home, scratch)
        lines = scratch / "all.jsonl"
        export_jsonl(scratch / "salvaged", lines, now)
        history = True
        try:
            done = import_file(lines, "jsonl", target, now, _no_places)
        except CorruptStore:  # a line of the journal tells otherwise than the memories stand
            history = False
            done = import_file(_without_history(lines), "jsonl", target, now, _no_places)
    if (home / KEY_NAME).exists():  # what was forgotten can be proved with it
        shutil.copy(home / KEY_NAME, target / KEY_NAME)
    refused = found.refused + done.tally.rejected_count
    return Rescued(target, dict(done.tally.new), refused, history, str(found.log or ""))


def _without_history(lines: Path) -> Path:
    """The export without its edits: each memory is then told by a line of its own."""
    fewer = lines.with_name("memories.jsonl")
    with lines.open(encoding="utf-8") as every, fewer.open("w", encoding="utf-8") as kept:
        kept.writelines(line for line in every if not line.startswith('{"kind": "edit"'))
    return fewer


def _no_places(texts: object) -> list[str]:
    raise AssertionError("an export says where each memory belongs")
