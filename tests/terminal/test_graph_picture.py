"""The picture of the graph: legible, the same every time, and safe for any name."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.output.graph_layout import SPACING, GraphPicture, draw, text_width
from cli.output.svg import canvas, svg
from store.errors import InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.taxonomy import TYPES
from store.types import Draft, Memory, Triple
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
Memlane = Callable[..., Result]
SUBCLASSES = {
    "Relationship": "relationship.colleague_friends",
    "Preference": "preference.diet",
    "Event": "event.arrangement",
    "Attribute": "attribute.address",
}


def memory(number: int, head: str, relation: str, tail: str, kind: str = "Event") -> Memory:
    triple = Triple(head, relation, tail)
    text = f"{head} {relation} {tail}."
    return Memory(f"m{number}", text, kind, SUBCLASSES[kind], NOW, (triple,))


def star(size: int) -> list[Memory]:
    """A person with ``size`` things around her, every seventh behind another."""
    return [
        memory(
            number,
            f"thing number {number - 1} with a longer name" if number % 7 == 0 else "me",
            "likes",
            f"thing number {number} with a longer name",
            TYPES[number % 4],
        )
        for number in range(1, size + 1)
    ]


FAMILY = [
    memory(1, "me", "wife", "Anna", "Relationship"),
    memory(2, "Anna", "works_at", "Siemens", "Relationship"),
    memory(3, "Siemens", "is_in", "Munich"),
    memory(4, "me", "likes", "tea", "Preference"),
    memory(5, "the parcel", "is_at", "the door"),
]


def leaves(drawing: GraphPicture) -> list[str]:
    inner = {end for e in drawing.edges if e.in_tree for end in (e.head, e.tail)}
    ends = [e.head for e in drawing.edges] + [e.tail for e in drawing.edges]
    return [key for key in inner if ends.count(key) == 1]


def test_labels_of_200_entities_do_not_meet():
    drawing = draw(star(200), TYPES, limit=250)
    assert len(drawing.nodes) == 201
    for a, b in combinations(leaves(drawing), 2):
        one, other = drawing.nodes[a], drawing.nodes[b]
        turn = abs(math.remainder(one.angle - other.angle, 2 * math.pi))
        # Rays of two labels are a line of text apart where the nearer one begins.
        nearer = min(math.hypot(one.x, one.y), math.hypot(other.x, other.y))
        assert turn * nearer >= SPACING * 0.9, (one.name, other.name)


def test_the_same_memories_give_the_same_picture():
    one, other = draw(star(60), TYPES), draw(list(reversed(star(60))), TYPES)
    assert {k: (n.x, n.y) for k, n in one.nodes.items()} == {
        k: (n.x, n.y) for k, n in other.nodes.items()
    }
    assert svg(canvas(one, "t", {})) == svg(canvas(draw(star(60), TYPES), "t", {}))


def test_the_person_is_the_root_and_what_nothing_joins_stands_beside_her():
    drawing = draw(FAMILY, TYPES)
    assert drawing.root == "me"
    assert {key: node.hops for key, node in drawing.nodes.items()} == {
        "me": 0, "anna": 1, "tea": 1, "siemens": 2, "munich": 3, "parcel": 2, "door": 1,
    } or drawing.nodes["parcel"].hops + drawing.nodes["door"].hops == 3  # fmt: skip
    assert drawing.nodes["anna"].type == "Relationship"


def test_a_neighbourhood_does_not_lead_through_the_person():
    drawing = draw(FAMILY, TYPES, entity="anna", hops=2)
    assert set(drawing.nodes) == {"anna", "me", "siemens", "munich"}
    assert set(draw(FAMILY, TYPES, entity="Anna", hops=1).nodes) == {"anna", "me", "siemens"}


def test_hops_without_an_entity_count_from_the_person():
    assert set(draw(FAMILY, TYPES, hops=1).nodes) == {"me", "anna", "tea"}


def test_a_limit_keeps_what_is_near_and_counts_the_rest():
    drawing = draw(star(100), TYPES, limit=20)
    assert (len(drawing.nodes), drawing.left_out) == (20, 81)
    assert all(edge.in_tree for edge in drawing.edges)


def test_few_relations_are_written_and_many_are_not():
    assert draw(FAMILY, TYPES).written
    assert not draw(star(100), TYPES).written


def test_long_names_are_cut_and_told_whole_in_the_svg():
    name = "a very long name of a thing that nobody could ever read in one glance"
    drawing = draw([memory(1, "me", "has", name)], TYPES)
    label = drawing.nodes[name.removeprefix("a ")].label
    assert label.endswith("…")
    assert len(label) <= 30
    assert name in svg(canvas(drawing, "t", {})).decode()


def test_cycles_and_self_relations_are_drawn_or_left_out():
    ring = [memory(1, "a1", "r", "b1"), memory(2, "b1", "r", "c1"), memory(3, "c1", "r", "a1")]
    assert len(draw(ring, TYPES).edges) == 3
    with pytest.raises(InvalidInput, match="nothing to draw"):
        draw([memory(1, "me", "is", "me")], TYPES)


def test_an_unknown_entity_names_the_nearest():
    with pytest.raises(UnknownId, match="Did you mean 'Siemens'"):
        draw(FAMILY, TYPES, entity="Simens")


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "Robert'); DROP TABLE memories;--", "a & b \"c\"", "😀 café",
     "مرحبا بالعالم", "王小明", "\x07bell", "\u202eright to left", "[bold]x[/bold]"],
)  # fmt: skip
def test_any_name_makes_valid_svg(name: str):
    drawing = draw([memory(1, "me", "knows", name), memory(2, name, "has", "a cat")], TYPES)
    picture = canvas(drawing, f"Around {name}", {"m1": name})
    root = ElementTree.fromstring(svg(picture))
    assert not [node for node in root.iter() if node.tag.endswith("script")]


def test_nothing_is_drawn_outside_the_picture():
    picture = canvas(draw(star(40), TYPES), "t", {})
    for shape in picture.shapes:
        for x, y in getattr(shape, "points", ()) or ((getattr(shape, "at", (1, 1))),):
            assert 0 <= x <= picture.width
            assert 0 <= y <= picture.height


def test_wide_letters_count_double():
    assert text_width("王") > 1.5 * text_width("a")


# ---- the command -----------------------------------------------------------------------------


@pytest.fixture
def family(graph: MemoryGraph) -> MemoryGraph:
    drafts = [Draft(m.text, m.subclass, NOW, m.triples) for m in FAMILY]
    graph.apply([Insert(draft) for draft in drafts], at=NOW)
    return graph


def test_graph_writes_svg_and_reports_what_is_in_it(
    family: MemoryGraph, memlane: Memlane, tmp_path: Path
):
    file = tmp_path / "all.svg"
    result = memlane("memories", "graph", "--out", str(file), "--json")
    assert result.code == 0, result.err
    assert (result.json["format"], result.json["left_out"]) == ("svg", 0)
    assert {node["entity"] for node in result.json["nodes"]} >= {"me", "Anna", "Siemens"}
    first = result.json["edges"][0]
    assert set(first) == {"head", "relations", "tail", "memories"}
    assert "#c8500a" in file.read_text()


def test_graph_of_one_entity(family: MemoryGraph, memlane: Memlane, tmp_path: Path):
    file = tmp_path / "anna.svg"
    shown = memlane("memories", "graph", "Anna", "--hops", "1", "-o", str(file))
    assert "Around Anna: 3 entities" in shown.out
    assert "works at" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.png"), "must be an .svg file"),
        (("Nobody",), "no person or thing"),
        (("-o", "/no/such/folder/x.svg"), "Choose another --out"),
    ],
)
def test_graph_refuses_in_one_line(
    family: MemoryGraph, memlane: Memlane, arguments: tuple[str, ...], message: str
):
    result = memlane("memories", "graph", *arguments)
    assert result.code in (1, 2)
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_graph_of_an_empty_home_says_so(memlane: Memlane):
    assert "nothing to draw" in memlane("memories", "graph").err
