"""GraphView: the read-only snapshot that a policy walks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from store.records import entity_key
from store.types import Memory

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class GraphView:
    """Memories that may be used now, their vectors, and the graph of their entities."""

    memories: tuple[Memory, ...]
    vectors: NDArray[np.float32]
    """Unit vectors, shape (len(memories), dimension), rows in the order of ``memories``."""
    current: frozenset[str] = field(default=frozenset())
    """Ids of those that hold now; the rest are history, there because it was asked for."""

    @cached_property
    def row(self) -> dict[str, int]:
        """Position of each memory by id."""
        return {memory.id: index for index, memory in enumerate(self.memories)}

    @cached_property
    def graph(self) -> nx.MultiDiGraph[Any]:
        """Layer 3: entity keys as nodes, one edge a relation, keyed and labelled by memory id."""
        import networkx as nx

        graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
        for memory in self.memories:
            for triple in memory.triples:
                graph.add_edge(
                    entity_key(triple.head),
                    entity_key(triple.tail),
                    relation=triple.relation,
                    memory=memory.id,
                )
        return nx.freeze(graph)
