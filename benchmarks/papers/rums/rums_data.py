"""Questions with the memories of a person, for the RUMS tables and the training of its selectors.

Measured on: *prefeval* (a question and 20 preferences, its own among them: gold), *personamem* (a
person's own sentences; nobody has marked which matter), *nq_open* (the answer needs no memory) and
*lives_test* (simulated lives of the test bank, gold evidence). Learned from: *advice*
(``rums_worlds``), lives of the training bank, and rows of nq_open (licence A) that are never
measured on.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.session.session import Session
from benchmarks.quality.answers.abstention import personas
from benchmarks.shared.questions.qa_data import simulated
from benchmarks.shared.simulated_lives.lives_bank import Bank
from benchmarks.training.selection.pretrain_worlds import PRESENT
from benchmarks.training.selection.rums_worlds import ASPECTS, IDLE
from policies.base import Episode, Question
from store.derived.view import GraphView
from store.types import Memory

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
PROFILE = 20
"""Memories a question is asked against; the paper's profiles have 50 items."""
MEASURED_NQ = 1000
"""Of nq_open, shuffled, those before this row are measured on and those after it learned from."""
_OPTION = re.compile(r"^\(([a-d])\)\s+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Told:
    """A question with a profile, before anything is encoded."""

    set: str
    question: str
    memories: tuple[str, ...]
    gold: frozenset[int] | None
    """Places in ``memories`` of what the answer needs; None where nobody knows."""
    reference: str = ""
    options: tuple[str, ...] = ()
    """Answers to choose from; ``reference`` is the right one."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A question as policies meet it."""

    told: Told
    episode: Episode

    @property
    def personal(self) -> bool:
        """Whether memory should be used at all."""
        return self.told.gold is None or bool(self.told.gold)


def cases(told: Sequence[Told], models: Session) -> list[Case]:
    """Everything encoded, every memory placed in its subclass by the product."""
    memories = list(dict.fromkeys(text for one in told for text in one.memories))
    vectors = models.embedder.encode(memories)
    places = models.placer.place_vectors(memories, vectors)
    types = {subclass.id: subclass.type for subclass in models.graph.subclasses()}
    row = {text: n for n, text in enumerate(memories)}
    questions = models.embedder.encode([one.question for one in told])
    made = []
    for n, (one, vector) in enumerate(zip(told, questions, strict=True)):
        rows = [row[text] for text in one.memories]
        view = GraphView(
            tuple(
                Memory(f"m{i}", memories[r], types[places[r]], places[r], NOW)
                for i, r in enumerate(rows)
            ),
            vectors[rows],
            frozenset(f"m{i}" for i in range(len(rows))),
        )
        gold = None if one.gold is None else frozenset(f"m{i}" for i in one.gold)
        question = Question(one.question, vector, NOW)
        made.append(Case(one, Episode(f"{one.set}/{n}", question, view, gold)))
    return made


def drawn(told: Sequence[Told], count: int, seed: int) -> list[Told]:
    """``count`` of them by seed, in the order they were given; all if fewer."""
    rows = random.Random(seed).sample(range(len(told)), min(count, len(told)))
    return [told[row] for row in sorted(rows)]


# ---- measured on --------------------------------------------------------------------------------


def prefeval(data: Path, seed: int = 0) -> list[Told]:
    """Every question with its preference among ``PROFILE``; the first option is the right one."""
    rows: list[dict[str, Any]] = [
        row
        for path in sorted((data / "prefeval" / "mcq_options").glob("*.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    if not rows:
        raise SystemExit(f"There is no prefeval in {data}. Give the folder of data sets by --data.")
    rng = random.Random(seed)
    made = []
    for n, row in enumerate(rows):
        others = [other["preference"] for m, other in enumerate(rows) if m != n]
        profile = [row["preference"], *rng.sample(others, PROFILE - 1)]
        rng.shuffle(profile)
        options = tuple(row["classification_task_options"])
        gold = frozenset({profile.index(row["preference"])})
        made.append(Told("prefeval", row["question"], tuple(profile), gold, options[0], options))
    return made


def personamem(data: Path) -> list[Told]:
    """Questions on a person's wishes against all sentences they said."""
    made = []
    for said, queries in personas(data):
        for question, query in queries:
            _, *parts = _OPTION.split(query["query"])
            options = dict(zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True))
            right = options[query["gold_answers"][1].strip("()")]
            made.append(
                Told("personamem", question, tuple(said), None, right, tuple(options.values()))
            )
    return made


def factual(data: Path, pool: Sequence[str], seed: int = 0, *, learn: bool = False) -> list[Told]:
    """Questions of nq_open against ``PROFILE`` of the pool: what should bear on none of them."""
    lines = (data / "nq_open" / "NQ-open.dev.jsonl").read_text(encoding="utf-8").splitlines()
    random.Random(1).shuffle(lines)
    rng = random.Random(seed)
    made = []
    for line in lines[MEASURED_NQ:] if learn else lines[:MEASURED_NQ]:
        row = json.loads(line)
        # Trivia is typed without a question mark there; the form must not tell the sides apart.
        text = row["question"].strip().rstrip("?")
        profile = tuple(rng.sample(list(pool), PROFILE))
        question = f"{text[:1].upper()}{text[1:]}?"
        made.append(Told("nq_open", question, profile, frozenset(), row["answer"][0]))
    return made


def lives(bank: Bank, seeds: Sequence[int], most: int = 30) -> list[Told]:
    """Questions about what holds in simulated lives, against what was told by then."""
    made = []
    for seed in seeds:
        life = simulated(bank, seed)
        rng = random.Random(seed)
        items = [item for item in life.items if item.kind in PRESENT and item.answers]
        for item in rng.sample(items, min(most, len(items))):
            rows = life.told_by(item.asked)
            ids = [life.memories[row].id for row in rows]
            gold = frozenset(n for n, memory in enumerate(ids) if memory in (item.required or ()))
            texts = tuple(life.memories[row].text for row in rows)
            made.append(Told(f"lives_{bank.name}", item.text, texts, gold, item.answers[0]))
    return made


# ---- learned from -------------------------------------------------------------------------------


def advice(seed: int, profiles: int) -> list[Told]:
    """Every question of ``rums_worlds`` against several profiles that hold its wish."""
    rng = random.Random(seed)

    def one() -> Iterator[Told]:
        for aspect in ASPECTS:
            for question in aspect.asked:
                for _ in range(profiles):
                    own = rng.choice(aspect.told)
                    others = [other for other in ASPECTS if other is not aspect]
                    profile = [own, *(rng.choice(a.told) for a in rng.sample(others, 14))]
                    profile += rng.sample(IDLE, PROFILE - len(profile))
                    rng.shuffle(profile)
                    gold = frozenset({profile.index(own)})
                    yield Told("advice", question, tuple(profile), gold, aspect.reply)

    return list(one())


def wishes() -> list[str]:
    """Every memory that ``advice`` draws from."""
    return [text for aspect in ASPECTS for text in aspect.told] + list(IDLE)
