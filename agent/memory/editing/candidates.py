"""Candidate search: memories that a draft may be about, and those that it may change.

The search costs the same however often something was edited: ``MemoryGraph.index`` is read once and
kept in step with the journal, slots are looked up in the rows. Invariants: it never writes; it is
made anew, which costs next to nothing, for each plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from agent.memory.editing.compare import slot
from agent.ports import Vectors
from store.derived.partitions import NearMemory
from store.derived.vector_index import MemoryIndex
from store.graph import MemoryGraph
from store.row_codecs import entity_key
from store.types import Draft, Memory, SourceKind, Triple

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
NEAREST = 6
"""Memories that a new one may change: the nearest to it and to the sentences beside it. Of what
held-out writers changed, four fifths are among them and the newest; of twelve nearest to the
sentence alone and four newest as many, and the reader finds less (``benchmarks.candidates``)."""
NEIGHBOUR = 0.5
"""How much the sentences beside it count. 'The 12th is off' is about what the one before named."""
OF_FILE = 3
"""How many are compared with a sentence of a file. A folder has thousands of them, and with three
nearly as much is found as with six (``three`` of ``benchmarks.candidates``)."""
RECENT = 2
"""Newest memories that what somebody says is compared with as well: people go on about the same
thing. Files come in any order."""
_SAID = (SourceKind.CHAT, SourceKind.MANUAL)


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


class Compared(NamedTuple):
    """An older memory and a newer one that may change it."""

    older: Memory
    newer: Memory
    near: float | None
    """Cosine of their vectors, that of the new one in its context; None where one has none."""


def to_compare(
    new: Sequence[tuple[Memory, Vectors | None]],
    replaced: Sequence[Sequence[Memory]],
    graph: MemoryGraph,
    index: MemoryIndex,
) -> dict[tuple[str, str], Compared]:
    """What is compared, by the ids of the older and the newer memory.

    ``new`` are memories of one message or file, each with its vector; ``replaced`` the older and
    the newer one of each replacement.
    """
    own = {memory.id for memory, _ in new}
    told = [(memory, vector) for memory, vector in new if vector is not None]
    told.sort(key=lambda one: (one[0].source or "", one[0].span.start if one[0].span else 0))
    vectors = in_context([vector for _, vector in told], [memory.source for memory, _ in told])
    origin = new[0][0].source
    kind = graph.sources.kind(origin) if origin else SourceKind.CHAT
    found: list[tuple[Memory, Memory, float | None]] = []
    for start in range(0, len(told), AT_ONCE):
        matched = index.nearest_to_each(
            np.stack(vectors[start : start + AT_ONCE]),
            probes=probes_among(len(index)),
            count=NEAREST if kind in _SAID else OF_FILE,
            without=own,
        )
        for (memory, _), matches in zip(told[start:], matched, strict=False):
            found += [(match.memory, memory, match.score) for match in matches]
    moved = {memory.id: vector for (memory, _), vector in zip(told, vectors, strict=True)}

    def cosine(old: Memory, memory: Memory) -> float | None:
        one, two = moved.get(memory.id), index.vector(old.id)
        return None if one is None or two is None else float(one @ two)

    recent = _newest_but(own, graph, index) if kind in _SAID else ()
    found += [(old, memory, cosine(old, memory)) for old in recent for memory, _ in told]
    pairs: dict[tuple[str, str], Compared] = {}
    for other, memory, near in found:
        if other.source != memory.source:
            older, newer = sorted((other, memory), key=lambda m: (m.created, int(m.id[1:])))
            pairs[older.id, newer.id] = Compared(older, newer, near)
    for old, memory in replaced:
        pairs[old.id, memory.id] = Compared(old, memory, cosine(old, memory))
    return pairs


def _newest_but(own: set[str], graph: MemoryGraph, index: MemoryIndex) -> Sequence[Memory]:
    # The new ones are the newest where they are stored already.
    newest = index.newest((subclass.id for subclass in graph.subclasses()), RECENT + len(own))
    return [memory for memory in newest if memory.id not in own][-RECENT:]


def in_context(vectors: Sequence[Vectors], sources: Sequence[str | None]) -> list[Vectors]:
    """The vector of each sentence, moved towards those beside it in its source; of unit length.

    ``vectors`` are in the order of their sentences in each source.
    """
    moved = []
    for place, (vector, source) in enumerate(zip(vectors, sources, strict=True)):
        beside = (place - 1, place + 1)
        own = [n for n in beside if 0 <= n < len(vectors) and sources[n] == source]
        whole = vector + NEIGHBOUR * sum(vectors[n] for n in own)
        moved.append(whole / np.linalg.norm(whole))
    return moved
