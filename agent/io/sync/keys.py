"""The key of a person's homes, and the file in the shared folder that tells whose folder it is.

The key is an age identity (X25519), kept in the database of each home: readable for its owner
alone, and encrypted where the home is. https://age-encryption.org/v1
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from agent.io.sync.segments import age, put_file, translated
from store.errors import HomeUnavailable, InvalidInput, NewerStore

MARKER = "memlane-sync.json"
_KIND, _VERSION = "memlane-sync", 1


def new_key() -> str:
    """``AGE-SECRET-KEY-1`` and 58 letters and digits."""
    return str(age().x25519.Identity.generate())


def checked_key(typed: str) -> str:
    """The key that somebody typed. :raises InvalidInput: if it is none."""
    key = "".join(typed.split()).upper()
    try:
        return str(age().x25519.Identity.from_str(key))
    except age().IdentityError as error:
        raise InvalidInput(
            "That is not a key of memlane sync: it begins with AGE-SECRET-KEY-1. Show it on the "
            "first machine: memlane sync --key"
        ) from error


def id_of(key: str) -> str:
    """The public name of a key; it says nothing of it."""
    return hashlib.blake2b(key.encode(), digest_size=16, person=b"memlane-sync-id").hexdigest()


def folder_key_id(folder: Path) -> str | None:
    """The name of the key that a folder is encrypted with; None where nobody has begun there.

    :raises HomeUnavailable: if there is no such folder, or it cannot be read.
    :raises InvalidInput: if the file that tells it is damaged.
    """
    with translated(folder):
        if not folder.is_dir():
            raise HomeUnavailable(
                f"There is no folder {folder}. Connect the disk or start the file sync, then run "
                "the command again; nothing is lost."
            )
        try:
            data = (folder / MARKER).read_bytes()
        except FileNotFoundError:
            return None
    try:
        told = json.loads(data)
        if told["kind"] != _KIND or not isinstance(told["key"], str):
            raise ValueError("kind")
        if told["version"] > _VERSION:
            raise NewerStore(f"{folder} was written by a newer memlane. Upgrade memlane.")
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{folder / MARKER} is damaged or still incomplete. Wait for the file sync, or delete "
            "it and run: memlane sync --pair"
        ) from error
    return str(told["key"])


def claim(folder: Path, key: str) -> None:
    """Write into a folder whose it is."""
    document = {"kind": _KIND, "version": _VERSION, "key": id_of(key)}
    put_file(folder, MARKER, json.dumps(document).encode(), str(os.getpid()))
