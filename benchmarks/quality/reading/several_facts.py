"""Several facts in one line: does the reader of notes find the one that a question asks for?

People introduce themselves in one line: "58, potter, two dogs, allergic to nuts". Here three notes
of a writer who was not learned from are joined into such a line, of which one answers the question
or none does. The reader reads the line (*line*), the three notes (*parts*), or all four together,
as the product does with a line and the memories that were made of it (*both*); each once with
nothing beside it and once with at most four other notes (``.more``).

Measured are the areas under the curve of lines that answer against the others, by the relevance of
the likeliest note of the line and by ``answered``, and the shares of both with ``answered`` below
``notes.KNOWN``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from random import Random
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from agent.answering.notes.gather import KNOWN
from agent.config import load_config
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.models.readers.note_reader import NoteReader, note_reader
from agent.ports import Embedder, LanguageModel, StatementReader
from agent.session.session import open_session
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.people_data import HELD, PEOPLE, read_people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.adapter.adapter_examples import CALIBRATED
from benchmarks.training.reader.note_groups import Group, Note, groups_of_person, groups_of_voice
from benchmarks.training.reader.reader_data import VOICES, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder

SAMPLED = 35
"""Questions with an answer, and as many without."""
FACTS, MORE = 3, 4
"""Notes that are joined into a line; most notes beside it."""


class Way(NamedTuple):
    """Notes that are read, of which the first ``own`` are of the line."""

    name: str
    own: int
    notes: tuple[Note, ...]


class Read(NamedTuple):
    """What was read of a line: whether it answers, the likeliest note of it, any note."""

    answers: bool
    relevance: float
    answered: float


def main() -> None:
    options = parser("several_facts", __doc__ or "")
    given = options.parse_args()
    statements = TrainedReader(encoder_folder(), WEIGHTS)
    reads: dict[str, list[Read]] = defaultdict(list)
    with open_session(load_config()) as models:
        reader = _reader(models.llm)
        groups = _sampled(list(_groups(models.embedder)))
        for number, group in enumerate(groups[::20] if given.quick else groups, 1):
            for way in _ways(group, Random(group.question)):
                answers = any(note.label == "needed" for note in way.notes[: way.own])
                reads[way.name].append(_read(group, way, answers, reader, statements))
            if number % 20 == 0:
                progress(f"question {number} of {len(groups)}")
    figures = {key: value for name, own in reads.items() for key, value in _figures(name, own)}
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    config = {"quick": given.quick, "writers": sorted({group.writer for group in groups})}
    write_results("several_facts", config, [0], figures)


def _reader(llm: LanguageModel) -> NoteReader:
    reader = note_reader(llm)
    if reader is None:
        raise SystemExit("The model that is configured is not the one that the weights are for.")
    return reader


def _groups(embedder: Embedder) -> Iterator[Group]:
    """Questions of writers that the adapter did not learn from, in English."""
    for folder in (PEOPLE, HELD):
        for person in read_people(folder):
            if person.language == "en" and (folder == HELD or person.id in CALIBRATED):
                yield from groups_of_person(person, embedder)
    for folder in (VOICES, HELD_VOICES):
        for voice, rows in groupby(read_episodes(folder), lambda episode: episode.voice):
            if folder == HELD_VOICES or voice in CALIBRATED:
                yield from groups_of_voice(list(rows), embedder, 0)


def _sampled(groups: Sequence[Group]) -> list[Group]:
    """As many questions with an answer in one note as without; none where notes changed others."""
    chance = Random(0)
    kinds: dict[int, list[Group]] = {1: [], 0: []}
    for group in groups:
        labels = [note.label for note in group.notes]
        if "changed" not in labels and labels.count("unrelated") >= FACTS:
            kinds.get(labels.count("needed"), []).append(group)
    both = zip(*(chance.sample(own, SAMPLED) for own in kinds.values()), strict=True)
    return [group for pair in both for group in pair]


def _ways(group: Group, chance: Random) -> Iterator[Way]:
    """A line of three notes in the ways it may be read."""
    needed = [note for note in group.notes if note.label == "needed"]
    others = [note for note in group.notes if note.label == "unrelated"]
    own = [*needed, *chance.sample(others, FACTS - len(needed))]
    chance.shuffle(own)
    said = max(note.said for note in own)
    parts = [replace(note, said=said) for note in own]
    text = ", ".join(note.text.rstrip(".") for note in own)
    line = Note(said, text, text, "needed" if needed else "unrelated")
    more = [note for note in others if note not in own][:MORE]
    for name, notes in (("line", [line]), ("parts", parts), ("both", [line, *parts])):
        yield Way(name, len(notes), tuple(notes))
        if more:
            yield Way(f"{name}.more", len(notes), (*notes, *more))


def _read(
    group: Group, way: Way, answers: bool, reader: NoteReader, statements: StatementReader
) -> Read:
    first = statements.relevance(group.question, [note.read for note in way.notes])[:, 0]
    reading = reader.read(group.question, [(n.said, n.text) for n in way.notes], first.tolist())
    return Read(answers, float(reading.relevance[: way.own].max()), reading.answered)


def _figures(name: str, reads: Sequence[Read]) -> Iterator[tuple[str, float]]:
    answers = np.array([read.answers for read in reads])
    known = np.array([read.answered for read in reads])
    yield f"{name}.n", len(reads)
    yield f"{name}.answers", int(answers.sum())
    yield f"{name}.relevance", float(roc_auc_score(answers, [read.relevance for read in reads]))
    yield f"{name}.answered", float(roc_auc_score(answers, known))
    yield f"{name}.silent.answers", float(np.mean(known[answers] < KNOWN))
    yield f"{name}.silent.others", float(np.mean(known[~answers] < KNOWN))


if __name__ == "__main__":
    main()
