"""Graph layout of entities and relations. Pure; see ``cli.output.svg``.

A person's graph is nearly a star: most relations begin at 'me', where force layouts pile labels on
top of each other. So the layout is a radial tree: the root in the middle, every entity on the ring
of its distance, and every leaf with an angle of its own, its label written outward along it. Labels
of leaves cannot meet, at 20 nodes or at 200; relations that are not of the tree are curves inside.
Entities are ordered by type, so that colours form sectors. The same memories give the same picture:
nothing in here is random.
"""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.extraction.triples.read import ME
from store.errors import InvalidInput, UnknownId
from store.row_codecs import entity_key, row_id
from store.types import Memory

if TYPE_CHECKING:
    import networkx as nx

FONT = 12.0
"""Pixels of a label's letters."""
SPACING = 16.0
"""Pixels of ring that a leaf gets: a line of text."""
LONGEST = 30
"""Letters of a label; longer names are cut and told whole where the pointer rests (SVG)."""
FEW = 40
"""Entities up to which relations are written on their edges."""
DEFAULT_HOPS = 2


@dataclass(frozen=True, slots=True)
class EntityNode:
    """One entity in the picture."""

    name: str
    label: str
    type: str
    """The type of most memories at it, which gives the colour."""
    hops: int
    """Distance from the root; entities that nothing joins to the root count as 1."""
    x: float = 0.0
    y: float = 0.0
    angle: float = 0.0
    """Radians of the ray from the root through it; the label is written along that ray."""


