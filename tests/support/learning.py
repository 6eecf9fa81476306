"""A small life to learn from, and models that know it by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agent.answering.selection.policy_weights import shape, with_numbers
from agent.learning.qa_generation import SYSTEM
from agent.learning.train_home import keep, starting_policy
from agent.learning.training import HeldBackVerdict, Plan
from agent.ports import ChatTurn, Entropy, Prompt
from agent.session.session import Session
from policies.training.mlp import Mlp
from policies.walk.scout import HIDDEN, Scout
from policies.walk.scout_state import STATE
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.training_data import PairOrigin
from store.types import Draft, Triple
from tests.conftest import NOW, ScriptedModel

FACTS = {
    "dentist": "Dr. Osei",
    "bicycle": "a red Trek",
    "landlord": "Bruno Salas",
    "bank": "Triodos",
    "piano teacher": "Ms. Ilves",
    "favourite tea": "Gunpowder",
    "locker code": "4711",
    "cat": "Pixel",
    "train home": "RE7 at 18:12",
    "doctor": "Dr. Amsel",
    "gym": "Boulderwelt",
    "plumber": "Herr Quast",
    "car": "a grey Polo",
    "choir": "Cantamus",
}
"""What is mine -> who or what it is."""
_FACT = re.compile(r"My ([a-z ]+) is ([^\n]+)\.$", re.MULTILINE)


def fact(what: str) -> str:
    return f"My {what} is {FACTS[what]}."


def live(graph: MemoryGraph, count: int = len(FACTS)) -> dict[str, str]:
    """Tell the facts; returns the memory of each."""
    whats = list(FACTS)[:count]
    entries = graph.apply(
        [
            Insert(
                Draft(fact(what), "attribute.belongings", NOW,
                      (Triple("me", what.replace(" ", "_"), FACTS[what]),))
            )
            for what in whats
        ],
        at=NOW,
        actor="user",
    )  # fmt: skip
    return {what: entry.memory for what, entry in zip(whats, entries, strict=True)}


def practise(graph: MemoryGraph, known: dict[str, str]) -> None:
    """A pair of each fact, as if a model had written it."""
    for what, memory in known.items():
        graph.learned.add_pair(
            f"What is my {what}?", FACTS[what], graph.memories.of([memory]),
            origin=PairOrigin.WRITTEN, at=NOW,
        )  # fmt: skip


class KnowingModel(ScriptedModel):
    """Writes one right pair from the first note, and answers what the notes say."""

    identity = "knowing"

    def reply_to(self, turns: Sequence[ChatTurn]) -> str | Exception:
        asked = turns[-1].content
        notes = dict(_FACT.findall(asked))
        if turns[0].content == SYSTEM:
            what, value = next(iter(notes.items()))
            return f"Question: What is my {what}?\nAnswer: {value}"
        match = re.search(r"Question: What is my ([a-z ]+)\?", asked)
        if match is None or match[1] not in notes:
            return "I don't know."
        return f"Your {match[1]} is {notes[match[1]]}."


class KnowingRewards:
    """Finds an answer likely, and itself sure, where the notes say what is asked for."""

    identity = "knowing-rewards"

    def __init__(self) -> None:
        self.asked: list[int] = []
        """How many prompts each call had."""
        self.prompts: list[Prompt] = []

    @staticmethod
    def _helped(prompt: Prompt) -> bool:
        asked = prompt if isinstance(prompt, str) else prompt[-1].content
        what = re.search(r"Question: What is my ([a-z ]+)\?", asked)
        return what is not None and what[1] in dict(_FACT.findall(asked))

    def log_likelihood(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> list[Any]:
        self.asked.append(len(prompts))
        self.prompts += prompts
        return [np.full(3, -0.5 if self._helped(p) else -3.0, np.float32) for p in prompts]

    def entropy(self, prompts: Sequence[Prompt], **_: Any) -> list[Entropy]:
        self.asked.append(len(prompts))
        return [Entropy((0.25,) if self._helped(p) else (1.25,)) for p in prompts]

    def choose(self, *_: Any, **__: Any) -> list[Any]:
        raise AssertionError("nothing is chosen here")


def unlearned(seed: int = 0) -> Scout:
    """Our walk with weights that know nothing."""
    return Scout(Mlp.fresh(len(STATE), HIDDEN, seed=seed))


def forget_all(session: Session, policy: str = "scout") -> None:
    """Weights that choose nothing in place of the shipped ones, so that there is much to learn."""
    old = starting_policy(session, policy)
    fresh = Mlp.fresh(*shape(old.network), seed=3)
    flat = fresh.flat.copy()
    flat[-1] -= 3  # the bias of taking
    new = with_numbers(old, replace(fresh, flat=flat))
    verdict = HeldBackVerdict(0.0, 0.0, 0.0, 0)
    keep(session, Plan(policy), old, new, verdict, set(), by="train", wins=True)
