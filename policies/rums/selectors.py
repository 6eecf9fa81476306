"""RUMS as policies: the direct search by utility, and the two selectors that learned from it.

==============  ====================================================  =======================
``rums-direct``  searches the subset of the highest utility (3.3)     samples of a local model
``rums-binary``  question and memory -> take it or not (3.4)          a network, no model
``rums-multi``   question -> the item types that matter (3.4)         a network, no model
==============  ====================================================  =======================

The learned ones are two layers over the frozen sentence encoder, where the paper fine-tunes an
encoder of 304 million weights; both look only at what the coarse filter leaves. All three may
choose nothing. Their training: ``agent.learning.subset_labels`` and docs/rums.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.baselines.fusion import FusedCandidate, activate
from policies.rums.utility import CANDIDATES, MOST, MemoryNeed, coarse, search
from policies.scoring.ranking import SHOWN
from policies.selection import Choice, Selection, Step
from policies.training.mlp import Floats, Ints, Mlp
from policies.training.reinforce import Rollout
from policies.weight_file import read_json
from store.derived.view import GraphView
from store.errors import InvalidInput
from store.tables.taxonomy import SUBCLASSES, TYPES
from store.types import Memory

DATA = Path(__file__).parent.parent / "data"
BINARY, MULTI, NEED = DATA / "rums-binary.npz", DATA / "rums-multi.npz", DATA / "rums.json"
DIMENSION = 384
"""Numbers of a vector of the encoder that the shipped weights were trained over."""
PRICE = 0.01
"""Nats a token that a memory has to add; as in ``agent.learning.rewards``."""
Texts = Sequence[str]
Asking = Callable[[str, Sequence[Texts]], Sequence[Sequence[float]]]
"""From a question and several lists of memories to the entropies (nats a token) of the answers
sampled with each list, a number a sample; the empty list is no memory."""


# ---- direct -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RumsDirect:
    """The subset of the highest utility, if memory helps at all. Seconds a question: for measuring
    and for making labels, as the paper advises (A.8)."""

    entropies: Asking
    need: MemoryNeed
    k: int = MOST
    candidates: int = CANDIDATES
    name: str = "rums-direct"

    def select(self, question: Question, view: GraphView) -> Selection:
        rows = coarse(question, view, self.candidates)
        if not rows:
            return Selection(self.name, (), ())
        texts = [view.memories[row].text for row in rows]
        found = search(
            lambda subsets: self.entropies(
                question.text, [[texts[i] for i in subset] for subset in subsets]
            ),
            len(rows),
            most=self.k,
            price=PRICE,
        )
        likely = self.need.likely(found.best.mean, found.none)
        helps = likely >= self.need.threshold
        order = dict.fromkeys(i for step in found.path for i in step.subset)
        chosen = list(order) if helps else []
        trace = []
        for i in (*chosen, *(i for i in range(len(rows)) if i not in chosen)):
            one, kept = found.singles[i], i in chosen
            why = "makes the answer surer" if kept else "adds too little to be sure of the answer"
            if not helps:
                why = "memory hardly makes the answer surer"
            state = (("utility", one.mean), ("entropy_without", found.none))
            score = likely if kept else 0.0
            memory = view.memories[rows[i]].id
            trace.append(Step(memory, score, kept, why, state=state, probability=likely))
        choices = tuple(Choice(view.memories[rows[i]], likely) for i in chosen)
        return Selection(self.name, choices, tuple(trace))


@cache
def shipped_need() -> MemoryNeed:
    """When memory helps: the paper's threshold of 0.29 nats (docs/rums.md says why no other)."""
    document = read_json(NEED)
    return MemoryNeed(
        document["bias"], document["utility"], document["none"], document["threshold"]
    )


# ---- question and memory ------------------------------------------------------------------------

STANDING = (
    "cosine", "below_best", "above_others", "apart", "rank", "best_cosine",
    "fused", "dense", "lexical", "lexical_near", "best_lexical",
)  # fmt: skip
"""Of a memory among the candidates: how near it is to the question, and to what the others are."""
BINARY_INPUTS = len(STANDING) + DIMENSION
"""Standing, and the question. The product of both vectors was tried as well: a network that sees it
learns our own worlds by heart (docs/rums.md)."""
HIDDEN = 16
_SCALE = 0.1 * DIMENSION**0.5
"""Of the question's vector: small beside the standing, so that the pull of training weakens it
first."""


