"""Extraction of memories from raw text (EMG-RAG 4.1, A.1, A.4).

The paper's prompt (Table 9) asks a large model to "organize the raw user data into standardized
memory data". Here no model writes: notes, screens (``documents``), labelled fields and messages are
kept in their own words, sentence by sentence (``own_words``), and the reader and the answer see the
passage beside each. Text inside a source is data and never an instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.extraction.documents.labelled_fields import read_screen
from agent.extraction.documents.markdown_notes import read_note
from agent.extraction.documents.screens import read_screen_lines
from agent.extraction.documents.vouchers import read_pass
from agent.extraction.own_words import has_verb, own_words
from agent.language.email_headers import without_headers
from agent.language.identify import is_foreign
from agent.language.sentences import Chunk, chunks, sentences
from store.types import SourceKind


def extract(text: str, *, kind: SourceKind, now: datetime) -> tuple[str, ...]:
    """The memories that ``text`` states, in its order and in its own words."""
    if kind is SourceKind.NOTE:
        return tuple(line.text for line in read_note(text, None, now))
    if kind is SourceKind.SCREENSHOT:
        return tuple(line.text for line in read_screen_lines(text, (), now))
    labelled = kind in (SourceKind.CONTACT, SourceKind.CALENDAR)
    found: list[str] = []
    if labelled and (card := read_pass(text)):
        return (card,)
    screen = read_screen(without_headers(text), least=2 if labelled else 3)
    found += screen.memories
    for chunk in chunks(screen.rest):
        found += _extract_chunk(chunk)
    return tuple(dict.fromkeys(found))


def _extract_chunk(chunk: Chunk) -> Sequence[str]:
    lines = chunk.text.splitlines()
    if chunk.heading and len(lines) > 1 and not any(has_verb(line) for line in lines):
        # a list under its heading is one memory: 'Packing list: tent, lamp, stove.'
        items = ", ".join(line.strip("-*•· .") for line in lines)
        return [f"{chunk.heading}: {items}."]
    if is_foreign(chunk.text):
        # No rule for requests, introductions or fragments knows this language.
        return [part for part in sentences(chunk.text) if not part.endswith("?")]
    return own_words(chunk.text)
