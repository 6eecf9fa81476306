"""Cache layer: fixed categories, filled by rules and the sentence encoder.

They are the same for every profile, so that profiles can be compared. No language model takes
part: a value is held where several memories lie near to what describes it, a profession where a
memory is placed there. Ideology, which the paper has too, is left out: nothing is guessed of
anybody's politics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.applications.personas.groups import UNREFINED, digest
from agent.ports import Embedder, Vectors
from store.derived.view import GraphView
from store.tables.side_tables.personas import NewLine, PersonaLayer

HELD = 0.3
"""Mean cosine similarity of the nearest memories with a description from which it is held."""
NEAREST = 3
"""Memories that a value rests on."""
SHOWN = 3
"""Choices of a category that are shown."""

VALUES: Mapping[str, str] = {
    "conformity": "I follow the rules, I am polite and I do what is expected of me.",
    "tradition": "I keep the customs and the religion of my family.",
    "security": "I want safety and order, and I worry about crime and risks.",
    "power": "I want influence, status and money, and to be in charge.",
    "achievement": "I work hard to be successful, and I train for goals and prizes.",
    "hedonism": "I enjoy good food, parties and the pleasures of life.",
    "stimulation": "I like adventure, travel, risk and trying new things.",
    "self-direction": "I want to decide for myself, learn, and create my own things.",
    "universalism": "I care about nature, justice and equality for everybody.",
    "benevolence": "I help my family and friends, and I volunteer.",
}
MORALS: Mapping[str, str] = {
    "care": "People who suffer should be looked after.",
    "harm": "It is wrong to hurt people or animals.",
    "fairness": "Everybody should be treated equally and get a fair share.",
    "cheating": "People who cheat or break a deal should be punished.",
    "loyalty": "I stand by my team, my country and my friends.",
    "betrayal": "Turning against one's own people is wrong.",
    "authority": "The law, parents and leaders should be respected.",
    "subversion": "Orders and rules should be questioned and resisted.",
    "purity": "The body and the mind should be kept clean and pure.",
    "degradation": "Some things are disgusting and below human dignity.",
}
_ROLES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "parent": r"\b(?:my|our) (?:\w+ )?(?:son|daughter|kids?|child(?:ren)?|baby|toddler)\b",
        "partner": r"\bmy (?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?)\b",
        "sibling": r"\bmy (?:\w+ )?(?:brother|sister|siblings?)\b",
        "colleague": r"\bmy (?:boss|colleagues?|manager|co-?workers?|team)\b",
        "neighbour": r"\bmy neighbou?rs?\b",
        "student": r"\bmy (?:professor|teacher|thesis|lectures?|classmates?)\b",
        "pet owner": r"\bmy (?:\w+ )?(?:dog|cat|puppy|kitten|rabbit|hamster)\b",
    }.items()
}


@dataclass(frozen=True, slots=True)
class ChosenCategory:
    """A choice of a category and the rows of the memories that it rests on."""

    name: str
    rows: tuple[int, ...]


def cache_lines(view: GraphView, embedder: Embedder) -> tuple[NewLine, ...]:
    """The cache of a home as it stands; nothing where there is no evidence for a category."""
    rows = [r for r, memory in enumerate(view.memories) if memory.subclass not in UNREFINED]
    found = [
        (category, chosen)
        for category, choose in _CATEGORIES.items()
        if (chosen := choose(view, rows, embedder)[:SHOWN])
    ]
    texts = [f"{category}: {', '.join(one.name for one in chosen)}." for category, chosen in found]
    vectors = embedder.encode(texts) if texts else ()
    made = []
    for (category, chosen), text, vector in zip(found, texts, vectors, strict=True):
        used = dict.fromkeys(row for one in chosen for row in one.rows)
        evidence = tuple(view.memories[row] for row in used)
        basis = digest([text, *(f"{memory.id} {memory.text}" for memory in evidence)])
        made.append(
            NewLine(PersonaLayer.CACHE, category, basis, category, text, evidence, "rules", vector)
        )
    return tuple(made)


def matching_vector(vectors: Sequence[Vectors]) -> Vectors | None:
    """What profiles are matched by (equation 1): the unit middle of a cache's lines."""
    if not len(vectors):
        return None
    middle = np.mean(np.stack(vectors), axis=0)
    size = float(np.linalg.norm(middle))
    return middle / size if size else None


def _described(kinds: Mapping[str, str]) -> Callable[..., list[ChosenCategory]]:
    def choose(view: GraphView, rows: Sequence[int], embedder: Embedder) -> list[ChosenCategory]:
        if len(rows) < NEAREST:
            return []
        near = view.vectors[list(rows)] @ embedder.encode(list(kinds.values())).T
        scored = []
        for number, name in enumerate(kinds):
            nearest = np.argsort(-near[:, number])[:NEAREST]
            score = float(near[nearest, number].mean())
            if score >= HELD:
                scored.append((score, ChosenCategory(name, tuple(rows[int(i)] for i in nearest))))
        return [found for _, found in sorted(scored, key=lambda one: -one[0])]

    return choose


def _placed(*subclasses: str) -> Callable[..., list[ChosenCategory]]:
    """What memories of these subclasses say, word for word."""

    def choose(view: GraphView, rows: Sequence[int], embedder: Embedder) -> list[ChosenCategory]:
        return [
            ChosenCategory(view.memories[row].text.rstrip("."), (row,))
            for row in reversed(rows)
            if view.memories[row].subclass in subclasses
        ]

    return choose


def _topics(view: GraphView, rows: Sequence[int], embedder: Embedder) -> list[ChosenCategory]:
    by_subclass: dict[str, list[int]] = {}
    for row in rows:
        if view.memories[row].type == "Preference":
            by_subclass.setdefault(view.memories[row].subclass, []).append(row)
    ranked = sorted(by_subclass.items(), key=lambda one: -len(one[1]))
    return [
        ChosenCategory(subclass.rpartition(".")[2], tuple(of))
        for subclass, of in ranked
        if len(of) > 1
    ]


def _roles(view: GraphView, rows: Sequence[int], embedder: Embedder) -> list[ChosenCategory]:
    found = []
    for role, pattern in _ROLES.items():
        said = tuple(row for row in rows if pattern.search(view.memories[row].text))
        if said:
            found.append(ChosenCategory(role, said))
    return found


_CATEGORIES: Mapping[str, Callable[..., list[ChosenCategory]]] = {
    "Human values": _described(VALUES),
    "Moral values": _described(MORALS),
    "Interests": _topics,
    "Profession": _placed("attribute.occupation"),
    "Possessions": _placed("attribute.belongings"),
    "Social roles": _roles,
}
