"""Answers to questions that ask for a time and nothing else: 'What do I have on Friday?'.

What falls on the days is found by its dates, so code lists it; a small model leaves some out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from agent.answering.answer import Answer, to_you
from agent.answering.notes.gather import Note
from agent.answering.notes.quotations import quotation
from agent.answering.retrieve import Retrieved
from agent.language.dates import find_times
from agent.language.injection import steers
from store.types import Memory, Trust

LATEST = datetime.max.replace(tzinfo=UTC)


def agenda(found: Retrieved, notes: Sequence[Note]) -> Answer | None:
    """What falls on the days asked for, in order of time, with what may have changed it.

    None where the question asks for more, and where a part is not in the user's own words.
    """
    chosen = {choice.memory.id: choice for choice in found.selection.chosen}
    listed = [chosen[name].memory for name in found.listed if name in chosen]
    if not listed or any(map(_foreign, listed)):
        return None
    by_id = {note.memory.id: note for note in notes}
    parts: dict[str, None] = {}
    for memory in sorted(listed, key=_begins):
        parts[to_you(memory.text)] = None
        note = by_id.get(memory.id)
        newer = by_id.get(note.by) if note else None
        if newer is not None and newer.memory.id not in found.listed:
            parts[quotation(newer)] = None
    return Answer(" ".join(parts), tuple(chosen[memory.id] for memory in listed), False)


def _foreign(memory: Memory) -> bool:
    return memory.trust not in (None, Trust.TOLD, Trust.NOTED) or steers(memory.text)


def _begins(memory: Memory) -> datetime:
    starts = (span.start for span in find_times(memory.text, memory.created))
    return min((start for start in starts if start is not None), default=LATEST)
