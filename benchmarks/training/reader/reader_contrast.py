"""Pairs that look alike and are about different people, roles or things, for the statement reader.

Two sentences of one form are no change when they are about different people ("My sister lives in
Boston." "My brother lives in Porto.") or things (a dentist and a doctor). Three sources: related
pairs of episodes with the person exchanged in one of them; sentences of different episodes on one
topic about different people; and short sentences written from frames, where half of the pairs are
about the same and do change.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.ports import RELATIONS
from benchmarks.shared.common import ROOT
from benchmarks.training.reader.reader_data import TOLD, Episode, Example, Statement

SAMPLE = ROOT / "benchmarks" / "samples" / "contrast_frames.toml"


@dataclass(frozen=True, slots=True)
class Frame:
    """One thing that can be said of many holders: ``{s}`` is the holder, ``{v}`` the value."""

    name: str
    holders: tuple[str, ...]
    values: tuple[str, ...]
    said: tuple[str, ...]
    changed: tuple[str, ...]
    """What only somebody says who told another value before; plain frames count too."""
    asked: tuple[str, ...]
    beside: bool = False
    """Whether several values of one holder may be true at once."""


@dataclass(frozen=True, slots=True)
class Bank:
    """What pairs are made of."""

    kin: tuple[str, ...]
    names: tuple[str, ...]
    frames: tuple[Frame, ...]


def read_bank(path: Path = SAMPLE) -> Bank:
    """The sample, with its named groups of holders filled in."""
    bank = tomllib.loads(path.read_text("utf-8"))
    kin, names = bank["kin"].split(), bank["names"].split()
    both = [f"my {one} {name}" for one, name in zip(kin, names, strict=False)]
    groups = {
        "kin": kin,
        "names": names,
        "people": [*(f"my {one}" for one in kin), *names, *both, "I"],
        "owners": [*(f"my {one}'s" for one in kin), *(f"{name}'s" for name in names), "my"],
    }

    def listed(given: str) -> tuple[str, ...]:
        return tuple(groups.get(given) or given.split("|"))

    frames = [
        Frame(
            row["name"],
            listed(row["holders"]),
            listed(row["values"]),
            tuple(row["said"]),
            tuple(row["changed"]),
            tuple(row["asked"]),
            row.get("beside", False),
        )
        for row in bank["frame"]
    ]
    return Bank(tuple(kin), tuple(names), tuple(frames))


def contrast_examples(episodes: Sequence[Episode], count: int, seed: int = 0) -> list[Example]:
    """All three sources; ``count`` pairs from frames, each with a question."""
    chance, bank = random.Random(seed), read_bank()
    made = [*_exchanged(episodes, bank, chance), *_across(episodes, bank, chance)]
    for _ in range(count):
        made += _framed(chance.choice(bank.frames), bank, chance)
    return made


def _framed(frame: Frame, bank: Bank, chance: random.Random) -> Iterator[Example]:
    first, second = chance.sample(frame.holders, 2)
    value, other = chance.sample(frame.values, 2)
    same = chance.random() < 0.45
    new_holder = first if same else second
    plain = chance.random() < 0.6 or not frame.changed
    name = chance.choice(bank.names)
    old = _filled(chance.choice(frame.said), first, value, name, chance)
    style = frame.said if plain else frame.changed
    again = same and plain and chance.random() < 0.15
    new = _filled(chance.choice(style), new_holder, value if again else other, name, chance)
    if not same:
        label = "unrelated"
    elif again:
        label = "same"
    elif plain and frame.beside:
        return  # another one beside it, or a change: nobody can tell
    else:
        label = "supersedes"
    yield _example("relation", old, new, RELATIONS.index(label), frame)
    holder = chance.choice((first, second))
    question = _filled(chance.choice(frame.asked), holder, "", name, chance)
    yield _example("relevance", question, old, int(holder == first), frame)


def _filled(frame: str, holder: str, value: str, name: str, chance: random.Random) -> str:
    text = frame.replace("{s}", holder).replace("{v}", value).replace("{n}", name)
    if holder == "I":
        text = re.sub(r"\bdoes I\b", "do I", re.sub(r"\bI (\w+?)s\b", _first_person, text))
    text = text.replace("on tomorrow", "tomorrow")
    if chance.random() < 0.25:
        return text.lower().rstrip(".?")
    return text[:1].upper() + text[1:]


def _first_person(match: re.Match[str]) -> str:
    verb = match[1]
    return "I " + {"ha": "have", "i": "am", "studie": "study"}.get(verb, verb)


def _exchanged(episodes: Sequence[Episode], bank: Bank, chance: random.Random) -> Iterator[Example]:
    """Related pairs with the person exchanged in the new sentence."""
    for episode in episodes:
        by_id = {one.id: one for one in episode.statements}
        for (older, newer), relation in episode.relations.items():
            old, new = by_id[older], by_id[newer]
            other = _somebody_else(new.about, bank, chance)
            if relation == "unrelated" or old.about != new.about or other is None:
                continue
            for before, after in ((old.memory, new.memory), (old.span, new.span)):
                if not before or not after:
                    continue
                exchanged = re.sub(rf"\b{re.escape(new.about)}\b", other, after, flags=re.I)
                if exchanged != after:  # otherwise a pronoun may still mean the same person
                    yield _unrelated(episode, before, exchanged)


def _somebody_else(person: str, bank: Bank, chance: random.Random) -> str | None:
    """Another of the same sort; None where it is the user or a thing."""
    kin = person.removeprefix("my ")
    if person.startswith("my ") and kin in bank.kin:
        return f"my {chance.choice([one for one in bank.kin if one != kin])}"
    if re.fullmatch(r"[A-Z][a-z]+", person):
        return chance.choice([one for one in bank.names if one != person])
    return None


def _across(episodes: Sequence[Episode], bank: Bank, chance: random.Random) -> Iterator[Example]:
    """Sentences of different episodes on one topic that are about different people."""
    by_topic: dict[str, list[tuple[Episode, Statement]]] = {}
    for episode in episodes:
        for one in episode.statements:
            if one.kind in TOLD and one.memory and _person(one.about, bank):
                by_topic.setdefault(episode.topic, []).append((episode, one))
    for rows in by_topic.values():
        for episode, one in rows:
            others = [o for e, o in rows if e is not episode and _apart(one.about, o.about)]
            for other in chance.sample(others, min(len(others), 1)):
                first, second = chance.sample([one, other], 2)
                yield _unrelated(episode, first.memory, second.memory)


def _person(about: str, bank: Bank) -> bool:
    return about == "me" or _somebody_else(about, bank, random.Random(0)) is not None


def _apart(one: str, other: str) -> bool:
    """Whether they are surely different people: a name may be a sister's."""
    if "me" in (one, other):
        return one != other
    return one != other and one.startswith("my ") == other.startswith("my ")


def _unrelated(episode: Episode, old: str, new: str) -> Example:
    return Example("relation", old, new, 0, 1.0, episode.voice, episode.topic)


def _example(task: str, first: str, second: str, label: int, frame: Frame) -> Example:
    return Example(task, first, second, label, 1.0, "frames", frame.name)