@dataclass(frozen=True, slots=True, eq=False)
class RumsBinary:
    """Of each candidate by itself: how likely it lowers the answer's entropy."""

    network: Mlp
    k: int = MOST
    candidates: int = CANDIDATES
    name: str = "rums-binary"

    @classmethod
    def shipped(cls, k: int = MOST) -> Self:
        """With the weights that memlane comes with.

        :raises InvalidInput: if their file is damaged.
        """
        return cls(_weights(BINARY, BINARY_INPUTS), k)

    def with_network(self, network: Mlp) -> Self:
        """:raises InvalidInput: if the network is for states of another length."""
        return replace(self, network=network.for_states(BINARY_INPUTS))

    def select(self, question: Question, view: GraphView) -> Selection:
        candidates = activate(question, view, self.candidates)
        if not candidates:
            return Selection(self.name, (), ())
        states = self._states(question, view, candidates)
        chances = self.network.probabilities(states)[:, 1]
        rows = [one.row for one in candidates]
        order = [int(i) for i in np.argsort(-chances, kind="stable")]
        taken = [i for i in order if chances[i] >= 0.5][: self.k]
        named = [tuple(zip(STANDING, map(float, state), strict=False)) for state in states]
        left = [i for i in order if i not in taken][:SHOWN]
        why = "likely to make the answer surer"
        why_not = f"beyond the first {self.k}" if len(taken) == self.k else "unlikely to help"
        trace = tuple(
            Step(view.memories[rows[i]].id, float(chances[i]), i in taken,
                 why if i in taken else why_not, state=named[i], probability=float(chances[i]))
            for i in (*taken, *left)
        )  # fmt: skip
        choices = tuple(Choice(view.memories[rows[i]], float(chances[i])) for i in taken)
        return Selection(self.name, choices, trace)

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        found = activate(question, view, self.candidates)
        labels = [int(view.memories[one.row].id in required) for one in found]
        return self._states(question, view, found), np.array(labels, np.int64)

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        found = activate(question, view, self.candidates)
        states = self._states(question, view, found)
        chances = self.network.probabilities(states)[:, 1]
        actions: list[int] = []
        sets: list[tuple[str, ...]] = []
        held: tuple[str, ...] = ()
        for one, chance in zip(found, chances, strict=True):
            taken = len(held) < self.k and bool(rng.random() < chance)
            held = (*held, view.memories[one.row].id) if taken else held
            actions.append(int(taken))
            sets.append(held)
        return Rollout(states, np.array(actions, np.int64), tuple(sets))

    def _states(
        self, question: Question, view: GraphView, candidates: Sequence[FusedCandidate]
    ) -> Floats:
        """One a candidate, shape (candidates, BINARY_INPUTS)."""
        if not candidates:
            return np.zeros((0, BINARY_INPUTS))
        fitting = _fitting(question.vector, self.name)
        cosines = (view.vectors[[one.row for one in candidates]] @ fitting).astype(np.float64)
        return np.hstack(
            [_standing(cosines, candidates), np.tile(_SCALE * fitting, (len(candidates), 1))]
        )


def _standing(cosines: Floats, candidates: Sequence[FusedCandidate]) -> Floats:
    """The part ``STANDING``; every number is brought to about the same size."""
    count = len(candidates)
    order = np.argsort(-cosines, kind="stable")
    ranks = np.argsort(order)
    best = cosines[order[0]]
    second = cosines[order[1]] if count > 1 else best
    lexical = np.array([one.lexical for one in candidates])
    return np.column_stack([
        4 * cosines,
        4 * (cosines - best),
        4 * (cosines - np.where(ranks == 0, second, best)),
        (cosines - cosines.mean()) / (2 * cosines.std() + 1e-6),
        ranks / CANDIDATES,
        np.full(count, 4 * best),
        np.array([one.score for one in candidates]) / 3,
        np.array([one.dense for one in candidates]) / 3,
        lexical / 3,
        np.array([one.lexical_near for one in candidates]) / 3,
        np.full(count, lexical.max() / 3),
    ])  # fmt: skip


# ---- question -> item types ---------------------------------------------------------------------

Kind = tuple[str, str]
"""Type and subclass of a memory."""
_SUBCLASSES = tuple(subclass.id for subclass in SUBCLASSES)
MULTI_INPUTS = DIMENSION + len(_SUBCLASSES) + len(TYPES)
"""The question, and which subclass and type is decided on."""


