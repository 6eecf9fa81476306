"""What ``scout`` sees: the candidates of one question, and their states as selection goes on.

A state has a fixed part, read once (how the memory fits the question by meaning, words, names,
days and kind; how it stands among the candidates; what the question is like), and a moving part
(what was chosen already: how much this one repeats, adds or continues it, how much room is left).
``STATE`` names all of it, in order. Numbers lie roughly between -1 and 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.bm25 import rarity
from policies.features import Reading, Readings, Wording, answer_fit, date_fit, name_fit
from policies.fusion import scores
from policies.naming import Names, named_fit
from policies.network import Floats
from policies.ranking import best
from store.records import entity_key
from store.types import Memory
from store.view import SELF, GraphView

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
    "chosen", "room", "chosen_share", "first", "below_last",
)  # fmt: skip
"""Of what was chosen so far."""
STATE = FIT + ASKED + SO_FAR
BRANCHES = 6
"""Linked memories that choosing one brings in, the nearest to the question."""
_FIXED = len(FIT) + len(ASKED)


class Candidates:
    """The candidates of a question; ``take`` chooses one and brings in what it leads to."""

    def __init__(
        self,
        question: Question,
        view: GraphView,
        activated: int,
        budget: int,
        names: Names | None = None,
    ) -> None:
        self.view = view
        self.rows: list[int] = []
        self.via: list[int | None] = []
        """The row each was reached from; None for the activated ones."""
        self._read: list[Reading] = []
        self._entities: list[frozenset[str]] = []
        self._relations: list[frozenset[tuple[str, str]]] = []
        self.chosen: list[int] = []
        """Places in ``rows``, in the order of choosing."""
        self._budget = budget
        self._numbers = view.numbers  # before the readings, which are by number
        self._readings = view.shelf.of(Readings)
        self._scores = scores(question, view)
        self._question = question
        self._wording = Wording.of(question.text)
        self._named = None if names is None else named_fit(question, view, names)
        first = [int(row) for row in best(self._scores.score, activated)]
        self._look_at(first)
        self._open = np.zeros(0, bool)
        self._fixed = np.zeros((0, _FIXED))
        self._moving = np.zeros((0, len(SO_FAR)))
        self._held = np.zeros((0, len(self._weights)), bool)
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
        left = self.open
        return np.hstack([self._fixed[left], self._moving[left]])

    def fused(self) -> Floats:
        """The scores of the open places, by which they were activated."""
        found: Floats = self._fixed[self.open, 0]
        return found

    def leave(self, place: int) -> None:
        """Decide against a candidate."""
        self._open[place] = False

    def take(self, place: int) -> None:
        """Choose a candidate; what is linked with it or was told beside it comes in."""
        self._open[place] = False
        self.chosen.append(place)
        row = self.rows[place]
        known = set(self.rows)
        linked = [other for other in self.view.linked(row) if other not in known]
        nearest = np.argsort(-self._cosines(linked), kind="stable")[:BRANCHES]
        linked = [linked[one] for one in nearest]
        beside = [other for other in self.view.near(row) if other not in {*known, *linked}]
        self._add([*linked, *beside], place)
        self._move(place)

    # ---- the moving part ----------------------------------------------------------------------

    def _move(self, place: int) -> None:
        """Tell every candidate what choosing this one changes."""
        row, vectors = self.rows[place], self.view.vectors
        moving, at = self._moving, SO_FAR.index
        moving[:, at("repeats")] = np.maximum(
            moving[:, at("repeats")], vectors[self.rows] @ vectors[row]
        )
        self._said |= self._held[place]
        moving[:, at("adds")] = (self._held & ~self._said) @ self._weights
        moving[:, at("continues")] = np.maximum(moving[:, at("continues")], self._continued(place))
        entities, relations = self._entities[place], self._relations[place]
        beside = self.view.near(row)
        left = np.flatnonzero(self._open).tolist()
        for sign, fits in (
            ("linked", [one for one in left if not entities.isdisjoint(self._entities[one])]),
            ("near", [one for one in left if self.rows[one] in beside]),
            (
                "same_relation",
                [one for one in left if not relations.isdisjoint(self._relations[one])],
            ),
        ):
            moving[fits, at(sign)] = 1.0
        moving[:, at("chosen")] = np.log1p(len(self.chosen)) / 2
        moving[:, at("room")] = 1 - len(self.chosen) / self._budget
        moving[:, at("chosen_share")] += self._fixed[place, FIT.index("share")]
        moving[:, at("first")] = 0.0
        moving[:, at("below_last")] = self._fixed[place, 0] - self._fixed[:, 0]

    def _continued(self, place: int) -> Floats:
        """What share of a memory's words beyond the question's each candidate has too.

        Rare words count more: it tells whether both are about one thing, where no relation does.
        """
        words = self._read[place].words.difference(self._wording.words)
        rare = {
            word: rarity(self._counts[word], len(self._first))
            for word in sorted(words)  # the same sum in the same order in every process
        }
        total = max(sum(rare.values()), 1e-9)
        return np.array([sum(rare[word] for word in sorted(words & own.words)) / total
                         for own in self._read])  # fmt: skip

    # ---- the fixed part -----------------------------------------------------------------------

    def _look_at(self, first: list[int]) -> None:
        """What the activated memories are like together; every candidate is compared with it."""
        found = self._scores
        fused = found.score[first] if first else np.zeros(1)
        self._top = float(fused[0])
        self._mass = float(np.exp(fused - self._top).sum())
        shares = np.exp(fused - self._top) / self._mass
        self._best_cosine = float(self._cosines(first).max()) if first else 0.0
        memories = [self.view.memories[row] for row in first]
        self._times = np.sort([memory.created.timestamp() for memory in memories])
        self._subclasses: dict[str, float] = defaultdict(float)
        self._span: dict[tuple[str, str], tuple[float, float]] = {}
        for memory, share in zip(memories, shares, strict=False):
            self._subclasses[memory.subclass] += float(share)
            for key in _relations(memory):
                low, high = self._span.get(key, (np.inf, -np.inf))
                told = memory.created.timestamp()
                self._span[key] = min(low, told), max(high, told)
        asked = self._wording.words
        self._first = [self._reading(row) for row in first]
        self._counts = Counter(word for own in self._first for word in own.words)
        weights = [rarity(self._counts[word], len(first)) for word in asked]
        self._weights = np.array(weights) / max(sum(weights), 1e-9)
        self._best_coverage = max(
            (sum(w for w, word in zip(self._weights, asked, strict=True) if word in own.words)
             for own in self._first),
            default=0.0,
        )  # fmt: skip
        self._said = np.zeros(len(asked), bool)

    def _cosines(self, rows: list[int]) -> Floats:
        # Of these rows alone: all of a large home's vectors take longer to read than a choice may.
        return (self.view.vectors[rows] @ self._question.vector).astype(np.float64)

    def _reading(self, row: int) -> Reading:
        return self._readings.of(int(self._numbers[row]))

    def _add(self, rows: list[int], via: int | None) -> None:
        """New candidates, reached from the place ``via``."""
        if not rows:
            return
        readings = [self._reading(row) for row in rows]
        self._read += readings
        self._entities += [self.view.entities(row) - {SELF} for row in rows]
        self._relations += [_relations(self.view.memories[row]) for row in rows]
        held = np.array(
            [[word in own.words for word in self._wording.words] for own in readings], bool
        ).reshape(len(rows), len(self._weights))
        fixed = np.hstack([self._fit(rows, readings, held), self._asked(len(rows))])
        moving = np.zeros((len(rows), len(SO_FAR)))
        at = SO_FAR.index
        if via is None:
            moving[:, at("activated")] = 1.0
        else:
            moving[:, at("via_fused")] = self._fixed[via, 0]
        if self.chosen:
            before = self.view.vectors[[self.rows[place] for place in self.chosen[:-1]]]
            if len(before):
                moving[:, at("repeats")] = (self.view.vectors[rows] @ before.T).max(axis=1)
            moving[:, at("chosen_share")] = sum(
                self._fixed[place, FIT.index("share")] for place in self.chosen[:-1]
            )
        moving[:, at("adds")] = (held & ~self._said) @ self._weights
        moving[:, at("room")] = 1.0
        moving[:, at("first")] = 1.0
        self.rows += rows
        self.via += [None if via is None else self.rows[via]] * len(rows)
        self._open = np.append(self._open, np.ones(len(rows), bool))
        self._fixed = np.vstack([self._fixed, fixed])
        self._moving = np.vstack([self._moving, moving])
        self._held = np.vstack([self._held, held])

    def _fit(self, rows: list[int], readings: list[Reading], held: NDArray[np.bool_]) -> Floats:
        """The part ``FIT``."""
        found, asked = self._scores, self._wording
        fused, cosines = found.score[rows], self._cosines(rows)
        covers = held @ self._weights
        arrays = [
            fused / 4, found.dense[rows] / 4, found.lexical[rows] / 4,
            found.dense_near[rows] / 4, found.lexical_near[rows] / 4,
            cosines, self._best_cosine - cosines, (self._top - fused) / 4,
            1 / (1 + len(self.rows) + np.arange(len(rows))),
            np.exp(np.minimum(fused - self._top, 0)) / self._mass,
            covers, self._best_coverage - covers,
            [self._asked_before(row) for row in rows],
        ]  # fmt: skip
        told = [self._of_memory(self.view.memories[row], own, asked)
                for row, own in zip(rows, readings, strict=True)]  # fmt: skip
        named = np.zeros((len(rows), 2)) if self._named is None else self._named(rows)
        return np.hstack([np.stack(arrays, axis=1), np.array(told), named])

    def _asked_before(self, row: int) -> float:
        """What of the question the turn just before asks, if it asks anything."""
        before = int(self.view.neighbours[0][row])
        if before < 0 or not (own := self._reading(before)).asks:
            return 0.0
        held = [word in own.words for word in self._wording.words]
        return float(np.array(held, bool) @ self._weights) if held else 0.0

    def _of_memory(self, memory: Memory, own: Reading, asked: Wording) -> list[float]:
        speaks = not asked.names.isdisjoint(own.speaker.split())
        at = memory.created.timestamp()
        spans = [self._span[key] for key in _relations(memory) if key in self._span]
        return [
            name_fit(asked.names, own),
            float(speaks),
            float(bool(own.speaker) and bool(asked.names) and not speaks),
            date_fit(asked.days, own.days),
            answer_fit(asked.asked, own.answers),
            float(np.searchsorted(self._times, at)) / max(1, len(self._times)),
            float(any(high > at for _, high in spans)),
            float(any(low < at for low, _ in spans)),
            float(memory.id in self.view.current),
            float(own.asks),
            min(1.0, len(memory.triples) / 2),
            float(self._subclasses[memory.subclass]),
        ]

    def _asked(self, count: int) -> Floats:
        """The part ``ASKED``, once for each of ``count`` candidates."""
        asked = self._wording
        signs = [
            *map(float, asked.asked), float(asked.several), float(asked.compares),
            float(asked.past), float(asked.yes_no), float(asked.mine),
            min(1.0, len(asked.names) / 2), float(bool(asked.days)),
            float(asked.spaceless), self._best_cosine,
        ]  # fmt: skip
        return np.tile(np.array(signs), (count, 1))


def _relations(memory: Memory) -> frozenset[tuple[str, str]]:
    """Of what each edge tells what: the head and the relation."""
    return frozenset((entity_key(t.head), t.relation) for t in memory.triples)
