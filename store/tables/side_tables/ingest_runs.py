"""Ingest runs and their sources, for undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.errors import UnknownId
from store.row_codecs import Table, iso, public_id, row_id


@dataclass(frozen=True, slots=True)
class IngestRun:
    """One ingest: when it was, of what, and the sources it took in."""

    id: str
    at: datetime
    what: str
    """The paths that were given."""
    sources: tuple[str, ...]


class IngestRunTable(Table):
    """The ingest runs of one home. Written before extraction, so a crash leaves no gap."""

    def start(self, at: datetime, what: str) -> str:
        """A new run without sources yet; returns its id, such as ``r3``."""
        with self._rows.writing():
            key = self._rows.execute("INSERT INTO runs (at, what) VALUES (?, ?)", (iso(at), what))
        return public_id("r", key)

    def add(self, run: str, source: str) -> None:
        """Note that the run took in this source."""
        with self._rows.writing():
            self._rows.execute(
                "INSERT OR IGNORE INTO run_sources VALUES (?, ?)",
                (row_id("r", run, "run"), row_id("s", source, "source")),
            )

    def get(self, run: str) -> IngestRun:
        """:raises UnknownId: if there is none with this id."""
        for row in self._rows.query("SELECT * FROM runs WHERE id = ?", [row_id("r", run, "run")]):
            return self._from_row(row)
        raise UnknownId(
            f"There is no ingest run {run}. `memlane memories history --runs` lists them."
        )

    def last(self) -> IngestRun:
        """The newest run. :raises UnknownId: if there is none."""
        for row in self._rows.query("SELECT * FROM runs ORDER BY id DESC LIMIT 1"):
            return self._from_row(row)
        raise UnknownId("Nothing has been ingested yet.")

    def list(self) -> Sequence[IngestRun]:
        """Every run, oldest first."""
        return [self._from_row(row) for row in self._rows.query("SELECT * FROM runs ORDER BY id")]

    def _from_row(self, row: dict[str, Any]) -> IngestRun:
        sources = self._rows.query(
            "SELECT source FROM run_sources WHERE run = ? ORDER BY source", [row["id"]]
        )
        return IngestRun(
            public_id("r", row["id"]),
            datetime.fromisoformat(row["at"]),
            row["what"],
            tuple(public_id("s", found["source"]) for found in sources),
        )
