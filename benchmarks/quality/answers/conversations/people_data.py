"""People who tell an assistant about their lives for half a year: ``samples/people``.

Writers who never saw the code invented each person, in one voice: some eighty messages, the facts
in them, what each fact does to earlier ones, and thirty questions. Those in ``people_held`` are
measured with and never learned from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.language.units import in_message, units
from agent.ports import RELATIONS, Embedder
from benchmarks.quality.answers.changes.changes_data import Case
from benchmarks.shared.common import ROOT
from benchmarks.training.reader.reader_data import holds

PEOPLE = ROOT / "benchmarks" / "samples" / "people"
HELD = ROOT / "benchmarks" / "samples" / "people_held"
LOOKED_AT, RECENT = 12, 4
"""Nearest and newest older sentences that a new one is compared with, as in the product when the
adapter learned; ``benchmarks.candidates`` has those of today."""
STRENGTH = {name: place for place, name in enumerate(RELATIONS)}


@dataclass(frozen=True, slots=True)
class Fact:
    """What a stretch of a message tells, and what it does to earlier facts."""

    id: str
    message: str
    span: str
    kind: str
    memory: str
    over: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; of kind ``never`` where nothing that was told answers it."""

    case: Case
    kind: str
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """All that one person told and asked."""

    id: str
    language: str
    messages: dict[str, tuple[datetime, str]]
    facts: dict[str, Fact]
    asked: tuple[Asked, ...]

    def relation(self, older: str, newer: str) -> str:
        """What the newer fact does to the older one."""
        return dict(self.facts[newer].over).get(older, "unrelated")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A unit of a message, as the product reads it."""

    message: str
    said: datetime
    text: str
    read: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A text with others that it is compared with, and what holds of each pair.

    Of a new sentence the relation to each older one; of a question whether each sentence answers
    it: "needed", "changed" where what is needed took its place, or "unrelated".
    """

    person: str
    task: str
    text: str
    read: str
    others: tuple[Sentence, ...]
    labels: tuple[str, ...]
    looked_at: tuple[bool, ...]
    """Whether the product would compare them."""


def read_people(folder: Path = PEOPLE) -> Iterator[Person]:
    """The people of a folder, in the order of their names."""
    for path in sorted(folder.glob("*.json")):
        yield _person(json.loads(path.read_text("utf-8")))


def _person(row: dict[str, Any]) -> Person:
    facts = [
        Fact(f["id"], f["m"], f["span"], f["kind"], f["memory"], tuple(map(tuple, f["over"])))
        for f in row["facts"]
    ]
    messages = {m["id"]: (_moment(m["at"]), m["text"]) for m in row["messages"]}
    language = row.get("language", "en")
    asked = (_asked(row["id"], n, q, language, messages) for n, q in enumerate(row["questions"]))
    return Person(row["id"], language, messages, {fact.id: fact for fact in facts}, tuple(asked))


def _asked(
    person: str,
    number: int,
    row: dict[str, Any],
    language: str,
    messages: dict[str, tuple[datetime, str]],
) -> Asked:
    moment, every = _moment(row["at"]), tuple(row["all"])
    case = Case(
        id=f"{person}-{number}",
        set=person,
        kind=row["kind"],
        language=language,
        messages=tuple(one for one in messages.values() if one[0] <= moment),
        asked=moment,
        question=row["q"],
        new=() if every else tuple(row["answer"]),
        every=every,
        old=tuple(row["stale"]),
    )
    return Asked(case, row["kind"], tuple(row["needs"]))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def sentences(person: Person) -> list[Sentence]:
    """The sentences of all messages, with the facts that each tells a good part of."""
    found = []
    for name, (said, text) in person.messages.items():
        own = [fact for fact in person.facts.values() if fact.message == name]
        for unit in units(text):
            told = [fact.id for fact in own if holds(unit, fact.span, text)]
            words = " ".join(unit.text.split())
            found.append(Sentence(name, said, words, in_message(unit, text), tuple(told)))
    return found


def pairs_of(person: Person, embedder: Embedder) -> Iterator[Pairs]:
    """Each sentence with older ones, and each question with what was told before it."""
    told = sentences(person)
    vectors = embedder.encode([one.text for one in told])
    for place, new in enumerate(told):
        older = [
            n for n in range(place) if told[n].message != new.message and told[n].facts
        ]  # fmt: skip
        if not older or not new.facts:
            continue
        labels = {n: strongest_of_facts(person, told[n].facts, new.facts) for n in older}
        order = sorted(older, key=lambda n: -float(vectors[n] @ vectors[place]))
        looked_at = {*order[:LOOKED_AT], *older[-RECENT:]}
        yield _pairs(person, "relation", new.text, new.read, told, order, labels, looked_at)
    for asked in person.asked:
        vector = embedder.encode([asked.case.question])[0]
        known = [n for n, one in enumerate(told) if one.said <= asked.case.asked]
        labels = {n: _answers(person, told[n].facts, asked.needs) for n in known}
        order = sorted(known, key=lambda n: -float(vectors[n] @ vector))
        yield _pairs(
            person, "relevance", asked.case.question, asked.case.question, told, order, labels,
            set(order[:LOOKED_AT]),
        )  # fmt: skip


def _pairs(
    person: Person,
    task: str,
    text: str,
    read: str,
    told: Sequence[Sentence],
    order: Sequence[int],
    labels: dict[int, str],
    looked_at: set[int],
) -> Pairs:
    """Those that the product looks at, nearest first, and all that are related."""
    kept = [n for n in order if n in looked_at or labels[n] != "unrelated"]
    return Pairs(
        person.id,
        task,
        text,
        read,
        tuple(told[n] for n in kept),
        tuple(labels[n] for n in kept),
        tuple(n in looked_at for n in kept),
    )


def strongest_of_facts(person: Person, older: Sequence[str], newer: Sequence[str]) -> str:
    found = [person.relation(old, new) for old in older for new in newer]
    return max(found, key=lambda name: STRENGTH[name], default="unrelated")


def _answers(person: Person, facts: Sequence[str], needs: Sequence[str]) -> str:
    if set(facts) & set(needs):
        return "needed"
    changed = {old for need in needs for old, _ in person.facts[need].over}
    return "changed" if set(facts) & changed else "unrelated"
