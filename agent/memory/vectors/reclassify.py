"""New subclasses and reclassification of memories (EMG-RAG A.2).

``moves_into`` scores with the placer of the changed taxonomy and changes no memory. What a person
placed by hand stays where she put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agent.extraction.subclass_classifier import Placer
from agent.ports import Embedder
from store.errors import InvalidInput
from store.graph import MemoryGraph
from store.journal import Amend, checked_text
from store.types import EditKind, Memory, Subclass

LONGEST_NAME = 60
MOST_EXAMPLES = 50


@dataclass(frozen=True, slots=True)
class Move:
    """A memory that fits another subclass better. Scores are the placer's, about 0 to 1."""

    memory: Memory
    to: str
    score: float
    score_now: float

    @property
    def edit(self) -> Amend:
        return Amend(self.memory.id, subclass=self.to)


def new_subclass(
    type_: str, name: str, examples: Iterable[str], *, single: bool, types: Sequence[str]
) -> Subclass:
    """A row of layer 2 from what a person typed.

    :raises InvalidInput: one line for an unknown type, an unusable name or a missing example.
    """
    kind = next((known for known in types if known.casefold() == type_.strip().casefold()), None)
    if kind is None:
        raise InvalidInput(f"There is no type {type_!r}. Types: {', '.join(types)}.")
    shown = " ".join(name.split())
    slug = re.sub(r"\W+", "_", shown.casefold()).strip("_")
    if not slug or not shown.isprintable():
        raise InvalidInput(f"The name {name!r} has no letters: give a word or two, such as Music.")
    if len(shown) > LONGEST_NAME:
        raise InvalidInput(
            f"The name has {len(shown)} letters; at most {LONGEST_NAME} are allowed."
        )
    given = list(examples)
    if any(not example.strip() for example in given):
        raise InvalidInput("An --example is empty: give a sentence that belongs there.")
    sentences = tuple(dict.fromkeys(checked_text(example) for example in given))
    if not sentences:
        raise InvalidInput(
            "Give at least one --example, a sentence that belongs there, such as "
            "--example 'I love jazz.'; three or more place better."
        )
    if len(sentences) > MOST_EXAMPLES:
        raise InvalidInput(f"{len(sentences)} examples; at most {MOST_EXAMPLES} are used.")
    return Subclass(f"{kind.lower()}.{slug}", kind, shown, single, sentences)


def moves_into(
    graph: MemoryGraph, subclasses: Sequence[Subclass], into: str, embedder: Embedder
) -> tuple[Move, ...]:
    """The memories that fit ``into`` best of all ``subclasses`` and are not there, best first.

    Only current ones that nobody placed by hand.
    """
    from agent.memory.vectors.waiting import ensure_vectors
    from store.types import Status

    memories = graph.memories.list(Status.CURRENT)
    if not memories:
        return ()  # and no model is loaded for nothing
    ensure_vectors(graph, embedder)
    stored = graph.vectors.of(embedder.identity)
    vectors = np.stack([stored[memory.id] for memory in memories])
    scores = Placer(subclasses, embedder).scores([memory.text for memory in memories], vectors)
    ids = [subclass.id for subclass in subclasses]
    target = ids.index(into)
    moves = [
        Move(
            memory,
            into,
            float(scores[row, target]),
            float(scores[row, ids.index(memory.subclass)]) if memory.subclass in ids else 0.0,
        )
        for row, memory in enumerate(memories)
        if memory.subclass != into
        and int(scores[row].argmax()) == target
        and not placed_by_hand(graph, memory)
    ]
    return tuple(sorted(moves, key=lambda move: (move.score_now - move.score, move.memory.id)))


def placed_by_hand(graph: MemoryGraph, memory: Memory) -> bool:
    """Whether the person corrected the subclass of a memory to what it is."""
    for entry in reversed(graph.journal.of_memory(memory.id)):
        for change in entry.changes:
            before, after = change.before, change.after
            if change.memory != memory.id or before is None or after is None:
                continue
            if before.subclass != after.subclass:
                return entry.kind is EditKind.AMEND and entry.actor == "user"
    return False
