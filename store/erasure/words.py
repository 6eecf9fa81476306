"""A look for the words of a home in the bytes of its files: the proof that it is encrypted."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from store.database.connection import Connection
from store.erasure.fingerprints import stream, streams_of, windows
from store.erasure.secure_delete import SearchedFiles, files_of, size_of

_TEXTS = (
    "SELECT text FROM memories",
    "SELECT text FROM sources",
    "SELECT text || ' ' || reply FROM turns",
    "SELECT text || ' ' || coalesce(hand, '') FROM persona_lines",
)


class WordSearch:
    """Finds any window (``store.erasure.fingerprints``) of many texts in a stream, all at once."""

    def __init__(self, texts: Iterator[str]) -> None:
        by_length: dict[int, set[str]] = {}
        for text in texts:
            for window in windows(text):
                by_length.setdefault(len(window), set()).add(window)
        longest = max(by_length, default=0)
        self._factors = np.frombuffer(secrets.token_bytes(8 * longest), np.uint64) | np.uint64(1)
        self._wanted = {
            length: (some, np.unique(np.concatenate([self._sums(one, length) for one in some])))
            for length, some in by_length.items()
        }

    def is_in(self, folded: str) -> bool:
        """Whether a stream holds a window of one of the texts."""
        for length, (some, sums) in self._wanted.items():
            if len(folded) < length:
                continue
            places = np.flatnonzero(np.isin(self._sums(folded, length), sums))
            if any(folded[place : place + length] in some for place in places):
                return True
        return False

    def _sums(self, folded: str, length: int) -> NDArray[np.uint64]:
        """A number for the window at each place; what differs has another one nearly always."""
        codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
        total = np.zeros(len(codes) - length + 1, np.uint64)
        for offset in range(length):
            total += codes[offset : offset + len(total)] * self._factors[offset]
        return total


def words_left(rows: Connection, home: Path) -> SearchedFiles:
    """Which files of the home hold words of a memory, a source, a message or a persona line.

    Names of files are looked at too; texts of less than 8 letters and digits prove nothing.
    """
    texts = (str(row[0]) for query in _TEXTS for row in rows.tuples(query))
    search = WordSearch(texts)
    looked: dict[str, int] = {}
    found: list[str] = []
    for path in files_of(home):
        name = path.relative_to(home).as_posix()
        try:
            held = search.is_in(stream(name)) or any(map(search.is_in, streams_of(path)))
        except FileNotFoundError:
            continue
        looked[name] = size_of(path)
        if held:
            found.append(name)
    return SearchedFiles(len(looked), sum(looked.values()), tuple(found))
