"""TransE on the user's graph for the subclass classifier (EMG-RAG 4.2).

The graph is the person's triples, ``is_a`` from each subclass to its type, and ``belongs_to`` from
what memories that are placed carry, their tails, to the subclass. The tail of a new memory is where
its head and relation lead to; its subclass is the one that ``belongs_to`` leads to from there.
Measured (docs/transe-and-partitions.md): it places worse than the sentence embedding, so memlane
does not use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.emg_rag.transe import Array, Named, TransE, TransEConfig, distance
from store.row_codecs import entity_key
from store.types import Subclass, Triple

BELONGS_TO = "belongs_to"
IS_A = "is_a"
FEWEST = 2
"""Triples that a relation or an entity has to be in before its vector says anything."""


class Translations:
    """Trained vectors of one graph, and how well triples fit each subclass by them."""

    def __init__(
        self,
        subclasses: Sequence[Subclass],
        placed: Iterable[tuple[Sequence[Triple], str]],
        config: TransEConfig | None = None,
    ) -> None:
        self._ids = [subclass.id for subclass in subclasses]
        known = set(self._ids)
        told: list[Named] = [(_node(s.id), IS_A, _node(s.type)) for s in subclasses]
        # Every subclass is the end of a step, so that each has a vector of the same kind.
        told += [(_node(f"{s.id} itself"), BELONGS_TO, _node(s.id)) for s in subclasses]
        for triples, subclass in placed:
            for triple in triples:
                head, relation, tail = _keys(triple)
                told.append((head, relation, tail))
                if subclass in known:
                    told.append((tail, BELONGS_TO, _node(subclass)))
        told = list(dict.fromkeys(told))
        self._seen = Counter(name for triple in told for name in triple)
        self._model = TransE.train(told, config)
        rows = [self._model.entities[_node(id_)] for id_ in self._ids]
        self._places = self._model.entity_vectors[rows]  # (S, D)

    def scores(self, memories: Sequence[Sequence[Triple]]) -> NDArray[np.float32]:
        """How well each memory fits each subclass, shape (memories, subclasses), in [-1, 0].

        A row is NaN where its entities and relations stand in too few triples to say anything.
        """
        found = np.full((len(memories), len(self._ids)), np.nan, np.float32)
        for row, triples in enumerate(memories):
            if tails := [tail for t in triples if (tail := self._tail(*_keys(t))) is not None]:
                model = self._model
                step = model.relation_vectors[model.relations[BELONGS_TO]]
                ends = np.stack(tails)[:, None, :] + step - self._places  # (triples, S, D)
                apart = distance(ends, model.config.norm).mean(axis=0)
                found[row] = -apart / max(float(apart.max()), 1e-9)
        return found

    def _tail(self, head: str, relation: str, tail: str) -> Array | None:
        """Where a triple leads to: its tail's own vector, and that by way of head and relation."""
        model, known = self._model, []
        if self._seen[tail] >= FEWEST and tail in model.entities:
            known.append(model.entity_vectors[model.entities[tail]])
        if self._seen[relation] >= FEWEST and head in model.entities:
            start = model.entity_vectors[model.entities[head]]
            known.append(start + model.relation_vectors[model.relations[relation]])
        return np.mean(known, axis=0) if known else None


def _node(name: str) -> str:
    # Never the key of an entity: those hold no tab.
    return f"\t{name}"


def _keys(triple: Triple) -> Named:
    return entity_key(triple.head), f"said {triple.relation}", entity_key(triple.tail)
