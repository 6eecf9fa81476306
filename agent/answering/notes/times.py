"""What notes tell of time: dates that an answer may name, and those that a note moves to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agent.answering.grounding import terms
from agent.answering.notes.corrections import corrected_day
from agent.answering.notes.gather import Note
from agent.answering.notes.shifts import BEFORE, shifted
from agent.language.dates import TimeSpan, find_times
from agent.language.dates.moments import CLOCK
from agent.language.identify import is_english
from agent.ports import LanguageModel
from store.tables.side_tables.change_edges import ChangeKind


def with_shift(note: Note, notes: Sequence[Note], llm: LanguageModel | None) -> Note:
    """The note with the computed time, where it moves an older one of ``notes``.

    What ends another one moves nothing. Without a language model amounts ("an hour later") are not
    read.
    """
    older = note.changes
    if older is None or not (older.read and note.passage.read):
        return note
    if any(one.by == note.memory.id and one.change is ChangeKind.ENDS for one in notes):
        return note
    if day := corrected_day(older, note.passage):
        return replace(note, moved=day)
    before = older.text if is_english(older.text) else older.read
    after = note.passage.words
    after = after if is_english(after) else note.passage.read
    changed = [one.passage for one in notes if not one.holds or one.refined == note.memory.id]
    moved = shifted(before, older.said, after, llm, replaces=older in changed)
    return replace(note, moved=moved)


def times_told(holding: Sequence[Note], question: str, now: datetime) -> list[datetime]:
    """What notes and question tell of time, and when the notes were said.

    Today is none of it by itself: the prompt names it, and a small model answers with it.
    """
    texts = [(question, now), *((note.passage.read, note.passage.said) for note in holding)]
    spans = [span for text, said in texts for span in find_times(text, said)]
    told = [time for span in spans for time in (span.start, span.last, _last_moment(span)) if time]
    return [*told, *(note.passage.said for note in holding)]


def _last_moment(span: TimeSpan) -> datetime | None:
    """The end of a time; of days, the last one and not the midnight after it."""
    if span.end is None or span.grain in CLOCK:
        return span.end
    return span.end - timedelta(microseconds=1)


def misses_shift(said: str, note: Note, now: datetime) -> bool:
    """Whether the answer tells a date or time and not the one that was computed."""
    computed, _, _ = note.moved.partition(BEFORE)
    if not computed or terms(computed) & terms(said) - terms(note.passage.text):
        return False
    return bool(find_times(said, now))
