"""Episodes of ``samples/voices`` -> examples that the statement reader learns from.

Those of ``samples/voices_held`` were written later and are only measured with.

The episodes are our own: a dozen voices tell their assistant things over weeks, statement by
statement marked with what it is, whose, and what it does to earlier ones. The units are those that
the product reads: sentences of messages. A pair of sentences has the strongest relation of the
statements in them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.language.units import Unit, in_message, units
from agent.memory.editing.compare import negated
from agent.ports import KINDS, ORDERS, RELATIONS
from benchmarks.shared.common import ROOT
from benchmarks.shared.simulated_lives.lives_train import BANK as TRAIN
from benchmarks.shared.simulated_lives.lives_world import Told, write_life
from benchmarks.training.editing_own import pairs

VOICES = ROOT / "benchmarks" / "samples" / "voices"
ORDERS_OWN = ROOT / "benchmarks" / "samples" / "orders_own.jsonl"
KINDS_OWN = ROOT / "benchmarks" / "samples" / "kinds_own.jsonl"
STRENGTH = {name: n for n, name in enumerate(RELATIONS)}
TOLD = frozenset(KINDS[:4])


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause of a message, as its writer marked it."""

    id: str
    message: int
    span: str
    kind: str
    about: str
    memory: str


@dataclass(frozen=True, slots=True)
class Episode:
    """Messages of one person, the statements in them, and a question."""

    id: str
    voice: str
    topic: str
    kind: str
    messages: tuple[tuple[datetime, str], ...]
    statements: tuple[Statement, ...]
    relations: dict[tuple[str, str], str] = field(hash=False)
    asked: datetime
    question: str
    answer: tuple[str, ...]
    stale: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """One input of a task with the number of its class."""

    task: str
    first: str
    second: str | None
    label: int
    weight: float
    voice: str
    topic: str


def read_episodes(folder: Path = VOICES) -> Iterator[Episode]:
    """All episodes, voice by voice."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                yield _episode(json.loads(line))


def _episode(row: dict[str, Any]) -> Episode:
    asked = row["question"]
    return Episode(
        id=row["id"],
        voice=row["voice"],
        topic=row["topic"],
        kind=row["kind"],
        messages=tuple((datetime.fromisoformat(at), text) for at, text in row["messages"]),
        statements=tuple(
            Statement(s["id"], s["m"], s["span"], s["kind"], s["about"], s["memory"])
            for s in row["statements"]
        ),
        relations={(p["old"], p["new"]): p["relation"] for p in row["pairs"]},
        asked=datetime.fromisoformat(asked["ask"]),
        question=asked["q"],
        answer=tuple(asked["answer"]),
        stale=tuple(asked["stale"]),
        evidence=tuple(asked["evidence"]),
    )


def examples(episodes: Sequence[Episode], seed: int = 0) -> list[Example]:
    """Examples of the kinds, relations and relevance in these episodes."""
    made: list[Example] = []
    chance = random.Random(seed)
    by_voice: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_voice.setdefault(episode.voice, []).append(episode)
    for episode in episodes:
        made += _kinds(episode)
        made += _relations(episode, chance)
        made += _between_memories(episode, chance)
        made += _relevance(episode, by_voice[episode.voice], chance)
    return made


def units_of(episode: Episode) -> list[list[tuple[Unit, list[Statement]]]]:
    """Of each message its units, and the statements whose spans they hold a good part of."""
    rows = []
    for number, (_, text) in enumerate(episode.messages):
        own = [s for s in episode.statements if s.message == number]
        row = []
        for unit in units(text):
            row.append((unit, [one for one in own if holds(unit, one.span, text)]))
        rows.append(row)
    return rows


def holds(unit: Unit, span: str, message: str) -> bool:
    """Whether a unit of a message holds a good part of a span of it."""
    start = message.find(span)
    shared = min(unit.end, start + len(span)) - max(unit.start, start)
    return shared > 0.5 * min(len(span), unit.end - unit.start)


def slot_examples(count: int, seed: int = 0) -> list[Example]:
    """Short plain pairs of invented slots (``editing_own``): the easy kind, in many slots."""
    label = {"negated": "ends", "apart": "unrelated"}
    made = []
    known = [pair for pair in pairs() if pair.label != "same"]
    for pair in random.Random(seed).sample(known, count):
        name = label.get(pair.label) or ("supersedes" if pair.single else "adds")
        number = RELATIONS.index(name)
        made.append(Example("relation", pair.old, pair.new, number, 0.5, "slots", pair.group))
    return made


def kind_examples(path: Path = KINDS_OWN) -> list[Example]:
    """Single messages in a dozen voices, with what they are: more questions and orders."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Example("kind", row["text"], None, KINDS.index(row["kind"]), 1.0, row["voice"], "kinds")
        for row in rows
    ]


