"""Paths between entities, how central they are, and their graph as a file."""

from __future__ import annotations

from datetime import UTC, datetime

import networkx as nx
import pytest

from agent.io.transfer.formats import graphml
from agent.memory.entities.relation_graph import (
    Hop,
    centrality,
    connected_with,
    path,
    relation_graph,
)
from store.types import Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def memory(number: int, head: str, relation: str, tail: str) -> Memory:
    triple = Triple(head, relation, tail)
    text = f"{head} {relation} {tail}."
    return Memory(f"m{number}", text, "Event", "event.arrangement", NOW, (triple,))


MEMORIES = (
    memory(1, "me", "brother", "Tom"),
    memory(2, "Priya", "wife_of", "Tom"),
    memory(3, "Tom", "likes", "the Red Heron"),
    memory(4, "the parcel", "is_at", "the door"),
)


def test_a_path_follows_relations_in_both_directions():
    graph = relation_graph(MEMORIES)
    assert path(graph, "me", "priya") == (
        Hop("me", "brother", "Tom", "m1"),
        Hop("Priya", "wife_of", "Tom", "m2"),
    )
    assert path(graph, "me", "me") == ()


@pytest.mark.parametrize("other", ["door", "nobody"])
def test_what_nothing_connects_has_no_path(other: str):
    assert path(relation_graph(MEMORIES), "me", other) is None


def test_what_is_connected_is_named_the_most_connected_first():
    graph = relation_graph(MEMORIES)
    assert connected_with(graph, "priya") == ("Tom", "me", "the Red Heron")
    assert connected_with(graph, "nobody") == ()
    assert max(centrality(graph).items(), key=lambda item: item[1])[0] == "tom"


def test_names_of_one_entity_are_one_node():
    graph = relation_graph(
        (*MEMORIES, memory(5, "Tommy", "plays", "chess")),
        lambda name, at: "tom" if name == "Tommy" else name.casefold(),
    )
    assert path(graph, "me", "chess") == (
        Hop("me", "brother", "Tom", "m1"),
        Hop("Tom", "plays", "chess", "m5"),
    )


def test_a_graphml_file_is_read_back_whole(tmp_path):
    odd = memory(5, "Tom", "says", 'x < b & "c"\x00')
    graph = graphml.graph_of((*MEMORIES, odd, memory(6, "me", "trusts", "Tom")))
    file = tmp_path / "graph.graphml"
    file.write_text("".join(graphml.lines(graph)), encoding="utf-8")
    read = nx.read_graphml(file, force_multigraph=True)
    assert dict(read.nodes(data="label"))["red heron"] == "the Red Heron"
    assert sorted(read.get_edge_data("me", "tom")) == ["m1.0", "m6.0"]
    (said,) = read.get_edge_data("tom", 'x < b & "c"\x00'.replace("\x00", " ")).values()
    assert said["label"] == "says"
    assert said["memory"] == "m5"
