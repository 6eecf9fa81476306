"""What the model says of notes: what its sentence rests on, what it tells, whether it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.answering.answer import admits_nothing
from agent.answering.grounding import invented, names, terms
from agent.answering.notes.gather import DOUBTED, LEAST, Note
from agent.answering.notes.quotations import is_own
from agent.language.identify import is_english, is_surely_english
from agent.language.injection import steers

NO_LESS = 0.6
"""Of the relevance of a note, that from which what may have changed it is the answer."""
UNLIKELY = 0.2
"""Relevance below which a sentence that rests on a note gives way to a later note that answers."""
ANSWERS_TOO = 0.75
"""Relevance of a note that was read together with others, from which it is told beside a sentence
that says nothing of it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What the model said to a question, and the notes that it is about."""

    text: str
    question: str
    holding: tuple[Note, ...]
    """The notes that are taken to hold."""
    over: tuple[Note, ...]
    """Those that are not, which the model was not shown."""
    base: Note
    """The one that the sentence rests on most."""

    @property
    def is_empty(self) -> bool:
        """Whether the model found no answer."""
        return not self.text or admits_nothing(self.text)

    def stands(self, shown: Sequence[Note], times: Iterable[datetime]) -> bool:
        """Whether it is one sentence that says what the notes ``shown`` say, and what holds.

        It is in the language of the question. ``times`` are those that it may name beside theirs.
        """
        known = [note.in_words() for note in shown]
        return not (
            self.is_empty
            or steers(self.text)
            or invented(self.text, self.question, known, times)
            or any(_echoes(self.text, note) for note in self.holding)
            or self._is_out_of_date()
            or (not is_english(self.question) and is_surely_english(self.text))
        )

    def is_of(self, note: Note) -> bool:
        """Whether it tells what a note tells, or what the note may change."""
        return self.base == note or self.base.by == note.memory.id

    def tells(self, note: Note) -> bool:
        """Whether it says something of a note that the question did not say already."""
        return bool((terms(note.told) - terms(self.question)) & terms(self.text))

    def leaves_out(self, part: Note) -> bool:
        """Whether it says nothing of what changed a part of what it rests on.

        'Choir is on Thursdays in the church' and 'There are works in the church, so we sing in the
        school': what holds is in both.
        """
        known = terms(f"{self.question} {self.base.passage.text}")
        told = bool((terms(part.told) - known) & terms(self.text))
        likely = part.relevance >= NO_LESS * self.base.relevance
        return likely and is_own(self.base) and is_own(part) and not told

    def is_overtaken_by(self, best: Note) -> bool:
        """Whether it gives way to what the question is about most, of which it says nothing.

        That is later, tells a name or number, and is by itself an answer that holds more surely.
        Where the notes were not read together it may be somebody else's news: then it has to be
        known to change what the sentence rests on, or the question hardly needs that.
        """
        base = self.base
        if base.relevance >= best.relevance or best.passage.said <= base.passage.said:
            return False
        if (terms(best.told) - terms(f"{base.passage.text} {self.question}")) & terms(self.text):
            return False
        if best.together:
            return best.surely_needed and bool(names(best.passage.words) - names(self.question))
        if base.relevance >= NO_LESS * best.relevance:
            return False
        may_have_changed = base.by == best.memory.id and base.changed >= DOUBTED
        return may_have_changed or base.relevance < UNLIKELY

    def goes_with(self, note: Note) -> bool:
        """Whether a note is told beside it."""
        if note.memory.id in self.base.beside:
            return True
        replaced = note.by == self.base.memory.id and note.changed >= LEAST
        return note.together and note.relevance >= ANSWERS_TOO and not replaced

    def is_checked_by(self, note: Note) -> bool:
        """Whether the words of a note say more than it does, and nothing that holds no longer.

        'Sold the Jazz, there is a Skoda in the garage instead' names what it changed: where the
        sentence says what holds, that is enough. What it may have changed is no reason to hide it.
        """
        unsaid = terms(f"{note.passage.words} {note.moved}") - terms(f"{self.question} {self.text}")
        if not unsaid or note.refined or note.changed >= DOUBTED:
            return False
        ended = [other.passage.text for other in self.over if other.by == note.memory.id]
        return not self.tells(note) or not unsaid & terms(" ".join(ended))

    def _is_out_of_date(self) -> bool:
        """Whether it tells no more than what a newer note changed, naming it."""
        value = terms(self.text) - terms(self.question)
        naming = [note for note in self.holding if value <= terms(note.passage.text)]
        return bool(value and naming) and (
            any(value <= terms(note.passage.text) for note in self.over)
            and all(note.changes and value <= terms(note.changes.text) for note in naming)
        )


def sentence_of(
    text: str, question: str, holding: Sequence[Note], over: Sequence[Note]
) -> Sentence:
    """What the model said, with the note that it rests on most.

    That is the one of which it says most that the question did not say already, then most at all.
    """

    def rests_on(note: Note) -> tuple[int, int, float]:
        shared = terms(note.told) & terms(text)
        return len(shared - terms(question)), len(shared), note.relevance

    return Sentence(text, question, tuple(holding), tuple(over), max(holding, key=rests_on))


def _echoes(said: str, note: Note) -> bool:
    """Whether an answer gives back the lines of a text instead of one sentence."""
    return "\n" in said and any(
        line.strip() and line.strip() in note.memory.text for line in said.splitlines()
    )