def order_examples(orders: Path = ORDERS_OWN, kinds: Path = KINDS_OWN) -> list[Example]:
    """Messages that order to forget or to undo, those that look alike, and others."""
    rows = [json.loads(line) for line in orders.read_text("utf-8").splitlines()]
    others = [json.loads(line) for line in kinds.read_text("utf-8").splitlines()]
    # What the orders among the others ask for is not marked.
    rows += [{**row, "order": "none"} for row in others if row["kind"] != "command"]
    return [
        Example("order", row["text"], None, ORDERS.index(row["order"]), 1.0, row["voice"], "orders")
        for row in rows
    ]


def life_examples(count: int) -> list[Example]:
    """Plain sentences of simulated lives: what takes which place, what answers which question.

    Only the bank ``train``: the bank ``test`` measures the product.
    """
    made: list[Example] = []
    for seed in range(count):
        chance = random.Random(seed)
        life = write_life(TRAIN, 1000 + seed)
        told = [one for one in life.told if one.triples and not negated(one.text)]
        pairs_of_life = [(old, new) for n, new in enumerate(told) for old in told[:n]]
        related = [pair for pair in pairs_of_life if _slot(pair[0]) == _slot(pair[1])]
        others = chance.sample(pairs_of_life, min(len(pairs_of_life), 2 * len(related)))
        for old, new in (*related, *others):
            number = RELATIONS.index(_told_relation(old, new))
            made.append(Example("relation", old.text, new.text, number, 0.7, "lives", "lives"))
        questions = [asked for asked in life.asked if asked.kind == "now" and asked.right]
        for asked in chance.sample(questions, min(12, len(questions))):
            before = [one for one in told if one.at <= asked.at]
            right = [one for one in before if any(v in one.text for v in asked.right | asked.wrong)]
            rest = [one for one in before if one not in right]
            for one in (*right, *chance.sample(rest, min(3, len(rest)))):
                label = int(one in right)
                made.append(
                    Example("relevance", asked.text, one.text, label, 0.7, "lives", "lives")
                )
    return made


def _slot(told: Told) -> tuple[str, str]:
    return told.triples[0].head.casefold(), told.triples[0].relation


def _told_relation(old: Told, new: Told) -> str:
    if _slot(old) != _slot(new):
        return "unrelated"
    if old.triples[0].tail == new.triples[0].tail:
        return "same"
    if new.triples[0].relation == "is_at":
        return "refines"
    # Of all that these lives tell, only tastes stand beside one another.
    return "adds" if new.triples[0].relation == "likes" else "supersedes"


def _kinds(episode: Episode) -> Iterator[Example]:
    for row in units_of(episode):
        for unit, held in row:
            if not held:
                continue
            told = [s for s in held if s.kind in TOLD]
            kind = (told or held)[0].kind
            yield _example(episode, "kind", unit.text, None, KINDS.index(kind))
    for statement in episode.statements:
        yield _example(episode, "kind", statement.span, None, KINDS.index(statement.kind), 0.5)


