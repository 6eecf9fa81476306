"""Signed consents: which other homes may read this one's views.

A consent is one row of the home that gives it. It names the other home by its folder and, as far as
that is known, by its identity. Invariants: only the home itself writes its consents; a row whose
signature the key of *this* home in *this* folder did not make counts as none, so a consent does not
travel with an export, a backup or a copied folder; a withdrawn consent stays as a signed row, and
no older copy of the database brings it back.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from store.database.whole_files import whole_file
from store.errors import HomeUnavailable
from store.row_codecs import Table, dumps, iso, moment

KEY_NAME = "profile.key"
"""Random bytes beside the database (mode 0600), made at the first consent. Delete the file, and
every consent that this home gave is worthless."""
_LASTING = 32
"""Bytes of it that tell who the home is. The others are new after every withdrawal, so that what
was signed before it counts no more, also where a backup of then is put back."""
_SINCE = 16


@dataclass(frozen=True, slots=True)
class SharingConsent:
    """What this home says to another one."""

    home: Path
    """The other one's folder, resolved."""
    peer: str | None
    """Its identity; None until it has one."""
    at: datetime
    withdrawn: datetime | None

    @property
    def stands(self) -> bool:
        return self.withdrawn is None


def place_of(home: Path) -> Path:
    """The folder of a home as consents name it: links followed."""
    return home.expanduser().resolve()


def identity_of(home: Path) -> str | None:
    """Who a home is: a hash of its key, which says nothing of the key; None where it has none."""
    key = _key(home)
    return None if key is None else _identity(key)


def ensure_identity(home: Path) -> str:
    """Get or create the key of a home, and tell who it is. Only ever called for one's own home."""
    path = home / KEY_NAME
    with (
        suppress(FileExistsError),
        open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
    ):
        file.write(secrets.token_bytes(_LASTING + _SINCE))
    return _identity(path.read_bytes())


def _renew(home: Path) -> bytes:
    """Make everything worthless that was signed so far; returns the new key of the same home."""
    key = (home / KEY_NAME).read_bytes()[:_LASTING] + secrets.token_bytes(_SINCE)
    with whole_file(home / KEY_NAME) as file:
        file.write(key)
    return key


def _key(home: Path) -> bytes | None:
    with suppress(OSError):
        key = (home / KEY_NAME).read_bytes()
        return key if len(key) == _LASTING + _SINCE else None
    return None


def _identity(key: bytes) -> str:
    return hashlib.blake2b(key[:_LASTING], digest_size=12, person=b"memlane-profile").hexdigest()


class SharingConsentTable(Table):
    """The consents that one home gave."""

    @property
    def home(self) -> Path:
        return place_of(self._rows.path.parent)

    def list(self) -> tuple[SharingConsent, ...]:
        """Consents with a signature of this home's key, withdrawn ones too, oldest first."""
        key = _key(self.home)
        if key is None:
            return ()
        rows = self._rows.query("SELECT * FROM persona_consents ORDER BY id")
        return tuple(_consent(row) for row in rows if _is_signed(row, key, self.home))

    def to(self, home: Path) -> SharingConsent | None:
        """What this home says to the one in this folder; None where it says nothing."""
        place = place_of(home)
        return next((consent for consent in self.list() if consent.home == place), None)

    def agree(self, home: Path, peer: str | None, *, at: datetime) -> SharingConsent:
        """Let the home in this folder read this one's views, from now on."""
        return self._put(SharingConsent(place_of(home), peer, at, None))

    def bind(self, home: Path, peer: str) -> None:
        """Keep who it is that was agreed with, once that is known: nobody else there is meant."""
        with self._rows.writing():  # nothing is withdrawn by another process in between
            given = self.to(home)
            if given is not None and given.stands and given.peer is None:
                self._put(replace(given, peer=peer))

    def withdraw(self, home: Path, *, at: datetime) -> SharingConsent | None:
        """Take the consent back; None where there was none to take back."""
        given = self.to(home)
        if given is None or not given.stands:
            return None
        ended = replace(given, withdrawn=at)
        # What is signed with the key of before counts no more from here on; a crash before the
        # rows are signed anew ends all consents rather than none.
        kept = [one for one in self.list() if one.home != given.home]
        key = _renew(self.home)
        with self._rows.writing():
            for consent in (*kept, ended):
                self._write(consent, key)
        return ended

    def _put(self, consent: SharingConsent) -> SharingConsent:
        ensure_identity(self.home)
        key = _key(self.home)
        if key is None:
            raise HomeUnavailable(
                f"{self.home / KEY_NAME} is damaged, so no agreement is possible. Delete it and "
                "agree again: memlane persona join --with HOME"
            )
        with self._rows.writing():
            self._write(consent, key)
        return consent

    def _write(self, consent: SharingConsent, key: bytes) -> None:
        row: dict[str, Any] = {
            "home": str(consent.home),
            "peer": consent.peer,
            "mine": _identity(key),
            "at": iso(consent.at),
            "withdrawn": iso(consent.withdrawn),
        }
        self._rows.execute(
            """INSERT INTO persona_consents (home, peer, mine, at, withdrawn, signature)
               VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT(home) DO UPDATE SET peer = excluded.peer, mine = excluded.mine,
                   at = excluded.at, withdrawn = excluded.withdrawn,
                   signature = excluded.signature""",
            (*row.values(), _signature(row, key, self.home)),
        )


def _consent(row: dict[str, Any]) -> SharingConsent:
    return SharingConsent(
        Path(row["home"]),
        row["peer"],
        datetime.fromisoformat(row["at"]),
        moment(row["withdrawn"]),
    )


def _signature(row: dict[str, Any], key: bytes, home: Path) -> str:
    said = [str(home), *(row[name] for name in ("home", "peer", "mine", "at", "withdrawn"))]
    return hmac.new(key, dumps(said).encode(), hashlib.sha256).hexdigest()


def _is_signed(row: dict[str, Any], key: bytes, home: Path) -> bool:
    return row["mine"] == _identity(key) and hmac.compare_digest(
        row["signature"], _signature(row, key, home)
    )
