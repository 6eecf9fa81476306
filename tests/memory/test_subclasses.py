"""Subclasses of one's own: added, filled with what fits them better, removed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from agent.memory.vectors.reclassify import moves_into, new_subclass
from agent.ports import Embedder
from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Amend, Insert, Replace
from store.tables.taxonomy import TYPES
from store.types import Draft, Subclass
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
Memlane = Callable[..., Result]
MONEY = (
    "--example", "My rent costs 800 euros a month.",
    "--example", "I earn 3000 euros.",
    "--example", "I have a loan of 5000 euros.",
)  # fmt: skip
TOLD = {
    "The rent is 900 euros a month.": "attribute.address",
    "My salary is 4000 euros.": "attribute.occupation",
    "I live in Bedok.": "attribute.address",
    "I like spicy food.": "preference.diet",
}


def money(name: str = "Money") -> Subclass:
    return new_subclass("attribute", name, MONEY[1::2], single=False, types=TYPES)


@pytest.fixture
def told(graph: MemoryGraph) -> MemoryGraph:
    graph.apply([Insert(Draft(text, place, NOW)) for text, place in TOLD.items()], at=NOW)
    return graph


def test_add_shows_what_fits_better_and_moves_it_on_request(told: MemoryGraph, memlane: Memlane):
    result = memlane("types", "add", "Attribute", "Money", *MONEY, "--yes", "--json")
    assert result.code == 0, result.err
    assert result.json["added"]["id"] == "attribute.money"
    assert {(m["memory"], m["from"]) for m in result.json["moves"]} == {
        ("m1", "attribute.address"),
        ("m2", "attribute.occupation"),
    }
    assert [edit["kind"] for edit in result.json["edits"]] == ["amend", "amend"]
    assert told.memories.get("m1").subclass == "attribute.money"
    assert told.memories.get("m3").subclass == "attribute.address"
    first = result.json["edits"][0]["id"]
    memlane("memories", "undo", first, "--batch", "--yes")
    assert told.memories.get("m1").subclass == "attribute.address"
    assert told.verify() == ()


def test_add_without_a_yes_moves_nothing_and_says_how(told: MemoryGraph, memlane: Memlane):
    result = memlane("types", "add", "attribute", "Money", *MONEY)
    assert "Added attribute.money" in result.out
    assert "memlane types fit attribute.money --yes" in result.out
    assert told.memories.get("m1").subclass == "attribute.address"
    again = memlane("types", "fit", "attribute.money", "--yes", "--json").json
    assert {edit["memory"] for edit in again["edits"]} == {"m1", "m2"}
    assert memlane("types", "fit", "attribute.money", "--json").json["moves"] == []


def test_what_was_placed_by_hand_stays(told: MemoryGraph, embedder: Embedder):
    told.apply([Amend("m1", subclass="attribute.contact")], at=NOW, actor="user")
    moves = moves_into(told, (*told.subclasses(), money()), "attribute.money", embedder)
    assert [move.memory.id for move in moves] == ["m2"]


def test_new_memories_are_placed_in_a_subclass_of_ones_own(memlane: Memlane):
    memlane("types", "add", "Attribute", "Money", *MONEY)
    memlane("remember", "My rent is 850 euros a month.")
    (memory,) = memlane("memories", "list", "--json").json["memories"]
    assert memory["subclass"] == "attribute.money"
    listed = {row["id"]: row for row in memlane("types", "list", "--json").json["types"]}
    assert listed["attribute.money"]["own"]
    assert listed["attribute.money"]["memories"] == 1
    assert not listed["attribute.name"]["own"]


def test_an_empty_home_needs_no_model_to_add(memlane: Memlane, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMLANE_EMBEDDER", "/no/such/model")
    assert memlane("types", "add", "Event", "Concerts", "-e", "I saw Blur.").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Foo", "Money", "-e", "x"), "no type 'Foo'. Types: Relationship"),
        (("Event", "😀", "-e", "x"), "no letters"),
        (("Event", "x" * 61, "-e", "x"), "at most 60"),
        (("Event", "Concerts"), "at least one --example"),
        (("Event", "Concerts", "-e", "  "), "--example is empty"),
        (("Attribute", "name", "-e", "x"), "already"),
        (("Attribute", "ADDRESS", "-e", "x"), "already"),
    ],
)
def test_bad_requests_are_one_line(memlane: Memlane, arguments: tuple[str, ...], message: str):
    result = memlane("types", "add", *arguments)
    assert result.code in (1, 2)
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_name_like_an_sql_statement_is_a_name(memlane: Memlane):
    name = "x'); DROP TABLE subclasses;--"
    assert memlane("types", "add", "Event", name, "-e", "x").code == 0
    rows = memlane("types", "list", "--json").json["types"]
    assert ("event.x_drop_table_subclasses", name) in {(row["id"], row["name"]) for row in rows}


def test_remove_refuses_while_memories_live_there(told: MemoryGraph, memlane: Memlane):
    result = memlane("types", "remove", "attribute.address")
    assert result.code == 1
    assert "2 memories are in attribute.address (m1, m3)" in result.err
    assert "--move-to" in result.err
    moved = memlane(
        "types", "remove", "attribute.address", "--move-to", "attribute.contact", "--json"
    )
    assert {edit["memory"] for edit in moved.json["edits"]} == {"m1", "m3"}
    assert told.memories.get("m1").subclass == "attribute.contact"
    ids = {subclass.id for subclass in told.subclasses()}
    assert "attribute.address" not in ids
    with pytest.raises(UnknownId):
        told.apply([Amend("m1", subclass="attribute.address")], at=NOW)


def test_a_refused_remove_moves_nothing(told: MemoryGraph, memlane: Memlane):
    for target in ("attribute.nowhere", "attribute.address"):
        result = memlane("types", "remove", "attribute.address", "--move-to", target)
        assert result.code in (1, 2)
    assert told.memories.get("m1").subclass == "attribute.address"


def test_history_outlives_its_subclass_and_an_undo_brings_it_back(graph: MemoryGraph):
    graph.add_subclass(money())
    graph.apply([Insert(Draft("I earn 10 euros.", "attribute.money", NOW))], at=NOW)
    (entry,) = graph.apply([Replace("m1", Draft("I earn 20.", "attribute.name", NOW))], at=NOW)
    graph.remove_subclass("attribute.money")
    assert graph.memories.get("m1").subclass == "attribute.money"
    assert graph.verify() == ()
    assert "attribute.money" not in {subclass.id for subclass in graph.subclasses()}
    graph.undo(entry.id, at=NOW)
    assert "attribute.money" in {subclass.id for subclass in graph.subclasses()}
    with pytest.raises(EditConflict):
        graph.remove_subclass("attribute.money")


def test_a_removed_subclass_can_be_added_anew(graph: MemoryGraph):
    graph.add_subclass(money())
    graph.remove_subclass("attribute.money")
    graph.add_subclass(money("money"))
    assert [s.name for s in graph.subclasses() if s.id == "attribute.money"] == ["money"]
    with pytest.raises(InvalidInput, match="already"):
        graph.add_subclass(money())


def test_subclasses_of_ones_own_survive_the_next_opening(graph: MemoryGraph):
    graph.add_subclass(money())
    graph.remove_subclass("attribute.gender")
    with MemoryGraph.open(graph.path.parent) as again:
        ids = {subclass.id for subclass in again.subclasses()}
    assert "attribute.money" in ids
    assert "attribute.gender" not in ids
