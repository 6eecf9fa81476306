"""Which reader is for which document, and what is missing where the extra is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from agent.errors import UnreadableSource
from agent.ports import TextReader
from store.types import SourceKind

SUFFIXES = {
    ".pdf": "pypdfium2",
    ".docx": "docx",
    ".epub": "lxml",
    ".html": "lxml",
    ".htm": "lxml",
    ".xhtml": "lxml",
}
"""Endings of documents, and the package that reads each."""
MAIL_SUFFIXES = frozenset({".eml", ".mbox"})
MAX_BYTES = 100_000_000
MAX_CHARACTERS = 2_000_000
"""Text of a document; some 800 pages. Each of its sentences is searched with every question."""


def missing_reader(path: Path) -> str | None:
    """What to install for a file, in one line; None where its reader is there."""
    package = SUFFIXES.get(path.suffix.lower())
    if package is None or importlib.util.find_spec(package) is not None:
        return None
    ending = path.suffix.lower().lstrip(".")
    return f"{ending} files need an extra. From the checkout: pip install '.[documents]'"


def read_document(
    path: Path, data: bytes, kind: SourceKind, reader: TextReader, scratch: Path
) -> str:
    """The text of a document or of mail, with a page break between its parts.

    ``reader`` reads scanned pages; their pictures are in ``scratch`` meanwhile.

    :raises UnreadableSource: if it is damaged, has a password, is too long or holds no text.
    """
    if not data.strip():
        raise UnreadableSource(f"{path} is empty.")
    if missing := missing_reader(path):
        raise UnreadableSource(f"{path}: {missing}")
    text = _read(path, data, kind, reader, scratch)
    if len(text) > MAX_CHARACTERS:
        raise UnreadableSource(
            f"{path} has {len(text):,} characters of text; at most {MAX_CHARACTERS:,} are read: "
            "split it into smaller files."
        )
    return text


def _read(path: Path, data: bytes, kind: SourceKind, reader: TextReader, scratch: Path) -> str:
    if kind is SourceKind.MAIL:
        from agent.io.sources.documents.mail import read_mail

        return read_mail(path, data)
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        from agent.io.sources.documents.pdf import read_pdf

        return read_pdf(path, data, reader, scratch)
    if suffix == ".docx":
        from agent.io.sources.documents.word import read_word

        return read_word(path, data)
    if suffix == ".epub":
        from agent.io.sources.documents.book import read_book

        return read_book(path, data)
    from agent.io.sources.documents.web_page import read_web_page

    return read_web_page(path, data)
