"""Browsers whose extension may ask this home.

The token of an extension is never stored, only its SHA-256: a copy of the home opens nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.errors import UnknownId
from store.row_codecs import Table, iso, public_id, row_id


@dataclass(frozen=True, slots=True)
class PairedBrowser:
    """One extension in one profile of a browser."""

    id: str
    """``b1``."""
    name: str
    origin: str
    """Its own, such as ``chrome-extension://...``: the token counts from nowhere else."""
    digest: str
    """SHA-256 of its token, in hexadecimal."""
    port: int
    """The port that it asks."""
    paired: datetime


class PairedBrowserTable(Table):
    """The paired browsers of one home."""

    def list(self) -> tuple[PairedBrowser, ...]:
        """All of them, the oldest first."""
        return tuple(map(_browser, self._rows.query("SELECT * FROM paired_browsers ORDER BY id")))

    def of(self, origin: str) -> PairedBrowser | None:
        """The one with this origin, if it is paired."""
        rows = self._rows.query("SELECT * FROM paired_browsers WHERE origin = ?", [origin])
        return _browser(rows[0]) if rows else None

    def put(self, name: str, origin: str, digest: str, port: int, at: datetime) -> PairedBrowser:
        """Keep one, in place of an earlier one of the same origin."""
        with self._rows.writing():
            self._rows.execute("DELETE FROM paired_browsers WHERE origin = ?", [origin])
            self._rows.execute(
                """INSERT INTO paired_browsers (name, origin, digest, port, paired)
                   VALUES (?, ?, ?, ?, ?)""",
                (name, origin, digest, port, iso(at)),
            )
            (row,) = self._rows.query("SELECT * FROM paired_browsers WHERE origin = ?", [origin])
        return _browser(row)

    def remove(self, browser: str) -> PairedBrowser:
        """Let a browser ask no more. :raises UnknownId: if there is none with this id."""
        number = row_id("b", browser, "browser")
        with self._rows.writing():
            rows = self._rows.query("SELECT * FROM paired_browsers WHERE id = ?", [number])
            if not rows:
                raise UnknownId(f"No browser {browser} is paired. See: memlane browser list")
            self._rows.execute("DELETE FROM paired_browsers WHERE id = ?", [number])
        return _browser(rows[0])


def _browser(row: dict[str, Any]) -> PairedBrowser:
    return PairedBrowser(
        public_id("b", row["id"]),
        row["name"],
        row["origin"],
        row["digest"],
        row["port"],
        datetime.fromisoformat(row["paired"]),
    )
