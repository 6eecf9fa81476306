"""The people and questions of opinionqa_slice, as homes that hold their answers as memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.ports import Embedder, Vectors
from benchmarks.shared.common import ROOT, progress
from store.types import Memory

NOW = datetime(2024, 1, 1, tzinfo=UTC)
GROUPS = ("Democrat", "Republican", "Independent", "Other")
EVERYBODY = len(GROUPS)
"""Position of the distribution over all that were asked."""
Log = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the survey, its options, and how groups answered it."""

    id: str
    text: str
    options: tuple[str, ...]
    groups: NDArray[np.float64]
    """(groups + 1, options): the probability of each option in each group, last in all."""

    def said(self, option: int) -> str:
        """An answer as a memory holds it."""
        asked = self.text if self.text.endswith("?") else f"{self.text.rstrip(' .:')}?"
        return f"{asked} {self.options[option]}"


@dataclass(frozen=True, slots=True)
class Person:
    """A person, their group as they told it, and their answers as (question, option)."""

    number: int
    topic: str
    group: int
    answers: tuple[tuple[Asked, int], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """An answer to predict from a history."""

    person: Person
    history: tuple[tuple[Asked, int], ...]
    asked: Asked
    right: int


def load(data: Path) -> tuple[Person, ...]:
    """All people, each answer to a question with at least two options."""
    folder = data / "opinionqa_slice"
    bank = json.loads((folder / "question_bank_with_distributions.json").read_text("utf-8"))
    asked = {row["qid"]: _asked(row) for row in bank if len(row["choice"]) > 1}
    people = []
    lines = (folder / "user_answers.jsonl").read_text("utf-8").splitlines()
    for number, row in enumerate(map(json.loads, lines)):
        party = row.get("Political party")
        group = GROUPS.index(party) if party in GROUPS else EVERYBODY
        answers = tuple((asked[q], int(i)) for q, i in row["answers"] if q in asked)
        people.append(Person(number, row["topic"], group, answers))
    return tuple(people)


def _asked(row: Mapping[str, object]) -> Asked:
    choice = row["choice"]
    assert isinstance(choice, list)
    options = tuple(map(str, choice))
    everybody = row["most_freq_agreed_answers"]
    by_group = row["polparty_info"]
    assert isinstance(by_group, dict)
    tables = [by_group.get(name) or everybody for name in GROUPS]
    groups = np.stack([_distribution(table, options) for table in (*tables, everybody)])
    return Asked(str(row["qid"]), str(row["question"]), options, groups)


def _distribution(known: object, options: Sequence[str]) -> NDArray[np.float64]:
    """The bank gives the two most frequent answers; what is left is shared by the others."""
    assert isinstance(known, list)
    found = np.full(len(options), np.nan)
    for probability, text in known:
        if text in options:
            found[options.index(text)] = probability
    left = np.isnan(found)
    if left.any():
        found[left] = max(1 - np.nansum(found), 0.02) / left.sum()
    return np.asarray(found / found.sum(), np.float64)


def cases(people: Sequence[Person], seed: int, history: tuple[int, int]) -> list[Case]:
    """Of each person some answers as history (from, to), and all beyond the first 20 to predict.

    Lurkers and frequent people are the same ones with less told, and are asked the same.
    """
    rng = np.random.default_rng(seed)
    found = []
    for person in people:
        order = rng.permutation(len(person.answers))
        size = int(rng.integers(history[0], history[1] + 1))
        told = tuple(person.answers[i] for i in order[:20][:size])
        found += [Case(person, told, *person.answers[i]) for i in order[20:]]
    return found


def memories(history: Sequence[tuple[Asked, int]]) -> tuple[Memory, ...]:
    """The history as a home holds it, oldest first."""
    return tuple(
        Memory(f"m{n}", asked.said(option), "Preference", "preference.other", NOW)
        for n, (asked, option) in enumerate(history, 1)
    )


class KeptVectors:
    """An encoder that keeps what it encoded, in memory and on disk; texts stay in ``build``."""

    def __init__(self, encoder: Embedder, name: str = "opinions") -> None:
        self._encoder = encoder
        self._path = ROOT / "build" / "benchmarks" / f"{name}.npz"
        self._known: dict[str, Vectors] = {}
        if self._path.exists():
            with np.load(self._path) as kept:
                if str(kept["model"]) == encoder.identity:
                    self._known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    @property
    def identity(self) -> str:
        return self._encoder.identity

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        """As the encoder's; each text once."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            if len(fresh) > 500:
                progress(f"encoding {len(fresh)} texts")
            self._known |= dict(zip(fresh, self._encoder.encode(fresh), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self._known[text] for text in texts])

    def keep(self) -> None:
        """Write them for the next run."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            self._path,
            model=self.identity,
            texts=np.array(list(self._known)),
            vectors=np.stack(list(self._known.values())),
        )
