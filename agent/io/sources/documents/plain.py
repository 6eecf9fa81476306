"""What all readers of documents share: clean text, tables as Markdown, fields at the top."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from agent.errors import UnreadableSource

MAX_UNPACKED = 200_000_000
"""Bytes that a packed document may have in all: a zip bomb has more."""
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What zipfile and the readers of packed documents raise for parts that are missing or damaged."""
_BREAKS = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029\xa0\t"), " ")
_NOTHING = dict.fromkeys([*range(9), *range(14, 28), 31, 127, 0xAD, 0xFEFF, 0xFFFE, 0xFFFF])
_CLEAN: dict[int, str | None] = {**_BREAKS, **_NOTHING}
_SAYS_NOTHING = ("untitled", "document", "microsoft word", "powerpoint")


def clean(text: str) -> str:
    """Text without control characters, whose only line break is ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CLEAN)


def one_line(text: str) -> str:
    """Text on one line, single blanks between its words."""
    return " ".join(clean(text).split())


def with_fields(body: str, **fields: str | None) -> str:
    """The text with the fields that have a value between two lines of dashes above it."""
    said = {name: one_line(value) for name, value in fields.items() if value}
    lines = [f"{name}: {value}" for name, value in said.items() if value]
    return "\n".join(["---", *lines, "---", body]) if lines else body


def useful_title(title: str | None) -> str | None:
    """A title as a program wrote it into a file; None where it names nothing."""
    said = one_line(title or "")
    named = not said.lower().startswith(_SAYS_NOTHING) and "." not in said[-5:-1]
    return said if named and any(map(str.isalpha, said)) else None


def table_lines(rows: Sequence[Sequence[str]], header: bool | None = None) -> list[str]:
    """The rows of a table in Markdown. ``header`` says whether the first one names the columns;
    None: it does where its cells read like names."""
    cells = [[one_line(cell).replace("|", "/") for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return []
    width = max(map(len, cells))
    cells = [row + [""] * (width - len(row)) for row in cells]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    if len(cells) > 1 and (_has_header(cells) if header is None else header):
        lines.insert(1, "|" + "---|" * width)
    return lines


def _has_header(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has a name for each column: words alone, which two columns of labels
    and values have too, so that there all values have to be numbers."""
    first, *rest = cells
    if not all(first) or any(map(_has_digit, first)):
        return False
    return len(first) > 2 or (len(first) == 2 and all(_has_digit(row[1]) for row in rest))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def unpacked(path: Path, data: bytes) -> zipfile.ZipFile:
    """A packed document, checked for its size before anything of it is read.

    :raises UnreadableSource: if it is damaged or larger than ``MAX_UNPACKED``.
    """
    try:
        packed = zipfile.ZipFile(io.BytesIO(data))
        if sum(part.file_size for part in packed.infolist()) <= MAX_UNPACKED:
            return packed
    except BROKEN as error:
        raise damaged(path) from error
    raise UnreadableSource(
        f"{path} unpacks to more than {MAX_UNPACKED // 1_000_000} MB. Split it into smaller files."
    )


def damaged(path: Path) -> UnreadableSource:
    """The error for a file that is no whole document of its kind."""
    kind = path.suffix.lstrip(".").upper()
    return UnreadableSource(
        f"{path} is damaged, or no {kind} file. Open it in its program and save it again."
    )


def is_locked(path: Path) -> UnreadableSource:
    """The error for a file that nobody reads without its password."""
    return UnreadableSource(
        f"{path} is protected by a password. Save a copy without it and ingest that."
    )
