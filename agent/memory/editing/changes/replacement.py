"""Replacement statements: 'I traded my Volvo for a Skoda'. Pure.

The words do not say what a Volvo is to the person, the memory of it does. So the draft gets the
relation of the memory that it takes the place of, and editing sees another value of one slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.language.relation_names import SWITCHED_FROM, SWITCHED_TO
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft, Triple

_TASTES = frozenset("likes dislikes prefers wants thinks noted".split())
"""Relations of what one may give up and still like."""


def in_its_place(draft: Draft, matches: Sequence[NearMemory]) -> Draft:
    """The draft with the relation of what it gives up; itself where it gives up nothing known."""
    given_up = {entity_key(t.tail) for t in draft.triples if t.relation == SWITCHED_FROM}
    got = next((t.tail for t in draft.triples if t.relation == SWITCHED_TO), None)
    if not given_up or got is None:
        return draft
    for match in matches:
        for known in match.memory.triples:
            if entity_key(known.tail) in given_up and known.relation not in _TASTES:
                return replace(draft, triples=(Triple(known.head, known.relation, got),))
    return draft
