"""Candidate search: memories that a draft may be about.

The search costs the same however often something was edited: ``MemoryGraph.index`` is read once and
kept in step with the journal, slots are looked up in the rows. Invariants: it never writes; it is
made anew, which costs next to nothing, for each plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from agent.memory.editing.compare import slot
from agent.ports import Vectors
from store.derived.partitions import NearMemory
from store.graph import MemoryGraph
from store.row_codecs import entity_key
from store.types import Draft, Triple

PROBES = 5
"""How many nearest partitions are searched for the memory that a draft is about."""
SMALL = 20_000
"""Memories up to which every partition is searched: it finds more, and takes a few ms."""
CANDIDATES = 5
"""How many memories of those partitions are compared with the draft."""
MOST_OF_A_SLOT = 20
"""How many memories with the same head and relation are compared beside the nearest."""
AT_ONCE = 64
"""Drafts that are searched for together: their cosines to all memories are held at once."""


class Nearby:
    """What holds in a graph at a time, searchable."""

    def __init__(self, graph: MemoryGraph, model: str, now: datetime) -> None:
        self._graph = graph
        self._index = graph.index(model, now)
        self._slots: dict[tuple[str, tuple[str, str]], tuple[str, ...]] = {}
        """What was looked up: the drafts of a text share many slots ('I met ...')."""
        self._looked: dict[tuple[str, str], list[NearMemory]] = {}

    def vector(self, memory: str) -> Vectors | None:
        """The stored vector of a memory that holds."""
        return self._index.vector(memory)

    def look(self, drafts: Sequence[Draft], vectors: Mapping[str, Vectors]) -> None:
        """Search for the drafts of a text together, before ``to`` is asked for each."""
        for start in range(0, len(drafts), AT_ONCE):
            some = drafts[start : start + AT_ONCE]
            found = self._index.nearest_to_each(
                np.stack([vectors[draft.text] for draft in some]),
                probes=probes_among(len(self._index)),
                count=CANDIDATES,
                also=[(draft.subclass,) for draft in some],
            )
            self._looked.update(zip(map(_place, some), found, strict=True))

    def to(self, draft: Draft, vector: Vectors, called: Sequence[Triple] = ()) -> list[NearMemory]:
        """The memories that the draft may be about, best first.

        ``called`` are its relations under other names of their heads ('Kenji' for 'my boss').
        """
        if _place(draft) not in self._looked:
            self.look([draft], {draft.text: vector})
        found = self._looked[_place(draft)]
        # 'I live in Bedok' need not be near 'My home is in Jurong West' to speak of the same.
        known = {match.memory.id for match in found}
        slots = (*called, *draft.triples)
        same = [memory for memory in self._of_slots(slots) if memory not in known]
        return sorted((*found, *self._index.matches(same, vector)), key=lambda match: -match.score)

    def _of_slots(self, triples: Sequence[Triple]) -> list[str]:
        """Memories with the head and relation of one of these, the latest of each."""
        found: dict[str, None] = {}
        for triple in triples:
            head, relation = slot(triple)
            place = entity_key(triple.head), (relation, triple.relation)
            if place not in self._slots:
                self._slots[place] = self._graph.memories.in_slot(*place, MOST_OF_A_SLOT)
            found.update(dict.fromkeys(self._slots[place]))
            if any(letter.isdigit() for letter in head):
                # 'flight EK349' and 'EK349' are one slot under two keys.
                told = self._graph.memories.mentioning(head, MOST_OF_A_SLOT)
                slots = ((m.id, {slot(other) for other in m.triples}) for m in told)
                found.update((m, None) for m, held in slots if (head, relation) in held)
        return list(found)


def _place(draft: Draft) -> tuple[str, str]:
    """What decides where it is searched for."""
    return draft.text, draft.subclass


def probes_among(memories: int) -> int:
    """How many partitions are searched where so many memories hold (benchmarks.partitions)."""
    return PROBES if memories > SMALL else 1_000_000
