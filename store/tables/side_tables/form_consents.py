"""Consents to fill sensitive form fields, per field and site.

Field and site alone are kept, never a value, so forgetting a memory has nothing to clean here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from store.row_codecs import Table, iso


@dataclass(frozen=True, slots=True)
class FormConsent:
    """Whether a field may be filled for a site."""

    field: str
    """What is asked for, such as 'passport-number', or the words of a question of its own."""
    site: str
    """The host that the form goes to; empty where the form names none."""
    given: bool | None = None
    """None where the person was not asked yet."""
    at: datetime | None = None
    """When it was said."""


class FormConsentTable(Table):
    """The consents and refusals of one home."""

    def get(self, field: str, site: str) -> FormConsent:
        """What was said of the field and the site, if anything."""
        rows = self._rows.query(
            "SELECT given, at FROM form_consents WHERE field = ? AND site = ?", (field, site)
        )
        if not rows:
            return FormConsent(field, site)
        return FormConsent(
            field, site, bool(rows[0]["given"]), datetime.fromisoformat(rows[0]["at"])
        )

    def list(self) -> tuple[FormConsent, ...]:
        """All that was said, by site and field."""
        rows = self._rows.query("SELECT * FROM form_consents ORDER BY site, field")
        return tuple(
            FormConsent(
                row["field"], row["site"], bool(row["given"]), datetime.fromisoformat(row["at"])
            )
            for row in rows
        )

    def put(self, field: str, site: str, *, given: bool, at: datetime) -> None:
        """Keep what the person said, in place of what they said before."""
        with self._rows.writing():
            self._rows.execute(
                "INSERT OR REPLACE INTO form_consents (field, site, given, at) VALUES (?, ?, ?, ?)",
                (field, site, int(given), iso(at)),
            )

    def remove(self, field: str | None = None, site: str | None = None) -> tuple[FormConsent, ...]:
        """Take back what was said of a field, of a site, of both or of all; returns it."""
        gone = tuple(
            one for one in self.list() if field in (None, one.field) and site in (None, one.site)
        )
        with self._rows.writing():
            for one in gone:
                self._rows.execute(
                    "DELETE FROM form_consents WHERE field = ? AND site = ?", (one.field, one.site)
                )
        return gone