@dataclass(frozen=True, slots=True)
class RelationEdge:
    """All relations from one entity to another, drawn as one line."""

    head: str
    tail: str
    relations: tuple[str, ...]
    memories: tuple[str, ...]
    type: str
    in_tree: bool


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The picture, in pixels with the root at (0, 0)."""

    root: str
    nodes: Mapping[str, EntityNode]
    edges: tuple[RelationEdge, ...]
    box: tuple[float, float, float, float]
    """Left, top, right and bottom of all labels."""
    left_out: int = 0
    """Entities that were found but are not drawn, because there is a limit."""
    written: bool = True
    """Whether relations are written on their edges."""


def draw(
    memories: Sequence[Memory],
    types: Sequence[str],
    *,
    entity: str | None = None,
    hops: int | None = None,
    limit: int = 200,
) -> GraphPicture:
    """Lay out the entities of these memories, or those within ``hops`` of one of them.

    Ways do not lead through the person, who is next to everything, unless she is the root.

    :raises UnknownId: if no memory names the entity.
    :raises InvalidInput: if no memory has a relation.
    """
    import networkx as nx

    edges, names = _edges(memories, types)
    if not edges:
        raise InvalidInput("There is nothing to draw: no memory has a relation yet.")
    root = _root(entity, names)
    near: nx.Graph[str] = nx.Graph([(edge.head, edge.tail) for edge in edges])
    near.add_node(root)
    kinds = _types(edges, types)
    newest = _newest(edges)

    def rank(key: str) -> tuple[int, str, str]:
        return types.index(kinds[key]), names[key].casefold(), key

    reach = DEFAULT_HOPS if entity is not None and hops is None else hops
    distance, parent = _tree(root, near, rank, reach, whole=entity is None)
    order = sorted(distance, key=lambda k: (distance[k], -near.degree[k], -newest.get(k, 0)))
    kept = set(order[: max(1, limit)])
    children: dict[str, list[str]] = {key: [] for key in kept}
    for key in sorted(kept - {root}, key=rank):
        children[parent[key]].append(key)

    nodes = {
        key: EntityNode(names.get(key, key), _label(names.get(key, key)), kinds[key], distance[key])
        if key in kinds
        else EntityNode(ME, _label(ME), types[0], 0)
        for key in kept
    }
    shown = tuple(
        replace(
            edge, in_tree=parent.get(edge.tail) == edge.head or parent.get(edge.head) == edge.tail
        )
        for edge in edges
        if edge.head in kept and edge.tail in kept
    )
    written = len(kept) <= FEW
    placed = _placed(root, nodes, children, shown, written)
    return GraphPicture(root, placed, shown, _box(placed), len(distance) - len(kept), written)


# ---- what is in it ---------------------------------------------------------------------------


def _edges(
    memories: Iterable[Memory], types: Sequence[str]
) -> tuple[list[RelationEdge], dict[str, str]]:
    names: dict[str, str] = {}
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for memory in memories:
        for triple in memory.triples:
            head, tail = entity_key(triple.head), entity_key(triple.tail)
            names.setdefault(head, triple.head)
            names.setdefault(tail, triple.tail)
            if head != tail and memory.type in types:
                found.setdefault((head, tail), []).append((triple.relation, memory.id, memory.type))
    edges = [
        RelationEdge(
            head,
            tail,
            tuple(dict.fromkeys(relation for relation, _, _ in items)),
            tuple(dict.fromkeys(memory for _, memory, _ in items)),
            _most(Counter(kind for _, _, kind in items), types),
            False,
        )
        for (head, tail), items in found.items()
    ]
    return edges, names


def _root(entity: str | None, names: Mapping[str, str]) -> str:
    if entity is None:
        return entity_key(ME)
    key = entity_key(ME if entity.casefold() in ("you", "i") else entity)
    if key not in names:
        near = difflib.get_close_matches(key, names, 1)
        hint = f" Did you mean {names[near[0]]!r}?" if near else ""
        raise UnknownId(
            f"There is no person or thing {entity!r}.{hint} `memlane memories tree` shows them."
        )
    return key


def _types(edges: Iterable[RelationEdge], types: Sequence[str]) -> dict[str, str]:
    counts: dict[str, Counter[str]] = {}
    for edge in edges:
        for end in (edge.head, edge.tail):
            counts.setdefault(end, Counter())[edge.type] += len(edge.memories)
    return {key: _most(counted, types) for key, counted in counts.items()}


def _most(counted: Counter[str], types: Sequence[str]) -> str:
    return max(counted, key=lambda kind: (counted[kind], -types.index(kind)))


def _newest(edges: Iterable[RelationEdge]) -> dict[str, int]:
    found: dict[str, int] = {}
    for edge in edges:
        last = max(row_id("m", memory, "memory") for memory in edge.memories)
        for end in (edge.head, edge.tail):
            found[end] = max(found.get(end, 0), last)
    return found


def _tree(
    root: str,
    near: nx.Graph[str],
    rank: Callable[[str], tuple[int, str, str]],
    reach: int | None,
    *,
    whole: bool,
) -> tuple[dict[str, int], dict[str, str]]:
    """Breadth first: how far each entity is, and from which other it was reached."""
    import networkx as nx

    def ranked(keys: Iterable[str]) -> list[str]:
        return sorted(keys, key=rank)

    distance, parent = {root: 0}, dict[str, str]()

    def spread(ways: nx.Graph[str], start: str) -> None:
        for key, other in nx.bfs_edges(ways, start, depth_limit=reach, sort_neighbors=ranked):
            distance[other], parent[other] = distance[key] + 1, key

    ways = near.to_directed()
    if (person := entity_key(ME)) != root and person in ways:
        ways.remove_edges_from(list(ways.out_edges(person)))
    spread(ways, root)
    if whole and reach is None:
        # What nothing joins to the person stands beside her, by its best joined entity.
        rest = near.subgraph(set(near) - distance.keys())
        hubs = [min(part, key=lambda key: (-near.degree[key], rank(key)))
                for part in nx.connected_components(rest)]  # fmt: skip
        for hub in hubs:
            distance[hub], parent[hub] = 1, root
            spread(rest, hub)
    return distance, parent


# ---- where it goes ---------------------------------------------------------------------------


def _placed(
    root: str,
    nodes: Mapping[str, EntityNode],
    children: Mapping[str, Sequence[str]],
    edges: Sequence[RelationEdge],
    written: bool,
) -> dict[str, EntityNode]:
    import networkx as nx

    tree: nx.DiGraph[str] = nx.DiGraph({key: list(below) for key, below in children.items()})
    slots: dict[str, float] = {}
    cursor = 0.0
    last = ""
    for branch in children[root]:
        if last not in ("", nodes[branch].type):
            cursor += 0.7  # a gap between the sectors of two types
        last = nodes[branch].type
        cursor = _slots(branch, children, tree, slots, cursor)
    total = max(cursor, 8.0)

    depths = {key: node.hops for key, node in nodes.items()}
    rings = _rings(root, nodes, children, depths, edges, written, total)
    placed: dict[str, EntityNode] = {}
    for key, node in nodes.items():
        angle = 2 * math.pi * slots.get(key, 0.0) / total
        ring = rings[depths[key]]
        placed[key] = replace(node, x=ring * math.cos(angle), y=ring * math.sin(angle), angle=angle)
    return placed


def _box(nodes: Mapping[str, EntityNode]) -> tuple[float, float, float, float]:
    """What the entities and their labels take up, with a border."""
    points = [(0.0, 0.0)]
    for node in nodes.values():
        reach = math.hypot(node.x, node.y) + text_width(node.label) + 12
        points.append((reach * math.cos(node.angle), reach * math.sin(node.angle)))
    return (
        min(x for x, _ in points) - 24,
        min(y for _, y in points) - 24,
        max(x for x, _ in points) + 24,
        max(y for _, y in points) + 24,
    )


def _slots(
    branch: str,
    children: Mapping[str, Sequence[str]],
    tree: nx.DiGraph[str],
    slots: dict[str, float],
    cursor: float,
) -> float:
    """Give every leaf the next slot and every other entity the middle of its leaves' slots."""
    import networkx as nx

    for node in nx.dfs_postorder_nodes(tree, branch):
        if own := children[node]:
            slots[node] = (slots[own[0]] + slots[own[-1]]) / 2
        else:
            slots[node] = cursor + 0.5
            cursor += 1
    return cursor


