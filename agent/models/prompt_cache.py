"""Disk cache of what language models made of the fixed parts of prompts (``fixed_turns``).

A file's name is a hash of everything that decides what is in it; its content is llama.cpp's numbers
behind a hash of both. The fixed parts are the same for everybody, so the files hold nothing that
anybody told: they lie beside the weights, not in a home, and whoever forgets or locks a home need
not touch them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER = "prompts"
"""Its name in the models folder."""
MEGABYTE = 1_000_000
LIMIT = 300 * MEGABYTE
"""Bytes of all files together. The 1.5B model takes 125 MB for all tasks."""
_MARK = b"mlp1"
_HEAD = len(_MARK) + hashlib.sha256().digest_size


def key(identity: str, tokens: Sequence[int]) -> str:
    """The name of what one model, with all its settings, makes of these tokens."""
    told = f"{identity}\0{','.join(map(str, tokens))}"
    return hashlib.sha256(told.encode()).hexdigest()


class PromptCache:
    """``prompts`` in the models folder, of at most ``limit`` bytes. Safe for several processes.

    Files are readable by their owner alone and written under another name first. A folder that
    cannot be read or written is one that holds nothing. What was not used for longest goes first.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit

    def find(self, name: str) -> memoryview | None:
        """What was kept, writable; None where there is nothing.

        :raises ValueError: if a file is there that is damaged or was made otherwise.
        """
        path = self.folder / name
        try:
            with path.open("rb") as file:
                data = bytearray(os.fstat(file.fileno()).st_size)
                read = file.readinto(data)
        except OSError:
            return None
        with contextlib.suppress(OSError):  # it may belong to somebody else
            os.utime(path)
        content = memoryview(data)[_HEAD:]
        if read != len(data) or data[:_HEAD] != _head(name, content):
            raise ValueError(f"{path} is damaged")
        return content

    def keep(self, name: str, content: bytes | bytearray) -> bool:
        """Whether it could be kept."""
        if _HEAD + len(content) > self.limit:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # mkstemp: 0600.
            handle, scratch = tempfile.mkstemp(dir=self.folder, prefix=".")
            try:
                with open(handle, "wb") as file:
                    file.write(_head(name, content))
                    file.write(content)
                os.replace(scratch, self.folder / name)
            except BaseException:
                os.unlink(scratch)
                raise
        except OSError:
            return False
        self._trim(name)
        return True

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            (self.folder / name).unlink()

    def count(self) -> int:
        """How many fixed parts of prompts it holds."""
        return sum(not name.startswith(".") for _, _, name in self._files())

    def size(self) -> int:
        """Bytes on disk."""
        return sum(size for _, size, _ in self._files())

    def clear(self) -> tuple[int, int]:
        """Remove everything; how many files and bytes there were."""
        count, size = self.count(), self.size()
        for _, _, name in self._files():
            self.remove(name)
        return count, size

    def _trim(self, kept: str) -> None:
        """Let the least used go where the folder is full; what a killed process left is in it."""
        files = sorted(self._files())
        size = sum(size for _, size, _ in files)
        for _, freed, name in files:
            if size <= self.limit:
                break
            if name != kept:
                self.remove(name)
                size -= freed

    def _files(self) -> list[tuple[int, int, str]]:
        """When each file was last used, in nanoseconds, its bytes and its name."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    stat = entry.stat(follow_symlinks=False)
                    found.append((stat.st_mtime_ns, stat.st_size, entry.name))
        return found


def _head(name: str, content: bytes | bytearray | memoryview) -> bytes:
    digest = hashlib.sha256(name.encode())
    digest.update(content)
    return _MARK + digest.digest()
