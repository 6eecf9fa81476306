"""``walk``: the policy of EMG-RAG (section 4.3).

The ``activated`` memories nearest to the question activate their nodes. From each the graph is
walked depth first: a memory is visited with the state of three cosines (equation 1), and the
network decides to include it and go on to what is connected with it, or to stop this branch
(equation 2). What was visited once is not visited again.

*A node* is an end of one of the memory's relations. The paper attaches a memory to the node its
relation points to; a question names one end and asks for the other, so the first cosine is taken
with the end that is closer, and of several relations the one closest to the question counts. A
memory without relations has zeros for both. *Connected* are memories that share an entity
(``GraphView.linked``), the ``BRANCHES`` nearest to the question. How entity and relation of the
question are found: ``policies.scoring.question_entities``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from policies.base import Question
from policies.scoring.pca_search import exactly, roughly
from policies.scoring.question_entities import NameIndex, NameVectors, named_fit
from policies.scoring.ranking import best
from policies.selection import Choice, Selection, Step
from policies.training.mlp import Floats, Ints, Mlp
from policies.training.reinforce import Rollout
from store.derived.view import GraphView

WEIGHTS = Path(__file__).parent.parent / "data" / "walk.npz"
STATE = ("entity", "relation", "memory")
"""What is compared with the question's: equation 1."""
ACTIVATED = 3
"""K of the paper (section 5.1; Table 5 compares 1 to 5)."""
BRANCHES = 8
"""Connected memories that are gone on to from one."""
LOOKED_AT = 64
"""Memories of a large home whose similarity is taken exactly before the first are activated."""
VISITS = 64
"""Memories that are visited at most, so that no graph makes a walk slow."""


class _Visit(NamedTuple):
    row: int
    via: int | None
    state: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The paper's policy; see this module."""

    network: Mlp
    activated: int = ACTIVATED
    names: NameIndex = field(default_factory=lambda: NameIndex(None))
    name: str = "walk"

    @classmethod
    def shipped(cls, names: NameVectors | None = None, *, activated: int = ACTIVATED) -> Self:
        """With the weights that memlane comes with.

        :raises InvalidInput: if their file is damaged.
        """
        return cls(_weights(), activated, NameIndex(names))

    def with_network(self, network: Mlp) -> Self:
        """:raises InvalidInput: if the network is for states of another length."""
        return replace(self, network=network.for_states(len(STATE)))

    def select(self, question: Question, view: GraphView) -> Selection:
        chances: dict[int, float] = {}

        def likely(visit: _Visit) -> bool:
            chances[visit.row] = float(self.network.probabilities(visit.state[None])[0, 1])
            return chances[visit.row] >= 0.5

        visits, taken = self._walk(question, view, likely)
        return selection_of(self.name, view, visits, taken, chances)

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        """A walk that includes just what is required; see ``reinforce.Learned``."""
        visits, taken = self._walk(
            question, view, lambda visit: view.memories[visit.row].id in required
        )
        included = set(taken)
        return _stacked(visits), np.array([int(v.row in included) for v in visits], np.int64)

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        """A walk that includes by chance; see ``reinforce.Learned``."""
        actions: list[int] = []
        sets: list[tuple[str, ...]] = []

        def decide(visit: _Visit) -> bool:
            chance = self.network.probabilities(visit.state[None])[0, 1]
            actions.append(int(rng.random() < chance))
            held = sets[-1] if sets else ()
            sets.append((*held, view.memories[visit.row].id) if actions[-1] else held)
            return bool(actions[-1])

        visits, _ = self._walk(question, view, decide)
        return Rollout(_stacked(visits), np.array(actions, np.int64), tuple(sets))

    def _walk(
        self, question: Question, view: GraphView, include: Callable[[_Visit], bool]
    ) -> tuple[list[_Visit], list[int]]:
        """All visits in their order, and the rows that were included."""
        if not view.memories:
            return [], []
        near, rough = roughly(question, view)  # (n,)
        if rough:
            near = exactly(question, view, near, best(near, LOOKED_AT))
        state_of = self._states(question, view)
        first = best(near, self.activated)
        waiting: list[tuple[int, int | None]] = [(row, None) for row in reversed(first.tolist())]
        seen: set[int] = set()
        visits: list[_Visit] = []
        taken: list[int] = []
        while waiting and len(visits) < VISITS:
            row, via = waiting.pop()
            if row in seen:
                continue
            seen.add(row)
            visit = _Visit(row, via, state_of(row))
            visits.append(visit)
            if include(visit):
                taken.append(row)
                linked = [other for other in view.linked(row) if other not in seen]
                linked.sort(key=lambda other: -near[other])
                waiting += [(other, row) for other in reversed(linked[:BRANCHES])]
        return visits, taken

    def _states(self, question: Question, view: GraphView) -> Callable[[int], Floats]:
        """What gives the state of a row (equation 1)."""
        fit = named_fit(question, view, self.names)

        def state(row: int) -> Floats:
            entity, relation = fit([row])[0]
            return np.array([entity, relation, view.vectors[row] @ question.vector], np.float64)

        return state


def _stacked(visits: list[_Visit]) -> Floats:
    if not visits:
        return np.zeros((0, len(STATE)))
    return np.stack([visit.state for visit in visits])


@cache
def _weights() -> Mlp:
    return Mlp.load(WEIGHTS, inputs=len(STATE))


def selection_of(
    name: str,
    view: GraphView,
    visits: Iterable[tuple[int, int | None, Floats]],
    taken: Collection[int],
    chances: Mapping[int, float],
) -> Selection:
    """What a walk took, best first, with the trace of its visits (row, row it came from, state)."""
    choices = sorted(
        (Choice(view.memories[row], chances[row]) for row in taken), key=lambda c: -c.score
    )
    trace = tuple(
        Step(
            memory=view.memories[row].id,
            score=chances[row],
            chosen=row in taken,
            reason="included" if row in taken else "stopped here",
            activated=via is None,
            via=None if via is None else view.memories[via].id,
            state=tuple(zip(STATE, map(float, state), strict=True)),
            probability=chances[row],
        )
        for row, via, state in visits
    )
    return Selection(name, tuple(choices), trace)
