"""Identity statements in memories.

Only relations count, and only those that say it outright: ``same_as`` and ``different_from`` (told,
or decided by hand), names ('Mr Tan's first name is Kenji'), and roles ('Kenji is my boss', 'Rosa is
Tom's cousin'). A name or a decision counts while its memory holds; a role also for the time it had,
because what was said of 'my boss' last year was said of who was the boss then. Screenshots and
quoted words say nothing of who is who: a stranger's text joins nobody (docs/trust.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from agent.language.relation_names import DIFFERENT_FROM, SAME_AS
from agent.memory.entities.names import (
    LONGEST,
    ME_KEY,
    is_name,
    is_role,
    key_of,
    parts,
    phrase_of,
    role_name,
)
from store.types import Memory, Status, Triple, Trust

_FIRST = frozenset({"first_name", "given_name"})
_LAST = frozenset({"last_name", "surname", "family_name"})
_WHOLE = frozenset({"name", "full_name", "real_name", "nickname", "also_known_as"})


class Says(StrEnum):
    """What a statement says of its two names."""

    SAME = "same"
    DIFFERENT = "different"
    NAMED = "named"
    """One is a further name of the other."""
    HOLDS = "holds"
    """The second fills a role for the first."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing a memory says about who is who."""

    says: Says
    one: str
    other: str
    memory: str
    start: datetime
    end: datetime | None = None
    role: str = ""
    word: str = ""
    """The role in the words it was told in: 'wife' where the role is spouse."""

    def holds(self, at: datetime) -> bool:
        return self.start <= at and (self.end is None or at < self.end)


@lru_cache(maxsize=4096)
def is_identity(relation: str) -> bool:
    """Whether relations of this name say who is who."""
    naming = relation in _FIRST | _LAST | _WHOLE
    return naming or relation in (SAME_AS, DIFFERENT_FROM) or is_role(relation)


def statements(memories: Iterable[Memory], now: datetime) -> tuple[Statement, ...]:
    """What these memories say of who is who at ``now``, oldest first."""
    found = [
        statement
        for memory in memories
        if memory.status in (Status.CURRENT, Status.REPLACED)
        # A screenshot or somebody else's words do not decide who the person's people are.
        and (memory.trust or Trust.TOLD).rank >= Trust.RECORDED.rank
        for triple in memory.triples
        if is_identity(triple.relation)
        for statement in _read(triple, memory, now)
    ]
    return tuple(sorted(found, key=lambda said: (said.start, int(said.memory[1:]))))


def _read(triple: Triple, memory: Memory, now: datetime) -> Iterator[Statement]:
    head, relation, tail = triple.head, triple.relation, triple.tail
    if max(len(head), len(tail)) > LONGEST or key_of(head) == key_of(tail):
        return  # 'Tom is Tom's brother' says nothing
    start = memory.valid_from or memory.created
    if is_role(relation):
        yield from _held(head, relation, tail, memory, start)
        return
    if not memory.holds_at(now):
        return
    if relation in (SAME_AS, DIFFERENT_FROM):
        says = Says.SAME if relation == SAME_AS else Says.DIFFERENT
        phrases = phrase_of(head), phrase_of(tail)
        if says is Says.SAME and any(phrases):
            # 'My boss is Mr Tan', told as 'my boss and Mr Tan are one': true while it holds.
            phrase, name = (phrases[0], tail) if phrases[0] else (phrases[1], head)
            if phrase is not None:
                yield from _held(phrase.head, phrase.role, name, memory, start)
        else:
            yield Statement(says, head, tail, memory.id, start)
    elif not is_name(tail):
        return
    elif (phrase := phrase_of(head)) is not None:
        yield from _held(phrase.head, phrase.role, tail, memory, start)
    elif key_of(head) == ME_KEY or is_name(head):
        for name in _names(head, relation, tail):
            yield Statement(Says.NAMED, head, name, memory.id, start)


def _held(
    head: str, relation: str, tail: str, memory: Memory, start: datetime
) -> Iterator[Statement]:
    if not (is_name(tail) or phrase_of(tail) or key_of(tail) == ME_KEY):
        return
    role, end, word = role_name(relation), memory.valid_until, relation.replace("_", " ")
    word = "spouse" if relation == "married_to" else word
    yield Statement(Says.HOLDS, head, tail, memory.id, start, end, role, word)
    if role == "spouse":  # the same seen from the other side, and held by one there too
        yield Statement(Says.HOLDS, tail, head, memory.id, start, end, role, "spouse")


def _names(head: str, relation: str, tail: str) -> Iterator[str]:
    if relation in _LAST:
        # 'Tan' alone is the name of a whole family.
        yield f"{head} {tail}"
        return
    yield tail
    if relation in _FIRST and parts(head).title and len(parts(head).words) == 1:
        yield f"{tail} {head.split()[-1]}"
