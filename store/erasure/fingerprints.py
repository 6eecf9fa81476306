"""Keyed fingerprints of erased text, to find it in any bytes.

A text is folded to its *stream*: letters and digits alone, in one case, so that spacing, quoting
and what lies beside it in a file do not matter. The stream is cut into windows of ``LONGEST``
characters side by side, and what is kept of each is a keyed hash. Sliding the same window over the
bytes of a file finds every stretch of the text that holds one whole window.

Windows do not overlap on purpose: overlapping ones could be guessed character by character, these
only ``SHORTEST`` or more at once. Whoever has the key can still test a guess of the whole, as can
whoever checks; docs/forgetting.md says how to drop the key.
"""

from __future__ import annotations

import codecs
import hashlib
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from store.database.connection import DATABASE_FILES, read_blocks
from store.types import Span

LONGEST = 12
"""Characters of a window."""
SHORTEST = 8
"""A stream shorter than this is found everywhere, and its hash would be guessed at once."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError)
"""What zipfile raises of a damaged file: RuntimeError (NotImplementedError is one) where a changed
flag or number tells of a password or a method that it lacks."""
_CHUNK = 1 << 22
_MARK_BYTES = 8

_NOISE = re.compile(r"[\W_]+")
_NO_LETTERS = bytes(b for b in range(128) if not chr(b).isalnum())
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


def stream(text: str) -> str:
    """The letters and digits of a text, folded; nothing else."""
    return _NOISE.sub("", text.casefold())


def windows(text: str) -> tuple[str, ...]:
    """The windows of a text, side by side, the last flush with its end; none if it is too short."""
    folded = stream(text)
    if len(folded) < SHORTEST:
        return ()
    if len(folded) <= LONGEST:
        return (folded,)
    starts = [*range(0, len(folded) - LONGEST, LONGEST), len(folded) - LONGEST]
    return tuple(dict.fromkeys(folded[start : start + LONGEST] for start in starts))


def occurrences(needle: str, text: str) -> tuple[Span, ...]:
    """Where ``text`` says the words of ``needle`` in their order, whatever stands between them.

    Whole words only: 'I ski' is not in 'whiskies'.
    """
    wanted = tuple(match.group().casefold() for match in _TOKEN.finditer(needle))
    folded = text.casefold()
    if not wanted or not all(word in folded for word in wanted):
        return ()
    words, spans = _tokens(text)
    found: list[Span] = []
    done = 0
    for at in [place for place, word in enumerate(words) if word == wanted[0]]:
        if at >= done and words[at : at + len(wanted)] == wanted:
            done = at + len(wanted)
            found.append(Span(spans[at][0], spans[done - 1][1]))
    return tuple(found)


@lru_cache(maxsize=1)  # the sentences of a text are looked for one after the other
def _tokens(text: str) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The words of a text, folded, and where each stands."""
    found = list(_TOKEN.finditer(text))
    return tuple(m.group().casefold() for m in found), tuple(m.span() for m in found)


def codes(text: str) -> frozenset[str]:
    """Words with a digit, of three characters and more: what gives a secret away on its own."""
    found = (match.group().casefold() for match in _TOKEN.finditer(text))
    return frozenset(word for word in found if len(word) >= 3 and any(c.isdigit() for c in word))


def parts_of(path: Path) -> Iterator[Iterator[bytes]]:
    """A file in blocks of bytes; of a zip, as a backup is, also each file that is packed in it."""
    if path.name in DATABASE_FILES:
        yield read_blocks(path, _CHUNK)
        return
    yield _blocks(lambda: path.open("rb"))
    with suppress(*ZIP_ERRORS), zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            yield _blocks(partial(archive.open, member))


def _blocks(opened: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    # What is packed and damaged, or locked with a password, cannot be read here.
    with suppress(*ZIP_ERRORS), opened() as file:
        while block := file.read(_CHUNK):
            yield block


def streams_of(path: Path) -> Iterator[str]:
    """The stream of a file of any kind, in pieces that overlap by a window less one character.

    Bytes that are no UTF-8 are passed over.
    """
    for part in parts_of(path):
        decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        kept = ""
        for block in part:
            # Most of a database is numbers: what no text consists of goes before it is decoded.
            piece = kept + stream(decoder.decode(block.translate(None, _NO_LETTERS)))
            yield piece
            kept = piece[-(LONGEST - 1) :]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of one window: its length, 16 bits to sieve by, and its keyed hash."""

    length: int
    sieve: int
    digest: bytes


class Fingerprints:
    """Makes marks with a key, and finds them again."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, person=b"memlane-marks").digest()
        self._factors = np.frombuffer(
            hashlib.blake2b(key, person=b"memlane-sieve").digest(), dtype="<u4"
        )[:LONGEST] | np.uint32(1)

    def mark(self, window: str) -> Fingerprint:
        codes = np.frombuffer(window.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return Fingerprint(
            len(window), int(self._sieve(codes, len(window))[0]), self._digest(window)
        )

    def find(self, marks: Mapping[Fingerprint, Any], folded: str) -> set[Fingerprint]:
        """Those of ``marks`` that a stream contains."""
        codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        found: set[Fingerprint] = set()
        for length in {mark.length for mark in marks}:
            if len(folded) < length:
                continue
            wanted = {mark.digest: mark for mark in marks if mark.length == length}
            passes = np.zeros(1 << 16, dtype=bool)
            passes[[mark.sieve for mark in wanted.values()]] = True
            for start in np.flatnonzero(passes[self._sieve(codes, length)]):
                digest = self._digest(folded[start : start + length])
                if digest in wanted:
                    found.add(wanted[digest])
        return found

    def _digest(self, window: str) -> bytes:
        data = window.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=_MARK_BYTES).digest()

    def _sieve(self, codes: NDArray[np.uint32], length: int) -> NDArray[np.uint32]:
        """16 bits for the window at each place; a first, cheap look that lets few places pass."""
        total = np.zeros(len(codes) - length + 1, dtype=np.uint32)
        for offset in range(length):
            total += codes[offset : offset + len(total)] * self._factors[offset]
        return total >> np.uint32(16)
