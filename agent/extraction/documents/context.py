"""Context of a sentence in a document: whom or what it is about, its day, where it stands.

A note is not read word by word from its start: its file name, its headings, its date, the speaker
of a bubble and the row of a table say what its sentences leave out. The context travels with each
sentence into its memory, so that search, dates and answers have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.extraction.own_words import first_person, has_verb
from agent.language.dates import find_times, resolve_text
from agent.language.sentences import content
from store.types import Span, Trust

NAMES = 3
"""Most names before a sentence: the title, and the last headings above it."""


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """What a sentence of a document leaves unsaid."""

    title: str
    """The person or topic of the document; empty where it names none."""
    written: datetime
    """The time that its dates are relative to."""
    headings: tuple[str, ...] = ()
    """From the outermost to the one right above; the bullets above a bullet too."""
    speaker: str = ""
    """Who said it, on a screen of a conversation."""
    row: str = ""
    """The row or the day it stands in, in a table or a calendar."""

    @property
    def is_own(self) -> bool:
        """Whether the document is about the writer by its title: 'About me'; 'US trip' is not."""
        return first_person(" ".join(word for word in self.title.split() if not word.isupper()))

    def below(self, *headings: str) -> DocumentContext:
        """The context of what stands below further headings."""
        return replace(self, headings=(*self.headings, *headings))

    def lead(self, said: str, unnamed: Sequence[str] = ()) -> str:
        """The names that belong before a sentence: 'Health, Dentist'; empty where it has them.

        ``unnamed`` are headings that name nothing beside it.
        """
        known = content(said)
        names = [name for name in (self.title, *self.headings) if name and name not in unnamed]
        if self.is_own:
            names = [name for name in names if name != self.title]
        names = [*names[:1], *names[1:][-(NAMES - 1) :], *filter(None, [self.row, self.speaker])]
        fresh = [name for name in names if not content(name) or not content(name) <= known]
        return ", ".join(dict.fromkeys(fresh))


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """A sentence of a document as it becomes a memory."""

    lead: str
    """The names that belong before it; empty where it has them."""
    said: str
    """Its own words."""
    context: DocumentContext
    span: Span | None = None
    """Where it stands in the source; None where it has to be looked for."""
    trust: Trust | None = None
    """None: as the source says."""
    literal: bool = False
    """Whether its values are no running text, so that no date is read into them."""

    @property
    def text(self) -> str:
        """Its own words with what belongs before them."""
        return _text(self.lead, self.said)

    def dated(self) -> tuple[str, str]:
        """What is said, and the whole text, with absolute dates."""
        if self.literal:
            return ended(self.said), self.text
        said = resolve_text(self.said, self.context.written)
        lead = self.lead
        # Names tell no tense, so they are read alone; a 'Monday list' is one of every week.
        if any(character.isdigit() for character in lead):
            lead = resolve_text(lead, self.context.written)
        return ended(said), _text(lead, said)


def _text(lead: str, said: str) -> str:
    return f"{lead}: {ended(said)}" if lead else ended(said)


def day_in(text: str, near: datetime) -> tuple[datetime | None, bool]:
    """The one day that a heading or file name tells, nearest to ``near``; whether that is all.

    A diary is read at any time after it was written, so a day without a year is no future one.
    """
    found = find_times(text, near)
    if len(found) != 1 or found[0].kind not in ("date", "datetime") or found[0].bound:
        return None, False
    (span,) = found
    if span.grain not in ("day", "minute"):
        return None, False
    starts = (start for start, _ in ((span.start, span.end), *span.alternatives))
    days = [start.replace(hour=0, minute=0) for start in starts if start is not None]
    rest = text[: span.start_char] + text[span.end_char :]
    whole = not any(character.isalnum() for character in rest)
    if not days:
        return None, False
    return min(days, key=lambda day: abs(day - near)), whole


def ended(said: str) -> str:
    """The sentence with its end."""
    said = said.rstrip()
    return said if said.endswith((".", "!", "?", "。", "！", "？")) else f"{said}."


def not_after(day: datetime | None, captured: datetime) -> datetime | None:
    """The day, unless it lies ahead of the time at which the file was there."""
    return day if day is not None and day <= captured + timedelta(days=1) else None


def is_whole(said: str) -> bool:
    """Whether a piece of text is a sentence of its own."""
    return said[:1].isupper() and has_verb(said)
