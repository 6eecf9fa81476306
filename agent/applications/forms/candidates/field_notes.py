"""Which memories a field asks for, by the language model as a reader of notes.

The reader has learned questions and notes in free wording (``models.readers.note_reader``), so a
field is put to it as a question. It says how likely each memory answers and still holds, and
whether any does. From that follows how likely a value is right that the model copied. The weights
were learned from forms of people, most of whose texts were written without a look at the code
(``python -m benchmarks.copies_train``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from math import log
from pathlib import Path

import numpy as np

from agent.errors import PromptTooLong
from agent.models.readers import note_reader
from agent.models.readers.form_reader import KindMatch
from agent.models.readers.note_reader import NoteReader
from agent.models.readers.second_reader import logit, mixed
from agent.ports import LanguageModel, StatementReader, Vectors
from policies.weight_file import read_arrays
from store.types import Memory

WEIGHTS = Path(note_reader.__file__).parent / "data" / "form_copies.npz"
TOGETHER = 8
"""Most memories that are read for a field; it is nearly always among them."""
NOTHING = 0.06
"""Probability that any memory answers, below which nothing is copied from them: the copies that the
weights were learned from have 0.12 and more."""
LEAST_MATCH = 0.001
"""Probability of one kind below which less says no more."""
KEPT = 100
"""Fields of which it is kept what was read for them."""
SHARE, MOST_READ = 0.3, 4
"""Of the relevance of the likeliest memory, that from which another one is read too; how many."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of words that were copied for a field; each has a weight.

    Scores are in nats, probabilities as log-odds.
    """

    score: float
    """Of the words by the first prompt, and by the second."""
    score_again: float
    relevance: float
    """Of the memory that they stand in."""
    answered: float
    """That any memory answers."""
    agrees: bool
    """Whether the form reader found the same."""
    field_known: float = 0.93
    """That the form reader knows the kind that the field asks for, as a probability."""
    value_known: float = 0.36
    """The same of the kind of the words."""
    same_kind: float = log(0.012)
    """Logarithm of the probability that the two are one. Without a form reader these three are what
    they are on average of the copies that the weights were learned from."""
    lead: float = 0.0
    """Of the relevance, before that for the likeliest other field with the same words."""
    others: int = 0
    """Other fields of the form with the same words."""
    elsewhere: bool = False
    """Whether another field is filled with them without the model."""

    @property
    def chance(self) -> float:
        """The calibrated probability that the words are what the field asks for."""
        return float(mixed([[float(one)] for one in astuple(self)], _weights()["mix"])[0])

    def with_kinds(self, match: KindMatch) -> Signs:
        """With what the form reader says of the kinds of field and words."""
        same_kind = log(match.both + LEAST_MATCH)
        return replace(self, field_known=match.field, value_known=match.value, same_kind=same_kind)


class FieldNotes:
    """Memories and what was read in them for one field."""

    def __init__(self, memories: Sequence[Memory], relevance: Vectors, answered: float) -> None:
        order = np.argsort(-relevance, kind="stable")[:MOST_READ].tolist()
        self.likely = [memories[n] for n in order if relevance[n] >= SHARE * relevance[order[0]]]
        """Those that may answer, the likeliest first."""
        self._relevance = {m.id: float(one) for m, one in zip(memories, relevance, strict=True)}
        self._answered = answered

    @property
    def holds_none(self) -> bool:
        """Whether hardly any of the memories answers."""
        return self._answered < NOTHING

    def signs(self, memory: Memory, score: float, score_again: float, *, agrees: bool) -> Signs:
        """What is known of words that were copied from one of the memories."""
        relevant, answered = logit([self._relevance[memory.id], self._answered]).tolist()
        return Signs(score, score_again, relevant, answered, agrees)


class FieldReader:
    """Reads memories for fields, and keeps what it read last.

    Of a form with sensitive fields the same is read again once the person has agreed to them.
    """

    def __init__(self, notes: NoteReader, statements: StatementReader) -> None:
        self._notes = notes
        self._statements = statements
        self._kept: dict[tuple[object, ...], FieldNotes | None] = {}

    def read(self, field: str, memories: Sequence[Memory]) -> FieldNotes | None:
        """What at most ``TOGETHER`` memories have for a field; None where they are too long."""
        memories = memories[:TOGETHER]
        key = (field, *((memory.id, memory.created, memory.text) for memory in memories))
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = self._read(as_question(field), memories)
        return self._kept[key]

    def _read(self, asked: str, memories: Sequence[Memory]) -> FieldNotes | None:
        if not memories:
            return None
        first = self._statements.relevance(asked, [memory.text for memory in memories])[:, 0]
        try:
            found = self._notes.read(asked, [(m.created, m.text) for m in memories], first.tolist())
        except PromptTooLong:
            return None
        return FieldNotes(memories, found.relevance, found.answered)


Notes = Callable[[], FieldReader | None]
"""The reader, looked for only where a field is open: that takes the model's file."""


def field_reader(model: LanguageModel, statements: StatementReader | None) -> FieldReader | None:
    """The reader; None where no weights fit the model or the encoder."""
    notes = note_reader.note_reader(model)
    if notes is None or statements is None:
        return None
    return FieldReader(notes, statements)


def as_question(field: str) -> str:
    """The field as a question; labels that ask are left as they are."""
    return field if "?" in field else f"What is my {field[:1].lower()}{field[1:]}?"


@cache
def _weights() -> Mapping[str, Vectors]:
    return read_arrays(WEIGHTS)