@dataclass(frozen=True, slots=True, eq=False)
class RumsMulti:
    """Which item types matter to a question, all decided in one pass; of each the nearest memory.

    The paper's profiles have one value a type, so one memory a type is taken. Types are the graph's
    subclasses. One that a person added has no weights of its own and is decided by its type in
    layer 1.
    """

    network: Mlp
    k: int = MOST
    candidates: int = CANDIDATES
    name: str = "rums-multi"

    @classmethod
    def shipped(cls, k: int = MOST) -> Self:
        """With the weights that memlane comes with.

        :raises InvalidInput: if their file is damaged.
        """
        return cls(_weights(MULTI, MULTI_INPUTS), k)

    def with_network(self, network: Mlp) -> Self:
        """:raises InvalidInput: if the network is for states of another length."""
        return replace(self, network=network.for_states(MULTI_INPUTS))

    def select(self, question: Question, view: GraphView) -> Selection:
        rows = coarse(question, view, self.candidates)
        if not rows:
            return Selection(self.name, (), ())
        kinds = _kinds(view, rows)
        states = self._states(question, kinds)
        chances = dict(zip(kinds, self.network.probabilities(states)[:, 1], strict=True))
        wanted = {kind for kind, chance in chances.items() if chance >= 0.5}
        nearest = _nearest_of(wanted, view, rows)
        taken = nearest[: self.k]
        left = [row for row in rows if row not in taken][:SHOWN]
        trace = []
        for row in (*taken, *left):
            memory, kept = view.memories[row], row in taken
            chance = float(chances[_kind(memory)])
            why = "the nearest of a kind that matters to the question"
            if row in nearest and not kept:
                why = f"beyond the first {self.k}"
            elif not kept:
                matters = _kind(memory) in wanted
                why = "not the nearest of its kind" if matters else "of a kind that does not matter"
            trace.append(Step(memory.id, chance, kept, why, probability=chance))
        choices = tuple(
            Choice(view.memories[row], float(chances[_kind(view.memories[row])])) for row in taken
        )
        return Selection(self.name, choices, tuple(trace))

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        kinds = _kinds(view, coarse(question, view, self.candidates))
        rows = [view.row[memory] for memory in required if memory in view.row]
        right = {_kind(view.memories[row]) for row in rows}
        labels = np.array([int(kind in right) for kind in kinds], np.int64)
        return self._states(question, kinds), labels

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        rows = coarse(question, view, self.candidates)
        kinds = _kinds(view, rows)
        states = self._states(question, kinds)
        chances = self.network.probabilities(states)[:, 1]
        actions: list[int] = []
        sets: list[tuple[str, ...]] = []
        wanted: set[Kind] = set()
        for kind, chance in zip(kinds, chances, strict=True):
            taken = bool(rng.random() < chance)
            wanted |= {kind} if taken else set()
            held = _nearest_of(wanted, view, rows)[: self.k]
            actions.append(int(taken))
            sets.append(tuple(view.memories[row].id for row in held))
        return Rollout(states, np.array(actions, np.int64), tuple(sets))

    def _states(self, question: Question, kinds: Sequence[Kind]) -> Floats:
        """One a kind, shape (kinds, MULTI_INPUTS)."""
        states = np.zeros((len(kinds), MULTI_INPUTS))
        if kinds:
            states[:, :DIMENSION] = _SCALE * _fitting(question.vector, self.name)
        for state, (type_, subclass) in zip(states, kinds, strict=True):
            if subclass in _SUBCLASSES:
                state[DIMENSION + _SUBCLASSES.index(subclass)] = 1.0
            if type_ in TYPES:
                state[DIMENSION + len(_SUBCLASSES) + TYPES.index(type_)] = 1.0
        return states


def _kind(memory: Memory) -> Kind:
    return memory.type, memory.subclass


def _nearest_of(wanted: set[Kind], view: GraphView, rows: Sequence[int]) -> list[int]:
    """The first row of each wanted kind."""
    first: dict[Kind, int] = {}
    for row in rows:
        first.setdefault(_kind(view.memories[row]), row)
    return [row for kind, row in first.items() if kind in wanted]


def _kinds(view: GraphView, rows: Sequence[int]) -> list[Kind]:
    """Those that the rows have, sorted."""
    return sorted({_kind(view.memories[row]) for row in rows})


# ---- weights ------------------------------------------------------------------------------------


def _fitting(vector: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """The vector. :raises InvalidInput: if it is of an encoder with other dimensions."""
    if vector.shape != (DIMENSION,):
        raise InvalidInput(
            f"{name} reads vectors of {DIMENSION} numbers, these have {len(vector)}. Use the "
            "built-in encoder, or another policy: memlane config set policy scout"
        )
    return vector


@cache
def _weights(path: Path, inputs: int) -> Mlp:
    return Mlp.load(path, inputs=inputs)
