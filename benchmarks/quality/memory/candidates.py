"""Which older sentences a new one is compared with, and what the statement reader finds in them.

What one writer told is one home: the messages of a person, or all episodes of a voice by their
dates. Of each sentence that tells something, the older ones that it changes or repeats are known.
Each arm compares it with other candidates: ``ours`` with those of the product, nearest to the
sentence and the ones beside it, and the newest; ``three`` with as many as a sentence of a file, the
newest not among them; ``alone`` with as many as ours, nearest to the sentence alone; ``twelve``
with the twelve nearest to the sentence alone and the four newest.

``pairs``: compared for each sentence. ``covered``: the share of what is changed that is among them.
``precision``: the average precision of the reader's probability of a change over all that was
changed, covered or not. ``right`` and ``wrong``: how many get a probability from which an edge is
kept, or the older one is hidden. The language model is not asked. No weights learned from these
voices. The readers did not learn from the people, but how opinions are mixed did (``pair_mix``
measures each person without that).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score

from agent.config import load_config
from agent.language.units import in_message
from agent.memory.changes import LEAST
from agent.memory.editing.candidates import NEAREST, OF_FILE, RECENT, in_context
from agent.memory.editing.judges.by_reader import judged_as
from agent.memory.time.changed import CHANGED
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_statement_reader import WEIGHTS
from agent.models.readers.second_reader import Beside, alone, rivals
from agent.ports import Embedder, StatementReader
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

    writer: str
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
    for kind, homes in (("people", people_homes()), ("voices", voice_homes())):
        some = list(islice(homes, 1 if given.quick else None))
        for name, arm in ARMS.items():
            found = [candidates(home, embedder, arm) for home in some]
            read = [judged(*both, reader) for both in zip(some, found, strict=True)]
            told = [one for pairs in read for one in pairs.values()]
            right = np.array([p in f.changed for f, r in zip(found, read, strict=True) for p in r])
            chances = alone([one.first for one in told], [one.beside for one in told])
            changed = sum(len(one.changed) for one in found)
            sentences_told = sum(len(one.pairs) for one in found)
            covered = right.sum() / changed
            precision = average_precision_score(right, chances) * covered
            figures |= {
                f"{kind}.n": sentences_told,
                f"{kind}.changed": changed,
                f"{kind}.{name}.pairs": len(told) / sentences_told,
                f"{kind}.{name}.covered": float(covered),
                f"{kind}.{name}.precision": float(precision),
            }
            for least in (LEAST, CHANGED):
                edges = chances >= least
                figures[f"{kind}.{name}.from_{least}.right"] = int(right[edges].sum())
                figures[f"{kind}.{name}.from_{least}.wrong"] = int((~right[edges]).sum())
            progress(f"{kind}, {name}: {precision:.3f}")
    config = {"quick": given.quick, "arms": {name: list(arm) for name, arm in ARMS.items()}}
    write_results("candidates", config, [0], figures)


# ---- homes -------------------------------------------------------------------------------------


def people_homes(folder: Path = HELD) -> Iterator[Home]:
    """English-speaking people."""
    return (person_home(person) for person in read_people(folder) if person.language == "en")


def person_home(person: Person) -> Home:
    """What a person told."""
    own = sentences(person)

    def relation(older: int, newer: int) -> str:
        return strongest_of_facts(person, own[older].facts, own[newer].facts)

    told = (Told(one.message, one.text, one.read, bool(one.facts)) for one in own)
    return Home(person.id, tuple(told), relation)


def voice_homes() -> Iterator[Home]:
    """Voices held out, each with all its episodes."""
    for _, episodes in groupby(read_episodes(HELD_VOICES), lambda episode: episode.voice):
        yield voice_home(list(episodes))


def voice_home(episodes: Sequence[Episode]) -> Home:
    """What a voice told in some episodes, in the order of time."""
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
    return Home(episodes[0].voice, tuple(told), relation)


# ---- candidates --------------------------------------------------------------------------------


class Arm(NamedTuple):
    """How candidates are searched."""

    in_context: bool
    nearest: int
    recent: int


OURS = Arm(True, NEAREST, RECENT)
ARMS = {
    "ours": OURS,
    "three": Arm(True, OF_FILE, 0),
    "alone": OURS._replace(in_context=False),
    "twelve": Arm(False, 12, 4),
}


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the sentences of a home are compared with."""

    pairs: dict[int, dict[int, float]]
    """By the place of a new sentence, of each candidate the cosine."""
    older: dict[int, int]
    """How many older sentences there are."""
    changed: frozenset[Compared]
    """All pairs of which the newer one changes or repeats the older one, candidates or not."""


def candidates(home: Home, embedder: Embedder, arm: Arm = OURS) -> Candidates:
    """Of each sentence that tells something, the older ones that do."""
    kept = [place for place, one in enumerate(home.told) if one.tells]
    stored = embedder.encode([home.told[place].text for place in kept])
    messages = [home.told[place].message for place in kept]
    vectors = np.stack(in_context(list(stored), messages)) if arm.in_context else stored
    pairs: dict[int, dict[int, float]] = {}
    older: dict[int, int] = {}
    changed: set[Compared] = set()
    for row, new in enumerate(kept):
        known = [n for n in range(row) if messages[n] != messages[row]]
        if not known:
            continue
        near = stored[known] @ vectors[row]
        best = np.argsort(-near, kind="stable")[: arm.nearest].tolist()
        last = range(max(0, len(known) - arm.recent), len(known))
        pairs[new] = {kept[known[n]]: float(near[n]) for n in (*best, *last)}
        older[new] = len(known)
        changed |= {(kept[n], new) for n in known if home.relation(kept[n], new) not in NO_CHANGE}
    return Candidates(pairs, older, frozenset(changed))


NO_CHANGE = ("unrelated", "adds")


def judged(home: Home, found: Candidates, reader: StatementReader) -> dict[Compared, Judged]:
    """What the statement reader says of each pair."""
    order = [(old, new) for new, olds in found.pairs.items() for old in olds]
    read = reader.relations([(home.told[old].read, home.told[new].read) for old, new in order])
    first = {pair: judged_as(row).changed for pair, row in zip(order, read, strict=True)}
    made: dict[Compared, Judged] = {}
    for new, olds in found.pairs.items():
        odds = rivals([first[old, new] for old in olds]).tolist()
        for (old, near), one in zip(olds.items(), odds, strict=True):
            beside = Beside(one, found.older[new], near)
            made[old, new] = Judged(first[old, new], beside)
    return made


class Judged(NamedTuple):
    """The statement reader's probability of a change, and what is known beside it."""

    first: float
    beside: Beside


if __name__ == "__main__":
    main()
