"""Raw text as it arrived, and the turns of the chat.

Invariant: a source is stored before anything is made of it, and its text never changes after.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.connection import Connection
from store.errors import UnknownId
from store.records import dumps, iso, public_id, row_id, source_from_row
from store.types import Source, SourceKind, SourceStatus


def content_hash(text: str) -> str:
    """SHA-256 of the text, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SourceTable:
    """The raw sources of one home."""

    def __init__(self, connection: Connection) -> None:
        self._rows = connection

    def add(
        self,
        kind: SourceKind,
        text: str,
        captured: datetime,
        *,
        locator: str | None = None,
        place: str | None = None,
        digest: str | None = None,
    ) -> Source:
        """Store raw text as PENDING and return it.

        What this very file already gave (same ``digest``, by default the text's hash) is returned
        as it stands, so ingesting again after a crash takes the work up instead of doubling it.
        Text without a locator, such as chat, is always a new source.

        :raises StoreFull: if there is no space; nothing older is lost.
        """
        clean = text.replace("\x00", "")
        digest = digest or content_hash(clean)
        with self._rows.writing():
            if locator is not None:
                latest = self.latest_from(locator)
                if latest is not None and latest.content_hash == digest:
                    return latest
            key = self._rows.execute(
                """INSERT INTO sources (kind, locator, content_hash, text, captured, place, status)
                   VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (kind, locator, digest, clean, iso(captured), place, SourceStatus.PENDING),
            )
            return self.get(public_id("s", key))

    def get(self, source: str) -> Source:
        """:raises UnknownId: if there is none with this id."""
        rows = self._rows.query(
            "SELECT * FROM sources WHERE id = ?", [row_id("s", source, "source")]
        )
        if not rows:
            raise UnknownId(f"There is no source {source}. `memlane status` tells what came in.")
        return source_from_row(rows[0])

    def kind(self, source: str) -> SourceKind:
        """Its kind, without reading its text. :raises UnknownId: if there is none with this id."""
        key = row_id("s", source, "source")
        for row in self._rows.query("SELECT kind FROM sources WHERE id = ?", [key]):
            return SourceKind(row["kind"])
        raise UnknownId(f"There is no source {source}. `memlane status` tells what came in.")

    def latest_from(self, locator: str) -> Source | None:
        """The newest source that came from this path."""
        rows = self._rows.query(
            "SELECT * FROM sources WHERE locator = ? ORDER BY id DESC LIMIT 1", [locator]
        )
        return source_from_row(rows[0]) if rows else None

    def list(self, *statuses: SourceStatus) -> tuple[Source, ...]:
        """Sources in the order they came, all or those of the given statuses."""
        marks = ",".join("?" * len(statuses))
        where = f"WHERE status IN ({marks})" if statuses else ""
        rows = self._rows.query(f"SELECT * FROM sources {where} ORDER BY id", statuses)
        return tuple(source_from_row(row) for row in rows)

    def counts(self) -> dict[str, int]:
        """How many sources have which status."""
        rows = self._rows.query("SELECT status, count(*) AS n FROM sources GROUP BY status")
        return {row["status"]: row["n"] for row in rows}

    def mark(self, source: str, status: SourceStatus, error: str | None = None) -> None:
        with self._rows.writing():
            self._rows.execute(
                "UPDATE sources SET status = ?, error = ? WHERE id = ?",
                (status, error, row_id("s", source, "source")),
            )


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of the chat, with the trace of what was selected and why."""

    id: str
    at: datetime
    text: str
    route: str
    reply: str
    trace: dict[str, Any]


class TurnTable:
    """The exchanges of one home."""

    def __init__(self, connection: Connection) -> None:
        self._rows = connection

    def log(self, at: datetime, text: str, route: str, reply: str, trace: Mapping[str, Any]) -> str:
        """Keep one exchange; returns its id."""
        with self._rows.writing():
            key = self._rows.execute(
                "INSERT INTO turns (at, text, route, reply, trace) VALUES (?, ?, ?, ?, ?)",
                (iso(at), text, route, reply, dumps(trace)),
            )
        return public_id("t", key)

    def last(self, limit: int = 20) -> tuple[Turn, ...]:
        """The last exchanges, oldest first."""
        rows = self._rows.query("SELECT * FROM turns ORDER BY id DESC LIMIT ?", [limit])
        return tuple(
            Turn(
                public_id("t", row["id"]),
                datetime.fromisoformat(row["at"]),
                row["text"],
                row["route"],
                row["reply"],
                json.loads(row["trace"]),
            )
            for row in reversed(rows)
        )
