"""The key of synchronisation and other single values, and names made with the key."""

from __future__ import annotations

import hashlib

from store.database.connection import Connection
from store.row_codecs import Table, dumps

KEY, FOLDER, HOME, READ_TO = "key", "folder", "home", "journal"
"""Names of ``sync_state``: the secret key; the folder synced last; a random name of this home; the
last line of the journal that was told to the others."""


class Names(Table):
    """Single values of one home, and keyed digests."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._secret: tuple[str, bytes] | None = None

    def state(self, name: str) -> str | None:
        for row in self._rows.query("SELECT value FROM sync_state WHERE name = ?", [name]):
            return str(row["value"])
        return None

    def set_state(self, name: str, value: str) -> None:
        self._rows.execute("INSERT OR REPLACE INTO sync_state VALUES (?, ?)", (name, value))

    def digest(self, *parts: object) -> str:
        """32 hexadecimal digits that only homes with the same key can make.

        :raises LookupError: if this home is not paired.
        """
        key = self.state(KEY)
        if key is None:
            raise LookupError("no key: the home is not paired")
        if self._secret is None or self._secret[0] != key:
            secret = hashlib.blake2b(key.encode(), digest_size=32, person=b"memlane-names").digest()
            self._secret = (key, secret)
        data = dumps(parts).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._secret[1], digest_size=16).hexdigest()

    def says(self, text: str) -> str:
        """The digest of a sentence; case and spacing do not matter."""
        return self.digest("says", " ".join(text.casefold().split()))

    def unsweep(self) -> None:
        """Have the database rewritten, because a text was taken out of these tables."""
        self._rows.execute("INSERT INTO sync_unswept VALUES (datetime())")
