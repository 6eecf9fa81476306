"""Screenshots: pictures of text, read by OCR with their rows kept together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.errors import UnreadableSource
from agent.io.sources.ocr_layout import arranged
from agent.ports import TextLine, TextReader
from store.types import Span, TextBox

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp"})


def read_screenshot(path: Path, reader: TextReader) -> tuple[str, list[TextBox]]:
    """The text in a picture, as ``ocr_layout.arranged`` puts it, and where its pieces stand.

    :raises UnreadableSource: if it is no whole picture, or shows no text.
    """
    lines = reader.read(path)
    if not lines:
        raise UnreadableSource(f"{path} shows no text that could be read.")
    return written(lines)


def written(lines: Sequence[TextLine]) -> tuple[str, list[TextBox]]:
    """The text of a screen, a row a line, cells two spaces apart; and its boxes."""
    text = ""
    boxes: list[TextBox] = []
    for row in arranged(lines):
        text += "\n" if text else ""
        for number, cell in enumerate(row):
            text += "  " if number else ""
            for at, piece in enumerate(cell):
                text += " " if at else ""
                span = Span(len(text), len(text) + len(piece.text))
                text += piece.text
                sides = (piece.left, piece.top, piece.right, piece.bottom)
                boxes.append(TextBox(span, *sides, piece.confidence))
    return text, boxes
