"""Sources by name: the raw text of memories as homes tell it to each other.

What is forgotten of a text is blanked in every home, each blank one character for one, so all homes
come to the same text whatever the order: a character is blank if any home blanked it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from store.row_codecs import dumps, public_id, row_id
from store.sync.names import Names
from store.sync.operations import SharedSource
from store.tables.sources import BLANK, blanked
from store.types import SourceStatus, Span

ELSEWHERE = "sync:"
"""Stands before the path of a file that lies on another machine."""
_SHARED = ("kind", "text", "content_hash", "captured", "place", "expires")
"""Columns that are told; the path is told too, with ``ELSEWHERE`` before it."""

Blanks = tuple[tuple[int, int], ...]


def blanks_of(text: str) -> Blanks:
    """The stretches of a text that are blank, each as long as can be."""
    found = []
    end = 0
    while (start := text.find(BLANK, end)) >= 0:
        end = start + len(text[start:]) - len(text[start:].lstrip(BLANK))
        found.append((start, end))
    return tuple(found)


def joined(one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]) -> Blanks:
    """All characters of both, in as few stretches as can be."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((*one, *other)):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


class SharedSources(Names):
    """The named sources of one home."""

    def name(self, source: str | None) -> str | None:
        """The global id of a source, which from now on is told to the other homes."""
        if source is None:
            return None
        key = row_id("s", source, "source")
        if rows := self._rows.query("SELECT gid FROM sync_sources WHERE source = ?", [key]):
            return str(rows[0]["gid"])
        (row,) = self._rows.query("SELECT * FROM sources WHERE id = ?", [key])
        number = 0
        while True:
            parts = (row["kind"], row["content_hash"], row["captured"], number)
            gid = self.digest("source", *parts)
            if not self._rows.query("SELECT 1 FROM sync_sources WHERE gid = ?", [gid]):
                break
            number += 1
        self._rows.execute(
            "INSERT INTO sync_sources VALUES (?, ?, ?, NULL)",
            (gid, key, dumps(blanks_of(row["text"]))),
        )
        return gid

    def here(self, gid: str | None) -> str | None:
        """The id of a named source here; None where its text has not come."""
        rows = self._rows.query(
            "SELECT source FROM sync_sources WHERE gid = ? AND source IS NOT NULL", [gid]
        )
        return public_id("s", rows[0]["source"]) if rows else None

    def look_for_blanks(self) -> None:
        """Note what was forgotten here of the texts, so that the others are told."""
        for row in self._rows.query(
            """SELECT gid, text, blanks FROM sync_sources JOIN sources ON sources.id = source
               WHERE instr(text, ?)""",
            [BLANK],
        ):
            now = dumps(blanks_of(row["text"]))
            if now != row["blanks"]:
                self._rows.execute(
                    "UPDATE sync_sources SET blanks = ?, segment = NULL WHERE gid = ?",
                    (now, row["gid"]),
                )

    def untold(self) -> list[SharedSource]:
        """Sources that the others have to be told of."""
        rows = self._rows.query("SELECT gid FROM sync_sources WHERE segment IS NULL ORDER BY gid")
        return [self.shared(row["gid"]) for row in rows]

    def shared(self, gid: str) -> SharedSource:
        """A source as it is told."""
        (kept,) = self._rows.query("SELECT source, blanks FROM sync_sources WHERE gid = ?", [gid])
        found = self._rows.query("SELECT * FROM sources WHERE id = ?", [kept["source"]])
        row: dict[str, Any] | None = None
        if found:
            row = {name: found[0][name] for name in _SHARED}
            path = found[0]["locator"]
            row["locator"] = path and ELSEWHERE + path.removeprefix(ELSEWHERE)
        return SharedSource(gid, _read(kept["blanks"]), row)

    def record(self, shared: SharedSource, segment: str | None) -> bool:
        """Take a source in; whether a text became blanker or came."""
        rows = self._rows.query("SELECT * FROM sync_sources WHERE gid = ?", [shared.id])
        kept: dict[str, Any] = rows[0] if rows else {"source": None, "blanks": "[]"}
        blanks = joined(_read(kept["blanks"]), shared.blanks)
        source, news = kept["source"], False
        if source is None and shared.row is not None:
            source, news = self._insert(shared.row, blanks), True
        elif source is not None and dumps(blanks) != kept["blanks"]:
            self._blank(source, blanks)
            news = True
        if source is not None:
            # A line end inside of a stretch stays as it is, so the text says what is blank.
            (row,) = self._rows.query("SELECT text FROM sources WHERE id = ?", [source])
            blanks = blanks_of(row["text"])
        # What is told there is not all that is known here: tell it anew.
        told = segment if dumps(blanks) == dumps(shared.blanks) else None
        if shared.row is None and source is not None:
            told = None
        self._rows.execute(
            "INSERT OR REPLACE INTO sync_sources VALUES (?, ?, ?, ?)",
            (shared.id, source, dumps(blanks), told),
        )
        return news

    def _insert(self, row: dict[str, Any], blanks: Blanks) -> int:
        names = (*_SHARED, "locator")
        text = blanked(row["text"], [Span(*stretch) for stretch in blanks])
        values = [text if name == "text" else row[name] for name in names]
        return self._rows.execute(
            f"INSERT INTO sources ({', '.join(names)}, status) VALUES ({'?, ' * len(names)}?)",
            [*values, SourceStatus.EXTRACTED],
        )

    def _blank(self, source: int, blanks: Blanks) -> None:
        (row,) = self._rows.query("SELECT text, locator FROM sources WHERE id = ?", [source])
        after = blanked(row["text"], [Span(*stretch) for stretch in blanks])
        if after != row["text"]:
            self._rows.execute(
                "UPDATE sources SET text = ?, error = NULL WHERE id = ?", (after, source)
            )
            self.unsweep()
        if row["locator"] is None:
            # The hash of a short text gives it away.
            self._rows.execute(
                "UPDATE sources SET content_hash = 'forgotten' WHERE id = ?", [source]
            )


def _read(blanks: str) -> Blanks:
    return tuple((start, end) for start, end in json.loads(blanks))
