"""EMG-RAG's traversal node by node (section 4.3), to compare with memlane's memory by memory.

The memories nearest to the question activate the nodes that hold them: an *in-degree node* holds
the memories whose relation points to it (section 4.2). From each the graph is searched depth first.
At a node every memory that it holds is decided on, in the order of its similarity, with the three
cosines of equation 1: the node, the relation that points to it, the memory. A memory that is
included leads on to the nodes that its node is connected with; one that is not ends that branch.

``policies.walk.walk`` differs in two ways. It takes the end of a relation that is closer to what is
asked, because a question names one end ('my boss') and asks for the other, which is the node here.
And it goes on from memory to memory that share an end, so the memories at both ends of a relation
are one step away. Both leave the person out as a link: nearly everything hangs on her.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.scoring.question_entities import NameIndex, named_in
from policies.scoring.ranking import best
from policies.selection import Selection
from policies.training.mlp import Floats, Ints, Mlp
from policies.training.reinforce import Rollout
from policies.walk.walk import ACTIVATED, BRANCHES, STATE, VISITS, selection_of
from store.derived.view import GraphView
from store.row_codecs import entity_key

HUB = 0.1
"""A node on more than this share of the memories is a person that all is about: no link."""


class _Held(NamedTuple):
    row: int
    node: str
    """Its key."""
    name: str
    relation: str


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes of a view: what each holds, and what it is connected with."""

    of_row: dict[int, list[_Held]]
    held: dict[str, list[_Held]]
    beside: dict[str, set[str]]

    @classmethod
    def of(cls, view: GraphView) -> Self:
        of_row: dict[int, list[_Held]] = {}
        held: dict[str, list[_Held]] = {}
        beside: dict[str, set[str]] = {}
        for row, memory in enumerate(view.memories):
            for triple in memory.triples:
                head, tail = entity_key(triple.head), entity_key(triple.tail)
                one = _Held(row, tail, triple.tail, triple.relation)
                of_row.setdefault(row, []).append(one)
                held.setdefault(tail, []).append(one)
                beside.setdefault(head, set()).add(tail)
                beside.setdefault(tail, set()).add(head)
        most = max(8, HUB * len(view.memories))
        hubs = {node for node, others in beside.items() if len(others) > most}
        return cls(of_row, held, {n: o - hubs for n, o in beside.items() if n not in hubs})


class _Visit(NamedTuple):
    held: _Held
    via: int | None
    state: Floats


@dataclass(frozen=True, slots=True, eq=False)
class NodeWalk:
    """The traversal of this module, as a policy that learns."""

    network: Mlp
    names: NameIndex = field(default_factory=lambda: NameIndex(None))
    activated: int = ACTIVATED
    name: str = "node walk"

    def with_network(self, network: Mlp) -> Self:
        """:raises InvalidInput: if the network is for states of another length."""
        return replace(self, network=network.for_states(len(STATE)))

    def select(self, question: Question, view: GraphView) -> Selection:
        chances: dict[int, float] = {}

        def likely(visit: _Visit) -> bool:
            chance = float(self.network.probabilities(visit.state[None])[0, 1])
            chances[visit.held.row] = chance
            return chance >= 0.5

        visits, taken = self._walk(question, view, likely)
        rows = [(visit.held.row, visit.via, visit.state) for visit in visits]
        return selection_of(self.name, view, rows, taken, chances)

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        """A walk that includes just what is required; see ``reinforce.LearnedPolicy``."""
        visits, taken = self._walk(
            question, view, lambda visit: view.memories[visit.held.row].id in required
        )
        return _stacked(visits), np.array([int(v.held.row in taken) for v in visits], np.int64)

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        """A walk that includes by chance; see ``reinforce.LearnedPolicy``."""
        actions: list[int] = []
        sets: list[tuple[str, ...]] = []

        def decide(visit: _Visit) -> bool:
            chance = self.network.probabilities(visit.state[None])[0, 1]
            actions.append(int(rng.random() < chance))
            held = sets[-1] if sets else ()
            sets.append((*held, view.memories[visit.held.row].id) if actions[-1] else held)
            return bool(actions[-1])

        visits, _ = self._walk(question, view, decide)
        return Rollout(_stacked(visits), np.array(actions, np.int64), tuple(sets))

    def _walk(
        self, question: Question, view: GraphView, include: Callable[[_Visit], bool]
    ) -> tuple[list[_Visit], dict[int, None]]:
        """All visits in their order, and the rows that were included, in theirs."""
        if not view.memories:
            return [], {}
        nodes = view.once(Nodes.of)
        near = view.vectors @ question.vector
        state_of = self._states(question, view)
        first = best(near, self.activated).tolist()
        active = dict.fromkeys(held.node for row in first for held in nodes.of_row.get(row, ()))
        waiting: list[tuple[_Held, int | None]] = []
        for node in reversed(list(active)):
            waiting += [(held, None) for held in reversed(_nearest(nodes.held[node], near))]
        seen: set[int] = set()
        visits: list[_Visit] = []
        taken: dict[int, None] = {}
        while waiting and len(visits) < VISITS:
            held, via = waiting.pop()
            if held.row in seen:
                continue
            seen.add(held.row)
            visit = _Visit(held, via, state_of(held))
            visits.append(visit)
            if include(visit):
                taken[held.row] = None
                on = (
                    one
                    for node in nodes.beside.get(held.node, ())
                    for one in nodes.held.get(node, ())
                    if one.row not in seen
                )
                waiting += [(one, held.row) for one in reversed(_nearest(on, near))]
        return visits, taken

    def _states(self, question: Question, view: GraphView) -> Callable[[_Held], Floats]:
        named = named_in(question.text, view)
        entity = self.names.entity(named.entities, view)
        relation = self.names.relation(named.relation, question.vector)

        def state(held: _Held) -> Floats:
            node = self.names.entities([held.name], view)[0] @ entity
            edge = self.names.relations([held.relation], view, [held.row])[0] @ relation
            return np.array([node, edge, view.vectors[held.row] @ question.vector], np.float64)

        return state


def _nearest(some: Iterable[_Held], near: NDArray[np.floating]) -> list[_Held]:
    """The few most similar to the question, best first."""
    return sorted(some, key=lambda held: -near[held.row])[:BRANCHES]


def _stacked(visits: list[_Visit]) -> Floats:
    if not visits:
        return np.zeros((0, len(STATE)))
    return np.stack([visit.state for visit in visits])
