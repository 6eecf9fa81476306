"""Damage of SQLite's write-ahead log, which SQLite itself passes over in silence.

The log holds changes that are not in the database file yet: a header, then frames, each a page with
a checksum that goes on from the frame before it (https://sqlite.org/fileformat2.html#walformat).
After a crash SQLite reads the frames up to the first whose checksum is wrong, and drops the rest.
That is right for a change that was being written. It is a loss where whole changes stand behind the
damage, or where the index of the log (``-shm``) counts more frames than the log has. What cannot be
told: a log and an index that are both gone, and a last change that is damaged without an index.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from store.database.encryption.pages import FIRST_WORDS, PAGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

HEADER, FRAME_HEADER = 32, 24
LARGEST = 256 * 1024 * 1024
"""Bytes of the largest log that is looked through."""
_MAGIC = 0x377F0682
"""The last bit is set where checksums are of big-endian words."""
_INDEX, _BACKFILLED = 136, 96
"""Bytes of the index that are of interest, and where it counts the frames in the database."""


@dataclass(frozen=True, slots=True)
class LogDamage:
    """What SQLite would not read of a log."""

    frames: int
    """Frames that the log should have."""
    read: int
    """Frames that SQLite reads: those of the changes before the damage."""

    def __str__(self) -> str:
        return f"{self.frames - self.read} of its {self.frames} pages cannot be read by SQLite"


@dataclass(frozen=True, slots=True, eq=False)
class _Log:
    """A log as it lies on the disk."""

    pages: tuple[bytes, ...]
    numbers: Words
    """The page of the database that each frame holds."""
    sizes: Words
    """Pages of the database after a change, at the last frame of each; else 0."""
    whole: NDArray[np.bool_]
    """Whether a frame is of this log, and its checksum goes on from the frame before it."""
    header: bool
    """Whether the header is whole."""
    counted: int
    """Frames that the index counts; 0 where there is no index of this log."""
    backfilled: int
    """Frames of these that are in the database file."""

    @property
    def read(self) -> int:
        """Frames up to the last whole change before the first damaged frame."""
        if not self.header:
            return 0
        good = int(self.whole.argmin()) if not self.whole.all() else len(self.whole)
        ends = self.sizes[:good].nonzero()[0]
        return int(ends[-1]) + 1 if len(ends) else 0

    @property
    def ends(self) -> list[int]:
        """Last frames of changes that are whole by themselves."""
        return [int(end) for end in (self.whole & (self.sizes > 0)).nonzero()[0]]


def damage_of(database: Path) -> LogDamage | None:
    """What of the log of a database would be dropped though it was stored; None where nothing.

    Close no file of a database that this process has open (``connection.read_blocks``): call
    this before.
    """
    log = _read(database)
    if log is None:
        return None
    read, found = log.read, log.counted
    behind = [end for end in log.ends if end >= read]
    # A change is synced before the next begins: one with something behind it was stored.
    if behind and log.whole[behind[0] + 1 :].any():
        found = max(found, behind[-1] + 1)
    if found <= read or (not log.pages and log.backfilled >= found):
        return None
    return LogDamage(found, read)


def fold_in(database: Path) -> None:
    """Write the whole frames of a damaged log into the database file and delete the log.

    For a copy of a damaged home. A page whose frame is damaged stays as it was before.
    """
    log = _read(database)
    if log is None:
        return
    last = max(log.ends, default=-1)
    with database.open("r+b") as file:
        for at in range(log.backfilled, last + 1):
            if log.whole[at]:
                file.seek((int(log.numbers[at]) - 1) * len(log.pages[at]))
                file.write(log.pages[at])
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)


def _read(database: Path) -> _Log | None:
    """The log of a database; None where there is none, or nothing can be told of it."""
    import numpy as np  # a home without a log does without

    index = _bytes(database, "-shm", _INDEX)
    data = _bytes(database, "-wal", LARGEST)
    if index != _bytes(database, "-shm", _INDEX) or len(data) >= LARGEST:
        return None  # another process begins a new log just now: it is alive, and so is its log
    index = index if len(index) == _INDEX and index[:48] == index[48:96] and index[12] else b""
    counted = struct.unpack_from("=I", index, 16)[0] if index else 0
    backfilled = struct.unpack_from("=I", index, _BACKFILLED)[0] if index else 0
    nothing = np.zeros(0, np.uint32)
    empty = _Log((), nothing, nothing, nothing.astype(bool), True, counted, backfilled)
    if len(data) < HEADER:
        return empty
    magic, _, size = struct.unpack_from(">III", data)
    stored = struct.unpack_from(">II", data, 24)
    header = magic | 1 == _MAGIC | 1
    header = header and _checksums(_words(data[:24], magic))[0].tolist() == list(stored)
    salt = data[16:24] if header else index[32:40]
    if not header:
        magic, size = _of_the_machine(), _page_size(database)
    if index and index[32:40] != salt:
        counted = backfilled = 0  # the index of another log
        empty = replace(empty, counted=0, backfilled=0)
    step = FRAME_HEADER + size
    count = (len(data) - HEADER) // step
    if size < 512 or not count:
        return empty
    frames = np.frombuffer(data, np.uint8, count * step, HEADER).reshape(count, step)
    heads = frames[:, :FRAME_HEADER].copy().view(">u4").astype(np.uint32)  # (frames, 6)
    before = np.vstack([np.array([stored], np.uint32), heads[:-1, 4:]])
    summed = np.hstack([frames[:, :8], frames[:, FRAME_HEADER:]])
    sums = _checksums(_words(summed.tobytes(), magic).reshape(count, -1), before)
    whole = (sums == heads[:, 4:]).all(axis=1)
    if salt:
        whole &= (frames[:, 8:16] == np.frombuffer(salt, np.uint8)).all(axis=1)
    pages = tuple(frame[FRAME_HEADER:].tobytes() for frame in frames)
    return _Log(pages, heads[:, 0], heads[:, 1], whole, header, counted, backfilled)


def _bytes(database: Path, ending: str, most: int) -> bytes:
    try:
        with database.with_name(database.name + ending).open("rb") as file:
            return file.read(most)
    except OSError:
        return b""


def _page_size(database: Path) -> int:
    data = _bytes(database, "", 18)
    if len(data) == 18 and not data.startswith(FIRST_WORDS):
        return PAGE  # it is encrypted: nothing can be read of it
    size = struct.unpack_from(">H", data, 16)[0] if len(data) == 18 else 0
    return 65536 if size == 1 else int(size)


def _of_the_machine() -> int:
    """The magic number that SQLite writes on this machine."""
    return _MAGIC | (sys.byteorder == "big")


def _words(data: bytes, magic: int) -> Words:
    import numpy as np

    return np.frombuffer(data, ">u4" if magic & 1 else "<u4").astype(np.uint32)


def _checksums(words: Words, before: Words | None = None) -> Words:
    """SQLite's checksum of rows of words, (rows, 2), each going on from ``before`` of its row.

    For each two words: ``a += first + b; b += second + a``, modulo 2 ** 32. That is linear, so a
    row is weighed by how often each of its words comes to count.
    """
    import numpy as np

    rows = words.reshape(1, -1) if words.ndim == 1 else words
    weights, start = _weights(rows.shape[1])
    sums = np.stack([(rows * weight).sum(axis=1, dtype=np.uint32) for weight in weights], axis=1)
    if before is not None:
        for at in (0, 1):
            sums[:, at] += before[:, 0] * start[at][0] + before[:, 1] * start[at][1]
    return sums


@cache
def _weights(count: int) -> tuple[tuple[Words, Words], tuple[Words, Words]]:
    """What each of ``count`` words adds to both sums, and what both sums before add."""
    import numpy as np

    most = 1 << 32
    # How much a and b at the end hold of an a and of a b that stand before the words yet to come.
    of_a, of_b = (1, 0), (0, 1)
    weights = [[0] * count, [0] * count]
    for at in range(count - 2, -1, -2):
        # a' = a + x + b;  b' = b + y + a' = a + x + 2 b + y
        for row in (0, 1):
            weights[row][at] = (of_a[row] + of_b[row]) % most
            weights[row][at + 1] = of_b[row]
        of_a, of_b = (
            ((of_a[0] + of_b[0]) % most, (of_a[1] + of_b[1]) % most),
            ((of_a[0] + 2 * of_b[0]) % most, (of_a[1] + 2 * of_b[1]) % most),
        )
    a, b = (np.array(row, np.uint32) for row in weights)
    return (a, b), (
        np.array([of_a[0], of_b[0]], np.uint32),
        np.array([of_a[1], of_b[1]], np.uint32),
    )
