"""Segments: the encrypted files in the shared folder. Each is written once, whole or not at all.

A segment is age's format around compressed lines of JSON, and before them a keyed hash: age
encrypts to a key that could be known, so it alone does not say who wrote a file.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from store.database.whole_files import sync_folder
from store.errors import HomeUnavailable, StoreFull
from store.row_codecs import dumps
from store.sync.operations import Shared, from_document, to_document

SUFFIX = ".age"
PART = ".memlane-part-"
"""Begins the name of a file that is being written."""
LARGEST = 4_000_000
"""Characters of JSON in a segment; one record may be larger."""
_MAC_BYTES = 32
_HEAD = {"memlane-sync": 1}
INSTALL = "Install what it needs from the checkout: pip install '.[sync]'"


def age() -> ModuleType:
    """pyrage. :raises HomeUnavailable: if the extra ``sync`` is not installed."""
    try:
        import pyrage
    except ImportError as error:
        raise HomeUnavailable(f"Synchronisation is not installed. {INSTALL}") from error
    module: ModuleType = pyrage
    return module


class Unreadable(Exception):
    """A segment that cannot be read now; the message says why, in a few words."""


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """The system's errors about a folder, as ours.

    :raises StoreFull: if its disk is full.
    :raises HomeUnavailable: if it cannot be read or written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(
                f"The disk of {folder} is full. Free some space and run the command again; nothing "
                "is lost."
            ) from error
        raise HomeUnavailable(
            f"Cannot use the folder {folder}: {error.strerror or error}. Run the command again "
            "when it is back; nothing is lost."
        ) from error


def put_file(folder: Path, name: str, data: bytes, owner: str) -> None:
    """Write a file whole or not at all, and have it on the disk.

    :raises StoreFull: or HomeUnavailable, as of ``translated``; nothing is left behind then.
    """
    part = folder / f"{PART}{owner}-{secrets.token_hex(4)}"
    with translated(folder):
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(folder / name)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
        sync_folder(folder)


def remove_parts(folder: Path, owner: str) -> None:
    """Remove what a killed run of this home left half-written."""
    with translated(folder):
        for path in folder.glob(f"{PART}{owner}-*"):
            path.unlink(missing_ok=True)


def names_in(folder: Path) -> list[str]:
    """The segments in a folder."""
    with translated(folder):
        return sorted(path.name for path in folder.iterdir() if path.name.endswith(SUFFIX))


def parted(shared: Iterable[Shared]) -> Iterator[list[Shared]]:
    """Records in groups that each fit into a segment."""
    group: list[Shared] = []
    size = 0
    for item in shared:
        length = len(dumps(to_document(item)))
        if group and size + length > LARGEST:
            yield group
            group, size = [], 0
        group.append(item)
        size += length
    if group:
        yield group


def sealed(shared: Sequence[Shared], key: str) -> bytes:
    """The bytes of a segment."""
    lines = "\n".join(dumps(document) for document in (_HEAD, *map(to_document, shared)))
    packed = zlib.compress(lines.encode("utf-8", "surrogatepass"))
    recipient = age().x25519.Identity.from_str(key).to_public()
    return bytes(age().encrypt(_mac(packed, key) + packed, [recipient]))


def opened(data: bytes, key: str) -> list[Shared]:
    """The records of a segment.

    :raises Unreadable: if it is cut, changed, of another key, or of a newer memlane.
    """
    try:
        plain = age().decrypt(data, [age().x25519.Identity.from_str(key)])
    except age().DecryptError as error:
        raise Unreadable("incomplete, changed, or of another key") from error
    mac, packed = plain[:_MAC_BYTES], plain[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(packed, key)):
        raise Unreadable("not written by one of your homes")
    try:
        text = zlib.decompress(packed).decode("utf-8", "surrogatepass")
        head, *lines = text.split("\n")
        if json.loads(head) != _HEAD:
            raise Unreadable("written by a newer memlane; upgrade this one")
        return [from_document(json.loads(line)) for line in lines]
    except (zlib.error, ValueError) as error:
        raise Unreadable("of a form that this memlane does not know; upgrade it") from error


def _mac(packed: bytes, key: str) -> bytes:
    secret = hashlib.blake2b(key.encode(), digest_size=32, person=b"memlane-segment").digest()
    return hashlib.blake2b(packed, key=secret, digest_size=_MAC_BYTES).digest()