def _rings(
    root: str,
    nodes: Mapping[str, EntityNode],
    children: Mapping[str, Sequence[str]],
    depths: Mapping[str, int],
    edges: Sequence[RelationEdge],
    written: bool,
    total: float,
) -> list[float]:
    """The radius of each depth: room for the labels on the way, and for every leaf a line."""
    on_edge = [0.0] * (max(depths.values()) + 2)
    if written:
        for edge in edges:
            if edge.in_tree:
                depth = max(depths[edge.head], depths[edge.tail])
                on_edge[depth] = max(on_edge[depth], text_width(edge_label(edge)) * 0.85)
    rings = [0.0]
    for depth in range(1, max(depths.values()) + 1):
        inner = [
            text_width(node.label)
            for key, node in nodes.items()
            if depths[key] == depth - 1 and children[key] and key != root
        ]
        step = max(inner, default=30.0) + on_edge[depth] + 40
        rings.append(rings[-1] + step)
    if len(rings) > 1:
        # The first ring that has leaves needs a line of text for each slot.
        leaf = min((depths[key] for key in nodes if not children[key]), default=1)
        missing = max(130.0, total * SPACING / (2 * math.pi)) - rings[max(1, leaf)]
        if missing > 0:
            rings = [rings[0], *(ring + missing for ring in rings[1:])]
    return rings


# ---- text ------------------------------------------------------------------------------------


def edge_label(edge: RelationEdge) -> str:
    """What is written on an edge: its relations, in words."""
    return _cut(", ".join(relation.replace("_", " ") for relation in edge.relations), 24)


def _label(name: str) -> str:
    return "you" if entity_key(name) == entity_key(ME) else _cut(name, LONGEST)


def _cut(text: str, longest: int) -> str:
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"


def text_width(text: str, size: float = FONT) -> float:
    """About how many pixels a line takes; wide letters, as Chinese has, count double."""
    units = sum(
        1.05
        if unicodedata.east_asian_width(c) in "WF"
        else 0.0
        if unicodedata.combining(c)
        else 0.6
        for c in text
    )
    return units * size
