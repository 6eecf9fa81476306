"""Questions with the notes that are read together, which the reader of notes learns from.

People (``samples/people``) have told much, so the notes are the nearest of many. Episodes
(``samples/voices``) are homes of a few messages; what the same voice told in others fills some of
them up. From some of either what answers is left out: such a question has no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

import numpy as np

from agent.language.units import in_message
from agent.models.readers.note_reader import NOTES, DatedNote
from agent.ports import Embedder
from benchmarks.quality.answers.conversations.people_data import Person, pairs_of
from benchmarks.training.reader.reader_data import TOLD, Episode, units_of

ALONE, FILLED, FEW = 0.35, 0.65, 0.8
"""Episodes that stay alone; that are filled up. The others lose what answers: they get a few other
notes, or are filled up."""
A_FEW = 3
"""Most notes beside an episode that has no answer and stays small."""


@dataclass(frozen=True, slots=True)
class Note:
    """A unit of a message, and whether the answer needs it, or needs what changed it."""

    said: datetime
    text: str
    read: str
    """In its message, as the statement reader reads it."""
    label: str
    """"needed", "changed" or "unrelated"."""


@dataclass(frozen=True, slots=True)
class Group:
    """A question with at most ``NOTES`` notes."""

    writer: str
    kind: str
    """What becomes of the fact that is asked for, or what kind of question it is."""
    question: str
    notes: tuple[Note, ...]
    last: str = ""
    """What was asked right before it."""

    @property
    def dated(self) -> list[DatedNote]:
        return [(note.said, note.text) for note in self.notes]


def groups_of_person(person: Person, embedder: Embedder) -> Iterator[Group]:
    """Each question with the notes that the product would look at."""
    pairs = (pair for pair in pairs_of(person, embedder) if pair.task == "relevance")
    for asked, pair in zip(person.asked, pairs, strict=True):
        notes = tuple(
            Note(other.said, other.text, other.read, label)
            for other, label, seen in zip(pair.others, pair.labels, pair.looked_at, strict=True)
            if seen
        )
        yield Group(person.id, asked.kind, pair.text, notes[:NOTES])


def groups_of_voice(episodes: Sequence[Episode], embedder: Embedder, seed: int) -> list[Group]:
    """The questions of the episodes of one voice."""
    told = [list(_notes(episode)) for episode in episodes]
    flat = [(place, note) for place, notes in enumerate(told) for note in notes]
    vectors = embedder.encode([note.text for _, note in flat])
    groups = []
    for place, episode in enumerate(episodes):
        chance = Random(f"{seed} {episode.id}")
        own, way = told[place], chance.random()
        if way >= FILLED:
            own = [note for note in own if note.label == "unrelated"]
        if way >= ALONE:
            order = np.argsort(-(vectors @ embedder.encode([episode.question])[0])).tolist()
            small = FILLED <= way < FEW
            if small:  # a home of a few messages is about anything
                chance.shuffle(order)
            beside = [
                Note(note.said, note.text, note.read, "unrelated")
                for other, note in (flat[n] for n in order)
                if episodes[other].topic != episode.topic
            ]
            own = [*own, *beside[: chance.randint(1, A_FEW if small else NOTES)]][:NOTES]
        if own:
            groups.append(Group(episode.voice, episode.kind, episode.question, tuple(own)))
    return groups


def _notes(episode: Episode) -> Iterator[Note]:
    """What was told in an episode; small talk is no note."""
    needed = set(episode.evidence)
    changed = {old for old, new in episode.relations if new in needed} - needed
    for number, row in enumerate(units_of(episode)):
        said, message = episode.messages[number]
        for unit, held in row:
            ids = {statement.id for statement in held}
            if ids & needed:
                label = "needed"
            elif ids & changed:
                label = "changed"
            elif any(statement.kind in TOLD for statement in held):
                label = "unrelated"
            else:
                continue
            words = " ".join(unit.text.split())
            yield Note(said, words, in_message(unit, message), label)
