"""Spool file of large imports; in an encrypted home it stays in memory."""

from __future__ import annotations

import io
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from agent.io.transfer.records import Record
from store.database.connection import is_encrypted


class Spool:
    """Records that wait until all others are in, in a file of the home that has no name."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = io.BytesIO()
        if not is_encrypted(folder):
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
