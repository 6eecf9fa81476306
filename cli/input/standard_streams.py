"""Files that commands read and write; ``-`` stands for standard input or standard output."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.context import Run
from store.database.whole_files import whole_file
from store.errors import HomeUnavailable, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

STREAM = Path("-")


@contextmanager
def readable(path: Path, name: str = "stdin") -> Iterator[Path]:
    """The file; for ``-`` a temporary one, called ``name``, with what standard input holds."""
    if path != STREAM:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="memlane-") as folder:
        copy = Path(folder) / name
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


@contextmanager
def writable(run: Run, path: Path, name: str) -> Iterator[Path]:
    """The file; for ``-`` a temporary one, called ``name``, that goes to standard output.

    :raises InvalidInput: if standard output is already taken by ``--json``.
    """
    if path != STREAM:
        yield path
        return
    if run.json:
        raise InvalidInput("- writes to stdout; with --json give a file.")
    with tempfile.TemporaryDirectory(prefix="memlane-") as folder:
        copy = Path(folder) / name
        yield copy
        sys.stdout.flush()
        with copy.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_whole(data: bytes, path: Path, option: str) -> None:
    """Write a file whole or not at all; ``option`` is what the person named it by.

    :raises HomeUnavailable: if it cannot be written.
    """
    try:
        with whole_file(path) as file:
            file.write(data)
    except OSError as error:
        raise HomeUnavailable(
            f"Cannot write {path}: {error.strerror or error}. Choose another {option}."
        ) from error


def emit_beside(run: Run, path: Path, document: object, show: Callable[[Console], None]) -> None:
    """The report of a command that wrote ``path``: on stderr where stdout took the file."""
    if path == STREAM:
        show(run.err)
    else:
        run.emit(document, show)
