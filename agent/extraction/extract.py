"""Extraction of memories from messages (EMG-RAG 4.1, A.1, A.4).

The paper's prompt (Table 9) asks a large model to "organize the raw user data into standardized
memory data". Here no model writes: messages are kept in their own words, sentence by sentence
(``own_words``), as files are (``documents``), and the reader and the answer see the passage beside
each. Text inside a source is data and never an instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.extraction.documents.labelled_fields import read_screen
from agent.extraction.own_words import has_verb, own_words
from agent.language.email_headers import without_headers
from agent.language.identify import is_foreign
from agent.language.sentences import Chunk, chunks, has_question_mark, sentences


def extract(text: str) -> tuple[str, ...]:
    """The memories that a message states, in its order and in its own words."""
    screen = read_screen(without_headers(text), least=3)
    found = [*screen.memories]
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
        return [part for part in sentences(chunk.text) if not has_question_mark(part)]
    return own_words(chunk.text)
