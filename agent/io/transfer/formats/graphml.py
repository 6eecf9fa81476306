"""GraphML, which Gephi and yEd open: entities as nodes, relations of memories as edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agent.memory.entities.relation_graph import relation_graph
from store.types import Memory

if TYPE_CHECKING:
    import networkx as nx


def graph_of(memories: Iterable[Memory]) -> nx.MultiDiGraph[Any]:
    """The graph to write; ``label`` is what Gephi shows at a node or an edge."""
    import networkx as nx

    by_id = {memory.id: memory for memory in memories}
    graph = nx.relabel_nodes(relation_graph(by_id.values()), _clean)
    for _, node in graph.nodes(data=True):
        node["label"] = _clean(node.pop("name"))
    for _, _, edge in graph.edges(data=True):
        memory = by_id[edge["memory"]]
        edge |= {
            "label": _clean(edge.pop("relation")),
            "text": _clean(memory.text),
            "subclass": _clean(memory.subclass),
            "status": memory.status.value,
            "created": memory.created.isoformat(),
        }
        for name, moment in (("from", memory.valid_from), ("until", memory.valid_until)):
            if moment is not None:
                edge[name] = moment.isoformat()
    return graph


def lines(graph: nx.MultiDiGraph[Any]) -> Iterator[str]:
    """The file, line by line."""
    import networkx as nx

    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    for line in nx.generate_graphml(graph, named_key_ids=True):
        yield line + "\n"


def _clean(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
