"""Questions that memory can and cannot answer, with what was chosen for each.

Of simulated lives a share of the facts is never told: questions about those cannot be answered,
the others can. Our own samples are homes written by hand with questions of both kinds. What is
asked goes the product's whole way (``agent.answering.retrieve.retrieve``) short of the judge.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from agent.answering.retrieve import Retrieved, retrieve
from agent.memory.remember import store_drafts
from agent.session.session import Session
from benchmarks.shared.common import ROOT
from benchmarks.shared.simulated_lives.lives import at, fresh, gold_draft
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.shared.simulated_lives.lives_world import Asked, Life, Told, write_life
from policies.abstain import AbstentionJudge, SelectionSigns

OWN = ROOT / "benchmarks" / "samples" / "abstention_own.txt"
UNTOLD = 0.35
"""Share of a life's facts that are never told."""
K = 6
"""Memories that a policy may choose: what people have by default."""
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
_TASTES = ("likes", "not_like")
_SKIPPED = ("form", "untaste")
"""Kinds of questions that are not asked in words, or are answered by 'not any more'."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, whether memory holds its answer, and what was chosen for it."""

    home: str
    """Questions of one home stay together when data are split."""
    kind: str
    policy: str
    text: str
    holds: bool
    signs: SelectionSigns | None
    """None where nothing was chosen, or the choice is exact."""
    exact: bool
    """Whether a memory gives the very value or day that is asked for; never doubted."""

    @property
    def best(self) -> float:
        """Largest cosine of what was chosen; 1 for what is exact."""
        return 1.0 if self.exact else self.signs.best if self.signs else 0.0


def case_of(home: str, kind: str, policy: str, text: str, holds: bool, found: Retrieved) -> Case:
    exact = bool(found.selection.chosen) and found.signs is None
    return Case(home, kind, policy, text, holds, found.signs, exact)


def asked_in(
    session: Session, text: str, policies: Sequence[str]
) -> Iterator[tuple[str, Retrieved]]:
    """What each policy finds for a question, with a judge that only looks."""
    lenient = AbstentionJudge(
        0.0, (0.0,) * len(fields(SelectionSigns)), 0.0, session.embedder.identity
    )
    for name in policies:
        policy = session.policy(name, K, use_llm=False)
        now = session.config.now()
        yield name, retrieve(text, session.graph, policy, session.embedder, now, k=K, judge=lenient)


# ---- simulated lives ------------------------------------------------------------------------


def life_cases(bank: Bank, seed: int, models: Session, policies: Sequence[str]) -> Iterator[Case]:
    """The questions of one life of which ``UNTOLD`` of the facts were never told."""
    life = write_life(bank, seed)
    untold = _untold(life, random.Random(f"untold {bank.name} {seed}"))
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        waiting = [told for told in life.told if told.key not in untold]
        for asked in life.asked:
            while waiting and waiting[0].at <= asked.at:
                tell(session, waiting.pop(0))
            if asked.kind in _SKIPPED:
                continue
            holds = bool(asked.gold) and not asked.gold & untold
            there = at(session, asked.at)
            for policy, found in asked_in(there, asked.text, policies):
                yield case_of(f"{bank.name} {seed}", asked.kind, policy, asked.text, holds, found)


def tell(session: Session, told: Told) -> None:
    """Store a fact of a life as right extraction gives it."""
    source = session.graph.sources.add(told.kind, told.raw, told.at)
    store_drafts([gold_draft(told, source.id)], source, session.graph, session, told.at)


def _untold(life: Life, rng: random.Random) -> frozenset[str]:
    """Keys of the facts left out; what belongs together is left out together."""
    groups = {told.key: {told.key} for told in life.told}
    for keys in _together(life.told, life.asked):
        joined = set().union(*(groups[key] for key in keys))
        groups |= {key: joined for key in joined}
    distinct = sorted({min(group) for group in groups.values()})
    gone = rng.sample(distinct, round(UNTOLD * len(distinct)))
    return frozenset(key for first in gone for key in groups[first])


def _together(told: Iterable[Told], asked: Iterable[Asked]) -> Iterator[list[str]]:
    """Keys of one fact with all its values, and of facts that one question needs."""
    slots: dict[tuple[str, ...], list[str]] = {}
    for one in told:
        head, relation, tail = one.triples[0].head, one.triples[0].relation, one.triples[0].tail
        slot = ("taste", tail) if relation in _TASTES else (head, relation)
        slots.setdefault(slot, []).append(one.key)
    yield from slots.values()
    yield from (sorted(one.gold) for one in asked if one.gold)


# ---- our own --------------------------------------------------------------------------------


def own_cases(models: Session, policies: Sequence[str]) -> Iterator[Case]:
    """The homes of ``abstention_own.txt``."""
    for name, told, questions in read_own():
        with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as opened:
            session = at(opened, NOW)
            for text in told:
                session.remember(text)
            for text, kind, holds in questions:
                for policy, found in asked_in(session, text, policies):
                    yield case_of(f"own {name}", kind, policy, text, holds, found)


def read_own() -> Iterator[tuple[str, list[str], list[tuple[str, str, bool]]]]:
    """Each home's name, its memories, and its questions with their kind and label.

    A line ``@ general`` begins questions that no memory has a part in; they are asked in every
    home.
    """
    homes: list[tuple[str, list[str], list[tuple[str, str, bool]]]] = []
    general: list[tuple[str, str, bool]] = []
    to_all = False
    for line in OWN.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.strip().partition(" ")
        match mark:
            case "@":
                to_all = rest == "general"
                if not to_all:
                    homes.append((rest, [], []))
            case "m":
                homes[-1][1].append(rest)
            case "+":
                homes[-1][2].append((rest, "own answered", True))
            case "-" if to_all:
                general.append((rest, "own general", False))
            case "-":
                homes[-1][2].append((rest, "own unanswered", False))
    # Each home gets its share, so that general questions do not outweigh all others.
    for number, (name, told, questions) in enumerate(homes):
        yield name, told, [*questions, *general[number :: len(homes)]]
