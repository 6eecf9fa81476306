"""``encryption.json``: the key of an encrypted home, wrapped by a passphrase, or where it is kept.

The key is 32 random bytes. The recovery key is that key in 24 words, so it opens the home even
where this file is lost. Whether a home is encrypted is told by its database, which is changed in
one step; this file alone says nothing.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import unicodedata
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.database.driver import INSTALL
from store.database.encryption.pages import FIRST_WORDS
from store.database.whole_files import whole_file
from store.errors import CorruptStore, HomeUnavailable, InvalidInput, NewerStore

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENVELOPE_NAME = "encryption.json"
KIND, VERSION = "memlane-encryption", 1
SHORTEST = 8
"""Characters of a passphrase."""
KEY_BYTES = 32
MEMORY_KIB, ITERATIONS, LANES = 64 * 1024, 3, 4
"""Cost of a guess of the passphrase: the second recommended option of RFC 9106."""
_MOST_MEMORY_KIB, _MOST_ITERATIONS = 4 * 1024 * 1024, 64
"""What a changed file may not go beyond: the cost is read from it."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The key, encrypted (AES-256-GCM) with what Argon2id makes of a passphrase."""

    salt: str
    nonce: str
    key: str
    """All three in hexadecimal digits."""
    memory_kib: int = MEMORY_KIB
    iterations: int = ITERATIONS
    lanes: int = LANES


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is known of the key of a home without knowing it."""

    id: str
    """A hash of the key, by which the right one is told; it says nothing of the key."""
    passphrase: Wrapped | None
    """None where the key is in the system's keyring."""
    finished: bool
    """False while plain files are still left beside the encrypted database."""


def new_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def id_of(key: bytes) -> str:
    """The public name of a key."""
    return hashlib.blake2b(key, digest_size=16, person=b"memlane-home-key").hexdigest()


def checked_passphrase(passphrase: str) -> str:
    """:raises InvalidInput: if the passphrase is shorter than ``SHORTEST`` characters."""
    if len(passphrase) < SHORTEST:
        raise InvalidInput(f"A passphrase has at least {SHORTEST} characters. Choose a longer one.")
    return passphrase


def wrapped(key: bytes, passphrase: str, memory_kib: int = MEMORY_KIB) -> Wrapped:
    """The key under a passphrase. :raises InvalidInput: as of ``checked_passphrase``."""
    checked_passphrase(passphrase)
    plain = Wrapped(secrets.token_hex(16), secrets.token_hex(12), "", memory_kib)
    sealed = _cipher(plain, passphrase).encrypt(bytes.fromhex(plain.nonce), key, _bound(id_of(key)))
    return replace(plain, key=sealed.hex())


def opened(envelope: Envelope, passphrase: str) -> bytes:
    """The key, by the passphrase or by the 24 words of the recovery key.

    :raises InvalidInput: if it is neither.
    """
    key = key_of_words(passphrase)
    if (key is None or id_of(key) != envelope.id) and envelope.passphrase is not None:
        from cryptography.exceptions import InvalidTag

        kept = envelope.passphrase
        with suppress(InvalidTag):
            key = _cipher(kept, passphrase).decrypt(
                bytes.fromhex(kept.nonce), bytes.fromhex(kept.key), _bound(envelope.id)
            )
    if key is None or id_of(key) != envelope.id:
        raise InvalidInput(
            "That is not the passphrase, nor the recovery key, of this home. Try again; without "
            "either of them nothing in it can be read."
        )
    return key


def recovery_words(key: bytes) -> str:
    """The recovery key: 24 words that are the key itself, with a check."""
    from mnemonic import Mnemonic

    return Mnemonic("english").to_mnemonic(key)


def key_of_words(words: str) -> bytes | None:
    """The key that 24 words stand for; None if they are no recovery key."""
    from mnemonic import Mnemonic

    with suppress(ValueError, LookupError):
        key = bytes(Mnemonic("english").to_entropy(" ".join(words.lower().split())))
        return key if len(key) == KEY_BYTES else None
    return None


def is_plain(database: Path) -> bool:
    """Whether the file begins as a plain database of SQLite does."""
    try:
        with database.open("rb") as file:
            return file.read(len(FIRST_WORDS)) == FIRST_WORDS
    except OSError:
        return False


def envelope_of(database: Path) -> Envelope | None:
    """The envelope of an encrypted database; None where the database is plain.

    :raises CorruptStore: if the file is damaged.
    """
    path = database.with_name(ENVELOPE_NAME)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HomeUnavailable(f"Cannot read {path}: {error.strerror}.") from error
    # Left by an encryption that was killed before it changed the database.
    return None if is_plain(database) else parsed(data, path)


def parsed(data: bytes, path: Path) -> Envelope:
    """:raises CorruptStore: if it is no envelope. :raises NewerStore: if it is of a newer one."""
    try:
        told: dict[str, Any] = json.loads(data)
        if told.pop("kind") != KIND:
            raise ValueError("kind")
        if told.pop("version") > VERSION:
            raise NewerStore(f"{path} was written by a newer memlane. Upgrade memlane.")
        kept = told.pop("passphrase")
        envelope = Envelope(**told, passphrase=None if kept is None else Wrapped(**kept))
        if len(bytes.fromhex(envelope.id)) != 16 or not _sound(envelope.passphrase):
            raise ValueError("values")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorruptStore(
            f"{path} is damaged. Make it again with your recovery key: memlane lock --passphrase"
        ) from error
    return envelope


def as_bytes(envelope: Envelope) -> bytes:
    return json.dumps({"kind": KIND, "version": VERSION, **asdict(envelope)}, indent=2).encode()


def write_envelope(database: Path, envelope: Envelope) -> None:
    """Put the envelope beside the database, whole or not at all, and on the disk."""
    with whole_file(database.with_name(ENVELOPE_NAME)) as file:
        file.write(as_bytes(envelope))


def _sound(kept: Wrapped | None) -> bool:
    if kept is None:
        return True
    lengths = [len(bytes.fromhex(text)) for text in (kept.salt, kept.nonce, kept.key)]
    costs = 8 <= kept.memory_kib <= _MOST_MEMORY_KIB and 1 <= kept.iterations <= _MOST_ITERATIONS
    return lengths == [16, 12, KEY_BYTES + 16] and costs and 1 <= kept.lanes <= 64


def _bound(identity: str) -> bytes:
    """What a wrapped key is bound to, so that it cannot be put into another home's envelope."""
    return f"{KIND} {VERSION} {identity}".encode()


def _cipher(kept: Wrapped, passphrase: str) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
    except ImportError as error:
        raise HomeUnavailable(f"Encryption is not installed. {INSTALL}") from error
    derive = Argon2id(
        salt=bytes.fromhex(kept.salt),
        length=KEY_BYTES,
        iterations=kept.iterations,
        lanes=kept.lanes,
        memory_cost=kept.memory_kib,
    )
    # One text, however a keyboard composes its accents.
    return AESGCM(derive.derive(unicodedata.normalize("NFC", passphrase).encode()))
