"""Arrays derived from a large home, as files in its cache folder.

They are mapped into memory, not read: a question touches a few percent of them. Every byte can be
made again from the database. Forgetting deletes them with the rest of the cache
(``store.erasure.secure_delete``), since a code is made of a text; words are kept as hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path("cache") / "large"
"""In the home."""
FORMAT = 1
LEFT_S = 3600.0
"""Seconds after which half of the files are those of a process that was killed."""
_STATE = "state.json"

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Taken:
    """Up to where the database was read."""

    model: str
    line: tuple[int, str, str]
    """The journal's last line: number, time and digest of its changes."""
    last_vector: int
    begins_last: float
    """The latest time from which a memory holds, in seconds; 0 where none says so."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """One row for each memory that stands and has a vector, in the order of ids.

    A vector's code is its numbers in 8 bits; codes lie in lists by the centre they are nearest to.
    """

    taken: Taken
    keys: Ints
    """Number of each memory, rising."""
    current: NDArray[np.bool_]
    """Whether its status says that it holds."""
    ends: NDArray[np.float64]
    """When it ends by itself, in seconds; infinite where it does not."""
    before: Ints
    after: Ints
    """The row told just before and after it; -1 for none (``store.derived.view``)."""
    vocabulary: NDArray[np.uint64]
    """Hashes of words, rising."""
    word_starts: NDArray[np.int64]
    postings: Ints
    """The rows that hold each word, rising; word ``i`` has those from ``word_starts[i]``."""
    centres: NDArray[np.float32]
    """Shape (lists, dimension), unit vectors."""
    list_starts: NDArray[np.int64]
    listed: Ints
    """The rows of each list."""
    codes: NDArray[np.int8]
    """Shape (rows, dimension), in the order of ``listed``."""
    scales: NDArray[np.float32]
    """What a code is multiplied with, in the same order."""
    mean: NDArray[np.float32]
    covariance: NDArray[np.float32]
    """Of the vectors, shape (dimension,) and (dimension, dimension)."""
    bare: Ints
    """Numbers of the memories without a vector."""

    @cached_property
    def place(self) -> Ints:
        """Where the code of each row lies."""
        places = np.empty(len(self.listed), np.int32)
        places[self.listed] = np.arange(len(places), dtype=np.int32)
        return places

    def rows_of(self, keys: Iterable[int]) -> NDArray[np.intp]:
        """The rows of some memories; those that are not here are left out."""
        wanted = np.fromiter(keys, np.int64)
        rows = np.minimum(np.searchsorted(self.keys, wanted), max(0, len(self.keys) - 1))
        return rows[self.keys[rows] == wanted] if len(self.keys) else rows[:0]

    def place_of(self, word: str) -> int | None:
        """Where a word stands in the vocabulary; None where no memory holds it."""
        code = code_of(word)
        place = int(np.searchsorted(self.vocabulary, code))
        known = place < len(self.vocabulary) and self.vocabulary[place] == code
        return place if known else None

    def holding(self, word: str) -> Ints:
        """The rows that hold a word, rising."""
        place = self.place_of(word)
        if place is None:
            return self.postings[:0]
        return self.postings[self.word_starts[place] : self.word_starts[place + 1]]


def code_of(word: str) -> np.uint64:
    """The hash by which a word is found."""
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


_FILES = tuple(field.name for field in fields(Arrays) if field.name != "taken")


def save(arrays: Arrays, home: Path) -> Arrays:
    """Write the arrays into the home, and return them as files that are mapped."""
    folder = home / FOLDER
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    for left in folder.parent.glob(f"{folder.name}.*"):
        if time.time() - left.stat().st_mtime > LEFT_S:
            shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))  # 0700
    try:
        for name in _FILES:
            with open(os.open(made / f"{name}.npy", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                np.save(file, getattr(arrays, name))
        taken = {field.name: getattr(arrays.taken, field.name) for field in fields(Taken)}
        state = json.dumps({"format": FORMAT, **taken})
        with open(os.open(made / _STATE, os.O_WRONLY | os.O_CREAT, 0o600), "w") as text:
            text.write(state)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    except OSError:  # a full disk, or another process was faster: these serve this process
        shutil.rmtree(made, ignore_errors=True)
        return arrays
    return load(home, arrays.taken.model) or arrays


def load(home: Path, model: str) -> Arrays | None:
    """The arrays of a home; None where there are none of this model that can be read."""
    folder = home / FOLDER
    with suppress(OSError, ValueError, KeyError, TypeError):
        state = json.loads((folder / _STATE).read_text("utf-8"))
        if state.pop("format") == FORMAT and state["model"] == model:
            taken = Taken(**{**state, "line": tuple(state["line"])})
            files: dict[str, Any] = {name: _mapped(folder / f"{name}.npy") for name in _FILES}
            return Arrays(taken, **files)
    return None


def _mapped(path: Path) -> NDArray[np.generic]:
    if os.path.getsize(path) > 1 << 16:
        return np.asarray(np.load(path, mmap_mode="r"))
    found: NDArray[np.generic] = np.load(path)
    return found
