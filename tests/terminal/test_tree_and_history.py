"""Looking at the graph: the tree of its layers, and the life of each fact."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from agent.memory.time.history import lives
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, SourceKind, Triple
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
Memlane = Callable[..., Result]
CLOCK = ("--now", "2024-05-20T09:00+00:00")
PLACE = "attribute.address"


def home(city: str, at: datetime = NOW, until: datetime | None = None) -> Draft:
    triple = Triple("me", "lives_in", city)
    return Draft(f"I live in {city}.", PLACE, at, (triple,), valid_until=until)


@pytest.fixture
def moved(graph: MemoryGraph) -> MemoryGraph:
    """Bedok, corrected, then Tampines, undone, then Yishun; and Anna beside it."""
    source = graph.sources.add(SourceKind.NOTE, "...", NOW, locator="/notes/home.md")
    graph.apply([Insert(home("Bedok"))], at=NOW, source=source.id)
    graph.apply([Amend("m1", place="Office")], at=NOW + DAY, actor="user")
    graph.apply([Replace("m1", home("Tampines", NOW + 2 * DAY))], at=NOW + 2 * DAY)
    graph.undo("e3", at=NOW + 3 * DAY)
    graph.apply([Replace("m1", home("Yishun", NOW + 4 * DAY))], at=NOW + 4 * DAY)
    wife = Draft(
        "My wife Anna works at Bosch.",
        "relationship.spouse",
        NOW,
        (Triple("my wife", "works_at", "Bosch"), Triple("me", "wife", "Anna")),
    )
    graph.apply([Insert(wife)], at=NOW + 5 * DAY)
    return graph


def test_a_fact_has_one_life_through_all_its_memories(moved: MemoryGraph):
    (life,) = lives(moved, ["m1"], NOW + 6 * DAY)
    assert life.memories == ("m1", "m2", "m3")
    assert [(event.what, event.entry) for event in life.events] == [
        ("inserted", "e1"), ("amended", "e2"), ("replaced", "e3"), ("undone", "e4"),
        ("replaced", "e5"),
    ]  # fmt: skip
    assert life.events[0].source is not None
    assert (life.events[0].actor, life.events[1].actor) == ("auto", "user")
    assert life.events[2].undone_by == "e4"
    assert "place: (none) -> Office" in life.events[1].detail
    assert life.now is not None
    assert life.now.text == "I live in Yishun."
    assert lives(moved, ["m3", "m1", "m2"], NOW) == lives(moved, ["m3"], NOW)


def test_expiry_is_told_though_nothing_ran_for_it(graph: MemoryGraph):
    graph.apply([Insert(home("a hotel", until=NOW + DAY))], at=NOW)
    (before,) = lives(graph, ["m1"], NOW)
    (after,) = lives(graph, ["m1"], NOW + 2 * DAY)
    assert [event.what for event in before.events] == ["inserted", "expires"]
    assert [event.what for event in after.events] == ["inserted", "expired"]
    assert after.events[1].at == NOW + DAY


def test_forgetting_undoing_and_erasing_are_told(graph: MemoryGraph):
    graph.apply([Insert(home("Bedok"))], at=NOW)
    graph.apply([Forget("m1")], at=NOW)
    undo = graph.undo(at=NOW)
    graph.undo(undo.id, at=NOW)
    (life,) = lives(graph, ["m1"], NOW)
    assert [event.what for event in life.events] == ["inserted", "forgotten", "undone", "redone"]
    graph.undo("e4", at=NOW)
    graph.erase(["m1"], at=NOW)
    (life,) = lives(graph, ["m1"], NOW)
    assert life.events[-1].what == "erased"
    assert "Bedok" not in repr(life)


def test_history_by_id_by_entity_and_since(moved: MemoryGraph, memlane: Memlane):
    for what in ("m2", "Yishun", "M1"):
        facts = memlane(*CLOCK, "memories", "history", what, "--json").json["facts"]
        assert [fact["memories"] for fact in facts] == [["m1", "m2", "m3"]], what
    shown = memlane(*CLOCK, "memories", "history", "anna").out
    assert "My wife Anna works at Bosch." in shown
    assert "by memlane" in shown
    since = memlane(*CLOCK, "memories", "history", "--since", "2024-05-13", "--json").json
    assert [fact["text"] for fact in since["facts"]] == ["My wife Anna works at Bosch."]
    assert [edit["id"] for edit in since["edits"]] == ["e6"]
    assert "home.md" in memlane(*CLOCK, "memories", "history", "m1").out
    missing = memlane("memories", "history", "Nobody")
    assert (missing.code, "no entity 'Nobody'" in missing.err) == (1, True)


def test_since_compares_moments_and_not_their_spelling(graph: MemoryGraph):
    from datetime import timezone

    east = timezone(timedelta(hours=8))
    graph.apply([Insert(home("Bedok"))], at=datetime(2024, 5, 8, 1, 0, tzinfo=east))
    assert graph.journal.since(datetime(2024, 5, 7, 18, 0, tzinfo=UTC)) == ()
    assert len(graph.journal.since(datetime(2024, 5, 7, 17, 0, tzinfo=UTC))) == 1


def test_history_without_anything_lists_the_last_edits(moved: MemoryGraph, memlane: Memlane):
    lines = memlane("memories", "history", "--limit", "2").out.splitlines()
    assert [line.split()[2] for line in lines] == ["e5", "e6"]


def test_the_tree_goes_from_types_to_memories(moved: MemoryGraph, memlane: Memlane):
    types = {t["type"]: t for t in memlane("memories", "tree", "--json").json["types"]}
    assert {name: t["count"] for name, t in types.items()} == {
        "Relationship": 1, "Preference": 0, "Event": 0, "Attribute": 1,
    }  # fmt: skip
    address = next(s for s in types["Attribute"]["subclasses"] if s["id"] == PLACE)
    assert address["entities"] == [
        {
            "entity": "me",
            "relations": [{"relation": "lives_in", "tail": "Yishun", "memory": "m3"}],
        }
    ]
    out = memlane("memories", "tree").out
    assert "-lives_in-> Yishun" in out
    assert out.count("My wife Anna works at Bosch.") == 1
    assert "Bedok" not in out
    assert "I live in Bedok. (replaced)" in memlane("memories", "tree", "--all").out


def test_the_tree_can_be_cut_and_filtered(moved: MemoryGraph, memlane: Memlane):
    for depth, seen, unseen in (
        ("1", "Attribute", "Address"),
        ("2", "Address", "you 1 memory"),
        ("3", "my wife", "lives_in"),
    ):
        out = memlane("memories", "tree", "--depth", depth).out
        assert seen in out
        assert unseen not in out
    assert "Spouse" not in memlane("memories", "tree", "--type", "attribute").out
    assert "Yishun" not in memlane("memories", "tree", "--entity", "Anna").out
    layers = memlane("memories", "tree", "--depth", "1", "--json").json["types"]
    assert set(layers[0]) == {"type", "count"}
    for arguments in (("--type", "Foo"), ("--entity", "Nobody")):
        result = memlane("memories", "tree", *arguments)
        assert (result.code, len(result.err.strip().splitlines())) == (1, 1)


def test_names_are_never_markup(graph: MemoryGraph, memlane: Memlane):
    name = "[red]x[/red] 😀 مرحبا"
    text = f"I met {name}."
    graph.apply([Insert(Draft(text, PLACE, NOW, (Triple("me", "met", name),)))], at=NOW)
    for command in (("tree",), ("history", "m1"), ("history",)):
        assert text in memlane("memories", *command).out


def test_history_says_why_memlane_replaced_a_memory(graph: MemoryGraph, memlane: Memlane):
    def home(town: str) -> Draft:
        triples = (Triple("me", "lives_in", town),)
        return Draft(f"I live in {town}.", "attribute.address", NOW, triples)

    graph.apply([Insert(home("Bedok"))], at=NOW, actor="user")
    graph.apply([Replace("m1", home("Tampines"))], at=NOW)
    edge = ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, 0.97)
    graph.change_edges.put([edge], NOW)
    why = "both say 'lives in' of me, judged 97% likely to change it"
    assert f"because {why}" in memlane("memories", "history", "m2").out
    (fact,) = memlane("memories", "history", "m2", "--json").json["facts"]
    assert [event["why"] for event in fact["events"]] == [None, why]
    graph.apply([Replace("m2", home("Lund"))], at=NOW, actor="user")
    assert memlane("memories", "history", "m3").out.count("because") == 1
