"""Files of weights: hashing them once, joining parts, and telling what is no model."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from agent.errors import ModelDamaged, ModelError
from store.database.file_locks import lock

Progress = Callable[[int, int], None]
"""Called with (done bytes, total bytes)."""

GGUF_MAGIC = b"GGUF"
COPIES = "unpacked"
"""The folder for files that are made from others on this machine, beside the models."""
_CHUNK = 4 * 1024 * 1024


class Record:
    """A small JSON file of what was found out about this machine's models. Best effort.

    A damaged file says nothing and is written anew; where none can be written, nothing is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return entries if isinstance(entries, dict) else {}

    def put(self, key: str, value: object) -> None:
        entries = {**self.read(), key: value}
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w",
                dir=self.path.parent,
                prefix=f".{self.path.stem}.",
                delete=False,
                encoding="utf-8",
            ) as file:
                try:
                    json.dump(entries, file, indent=1)
                    file.close()
                    os.replace(file.name, self.path)
                except BaseException:
                    os.unlink(file.name)
                    raise


class VerifiedHashes:
    """SHA-256 of files that were read once, valid while size and mtime stay the same."""

    def __init__(self, path: Path) -> None:
        self._record = Record(path)

    def recall(self, path: Path) -> str | None:
        entry = self._record.read().get(str(path.absolute()))
        try:
            stat = path.stat()
        except OSError:
            return None
        if (
            not isinstance(entry, dict)
            or entry.get("size") != stat.st_size
            or entry.get("mtime_ns") != stat.st_mtime_ns
        ):
            return None
        digest = entry.get("sha256")
        return digest if isinstance(digest, str) else None

    def sha256(self, path: Path, force: bool = False) -> str:
        known = None if force else self.recall(path)
        if known is not None:
            return known
        digest = hash_files([path])
        self.remember(path, digest)
        return digest

    def remember(self, path: Path, digest: str) -> None:
        """Best effort: where it cannot be written, the file is read again next time."""
        with contextlib.suppress(OSError):
            stat = path.stat()
            self._record.put(
                str(path.absolute()),
                {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": digest},
            )


def made_once(copy: Path, make: Callable[[Path], bool]) -> bool:
    """Whether a file that is made from others is there as it was made; else it is made.

    ``make`` writes it to a path and says whether it could. An unfinished one is never left under
    the name of ``copy``.
    """
    if _is_whole(copy):
        return True
    copy.parent.mkdir(parents=True, exist_ok=True)
    with locked(copy.parent / ".lock"):
        return _is_whole(copy) or _made(copy, make)


def _is_whole(copy: Path) -> bool:
    try:
        made = copy.with_suffix(".sha256").read_text(encoding="ascii")
        return VerifiedHashes(copy.with_name("verified.json")).sha256(copy) == made
    except (OSError, ValueError, ModelError):
        return False


def _made(copy: Path, make: Callable[[Path], bool]) -> bool:
    half = copy.with_suffix(".half")
    try:
        if not make(half):
            return False
        copy.with_suffix(".sha256").write_text(hash_files([half]), encoding="ascii")
        half.replace(copy)
        return True
    finally:
        with contextlib.suppress(OSError):
            half.unlink()


class KnownSizes(Protocol):
    """Remembers sizes of batches that agree."""

    def recall(self) -> tuple[int, ...]: ...
    def remember(self, sizes: Sequence[int]) -> None: ...


class BatchSizes:
    """Sizes of batches that agree to the last bit, as the reward engine found them.

    They hold for one model on one machine with one build: all of that is in ``key``.
    """

    def __init__(self, path: Path, key: str) -> None:
        self._record = Record(path)
        self._key = key

    def recall(self) -> tuple[int, ...]:
        """What was found; empty if nothing was, or nothing that can be understood."""
        sizes = self._record.read().get(self._key)
        if not isinstance(sizes, list) or not all(type(size) is int for size in sizes):
            return ()
        return tuple(sizes)

    def remember(self, sizes: Sequence[int]) -> None:
        self._record.put(self._key, list(sizes))


def is_as_packaged(distribution: str, path: Path) -> bool:
    """Whether a file of an installed package has the SHA-256 that its installer noted.

    True where nothing was noted.
    """
    from importlib.metadata import files  # not at the top: it takes as long as listing models

    for file in files(distribution) or ():
        if file.name == path.name and file.hash and Path(str(file.locate())) == path:
            wanted = base64.urlsafe_b64decode(file.hash.value + "==").hex()
            return file.hash.mode != "sha256" or hash_files([path]) == wanted
    return True


def hash_files(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise ModelError(f"Cannot read {path}: {error.strerror}.") from error
    return digest.hexdigest()


def join(parts: Sequence[Path], half: Path, total: int, on_progress: Progress | None) -> str:
    """Write the parts one after the other, flush them to the disk, and return their SHA-256."""
    digest = hashlib.sha256()
    done = 0
    with half.open("wb") as out:
        for part in parts:
            with part.open("rb") as source:
                while chunk := source.read(_CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
                    done += len(chunk)
                    if on_progress:
                        on_progress(done, total)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock between processes; the system releases it if we crash."""
    try:
        file = path.open("a")
    except OSError as error:
        raise cannot_write(path, error) from error
    with file:
        lock(file.fileno(), seconds=math.inf)
        yield


def check_gguf(path: Path) -> None:
    remedy = "Fetch or copy it again, or choose another: memlane models list"
    if path.is_dir():
        raise ModelDamaged(f"{path} is a folder, not a GGUF file. {remedy}")
    try:
        with path.open("rb") as file:
            start = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelDamaged(f"{path} cannot be read ({error.strerror}). {remedy}") from error
    if not start:
        raise ModelDamaged(f"{path} is empty. {remedy}")
    if start != GGUF_MAGIC:
        raise ModelDamaged(f"{path} is not a GGUF file. {remedy}")


def embedder_weights(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise ModelDamaged(
            f"{folder} is not a sentence-transformers folder (it has no config.json). "
            "Choose another: memlane models list"
        )
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file() and (folder / name).stat().st_size:
            return folder / name
    raise ModelDamaged(
        f"{folder} holds no weights (model.safetensors). Copy it again, "
        "or choose another: memlane models list"
    )


def cannot_write(path: Path, error: OSError) -> ModelError:
    return ModelError(
        f"Cannot write {path} ({error.strerror}). Make the folder writable and try again."
    )
