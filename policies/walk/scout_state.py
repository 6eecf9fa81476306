"""Candidates and features of ``scout``.

A state has a fixed part, read once (how the memory fits the question by meaning, words, names,
days and kind; how it stands among the candidates; what the question is like), and a moving part
(what was chosen already: how much this one repeats, adds or continues it, how much room is left).
``STATE`` names all of it, in order. Numbers lie roughly between -1 and 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.baselines.fusion import FAR, scores
from policies.scoring.features import (
    FeatureCache,
    MemoryFeatures,
    QuestionFeatures,
    answer_fit,
    asks,
    date_fit,
    name_fit,
)
from policies.scoring.question_entities import NameIndex, named_fit
from policies.scoring.ranking import best
from policies.training.mlp import Floats
from store.derived.cache import rarity
from store.derived.view import SELF, GraphView
from store.types import Memory

FIT = (
    "fused", "dense", "lexical", "dense_near", "lexical_near",
    "cosine", "below_best_cosine", "below_best", "rank", "share",
    "coverage", "below_best_coverage", "after_question",
    "names", "speaker", "other_speaker", "day", "answers",
    "later", "superseded", "supersedes", "holds",
    "asks", "entities", "same_subclass", "entity", "relation",
)  # fmt: skip
"""Of the memory: fit to the question, standing among the candidates, kind."""
ASKED = (
    "when", "how_many", "who", "where", "several", "compares", "past", "yes_no", "of_me",
    "question_names", "question_days", "spaceless", "best_cosine",
)  # fmt: skip
"""Of the question; the same for all candidates."""
SO_FAR = (
    "activated", "via_fused", "repeats", "continues", "adds", "linked", "near", "same_relation",
    "chosen", "room", "chosen_share", "first", "below_last", "answered",
)  # fmt: skip
"""Of what was chosen so far."""
STATE = FIT + ASKED + SO_FAR
Tie = str | tuple[str, str]
"""What two memories can share: an entity, or a relation of an entity."""
BRANCHES = 6
"""Linked memories that choosing one brings in, the nearest to the question."""
_AT = {name: column for column, name in enumerate(STATE)}
_OF_MEMORY = slice(_AT["names"], _AT["same_subclass"] + 1)
_NAMED = slice(_AT["entity"], _AT["relation"] + 1)
_OF_QUESTION = slice(_AT["when"], _AT["best_cosine"] + 1)
_GROWS = 2
"""How many times larger the tables become when they are full."""


class Candidates:
    """The candidates of a question; ``take`` chooses one and brings in what it leads to."""

    def __init__(
        self,
        question: Question,
        view: GraphView,
        activated: int,
        budget: int,
        names: NameIndex | None = None,
    ) -> None:
        self.view = view
        self.rows: list[int] = []
        self.via: list[int | None] = []
        """The row each was reached from; None for the activated ones."""
        self._read: list[MemoryFeatures] = []
        self._ties: list[frozenset[Tie]] = []
        # Where a row, a word, a tie is found: going through all candidates for each took longest.
        self._place: dict[int, int] = {}
        self._saying: dict[str, list[int]] = defaultdict(list)
        self._tied: dict[Tie, list[int]] = defaultdict(list)
        self.chosen: list[int] = []
        """Places in ``rows``, in the order of choosing."""
        self._budget = budget
        self._answered = 0.0
        self._numbers = view.numbers  # before the readings, which are by number
        self._readings = view.cache.of(FeatureCache)
        self._scores = scores(question, view)
        self._question = question
        self._wording = QuestionFeatures.of(question.text)
        self._named = None if names is None else named_fit(question, view, names)
        first = [int(row) for row in best(self._scores.score, activated)]
        self._look_at(first)
        # One line a candidate, and room for more: joining small arrays took longest.
        room = _GROWS * max(1, len(first))
        self._open = np.zeros(room, bool)
        self._states = np.zeros((room, len(STATE)))
        self._held = np.zeros((room, len(self._weights)), bool)
        self._vectors = np.zeros((room, view.vectors.shape[1]), view.vectors.dtype)
        self._add(first, None)

    # ---- what there is to decide --------------------------------------------------------------

    @property
    def open(self) -> NDArray[np.intp]:
        """Places that are not decided yet; none once the budget is spent."""
        if len(self.chosen) >= self._budget:
            return np.zeros(0, np.intp)
        return np.flatnonzero(self._open)

    def states(self) -> Floats:
        """Of the open places, shape (open, len(STATE))."""
        states: Floats = self._states[self.open]
        return states

    def fused(self) -> NDArray[np.float32]:
        """The scores of the open places, by which they were activated."""
        found: NDArray[np.float32] = self._scores.score[[self.rows[place] for place in self.open]]
        return found

    def leave(self, place: int) -> None:
        """Decide against a candidate."""
        self._open[place] = False

    def take(self, place: int) -> None:
        """Choose a candidate; what is linked with it or was told beside it comes in."""
        self._open[place] = False
        self.chosen.append(place)
        if len(self.chosen) >= self._budget:
            return  # nothing is left to decide
        row = self.rows[place]
        linked = [other for other in self.view.linked(row) if other not in self._place]
        if len(linked) > 1:
            nearest = np.argsort(-self._cosines(self._of(linked)), kind="stable")[:BRANCHES]
            linked = [linked[one] for one in nearest]
        beside = [n for n in self.view.near(row) if n not in self._place and n not in linked]
        self._add([*linked, *beside], place)
        self._move(place)

    # ---- the moving part ----------------------------------------------------------------------

    def _move(self, place: int) -> None:
        """Tell every candidate what choosing this one changes."""
        size, own = len(self.rows), self._states[place]
        states, held = self._states[:size], self._held[:size]
        alike = self._vectors[:size] @ self._vectors[place]
        for name, now in (("repeats", alike), ("continues", self._continued(place))):
            np.maximum(states[:, _AT[name]], now, out=states[:, _AT[name]])
        self._said |= held[place]
        states[:, _AT["adds"]] = (held & ~self._said) @ self._weights
        for tie in self._ties[place]:
            sign = "linked" if isinstance(tie, str) else "same_relation"
            states[self._tied[tie], _AT[sign]] = 1.0
        for other in self.view.near(self.rows[place]):
            if other in self._place:
                states[self._place[other], _AT["near"]] = 1.0
        states[:, _AT["chosen"]] = np.log1p(len(self.chosen)) / 2
        states[:, _AT["room"]] = 1 - len(self.chosen) / self._budget
        states[:, _AT["chosen_share"]] += own[_AT["share"]]
        states[:, _AT["first"]] = 0.0
        self._answered = max(self._answered, float(own[_AT["answers"]]))
        states[:, _AT["answered"]] = self._answered
        states[:, _AT["below_last"]] = own[_AT["fused"]] - states[:, _AT["fused"]]

    def _continued(self, place: int) -> Floats:
        """What share of a memory's words beyond the question's each candidate has too.

        Rare words count more: it tells whether both are about one thing, where no relation does.
        """
        found, total = np.zeros(len(self.rows)), 0.0
        # Sorted: the same sum in the same order in every process.
        for word in sorted(self._read[place].words.difference(self._wording.words)):
            rare = rarity(self._counts[word], len(self._first))
            found[self._saying[word]] += rare
            total += rare
        return found / max(total, 1e-9)

    # ---- the fixed part -----------------------------------------------------------------------

    def _look_at(self, first: list[int]) -> None:
        """What the activated memories are like together; every candidate is compared with it."""
        found = self._scores
        fused = found.score[first] if first else np.zeros(1)
        self._top = float(fused[0])
        self._mass = float(np.exp(fused - self._top).sum())
        shares = np.exp(fused - self._top) / self._mass
        self._best_cosine = float(self._cosines(self._of(first)).max()) if first else 0.0
        memories = [self.view.memories[row] for row in first]
        self._times = np.sort([memory.created.timestamp() for memory in memories])
        self._subclasses: dict[str, float] = defaultdict(float)
        self._span: dict[tuple[str, str], tuple[float, float]] = {}
        self._first = [self._reading(row) for row in first]
        for memory, own, share in zip(memories, self._first, shares, strict=False):
            self._subclasses[memory.subclass] += float(share)
            for key in own.relations:
                low, high = self._span.get(key, (np.inf, -np.inf))
                told = memory.created.timestamp()
                self._span[key] = min(low, told), max(high, told)
        asked = self._wording.words
        self._counts = Counter(word for own in self._first for word in own.words)
        weights = [rarity(self._counts[word], len(first)) for word in asked]
        self._weights = np.array(weights) / max(sum(weights), 1e-9)
        self._best_coverage = max(
            (sum(w for w, word in zip(self._weights, asked, strict=True) if word in own.words)
             for own in self._first),
            default=0.0,
        )  # fmt: skip
        self._said = np.zeros(len(asked), bool)

    def _of(self, rows: list[int]) -> NDArray[np.float32]:
        # Of these rows alone: all of a large home's vectors take longer to read than a choice may.
        return self.view.vectors[rows]

    def _cosines(self, vectors: NDArray[np.float32]) -> Floats:
        return (vectors @ self._question.vector).astype(np.float64)

    def _reading(self, row: int) -> MemoryFeatures:
        return self._readings.of(int(self._numbers[row]))

    def _add(self, rows: list[int], via: int | None) -> None:
        """New candidates, reached from the place ``via``."""
        if not rows:
            return
        start, stop = len(self.rows), len(self.rows) + len(rows)
        while stop > len(self._states):
            self._grow()
        readings = [self._reading(row) for row in rows]
        self._read += readings
        asked = self._wording.words
        for place, (row, reading) in enumerate(zip(rows, readings, strict=True), start):
            self._place[row] = place
            for word in reading.words:
                self._saying[word].append(place)
            self._ties.append(ties := (self.view.entities(row) - {SELF}) | reading.relations)
            for tie in ties:
                self._tied[tie].append(place)
        held = self._held[start:stop]
        held[:] = [[word in reading.words for word in asked] for reading in readings]
        vectors = self._vectors[start:stop] = self._of(rows)
        states = self._states[start:stop]
        self._fit(states, rows, readings, held, vectors)
        states[:, _OF_QUESTION] = self._asked
        if via is None:
            states[:, _AT["activated"]] = 1.0
        else:
            states[:, _AT["via_fused"]] = self._states[via, _AT["fused"]]
        if before := self.chosen[:-1]:
            states[:, _AT["repeats"]] = (vectors @ self._vectors[before].T).max(axis=1)
            states[:, _AT["chosen_share"]] = self._states[before, _AT["share"]].sum()
        states[:, _AT["adds"]] = (held & ~self._said) @ self._weights
        states[:, _AT["room"]] = 1.0
        states[:, _AT["first"]] = 1.0
        self.rows += rows
        self.via += [None if via is None else self.rows[via]] * len(rows)
        self._open[start:stop] = True

    def _grow(self) -> None:
        """Room for more candidates; what there is stays."""
        for name in ("_open", "_states", "_held", "_vectors"):
            table = getattr(self, name)
            more = np.zeros(((_GROWS - 1) * len(table), *table.shape[1:]), table.dtype)
            setattr(self, name, np.concatenate([table, more]))

    def _fit(
        self,
        states: Floats,
        rows: list[int],
        readings: list[MemoryFeatures],
        held: NDArray[np.bool_],
        vectors: NDArray[np.float32],
    ) -> None:
        """Write the part ``FIT`` of these rows into their states."""
        found, at = self._scores, np.array(rows)
        fused, cosines = found.score[at], self._cosines(vectors)
        covers = held @ self._weights
        far = np.array([fused, found.dense[at], found.lexical[at], found.dense_near[at],
                        found.lexical_near[at], self._top - fused])  # fmt: skip
        *fits, below = np.clip(far, -FAR, FAR) / 4
        columns = (
            *fits,
            cosines, self._best_cosine - cosines, below,
            1 / (1 + len(self.rows) + np.arange(len(rows))),
            np.exp(np.minimum(fused - self._top, 0)) / self._mass,
            covers, self._best_coverage - covers,
            [self._asked_before(row) for row in rows],
        )  # fmt: skip
        for column, values in enumerate(columns):
            states[:, column] = values
        memories = [self.view.memories[row] for row in rows]
        told = [memory.created.timestamp() for memory in memories]
        states[:, _OF_MEMORY] = np.array(self._of_memories(memories, told, readings)).T
        states[:, _AT["later"]] = np.searchsorted(self._times, told) / max(1, len(self._times))
        if self._named is not None:
            states[:, _NAMED] = self._named(rows)

    def _asked_before(self, row: int) -> float:
        """What of the question the turn just before asks, if it asks anything."""
        before = int(self.view.neighbours[0][row])
        if before < 0 or not asks(self.view.memories[before]):
            return 0.0
        own = self._reading(before)
        held = [word in own.words for word in self._wording.words]
        return float(np.array(held, bool) @ self._weights) if held else 0.0

    def _of_memories(
        self, memories: list[Memory], told: list[float], readings: list[MemoryFeatures]
    ) -> list[list[float]]:
        """The columns from "names" to "same_subclass"; what is not asked about is not read."""
        asked, nothing = self._wording, [0.0] * len(memories)
        names = speaks = other = nothing
        if asked.names:
            names = [name_fit(asked.names, own) for own in readings]
            speaks = [float(not asked.names.isdisjoint(own.speaker.split())) for own in readings]
            other = [
                float(bool(own.speaker) and not said)
                for own, said in zip(readings, speaks, strict=True)
            ]
        superseded, supersedes = nothing[:], nothing[:]
        for place, (own, at) in enumerate(zip(readings, told, strict=True)):
            for key in own.relations & self._span.keys():
                low, high = self._span[key]
                superseded[place] = max(superseded[place], float(high > at))
                supersedes[place] = max(supersedes[place], float(low < at))
        return [
            names,
            speaks,
            other,
            [date_fit(asked.days, own) for own in readings] if asked.days else nothing,
            [answer_fit(asked.asked, own) for own in readings],
            nothing,  # "later": of all at once
            superseded,
            supersedes,
            [float(memory.id in self.view.current) for memory in memories],
            [float(asks(memory)) for memory in memories],
            [min(1.0, len(memory.triples) / 2) for memory in memories],
            [self._subclasses.get(memory.subclass, 0.0) for memory in memories],
        ]

    @cached_property
    def _asked(self) -> Floats:
        """The part ``ASKED``, the same for every candidate."""
        asked = self._wording
        return np.array([
            *map(float, asked.asked), float(asked.several), float(asked.compares),
            float(asked.past), float(asked.yes_no), float(asked.mine),
            min(1.0, len(asked.names) / 2), float(bool(asked.days)),
            float(asked.spaceless), self._best_cosine,
        ])  # fmt: skip
