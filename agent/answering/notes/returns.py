"""Returns: notes that bring back what held before, and name nothing themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.answering.grounding import names, terms
from agent.answering.notes.gather import DOUBTED, Note
from agent.answering.notes.quotations import is_own
from agent.language.identify import is_english
from agent.memory.time.changed import CHANGED


def with_before(note: Note, notes: Sequence[Note], question: str) -> Note:
    """The note, with what held before the one that it changes, where it names nothing itself.

    'Choir is back to its old evening' is understood with what was said of that evening. What names
    something is known of English alone.
    """
    if note.moved or not is_english(note.passage.words):
        return note
    changed = [one for one in notes if one.by == note.memory.id and one.changed >= DOUBTED]
    ids = {one.memory.id for one in changed}
    earlier = [one for one in notes if one.by in ids and one.changed >= CHANGED and is_own(one)]
    if not earlier:
        return note
    first = max(earlier, key=lambda one: (one.relevance, one.passage.said)).passage
    known = terms(" ".join([question, first.words, *(one.passage.words for one in changed)]))
    named = (terms(name) for name in names(note.passage.words))
    return note if any(one - known for one in named) else replace(note, before=first)
