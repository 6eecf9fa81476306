"""What is read in a text by itself, without a home: its memories, as the product reads its kind."""

from __future__ import annotations

from datetime import datetime

from agent.extraction.documents.markdown_notes import read_note
from agent.extraction.documents.screens import read_screen_lines
from agent.extraction.extract import extract
from store.types import SourceKind


def memories_read(text: str, kind: SourceKind, now: datetime) -> tuple[str, ...]:
    if kind is SourceKind.NOTE:
        return tuple(line.text for line in read_note(text, None, now))
    if kind is SourceKind.SCREENSHOT:
        return tuple(line.text for line in read_screen_lines(text, (), now))
    return extract(text)
