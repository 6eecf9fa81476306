"""Passages: the words of a source that a memory was read from, with their date.

What is extracted is an index to what was said. Answers and the judge of changes read the words
themselves, so a clumsy extraction costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.language.units import Unit, in_message, units
from store.erasure.plan import GONE
from store.errors import UnknownId
from store.graph import MemoryGraph
from store.tables.sources import BLANK
from store.types import Memory, Source, SourceKind, Span, Trust

LONGEST = 400
"""Characters of a passage; a longer one gives way to the memory's own sentence."""
SHORT = 240
"""Characters up to which the whole text of a source is the passage."""
WHILE = timedelta(hours=1)
"""How long a conversation goes on without a word. After hours 'it' and 'she' seldom mean what was
said before: in the chats of ``benchmarks/samples`` 4 of 24 such words were read right, 3 of 4
within the hour (counted by hand).
"""
SHORTEST = 30
"""Characters below which a part of the words before says nothing."""
_QUOTED = (SourceKind.CHAT, SourceKind.MANUAL)
"""Sources whose sentences are read as they stand. The memories of documents are in their own words
already, with the context (file, heading, row, speaker) that the words beside them do not give."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What was said, when, and how it is read in context."""

    text: str
    """For people and prompts: the words as they were said."""
    said: datetime
    read: str
    """For the statement reader: the words and the message around them."""
    place: tuple[str, int] = ("", 0)
    """Source and start: two memories of one place have one passage."""

    unit: str = ""
    """Of the message that is the passage, what the memory was read from; empty where it is all."""

    about: str = ""
    """What was said shortly before and it corrects: 'No, it was 158' says little without that."""

    @property
    def words(self) -> str:
        """The words alone, for the language model as a second reader."""
        return self.unit or self.text

    def with_corrected(self, words: str, most: int) -> str:
        """``words`` of it after what they correct, as far as ``most`` characters allow."""
        room = most - len(words) - 2
        if not self.about or room < SHORTEST:
            return words
        about = self.about if len(self.about) <= room else f"{self.about[:room]}…"
        return f"{about} {words}"


def passage_of(memory: Memory, sources: Mapping[str, Source]) -> Passage:
    """The passage of a stored memory; its own sentence where there is nothing better."""
    source = sources.get(memory.source or "")
    own = Passage(memory.text, memory.created, memory.text, (memory.id, 0))
    if source is None or memory.span is None:
        return own
    return _passage(memory, source) or own


def goes_on(older: Memory, newer: Memory) -> bool:
    """Whether the user told the newer one in another message of the same conversation."""
    told = all(memory.trust in (None, Trust.TOLD) for memory in (older, newer))
    after = newer.created - older.created
    return told and older.source != newer.source and timedelta(0) <= after <= WHILE


def section(text: str, at: int) -> Span:
    """The section of a document that holds a place: from its title to the next."""
    begin = start = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            if start > at:
                return Span(begin, start)
            begin = start
        start += len(line)
    return Span(begin, max(len(text), at + 1))


def texts_of_passages(source: Source) -> list[str]:
    """The texts that passages of a source may have: the whole of a short one, or its units."""
    if len(source.text) <= SHORT:
        return [_line(source.text)]
    return [_line(unit.text) for unit in units(source.text)]


def _passage(memory: Memory, source: Source) -> Passage | None:
    if source.kind not in _QUOTED or memory.span is None:
        return None
    if BLANK in source.text or GONE in source.text:
        return None  # a part of it is forgotten, and so may be what this memory was read from
    inside = [
        unit
        for unit in units(source.text)
        if unit.start < memory.span.end and memory.span.start < unit.end
    ]
    if not inside:
        return None
    start, end = inside[0].start, inside[-1].end
    words = Unit(source.text[start:end], start, end)
    if len(words.text) > LONGEST:
        return None
    read = in_message(words, source.text)
    if len(source.text) <= SHORT:
        # A short message is understood as a whole: 'The 12th is off. It is the 19th now.'
        whole, own = _line(source.text), _line(words.text)
        return Passage(whole, source.captured, read, (source.id, 0), own)
    return Passage(_line(words.text), source.captured, read, (source.id, start))


def _line(text: str) -> str:
    return " ".join(text.split())


def as_told(memories: Sequence[Memory], graph: MemoryGraph) -> dict[str, Source]:
    """The sources that passages come from, by id, without those that were corrected since.

    What was wrong still stands in the source of a memory whose text was amended. So the memories of
    such a source are read in their own sentences.
    """
    sources = {s.id: s for s in sources_of(memories, graph).values() if s.kind in _QUOTED}
    for memory in graph.memories.amended(sources):
        if graph.journal.of_memory(memory.id)[0].after != memory.text:
            sources.pop(memory.source or "", None)
    return sources


def sources_of(memories: Sequence[Memory], graph: MemoryGraph) -> dict[str, Source]:
    """The sources of memories, by id; one that is gone is left out."""
    found: dict[str, Source] = {}
    for name in {memory.source for memory in memories if memory.source}:
        try:
            found[name] = graph.sources.get(name)
        except UnknownId:
            continue
    return found
