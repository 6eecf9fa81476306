"""Reminders and digests already shown on the desktop.

Holds ids and times, no text; a memory that is erased takes its rows with it.
"""

from __future__ import annotations

from datetime import date, datetime

from store.row_codecs import Table, iso, row_id


class ShownReminderTable(Table):
    """The shown reminders of one home."""

    def claim(self, memory: str, when: datetime, now: datetime) -> bool:
        """Take it upon this process to show a reminder; False where that was done before."""
        key = row_id("m", memory, "memory")
        with self._rows.writing():
            if self._rows.query(
                "SELECT 1 FROM notified WHERE memory = ? AND occasion = ?", [key, iso(when)]
            ):
                return False
            self._rows.execute(
                "INSERT INTO notified (memory, occasion, shown) VALUES (?, ?, ?)",
                (key, iso(when), iso(now)),
            )
        return True

    def release(self, memory: str, when: datetime) -> None:
        """Take a claim back: it could not be shown."""
        key = row_id("m", memory, "memory")
        with self._rows.writing():
            self._rows.execute(
                "DELETE FROM notified WHERE memory = ? AND occasion = ?", [key, iso(when)]
            )

    def claim_day(self, day: date) -> bool:
        """Take it upon this process to show the digest of a day; False where that was done."""
        with self._rows.writing():
            known = self._rows.query("SELECT 1 FROM notified_days WHERE day = ?", [f"{day}"])
            if not known:
                self._rows.execute("INSERT INTO notified_days VALUES (?)", (f"{day}",))
        return not known

    def release_day(self, day: date) -> None:
        """Take that claim back: it could not be shown."""
        with self._rows.writing():
            self._rows.execute("DELETE FROM notified_days WHERE day = ?", (f"{day}",))
