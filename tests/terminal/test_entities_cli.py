"""memlane entities ..., as its users meet it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Triple
from tests.conftest import NOW, Result

Command = Callable[..., Result]
BOX = "attribute.contact"


@pytest.fixture
def told(memlane: Command) -> Command:
    for text in (
        "My boss is Mr Oda.",
        "Kenji Oda likes golf.",
        "Marisol is Petra's cousin.",
        "My flight QX481 departs on 2030-06-12 at 23:45.",
        "The seat on QX481 is 17C.",
    ):
        assert memlane("memories", "add", text, "--subclass", BOX).code == 0
    return memlane


def test_list_and_show(told: Command):
    found = told("entities", "list", "--json").json
    assert [[e["name"], *e["phrases"]] for e in found["entities"]] == [
        ["Marisol", "Petra's cousin"],
        ["Mr Oda", "my boss"],
    ]
    assert [(e["name"], e["memories"]) for e in found["events"]] == [
        ("QX481 on 2030-06-12", ["m4", "m5"])
    ]
    shown = told("entities", "show", "Petra's cousin", "--json").json
    assert shown["name"] == "Marisol"
    assert [memory["id"] for memory in shown["why"]] == ["m3"]
    event = told("entities", "show", "qx481", "--json").json["events"][0]
    assert [memory["text"] for memory in event["told"]][1] == "The seat on QX481 is 17C."
    assert "17C" in told("entities", "show", "QX481").out


def test_suggest_merge_undo_reject(told: Command):
    suggestion = told("entities", "suggest", "--json").json["suggestions"][0]
    assert suggestion["names"] == ["Mr Oda", "Kenji Oda"]
    assert suggestion["accept"] == "memlane entities merge 'Mr Oda' 'Kenji Oda'"
    done = told("entities", "merge", "Mr Oda", "kenji oda", "--json").json
    assert done["edits"][0]["after"] == "Mr Oda and Kenji Oda are the same."
    assert told("entities", "show", "my boss", "--json").json["names"] == ["Mr Oda", "Kenji Oda"]
    assert told("entities", "suggest", "--json").json["suggestions"] == []
    assert told("memories", "undo", done["edits"][0]["id"]).code == 0
    assert len(told("entities", "suggest", "--json").json["suggestions"]) == 1
    assert told("entities", "reject", "Mr Oda", "Kenji Oda").code == 0
    assert "Nothing to suggest" in told("entities", "suggest").out


def test_split_by_memories_is_one_batch(told: Command):
    done = told("entities", "split", "Petra's cousin", "Marisol", "--json")
    assert done.code == 0
    assert told("entities", "show", "Petra's cousin", "--json").json["names"] == ["Petra's cousin"]
    split = told("entities", "split", "Mr Oda", "-m", "m1", "--as", "Mr Oda (work)", "--json").json
    assert [edit["kind"] for edit in split["edits"]] == ["amend", "insert"]
    assert told("memories", "undo", split["batch"], "--batch", "--yes").code == 0
    assert told("entities", "show", "my boss", "--json").json["names"] == ["Mr Oda"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["merge", "Mr Oda", "mr oda"], "one name"),
        (["merge", "Mr Oda", "Kenji Ode"], "Did you mean Kenji Oda?"),
        (["merge", "Mr Oda", "'; DROP TABLE entities;--"], "Nothing is known"),
        (["merge", "Mr Oda", "\u202e🦊"], "Nothing is known"),
        (["split", "Kenji Oda", "Mr Oda"], "not merged"),
        (["split", "Kenji Oda"], "no other name"),
        (["split", "Kenji Oda", "--as", "Ken"], "--memory"),
        (["split", "Kenji Oda", "-m", "m99", "--as", "Ken"], "no memory m99"),
        (["show", ""], "empty"),
        (["show", "Nobody"], "Nothing is known"),
    ],
)
def test_bad_input_gets_one_line_and_changes_nothing(
    told: Command, arguments: list[str], says: str
):
    lines = len(told("memories", "history", "--json").json["edits"])
    done = told("entities", *arguments)
    assert done.code in (1, 2)
    assert says in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert len(told("memories", "history", "--json").json["edits"]) == lines


def test_names_of_any_script_are_merged_shown_and_exported(memlane: Command, tmp_path: Path):
    odd = ("Foxy 🦊", "\u202eכהן\u202c", "Robert'); DROP TABLE memories;--")
    for name in odd:
        text = f"{name} and Bobby are two different people."
        assert memlane("memories", "add", text, "--subclass", BOX).code == 0
    assert memlane("entities", "merge", odd[0], odd[2]).code == 0
    assert memlane("entities", "merge", odd[1], odd[2]).code == 0
    shown = memlane("entities", "show", odd[0], "--json").json
    assert set(shown["names"]) == set(odd)
    assert memlane("entities", "merge", "Bobby", odd[0]).code == 1
    assert memlane("export", "--out", str(tmp_path / "out.jsonl")).code == 0
    assert (
        memlane("--home", str(tmp_path / "other"), "import", str(tmp_path / "out.jsonl")).code == 0
    )
    again = memlane("--home", str(tmp_path / "other"), "entities", "show", odd[2], "--json").json
    assert set(again["names"]) == set(odd)


def test_a_name_that_no_relation_has_shows_the_memories_that_say_it(
    graph: MemoryGraph, memlane: Command
):
    text = "My boss is Mr Tan, who drinks only green tea."
    boss = (Triple("my boss", "is", "Mr Tan"),)
    graph.apply([Insert(Draft(text, "relationship.colleague_friends", NOW, boss))], at=NOW)
    shown = memlane("entities", "show", "my boss").out
    assert "Memories with these words" in shown and text in shown


def test_a_path_shows_how_somebody_is_known(memlane: Command):
    for text in ("Tom is my brother.", "Tom's wife is Priya.", "The parcel is at the door."):
        memlane("memories", "add", text, "--subclass", BOX)
    shown = memlane("entities", "path", "Priya")
    assert [line.split(": ")[1] for line in shown.out.splitlines()] == [
        "m1 Tom is my brother.",
        "m2 Tom's wife is Priya.",
    ]
    document = memlane("--json", "entities", "path", "Priya", "Tom").json
    assert [hop["memory"] for hop in document["path"]] == ["m2"]
    assert memlane("entities", "path", "Nobody").code != 0


def test_the_graph_is_exported_for_gephi(memlane: Command, tmp_path: Path):
    memlane("memories", "add", "Tom is my brother.", "--subclass", BOX)
    out = tmp_path / "graph.graphml"
    done = memlane("export", "--format", "graphml", "--out", str(out))
    assert "2 entities, 1 relation" in done.out
    assert set(nx.read_graphml(out).nodes) == {"me", "tom"}
