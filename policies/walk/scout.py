"""``scout``: our own walk. It takes the best memory left, again and again, and knows when to stop.

The ``activated`` memories come from meaning and words together (``policies.baselines.fusion``). At
each moment the network tells of every candidate how probable it is that it should be taken now; the
most probable one is decided on. Taking it brings in what is linked with it or was told beside it,
and changes the state of all others; leaving it, where it is the most probable, ends the walk.
Leaving the very first one is an abstention. What it sees: ``policies.walk.scout_state``.

It differs from ``walk`` (the paper's) in the order, best first instead of depth first; in a state
of more than three cosines; and in that leaving one memory does not cut off what lies behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np

from policies.base import Question
from policies.scoring.question_entities import NameIndex, NameVectors
from policies.scoring.ranking import SHOWN
from policies.selection import Choice, Selection, Step
from policies.training.mlp import Floats, Ints, Mlp
from policies.training.reinforce import Rollout
from policies.walk.scout_state import STATE, Candidates
from store.derived.view import GraphView

WEIGHTS = Path(__file__).parent.parent / "data" / "scout.npz"
ACTIVATED = 24
"""Memories that a walk begins with."""
BUDGET = 10
"""Memories that are taken at most."""
HIDDEN = 32
"""Units; with the states of ``policies.walk.scout_state`` fewer than 2,000 weights."""
PATIENCE = 2
"""Candidates left in a row after which a walk by chance ends too."""


@dataclass(frozen=True, slots=True, eq=False)
class Scout:
    """Our own policy; see this module."""

    network: Mlp
    activated: int = ACTIVATED
    budget: int = BUDGET
    names: NameIndex | None = None
    name: str = "scout"

    @classmethod
    def shipped(cls, names: NameVectors | None = None) -> Self:
        """With the weights that memlane comes with.

        Without an encoder of short names it does not see how entities and relations fit.

        :raises InvalidInput: if their file is damaged.
        """
        return cls(_weights(), names=None if names is None else NameIndex(names))

    def with_network(self, network: Mlp) -> Self:
        """:raises InvalidInput: if the network is for states of another length."""
        return replace(self, network=network.for_states(len(STATE)))

    def select(self, question: Question, view: GraphView) -> Selection:
        seen = Candidates(question, view, self.activated, self.budget, self.names)
        choices: list[Choice] = []
        trace: list[Step] = []

        def note(place: int, state: Floats, chance: float, *, taken: bool, why: str) -> None:
            via = seen.via[place]
            memory = view.memories[seen.rows[place]]
            known = None if via is None else view.memories[via].id
            named = tuple(zip(STATE, state.tolist(), strict=True))
            trace.append(Step(memory.id, chance, taken, why, via is None, known, named, chance))

        while len(left := seen.open):
            states = seen.states()
            chances = self.network.probabilities(states)[:, 1]
            order = np.argsort(-chances, kind="stable")
            first = int(order[0])
            if chances[first] < 0.5:
                for place in map(int, order[:SHOWN]):
                    why = "stopped before it" if place == first else "less likely to help"
                    note(int(left[place]), states[place], float(chances[place]),
                         taken=False, why=why)  # fmt: skip
                break
            place = int(left[first])
            note(place, states[first], float(chances[first]), taken=True, why="likely to help")
            choices.append(Choice(view.memories[seen.rows[place]], float(chances[first])))
            seen.take(place)
        return Selection(self.name, tuple(choices), tuple(trace))

    def lesson(
        self, question: Question, view: GraphView, required: frozenset[str]
    ) -> tuple[Floats, Ints]:
        """All candidates at each moment of a walk that takes just what is required, best first."""
        seen = Candidates(question, view, self.activated, self.budget, self.names)
        states: list[Floats] = [np.zeros((0, len(STATE)))]
        labels: list[Ints] = [np.zeros(0, np.int64)]
        while len(left := seen.open):
            right = np.array([view.memories[seen.rows[place]].id in required for place in left])
            states.append(seen.states())
            labels.append(right.astype(np.int64))
            if not right.any():
                break
            seen.take(int(left[np.argmax(np.where(right, seen.fused(), -np.inf))]))
        return np.concatenate(states), np.concatenate(labels)

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        """A walk that decides on the most probable candidate by chance.

        One that is left is out; after ``PATIENCE`` of them in a row the walk is over.
        """
        seen = Candidates(question, view, self.activated, self.budget, self.names)
        states: list[Floats] = []
        actions: list[int] = []
        sets: list[tuple[str, ...]] = []
        in_a_row = 0
        while len(left := seen.open) and in_a_row < PATIENCE:
            now = seen.states()
            chances = self.network.probabilities(now)[:, 1]
            first = int(np.argmax(chances))
            place = int(left[first])
            taken = bool(rng.random() < chances[first])
            states.append(now[first])
            actions.append(int(taken))
            held = sets[-1] if sets else ()
            if taken:
                sets.append((*held, view.memories[seen.rows[place]].id))
                seen.take(place)
                in_a_row = 0
            else:
                sets.append(held)
                seen.leave(place)
                in_a_row += 1
        made = np.stack(states) if states else np.zeros((0, len(STATE)))
        return Rollout(made, np.array(actions, np.int64), tuple(sets))


@cache
def _weights() -> Mlp:
    return Mlp.load(WEIGHTS, inputs=len(STATE))
