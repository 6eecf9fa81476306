"""The keys that this process holds, and where it may ask for others.

A key comes from a passphrase that was typed (``hold``), from the system's keyring, or from a source
that somebody registered, as the command line does for the resident process.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from store.database.encryption.envelope import Envelope, envelope_of, id_of
from store.errors import HomeLocked

SERVICE = "memlane"
"""Under which the system's keyring has the keys, each by its id."""
Source = Callable[[Path], bytes | None]
"""Gives the key that somebody else holds for the home at this path; None where nobody does."""

_held: dict[str, bytes] = {}
_sources: list[Source] = []


def hold(key: bytes) -> None:
    """Keep a key in this process until it ends."""
    _held[id_of(key)] = key


def forget_keys() -> None:
    """Let go of every key. Connections that are open keep theirs until they are closed."""
    _held.clear()


def register_source(source: Source) -> None:
    """Ask ``source`` too for keys that this process does not hold."""
    if source not in _sources:
        _sources.append(source)


def key_of(database: Path) -> bytes | None:
    """The key of a database; None where it is plain.

    :raises HomeLocked: if nobody has the key, or the encryption was interrupted.
    """
    envelope = envelope_of(database)
    if envelope is None:
        return None
    if not envelope.finished:
        raise HomeLocked(
            f"The encryption of {database.parent} was interrupted. Finish it: memlane unlock"
        )
    return key_for(envelope, database.parent)


def key_for(envelope: Envelope, home: Path) -> bytes:
    """The key of an envelope. :raises HomeLocked: if nobody has it."""
    key = found(envelope, home)
    if key is None:
        raise HomeLocked(f"The home {home} is locked. Unlock it: memlane unlock")
    return key


def found(envelope: Envelope, home: Path) -> bytes | None:
    """The key of an envelope, from whoever has it."""
    if envelope.id in _held:
        return _held[envelope.id]
    ways: list[Source] = list(_sources)
    if envelope.passphrase is None:
        ways.insert(0, lambda _: from_keyring(envelope.id))
    for way in ways:
        key = way(home)
        if key is not None and id_of(key) == envelope.id:
            hold(key)
            return key
    return None


# ---- the system's keyring -----------------------------------------------------------------


def from_keyring(identity: str) -> bytes | None:
    """The key of this id in the system's keyring; None if it has none or there is no keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        told = keyring.get_password(SERVICE, identity)
        return None if told is None else bytes.fromhex(told)
    except (KeyringError, ValueError):
        return None


def put_into_keyring(key: bytes) -> None:
    """:raises HomeUnavailable: if this machine has no keyring, or it does not take the key."""
    from store.database.driver import INSTALL
    from store.errors import HomeUnavailable

    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise HomeUnavailable(f"Encryption is not installed. {INSTALL}") from error
    try:
        keyring.set_password(SERVICE, id_of(key), key.hex())
        kept = keyring.get_password(SERVICE, id_of(key)) == key.hex()
    except KeyringError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HomeUnavailable(
            f"The system's keyring cannot be used ({reason.rstrip('.')}). Use a passphrase: "
            "memlane lock"
        ) from error
    if not kept:
        raise HomeUnavailable(
            "The system's keyring did not keep the key. Use a passphrase: memlane lock"
        )
