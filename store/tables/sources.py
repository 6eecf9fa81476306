"""Raw text of sources, and chat turns.

Invariant: a source is stored before anything is made of it, and its text never changes after.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.errors import UnknownId
from store.row_codecs import Table, dumps, iso, of_a_row, public_id, row_id, source_from_row
from store.types import Source, SourceKind, SourceStatus, Span, Status, TextBox


def content_hash(text: str) -> str:
    """SHA-256 of the text, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


BLANK = "█"
"""Stands for each forgotten character of a raw text, so that other spans keep their place."""


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with every character of the spans blanked, line ends kept."""
    characters = list(text)
    for span in spans:
        for at in range(span.start, min(span.end, len(characters))):
            if characters[at] != "\n":
                characters[at] = BLANK
    return "".join(characters)


def still_says(row: Mapping[str, Any], now: datetime) -> bool:
    """Whether a memory holds and says what it said: a row of it with the ``digest`` kept then."""
    until = row["valid_until"]
    return (
        row["status"] == Status.CURRENT
        and (until is None or now < datetime.fromisoformat(until))
        and content_hash(row["text"]) == row["digest"]
    )


class SourceTable(Table):
    """The raw sources of one home."""

    def add(
        self,
        kind: SourceKind,
        text: str,
        captured: datetime,
        *,
        locator: str | None = None,
        place: str | None = None,
        digest: str | None = None,
        expires: datetime | None = None,
        layout: Sequence[TextBox] = (),
    ) -> Source:
        """Store raw text as PENDING, with its layout where it was read off a picture.

        What this very file already gave (same ``digest``, by default the text's hash) is returned
        as it stands, so ingesting again after a crash takes the work up instead of doubling it.
        Text without a locator, such as chat, is always a new source.

        :raises StoreFull: if there is no space; nothing older is lost.
        """
        clean = text.replace("\x00", " ")
        digest = digest or content_hash(clean)
        with self._rows.writing():
            if locator is not None:
                latest = self.latest_from(locator)
                if latest is not None and latest.content_hash == digest:
                    return latest
            key = self._rows.execute(
                """INSERT INTO sources
                   (kind, locator, content_hash, text, captured, place, status, expires)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                (
                    kind,
                    locator,
                    digest,
                    clean,
                    iso(captured),
                    place,
                    SourceStatus.PENDING,
                    iso(expires),
                ),
            )
            for number, box in enumerate(layout):
                self._rows.execute(
                    "INSERT INTO layouts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        key,
                        number,
                        box.span.start,
                        box.span.end,
                        box.left,
                        box.top,
                        box.right,
                        box.bottom,
                        box.confidence,
                    ),
                )
            return self.get(public_id("s", key))

    def layout(self, source: str) -> tuple[TextBox, ...]:
        """Where on its picture the text of a source stands; empty where it was no picture."""
        rows = self._rows.query(
            "SELECT * FROM layouts WHERE source = ? ORDER BY number",
            [row_id("s", source, "source")],
        )
        return tuple(
            TextBox(
                Span(row["span_start"], row["span_end"]),
                *(row[side] for side in ("left", "top", "right", "bottom", "confidence")),
            )
            for row in rows
        )

    def get(self, source: str) -> Source:
        """:raises UnknownId: if there is none with this id."""
        rows = self._rows.query(
            "SELECT * FROM sources WHERE id = ?", [row_id("s", source, "source")]
        )
        if not rows:
            raise UnknownId(f"There is no source {source}. `memlane status` shows what is stored.")
        return source_from_row(rows[0])

    def kind(self, source: str) -> SourceKind:
        """Its kind, without reading its text. :raises UnknownId: if there is none with this id."""
        key = row_id("s", source, "source")
        for row in self._rows.query("SELECT kind FROM sources WHERE id = ?", [key]):
            return SourceKind(row["kind"])
        raise UnknownId(f"There is no source {source}. `memlane status` shows what is stored.")

    def latest_from(self, locator: str) -> Source | None:
        """The newest source that came from this path."""
        rows = self._rows.query(
            "SELECT * FROM sources WHERE locator = ? ORDER BY id DESC LIMIT 1", [locator]
        )
        return source_from_row(rows[0]) if rows else None

    def all_from(self, locator: str) -> tuple[Source, ...]:
        """Every version that came from this path, oldest first."""
        rows = self._rows.query("SELECT * FROM sources WHERE locator = ? ORDER BY id", [locator])
        return tuple(source_from_row(row) for row in rows)

    def same_content(self, digest: str) -> tuple[Source, ...]:
        """The sources with this hash, newest first."""
        rows = self._rows.query(
            "SELECT * FROM sources WHERE content_hash = ? ORDER BY id DESC", [digest]
        )
        return tuple(source_from_row(row) for row in rows)

    def relocate(self, old: str, new: str) -> None:
        """A file was moved: all that came from it is of the new path."""
        with self._rows.writing():
            self._rows.execute("UPDATE sources SET locator = ? WHERE locator = ?", (new, old))

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


class TurnTable(Table):
    """The exchanges of one home."""

    def log(self, at: datetime, text: str, route: str, reply: str, trace: Mapping[str, Any]) -> str:
        """Keep one exchange; returns its id."""
        with self._rows.writing():
            key = self._rows.execute(
                "INSERT INTO turns (at, text, route, reply, trace) VALUES (?, ?, ?, ?, ?)",
                (iso(at), text, route, reply, dumps(trace)),
            )
        return public_id("t", key)

    def get(self, turn: str) -> Turn:
        """:raises UnknownId: if there is none with this id."""
        for row in self._rows.query(
            "SELECT * FROM turns WHERE id = ?", [row_id("t", turn, "turn")]
        ):
            return _turn_from_row(row)
        raise UnknownId(f"There is no turn {turn}. Each answer has one; --json shows it.")

    def last(self, limit: int = 20) -> tuple[Turn, ...]:
        """The last exchanges, oldest first."""
        rows = self._rows.query("SELECT * FROM turns ORDER BY id DESC LIMIT ?", [limit])
        return tuple(map(_turn_from_row, reversed(rows)))

    def last_used(self) -> dict[str, datetime]:
        """When an answer last rested on each memory, by id."""
        rows = self._rows.query(
            """SELECT used.value AS memory, turns.at FROM turns,
               json_each(turns.trace, '$.memories') AS used
               WHERE used.type = 'text' ORDER BY turns.id"""
        )
        return {row["memory"]: datetime.fromisoformat(row["at"]) for row in rows}


def steps_of(trace: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of a turn's trace, each of a memory; an imported trace may hold anything."""
    steps = trace.get("steps")
    found = steps if isinstance(steps, list) else []
    return [s for s in found if isinstance(s, dict) and isinstance(s.get("memory"), str)]


@of_a_row
def _turn_from_row(row: dict[str, Any]) -> Turn:
    return Turn(
        public_id("t", row["id"]),
        datetime.fromisoformat(row["at"]),
        row["text"],
        row["route"],
        row["reply"],
        json.loads(row["trace"]),
    )
