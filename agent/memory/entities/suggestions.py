"""Suggestions for merges and splits.

Nothing here changes anything. Names that share a part ('Kenji Tan' and 'Mr Tan'), names that differ
in a letter or two and have something in common ('Jon' and 'John', both colleagues), and one name in
two roles that seldom meet ('Tom', brother and colleague). What was rejected once is not suggested
again, and what cannot be (two bosses of one time, 'Mr Tan' and 'Ms Tan') never is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from agent.language.relation_names import SAME_AS
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import (
    LONGEST,
    ME_KEY,
    is_name,
    is_role,
    key_of,
    near,
    parts,
    phrase_of,
    role_name,
    share_a_part,
)
from agent.memory.entities.statements import is_identity
from store.row_codecs import row_id
from store.types import Memory

MOST_WORDS = 4
"""Words of a person's name; longer ones are titles of things."""
_WORK = frozenset(
    """boss manager supervisor colleague secretary assistant client landlord landlady doctor dentist
    therapist lawyer accountant neighbour flatmate""".split()
)
_FRIENDS = frozenset("friend best_friend team_mate teammate".split())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two names that may be one; or one name that may be two people, where ``other`` is None."""

    one: str
    other: str | None
    why: str
    memories: tuple[str, ...]
    """What it rests on, oldest first."""
    apart: tuple[str, ...] = ()
    """For one name: the memories of the second role, which would get a name of their own."""
    suggested_name: str = ""


def suggestions(
    memories: Sequence[Memory], known: Identities, now: datetime
) -> tuple[Suggestion, ...]:
    """What is worth asking, the best supported first."""
    holding = [memory for memory in memories if memory.holds_at(now)]
    people = _people(holding)
    common = _common(holding, known)
    found = [*_merges(people, common, known), *_splits(holding)]
    return tuple(sorted(found, key=lambda s: (-len(s.memories), s.one, s.other or "")))


def _people(memories: Iterable[Memory]) -> Mapping[str, list[str]]:
    """Names that are used as people's, each with the memories that use it."""
    found: dict[str, list[str]] = defaultdict(list)
    spelt: dict[str, str] = {}
    for memory in memories:
        for triple in memory.triples:
            ends = (triple.head, triple.tail) if is_identity(triple.relation) else (triple.head,)
            for name in ends:
                if _looks_like_a_person(name):
                    shown = spelt.setdefault(key_of(name), name)
                    found[shown].append(memory.id)
    return found


def _looks_like_a_person(name: str) -> bool:
    return (
        len(name) <= LONGEST
        and is_name(name)
        and phrase_of(name) is None
        and key_of(name) != ME_KEY
        and 1 <= len(name.split()) <= MOST_WORDS
        and not any(letter.isdigit() for letter in name)
        and all(is_name(word) or word.casefold() in ("van", "de", "der", "von", "da", "bin", "al")
                for word in name.split())
    )  # fmt: skip


def _common(memories: Iterable[Memory], known: Identities) -> Mapping[str, set[tuple[str, str]]]:
    """What each entity is related to: (relation, other end), the person's own likes aside."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for memory in memories:
        for triple in memory.triples:
            if triple.relation in (SAME_AS, "different_from"):
                continue
            head, tail = known.who(triple.head), known.who(triple.tail)
            role = role_name(triple.relation) if is_role(triple.relation) else triple.relation
            found[head].add((role, tail))
            found[tail].add((f"{role} of", head))
    return found


def _merges(
    people: Mapping[str, list[str]],
    common: Mapping[str, set[tuple[str, str]]],
    known: Identities,
) -> Iterator[Suggestion]:
    for one, other in _candidates(people):
        who, with_ = known.who(one), known.who(other)
        if who == with_ or known.kept_apart(who, with_) or ME_KEY in (who, with_):
            continue
        if any(end == with_ for _, end in common.get(who, ())):
            continue  # nobody is her own cousin
        shared = common.get(who, set()) & common.get(with_, set())
        if share_a_part(one, other):
            why = "one is a part of the other"
        elif shared:
            relation, end = min(shared)
            why = f"nearly the same name, and both: {relation.replace('_', ' ')} {end}"
        else:
            continue
        evidence = sorted({*people[one], *people[other]}, key=lambda m: row_id("m", m, "memory"))
        yield Suggestion(one, other, why, tuple(evidence))


def _candidates(people: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of names that share a word or are nearly spelt alike."""
    buckets: dict[str, list[str]] = defaultdict(list)
    for name in people:
        for word in parts(name).words:
            buckets[word].append(name)
        if " " not in name:
            buckets[f"{name[:1].casefold()}*"].append(name)
    seen: set[frozenset[str]] = set()
    for names in buckets.values():
        for one, other in combinations(names, 2):
            pair = frozenset((one, other))
            if pair not in seen and (share_a_part(one, other) or near(one, other)):
                seen.add(pair)
                yield one, other


def _splits(memories: Sequence[Memory]) -> Iterator[Suggestion]:
    """One name that is told to fill two roles which seldom meet in one person."""
    roles: dict[tuple[str, str], dict[str, list[str]]] = {}
    spelt: dict[str, str] = {}
    settled: set[str] = set()
    for memory in memories:
        for triple in memory.triples:
            if triple.relation == SAME_AS and key_of(triple.head) == key_of(triple.tail):
                settled.add(key_of(triple.head))
            elif is_role(triple.relation) and _looks_like_a_person(triple.tail):
                key = key_of(triple.tail)
                spelt.setdefault(key, triple.tail)
                slot = roles.setdefault((key_of(triple.head), key), {})
                slot.setdefault(role_name(triple.relation), []).append(memory.id)
    for (_, key), told in roles.items():
        name = spelt[key]
        if key in settled or len(name.split()) > 1:
            continue
        for first, second in combinations(told, 2):
            if {_circle(first), _circle(second)} == {"family", "work"}:
                word = second.replace("_", " ")
                yield Suggestion(
                    name,
                    None,
                    f"said to be both {first.replace('_', ' ')} and {word}",
                    (*told[first], *told[second]),
                    tuple(told[second]),
                    f"{name} ({word})",
                )


def _circle(role: str) -> str:
    return "friends" if role in _FRIENDS else "work" if role in _WORK else "family"
