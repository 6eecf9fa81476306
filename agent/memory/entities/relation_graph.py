"""The relations of memories as a networkx graph: paths between entities, centrality.

Pure. networkx is imported late: it takes a fifth of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from agent.memory.entities.names import key_of
from store.types import Memory

if TYPE_CHECKING:
    import networkx as nx

Who = Callable[[str, datetime], str]
"""The entity that a name means in a memory of this time; see ``Identities.who``."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path, in the direction of its relation."""

    head: str
    relation: str
    tail: str
    memory: str


def relation_graph(
    memories: Iterable[Memory], who: Who = lambda name, at: key_of(name)
) -> nx.MultiDiGraph[Any]:
    """Entities as nodes with their ``name``; an edge for each relation of each memory."""
    import networkx as nx

    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    for memory in memories:
        for number, triple in enumerate(memory.triples):
            ends = [(who(name, memory.created), name) for name in (triple.head, triple.tail)]
            for key, name in ends:
                if key not in graph:
                    graph.add_node(key, name=name)
            # Edges are told apart by their key also outside of networkx, so it is unique.
            graph.add_edge(
                ends[0][0],
                ends[1][0],
                f"{memory.id}.{number}",
                relation=triple.relation,
                memory=memory.id,
            )
    return graph


def path(graph: nx.MultiDiGraph[Any], one: str, other: str) -> tuple[Hop, ...] | None:
    """The shortest path from one entity to another, along relations in either direction.

    Of several relations between two entities, the first. None where nothing connects them.
    """
    import networkx as nx

    plain = graph.to_undirected(as_view=True)
    try:
        nodes = nx.shortest_path(plain, one, other)
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        return None
    return tuple(_hop(graph, *pair) for pair in pairwise(nodes))


def _hop(graph: nx.MultiDiGraph[Any], one: str, other: str) -> Hop:
    head, tail = (one, other) if graph.has_edge(one, other) else (other, one)
    edge = next(iter(graph[head][tail].values()))
    names = graph.nodes
    return Hop(names[head]["name"], edge["relation"], names[tail]["name"], edge["memory"])


def connected_with(graph: nx.MultiDiGraph[Any], entity: str) -> tuple[str, ...]:
    """The names of what any path leads to from an entity, the most connected first."""
    import networkx as nx

    if entity not in graph:
        return ()
    part = nx.node_connected_component(graph.to_undirected(as_view=True), entity) - {entity}
    order = sorted(part, key=lambda key: (-graph.degree[key], key))
    return tuple(graph.nodes[key]["name"] for key in order)


def centrality(graph: nx.MultiDiGraph[Any]) -> dict[str, float]:
    """How many others each entity is directly related to, as a share of all."""
    import networkx as nx

    found: dict[str, float] = nx.degree_centrality(nx.Graph(graph))
    return found
