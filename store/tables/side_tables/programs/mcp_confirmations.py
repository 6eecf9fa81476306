"""Changes requested by other programs, until confirmed with a one-time code.

A row lives for minutes: whoever looks drops those that are too old, with the text that was to be
put in a memory's place. A memory that is erased takes its rows with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from store.row_codecs import Table, public_id, row_id


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A change that waits for the person's word."""

    code: str
    client: str
    action: str
    memory: str
    text: str
    """What is to stand in its place; empty where it is to be forgotten."""
    until: datetime


class ConfirmationTable(Table):
    """The waiting confirmations of one home."""

    def put(self, asked: Confirmation, digest: str, now: datetime) -> None:
        """Keep one; an older one for just the same is void from now on."""
        key = row_id("m", asked.memory, "memory")
        with self._rows.writing():
            self._drop_old(now)
            self._drop(asked.client, digest)
            self._rows.execute(
                """INSERT INTO confirmations (code, client, action, memory, text, digest, until)
                   VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (asked.code, asked.client, asked.action, key, asked.text, digest,
                 asked.until.timestamp()),
            )  # fmt: skip

    def waiting(self, now: datetime) -> tuple[Confirmation, ...]:
        """Those that can still be given, oldest first."""
        with self._rows.writing():
            self._drop_old(now)
        return tuple(
            Confirmation(
                row["code"],
                row["client"],
                row["action"],
                public_id("m", row["memory"]),
                row["text"],
                datetime.fromtimestamp(row["until"], now.tzinfo),
            )
            for row in self._rows.query("SELECT * FROM confirmations ORDER BY id")
        )

    def take(self, code: str, client: str, digest: str, now: datetime) -> bool:
        """Use a code up; False where it is not the one for just this, or too late.

        A wrong code uses up what waits for this too, so that nobody can try one after the other.
        """
        with self._rows.writing():
            self._drop_old(now)
            rows = self._rows.query(
                "SELECT code FROM confirmations WHERE client = ? AND digest = ?", [client, digest]
            )
            self._drop(client, digest)
        return any(row["code"] == code for row in rows)

    def _drop(self, client: str, digest: str) -> None:
        self._rows.execute(
            "DELETE FROM confirmations WHERE client = ? AND digest = ?", [client, digest]
        )

    def _drop_old(self, now: datetime) -> None:
        self._rows.execute("DELETE FROM confirmations WHERE until <= ?", [now.timestamp()])
