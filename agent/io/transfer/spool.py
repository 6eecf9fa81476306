"""Compact state of large imports: bitset and spool file."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.io.transfer.records import Record

_MOST_BITS = 1 << 27
"""Numbers up to which an id costs a bit (16 MB in all); a file may name any number."""


class Numbers:
    """A set of the numbers in ids, a bit each."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._large: set[int] = set()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, number: int) -> bool:
        if number >= _MOST_BITS:
            return number in self._large
        at = number >> 3
        return at < len(self._bits) and bool(self._bits[at] & (1 << (number & 7)))

    def add(self, number: int) -> None:
        if number in self:
            return
        self._count += 1
        if number >= _MOST_BITS:
            self._large.add(number)
            return
        at = number >> 3
        if at >= len(self._bits):
            self._bits.extend(bytes(max(at + 1 - len(self._bits), len(self._bits))))
        self._bits[at] |= 1 << (number & 7)


class Spool:
    """Records that wait until all others are in, in a file of the home that has no name."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by ``close``
        self._count = 0

    def add(self, record: Record) -> None:
        pickle.dump(record, self._file)
        self._count += 1

    def drain(self) -> Iterator[Record]:
        """Every record in the order it came; nothing may be added after."""
        self._file.seek(0)
        for _ in range(self._count):
            record = pickle.load(self._file)  # nobody else can write this file
            assert isinstance(record, Record)
            yield record

    def close(self) -> None:
        """Nothing of it is left then."""
        self._file.close()
