"""What notes tell of time: dates that an answer may name, those that a note moves to, and what a
note brings back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agent.answering.grounding import names, terms
from agent.answering.notes.corrections import corrected_day
from agent.answering.notes.gather import DOUBTED, Note
from agent.answering.notes.quotations import is_own
from agent.answering.notes.shifts import BEFORE, CLOCK, shifted
from agent.language.dates import TimeSpan, find_times
from agent.language.identify import is_english
from agent.memory.changes import CHANGED
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
    if note.passage.about and (day := corrected_day(older, note.passage)):
        return replace(note, moved=day)
    before = older.text if is_english(older.text) else older.read
    after = note.passage.words
    after = after if is_english(after) else note.passage.read
    changed = [one.passage for one in notes if not one.holds or one.refined == note.memory.id]
    moved = shifted(before, older.said, after, llm, replaces=older in changed)
    return replace(note, moved=moved)


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
