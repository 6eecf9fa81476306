"""Introductions and months -> questions with their notes, which the reading adapter learns from.

A line tells several facts, and each question asks for one of them or for what was not told: what
was learned from other notes alone took a line for an answer to the first of its facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from agent.language.units import Unit, in_message, units
from agent.models.readers.note_reader import NOTES
from agent.ports import Embedder
from benchmarks.quality.answers.conversations.introductions_data import (
    Introduced,
    Span,
    read_follow_ups,
    read_introductions,
)
from benchmarks.training.reader.note_groups import Group, Note

FILLED = 0.2
"""Share of the questions that are read with notes of other voices too."""
APART = 0.25
"""Cosine to the question below which what somebody else told does not answer it."""


def groups_of_introductions(folder: Path, embedder: Embedder) -> Iterator[Group]:
    """Each question of the homes in a folder, with the notes of its home."""
    homes = list(read_introductions(folder))
    others = [(home.voice, note) for home in homes for note in _notes(home, (), ())]
    vectors = embedder.encode([note.text for _, note in others])
    for home in homes:
        for asked in home.questions:
            chance = Random(f"{home.id} {asked.text}")
            own = list(_notes(home, asked.needed, asked.changed))
            if chance.random() < FILLED:
                near = vectors @ embedder.encode([asked.text])[0]
                apart = [
                    note
                    for n, (voice, note) in enumerate(others)
                    if voice != home.voice and near[n] < APART
                ]
                own += chance.sample(apart, chance.randint(1, max(1, NOTES - len(own))))
            own = _nearest(own, asked.text, embedder)
            yield Group(home.voice, asked.kind, asked.text, tuple(own))


def groups_of_follow_ups(folder: Path, embedder: Embedder) -> Iterator[Group]:
    """The second questions of a folder: read after the first, and those that lean spelled out, too.

    The other questions of these homes are read after one of another topic, on which none leans.
    """
    pairs = list(read_follow_ups(folder))
    for one in pairs:
        notes = list(_notes(one.home, one.needed, ()))
        kind = "leaning" if one.leans else "alone"
        yield _asked_after(one.first, one.text, kind, one.home, notes, embedder)
        if one.leans:
            yield _asked_after("", one.alone, "spelled out", one.home, notes, embedder)
    for home in {one.home.id: one.home for one in pairs}.values():
        for asked, other in pairwise(home.questions):
            notes = list(_notes(home, asked.needed, asked.changed))
            yield _asked_after(other.text, asked.text, "another topic", home, notes, embedder)


def _asked_after(
    last: str, text: str, kind: str, home: Introduced, notes: Sequence[Note], embedder: Embedder
) -> Group:
    near = _nearest(notes, f"{last} {text}".strip(), embedder)
    return Group(home.voice, kind, text, tuple(near), last)


def _nearest(notes: Sequence[Note], question: str, embedder: Embedder) -> list[Note]:
    """The ``NOTES`` that are read: what is marked, and what is nearest to the question."""
    if len(notes) <= NOTES:
        return list(notes)
    near = (
        embedder.encode([note.text for note in notes]) @ embedder.encode([question])[0]
    ).tolist()
    marked = [note.label != "unrelated" for note in notes]
    order = sorted(range(len(notes)), key=lambda n: (marked[n], near[n]), reverse=True)
    return [notes[n] for n in sorted(order[:NOTES])]


def _notes(home: Introduced, needed: Sequence[Span], changed: Sequence[Span]) -> Iterator[Note]:
    for number, (said, message) in enumerate(home.messages):
        for unit in units(message):
            label = "changed" if _holds(unit, number, changed) else "unrelated"
            label = "needed" if _holds(unit, number, needed) else label
            words = " ".join(unit.text.split())
            yield Note(said, words, in_message(unit, message), label)


def _holds(unit: Unit, number: int, spans: Sequence[Span]) -> bool:
    """Whether one of the spans begins in this unit of this message."""
    return any(one.message == number and unit.start <= one.start < unit.end for one in spans)
