"""Quotations of notes: the user's own words, with the day on which they were said."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering.notes.gather import Note
from agent.language.identify import is_english
from agent.language.sentences import is_chinese
from store.types import Trust

QUOTABLE = 0.35
"""Relevance from which a note is quoted; no less than ``BESIDE_BEST`` of the most relevant one."""
BESIDE_BEST = 0.45
QUOTABLE_READ = 0.15
"""The same where the notes were read together."""
QUOTED = 2
"""Most notes that are quoted in an answer."""


def quotable(holding: Sequence[Note]) -> list[Note]:
    """The notes that are quoted where the model leaves them out, the most relevant first."""
    newest_first = sorted(holding, key=lambda note: note.passage.said, reverse=True)
    ranked = sorted(newest_first, key=lambda note: -note.relevance)
    least = QUOTABLE_READ if ranked[0].together else QUOTABLE
    least = max(least, BESIDE_BEST * ranked[0].relevance)
    return [note for note in ranked if note.relevance >= least and is_own(note)][:QUOTED]


def quotations(notes: Sequence[Note]) -> list[str]:
    """Quotations of notes, newest first; what is quoted of one message is quoted together."""
    newest_first = sorted(notes, key=lambda note: note.passage.said, reverse=True)
    places: dict[tuple[str, int], list[Note]] = {}
    for note in newest_first:
        places.setdefault(note.passage.place, []).append(note)
    return [quotation(own[0]) for own in places.values()]


def excerpts(notes: Sequence[Note]) -> list[str]:
    """Of each note a line with what the memory was read from, without the rest of its message.

    Newest first. What a sentence rests on is found at a glance so.
    """
    newest_first = sorted(notes, key=lambda note: note.passage.said, reverse=True)
    words = [(note, " ".join(note.passage.words.split())) for note in newest_first]
    return list(dict.fromkeys(quotation(note, text) for note, text in words))


def quotation(note: Note, words: str = "") -> str:
    """The user's own words with their day, in their language; all of them, or these ``words``."""
    day, text = f"{note.passage.said:%Y-%m-%d}", words or note.passage.text
    if is_chinese(text):
        return f"你在 {day} 说过：“{text}”"
    if not is_english(text):
        return f"{day}: “{text}”"
    result = f" That makes it {note.moved}." if note.moved else ""
    if note.before is not None:
        earlier = " ".join(note.before.words.split())
        result += f" Before that, on {note.before.said:%Y-%m-%d}: “{earlier}”"
    if note.memory.trust is Trust.NOTED:
        return f"Your note of {day} says: “{text}”{result}"
    return f"On {day} you said: “{text}”{result}"


def is_own(note: Note) -> bool:
    """Whether a note is in the user's own words; what a screen or a mail says is no answer."""
    return note.memory.trust in (None, Trust.TOLD, Trust.NOTED)
