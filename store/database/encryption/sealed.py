"""Small files beside the database of an encrypted home: their content and names under its key."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

from store.database.encryption.keys import key_of

_NONCE = 12
"""Bytes of random numbers before each sealed content, as AES-GCM wants them."""


class Sealer:
    """Encrypts contents (AES-256-GCM) and names with keys made from the key of a home."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._names = hashlib.blake2b(key, digest_size=32, person=b"memlane-names").digest()
        files = hashlib.blake2b(key, digest_size=32, person=b"memlane-files").digest()
        self._cipher = AESGCM(files)

    def name(self, text: str) -> str:
        """A name for a file about this text, by which nobody can test a guess of the text."""
        data = text.encode("utf-8", "replace")
        return hashlib.blake2b(data, key=self._names, digest_size=32).hexdigest()

    def seal(self, text: str) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, text.encode("utf-8", "replace"), None)

    def open(self, sealed: bytes) -> str:
        """:raises OSError: if it was not sealed with this key, or was changed since."""
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], None).decode()
        except (InvalidTag, ValueError) as error:
            raise OSError("a sealed file is damaged or of another home") from error


def sealer_of(database: Path) -> Sealer | None:
    """What seals files beside this database; None where it is plain.

    :raises HomeLocked: if it is encrypted and this process has no key.
    """
    key = key_of(database)
    return None if key is None else Sealer(key)
