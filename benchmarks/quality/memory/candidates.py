"""Which older sentences a new one is compared with, and what the statement reader finds in them.

What one writer told is one home: the messages of a person, or all episodes of a voice by their
dates. Of each sentence that tells something, the older ones that it changes or repeats are known.
Each arm compares it with other candidates: ``ours`` with those of the product, nearest to the
sentence and the ones beside it; ``alone`` with as many, nearest to the sentence alone; ``twelve``
with the twelve nearest to the sentence alone and the four newest.

``pairs``: compared for each sentence. ``covered``: the share of what is changed that is among them.
``precision``: the average precision of the reader's probability of a change over all that was
changed, covered or not. ``edges.right`` and ``edges.wrong``: how many get a probability from which
an edge is kept. The language model is not asked. All writers are held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from sklearn.metrics import average_precision_score

from agent.config import load_config
from agent.language.units import in_message
from agent.memory.changes import CANDIDATES, LEAST, RECENT, in_context
from agent.memory.editing.judges.by_reader import judged_as
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.models.readers.second_reader import Beside, alone, rivals
from agent.ports import Embedder, StatementReader, Vectors
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.people_data import (
    HELD,
    Person,
    read_people,
    sentences,
    strongest_of_facts,
)
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.reader_data import (
    Episode,
    read_episodes,
    strongest_of_statements,
    units_of,
)
from benchmarks.training.reader.reader_train import encoder_folder

BEFORE, BEFORE_RECENT = 12, 4
"""How many candidates there were before."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a home; all of them in the order in which they were told."""

    message: str
    text: str
    read: str
    tells: bool


@dataclass(frozen=True, slots=True)
class Home:
    """What one writer told."""

    told: tuple[Told, ...]
    relation: Callable[[int, int], str]
    """Of an older and a newer sentence, by their places."""


Compared = tuple[int, int]
"""The places of an older and a newer sentence."""


def main() -> None:
    """Write ``candidates.json``."""
    given = parser("candidates", __doc__ or "").parse_args()
    embedder = LocalEmbedder(load_config())
    reader = TrainedReader(encoder_folder(), WEIGHTS)
    figures: dict[str, float] = {}
    for kind, homes in (("people", _people()), ("voices", _voices())):
        rows: dict[str, list[tuple[float, bool]]] = {}
        sentences_told = changed = 0
        for number, home in enumerate(homes):
            if given.quick and number:
                break
            found = _of_home(home, embedder, reader)
            sentences_told += found.sentences
            changed += found.changed
            for arm, pairs in found.pairs.items():
                rows.setdefault(arm, []).extend(pairs)
            progress(f"{kind}: {number + 1}")
        figures[f"{kind}.n"], figures[f"{kind}.changed"] = sentences_told, changed
        for arm, pairs in rows.items():
            chances, right = np.array(pairs).T
            covered, edges = right.sum() / changed, chances >= LEAST
            figures[f"{kind}.{arm}.pairs"] = len(pairs) / sentences_told
            figures[f"{kind}.{arm}.covered"] = float(covered)
            precision = average_precision_score(right, chances)
            figures[f"{kind}.{arm}.precision"] = float(precision * covered)
            figures[f"{kind}.{arm}.edges.right"] = float(right[edges].sum())
            figures[f"{kind}.{arm}.edges.wrong"] = float((1 - right[edges]).sum())
    progress(str(figures))
    config = {"quick": given.quick, "candidates": CANDIDATES, "recent": RECENT, "least": LEAST}
    write_results("candidates", config, [0], figures)


# ---- homes -------------------------------------------------------------------------------------


def _people() -> Iterator[Home]:
    return (_of_person(person) for person in read_people(HELD) if person.language == "en")


def _of_person(person: Person) -> Home:
    own = sentences(person)

    def relation(older: int, newer: int) -> str:
        return strongest_of_facts(person, own[older].facts, own[newer].facts)

    told = (Told(one.message, one.text, one.read, bool(one.facts)) for one in own)
    return Home(tuple(told), relation)


def _voices() -> Iterator[Home]:
    for _, episodes in groupby(read_episodes(HELD_VOICES), lambda episode: episode.voice):
        yield _of_voice(list(episodes))


def _of_voice(episodes: Sequence[Episode]) -> Home:
    rows = [
        (episode.messages[number], episode, f"{episode.id}-{number}", unit, held)
        for episode in episodes
        for number, row in enumerate(units_of(episode))
        for unit, held in row
    ]
    rows.sort(key=lambda row: row[0][0].replace(tzinfo=None))

    def relation(older: int, newer: int) -> str:
        (_, one, _, _, before), (_, other, _, _, after) = rows[older], rows[newer]
        return strongest_of_statements(one, before, after) if one is other else "unrelated"

    told = (
        Told(name, unit.text, in_message(unit, message), any(s.memory for s in held))
        for (_, message), _, name, unit, held in rows
    )
    return Home(tuple(told), relation)


# ---- candidates --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Of one home, by arm, the probability of each pair compared and whether it is a change."""

    sentences: int
    changed: int
    pairs: dict[str, list[tuple[float, bool]]]


def _of_home(home: Home, embedder: Embedder, reader: StatementReader) -> Found:
    vectors = embedder.encode([one.text for one in home.told])
    kept = [place for place, one in enumerate(home.told) if one.tells]
    moved = np.zeros_like(vectors)
    moved[kept] = in_context(list(vectors[kept]), [home.told[place].message for place in kept])
    arms = {
        "ours": (moved, CANDIDATES, RECENT),
        "alone": (vectors, CANDIDATES, RECENT),
        "twelve": (vectors, BEFORE, BEFORE_RECENT),
    }
    older = {
        place: [n for n in range(place) if home.told[n].tells and home.told[n].message != message]
        for place, message in enumerate(one.message for one in home.told)
        if home.told[place].tells
    }
    older = {place: known for place, known in older.items() if known}
    right = {
        (old, new)
        for new, known in older.items()
        for old in known
        if home.relation(old, new) not in ("unrelated", "adds")
    }
    compared = {
        arm: {new: _nearest(known, new, vectors, search) for new, known in older.items()}
        for arm, search in arms.items()
    }
    chances = _changed(home, {p for arm in compared.values() for p in _pairs(arm)}, reader)
    pairs: dict[str, list[tuple[float, bool]]] = {}
    for arm, own in compared.items():
        for new, olds in own.items():
            first = [chances[old, new] for old in olds]
            beside = [Beside(one, len(older[new])) for one in rivals(first).tolist()]
            weighed = alone(first, beside).tolist()
            pairs.setdefault(arm, []).extend(
                (chance, (old, new) in right) for old, chance in zip(olds, weighed, strict=True)
            )
    return Found(len(older), len(right), pairs)


def _nearest(
    known: Sequence[int], new: int, stored: Vectors, search: tuple[Vectors, int, int]
) -> list[int]:
    vectors, count, recent = search
    near = np.argsort(-(stored[known] @ vectors[new]), kind="stable")[:count]
    return list(dict.fromkeys((*(known[n] for n in near.tolist()), *known[-recent:])))


def _pairs(compared: dict[int, list[int]]) -> Iterator[Compared]:
    return ((old, new) for new, olds in compared.items() for old in olds)


def _changed(home: Home, pairs: set[Compared], reader: StatementReader) -> dict[Compared, float]:
    """The statement reader's probability of a change, of each pair."""
    order = sorted(pairs)
    read = reader.relations([(home.told[old].read, home.told[new].read) for old, new in order])
    return {pair: judged_as(row).changed for pair, row in zip(order, read, strict=True)}


if __name__ == "__main__":
    main()