def _relations(episode: Episode, chance: random.Random) -> Iterator[Example]:
    rows = units_of(episode)
    for later in range(len(rows)):
        for earlier in range(later):
            message = episode.messages[later][1]
            for new_unit, new_held in rows[later]:
                for old_unit, old_held in rows[earlier]:
                    if not old_held or not new_held:
                        continue
                    relation = strongest_of_statements(episode, old_held, new_held)
                    new = in_message(new_unit, message)
                    olds = [in_message(old_unit, episode.messages[earlier][1])]
                    told = [s.memory for s in old_held if s.memory]
                    if told:  # what is stored may be the extracted memory
                        olds.append(chance.choice(told))
                    for old in olds:
                        one = relation
                        if old in told:
                            held = [s for s in old_held if s.memory == old]
                            one = strongest_of_statements(episode, held, new_held)
                        # Among unrelated pairs, those of small talk teach little.
                        idle = not told or all(s.kind not in TOLD for s in new_held)
                        if one == "unrelated" and chance.random() < (0.85 if idle else 0.4):
                            continue
                        yield _example(episode, "relation", old, new, RELATIONS.index(one))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences of one person that tell something, the older first."""

    old: str
    new: str
    old_read: str
    """In its message, as the reader reads it."""
    new_read: str
    relation: str


def told_pairs(episode: Episode) -> Iterator[Pair]:
    """All pairs of sentences of different messages that both tell something."""
    rows = units_of(episode)
    for later, row in enumerate(rows):
        for earlier in range(later):
            for new, new_held in row:
                for old, old_held in rows[earlier]:
                    if all(any(s.kind in TOLD for s in held) for held in (old_held, new_held)):
                        yield Pair(
                            old.text,
                            new.text,
                            in_message(old, episode.messages[earlier][1]),
                            in_message(new, episode.messages[later][1]),
                            strongest_of_statements(episode, old_held, new_held),
                        )


def _between_memories(episode: Episode, chance: random.Random) -> Iterator[Example]:
    """Pairs of extracted sentences; what takes the place of a state could be replaced by it."""
    told = [s for s in episode.statements if s.memory]
    for place, new in enumerate(told):
        for old in told[:place]:
            if old.message >= new.message:
                continue
            name = episode.relations.get((old.id, new.id), "unrelated")
            if name == "unrelated" and chance.random() < 0.8:
                continue
            number = RELATIONS.index(name)
            yield _example(episode, "relation", old.memory, new.memory, number)
            if name == "supersedes" and old.kind == new.kind == "state":
                yield _example(episode, "relation", new.memory, old.memory, number, 0.5)


def strongest_of_statements(
    episode: Episode, old: Iterable[Statement], new: Iterable[Statement]
) -> str:
    new = list(new)
    found = [episode.relations.get((o.id, n.id), "unrelated") for o in old for n in new]
    return max(found, key=lambda name: STRENGTH[name], default="unrelated")


def _relevance(
    episode: Episode, others: Sequence[Episode], chance: random.Random
) -> Iterator[Example]:
    needed = set(episode.evidence)
    related = {old for old, new in episode.relations if new in needed}
    for number, row in enumerate(units_of(episode)):
        for unit, held in row:
            ids = {s.id for s in held}
            if not ids:
                continue
            label = int(bool(ids & (needed | related)))
            text = in_message(unit, episode.messages[number][1])
            yield _example(episode, "relevance", episode.question, text, label)
    for other in chance.sample(others, min(4, len(others))):
        if other.id != episode.id and other.topic != episode.topic:
            number, (_, text) = chance.choice(list(enumerate(other.messages)))
            unit = chance.choice(units(text))
            yield _example(episode, "relevance", episode.question, in_message(unit, text), 0)


def _example(
    episode: Episode, task: str, first: str, second: str | None, label: int, weight: float = 1.0
) -> Example:
    return Example(task, first, second, label, weight, episode.voice, episode.topic)
