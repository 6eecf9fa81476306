"""Roles with one holder at a time ('my boss'): alias or successor.

'My boss is Mr Tan' and 'Kenji is my boss' are two names of one boss, unless the second is told as a
change or the names cannot be one person's. Pure functions over relations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent.memory.editing.compare import slot
from agent.memory.entities.names import ONE_HOLDER, may_be_one, role_name
from store.types import Draft, Memory

_CHANGE = re.compile(
    r"\b(?:new|now|no longer|any ?more|instead|these days|current(?:ly)?|since|from now on"
    r"|replace[sd]?|t(?:oo|ake)k?s? over|became|successor)\b",
    re.IGNORECASE,
)


def further_name(draft: Draft, memories: Iterable[Memory]) -> bool:
    """Whether the draft only names in another way whom the memories say to fill a role.

    All names told of that role must go together: 'Ms Lim' is none of 'Mr Tan', also called Kenji.
    """
    if not any(role_name(told.relation) in ONE_HOLDER for told in draft.triples):
        return False
    pairs = [pair for memory in memories for pair in _holders(draft, memory)]
    return (
        _CHANGE.search(draft.text) is None
        and any(may_be_one(*pair) for pair in pairs)
        and all(_one(*pair) for pair in pairs)
    )


def same_holder(draft: Draft, old: Memory, other: Memory) -> bool:
    """Whether ``other`` names the one whom ``old`` names, and after whom the draft's holder comes.

    Then it is over as well: 'My boss is Mr Tan' is replaced, and 'Kenji is my boss' ends.
    """
    ended = {was for new, was in _holders(draft, old) if not _one(new, was)}
    return any(
        new.casefold() != named.casefold() and any(_one(was, named) for was in ended)
        for new, named in _holders(draft, other)
    )


def _one(told: str, known: str) -> bool:
    return told.casefold() == known.casefold() or may_be_one(told, known)


def _holders(draft: Draft, memory: Memory) -> Iterator[tuple[str, str]]:
    """For each role that both speak of: whom the draft and whom the memory names."""
    for told in draft.triples:
        for known in memory.triples:
            if role_name(told.relation) in ONE_HOLDER and slot(told) == slot(known):
                yield told.tail, known.tail
