"""Undo reaches back any number of edits, all or nothing, and can itself be undone."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.errors import EditConflict, MemlaneError
from store.graph import MemoryGraph
from store.journal import Amend, Edit, Forget, Insert, Replace
from store.maintenance.batch_undo import from_sources, last_edits, plan_undo, undo_all
from store.types import Draft, SourceKind
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
Memlane = Callable[..., Result]
PLACE = "attribute.address"


def draft(text: str) -> Draft:
    return Draft(text, PLACE, NOW)


def texts(graph: MemoryGraph) -> list[str]:
    return [m.text for m in graph.memories.list() if m.holds_at(NOW)]


@pytest.fixture
def five(graph: MemoryGraph) -> MemoryGraph:
    for number in range(1, 6):
        graph.apply([Insert(draft(f"Fact {number}."))], at=NOW)
    return graph


def test_the_last_n_edits_go_and_come_back_together(five: MemoryGraph, memlane: Memlane):
    result = memlane("memories", "undo", "3", "--yes", "--json")
    assert result.code == 0, result.err
    assert len(result.json["edits"]) == 3
    assert texts(five) == ["Fact 1.", "Fact 2."]
    assert memlane("memories", "undo", result.json["batch"], "--batch", "--yes").code == 0
    assert texts(five) == [f"Fact {number}." for number in range(1, 6)]
    assert five.verify() == ()


def test_what_was_undone_and_redone_counts_as_an_edit_again(five: MemoryGraph):
    undone = undo_all(five, last_edits(five.journal, 1), at=NOW)
    assert [e.id for e in last_edits(five.journal, 1)] == ["e4"]
    undo_all(five, undone, at=NOW)
    assert [e.id for e in last_edits(five.journal, 2)] == ["e5", "e4"]
    undo_all(five, last_edits(five.journal, 2), at=NOW)
    assert texts(five) == ["Fact 1.", "Fact 2.", "Fact 3."]


def test_several_edits_without_a_yes_are_refused_and_can_be_looked_at(
    five: MemoryGraph, memlane: Memlane
):
    result = memlane("memories", "undo", "--last", "2")
    assert result.code == 2
    assert "That would undo 2 edits. Add --yes" in result.err
    assert "removes m5 Fact 5." in result.err
    shown = memlane("memories", "undo", "--last", "2", "--dry-run", "--json").json
    assert [e["id"] for e in shown["would_undo"]] == ["e5", "e4"]
    assert len(texts(five)) == 5


def test_a_conflict_names_what_to_undo_first_and_nothing_happens(
    five: MemoryGraph, memlane: Memlane
):
    five.apply([Amend("m2", text="Fact two.")], at=NOW)
    result = memlane("memories", "undo", "e1", "e2", "--yes")
    assert result.code == 1
    assert "e2 cannot be undone alone: e6 changed m2" in result.err
    assert "memlane memories undo e6 e2" in result.err
    assert len(five.journal.list()) == 6
    shown = memlane("memories", "undo", "e1", "e2", "--dry-run", "--json").json
    assert shown["conflicts"] == [{"edit": "e2", "memory": "m2", "later": "e6"}]
    assert memlane("memories", "undo", "e6", "e2", "--yes").code == 0
    assert five.verify() == ()


def test_a_failure_in_the_middle_leaves_nothing_half_undone(
    five: MemoryGraph, monkeypatch: pytest.MonkeyPatch
):
    real, calls = MemoryGraph.undo, []

    def failing(self: MemoryGraph, *args, **kwargs):
        calls.append(args)
        if len(calls) == 3:
            raise EditConflict("no")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(MemoryGraph, "undo", failing)
    with pytest.raises(EditConflict):
        undo_all(five, last_edits(five.journal, 4), at=NOW)
    assert len(texts(five)) == 5
    assert five.verify() == ()


def test_a_batch_is_what_was_done_in_one_go(graph: MemoryGraph, memlane: Memlane):
    graph.apply([Insert(draft("A.")), Insert(draft("B."))], at=NOW)
    graph.apply([Insert(draft("C."))], at=NOW)
    assert [e.id for e in graph.journal.of_batch(1)] == ["e1", "e2"]
    assert memlane("memories", "undo", "e2", "--batch", "--yes").code == 0
    assert texts(graph) == ["C."]


def test_all_that_a_source_gave(graph: MemoryGraph, memlane: Memlane):
    source = graph.sources.add(SourceKind.NOTE, "A. B.", NOW, locator="/notes/a.md")
    graph.apply([Insert(draft("A.")), Insert(draft("B."))], at=NOW, source=source.id)
    graph.apply([Insert(draft("C."))], at=NOW)
    for name in (source.id, "/notes/a.md", "/notes", "/notes/../notes/a.md"):
        shown = memlane("memories", "undo", "--source", name, "--dry-run", "--json").json
        assert [e["id"] for e in shown["would_undo"]] == ["e2", "e1"], name
    assert memlane("memories", "undo", "--source", source.id, "--yes").code == 0
    assert texts(graph) == ["C."]
    again = memlane("memories", "undo", "--source", source.id, "--yes")
    assert again.code == 1
    assert "Already undone" in again.err


def test_a_whole_ingest_is_taken_back_and_given_again(memlane: Memlane, tmp_path: Path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("My bicycle is green.\nMy gym is Fit24.\n")
    (notes / "b.md").write_text("My piano teacher is Olga.\n")
    memlane("remember", "I like tea.")
    taken = memlane("ingest", str(notes), "--json").json
    assert taken["run"] == "r1"
    assert len(memlane("memories", "list", "--json").json["memories"]) == 4
    assert memlane("ingest", str(notes), "--json").json["run"] is None
    (run,) = memlane("memories", "history", "--runs", "--json").json["runs"]
    assert (run["run"], run["edits"], run["standing"], len(run["sources"])) == ("r1", 3, 3, 2)

    undone = memlane("memories", "undo", "--run", "last", "--yes", "--json").json
    assert len(undone["edits"]) == 3
    left = memlane("memories", "list", "--json").json["memories"]
    assert [memory["text"] for memory in left] == ["I like tea."]
    assert memlane("memories", "undo", "--run", "r1", "--yes").code == 1
    # Ingesting again does not overrule the person, and says how to have it back.
    again = memlane("ingest", str(notes), "--json").json["sources"]
    remedy = f"memlane memories undo {undone['batch']} --batch"
    assert [source["status"] for source in again] == ["unchanged", "unchanged"]
    assert all(source["reason"].startswith("undone by e") for source in again)
    assert any(source["reason"].endswith(remedy) for source in again)
    memlane("memories", "undo", undone["batch"], "--batch", "--yes")
    assert memlane("ingest", str(notes), "--json").json["sources"][0]["reason"] is None
    assert len(memlane("memories", "list", "--json").json["memories"]) == 4
    memlane("memories", "undo", "--run", "r1", "--yes")  # after a redo it works again
    assert len(memlane("memories", "list", "--json").json["memories"]) == 1


def test_what_is_forgotten_for_good_stays_so(five: MemoryGraph, memlane: Memlane):
    five.erase(["m4"], at=NOW)
    refused = memlane("memories", "undo")
    assert refused.code == 1
    assert "forgotten for good" in refused.err
    shown = memlane("memories", "undo", "e3", "e4", "e5", "--dry-run", "--json").json
    assert ([e["id"] for e in shown["would_undo"]], shown["erased"]) == (["e5", "e3"], ["e4"])
    assert memlane("memories", "undo", "e3", "e4", "e5", "--yes").code == 0
    assert texts(five) == ["Fact 1.", "Fact 2."]
    assert five.verify() == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0",), "at least 1"),
        (("e99",), "no edit e99"),
        (("m1",), "not a valid edit id"),
        (("2", "--last", "3"), "not both"),
        (("e1", "--run", "last"), "Give only one of"),
        (("--run", "r9"), "no ingest run r9"),
        (("--run", "last"), "Nothing has been ingested"),
        (("--source", "s9"), "no source s9"),
        (("--source", "nowhere.md"), "Nothing was ingested from"),
        (("3", "--batch"), "--batch works with one edit"),
    ],
)
def test_wrong_requests_are_one_line(
    five: MemoryGraph, memlane: Memlane, arguments: tuple[str, ...], message: str
):
    result = memlane("memories", "undo", *arguments)
    assert result.code in (1, 2)
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert len(texts(five)) == 5


def test_nothing_to_undo(memlane: Memlane):
    result = memlane("memories", "undo")
    assert (result.code, result.out) == (1, "")
    assert "nothing to undo" in result.err


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["insert", "replace", "amend", "forget", "undo"]), st.integers(1, 6)),
    min_size=1,
    max_size=14,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(ACTIONS, st.integers(1, 20))
def test_undo_of_any_history_gives_back_what_was_and_redo_what_is(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]], count: int
):
    with MemoryGraph.open(tmp_path_factory.mktemp("home")) as graph:
        for kind, number in actions:
            _act(graph, kind, number)
        before = graph.memories.list()
        try:
            chosen = last_edits(graph.journal, count)
        except MemlaneError:
            return
        # The last edits that stand never stand in each other's way.
        assert plan_undo(graph.journal, chosen).conflicts == ()
        undone = undo_all(graph, chosen, at=NOW)
        assert graph.verify() == ()
        undo_all(graph, undone, at=NOW)
        assert graph.memories.list() == before
        assert graph.verify() == ()


def _act(graph: MemoryGraph, kind: str, number: int) -> None:
    made: dict[str, Edit] = {
        "insert": Insert(draft(f"Told {number}.")),
        "replace": Replace(f"m{number}", draft(f"New {number}.")),
        "amend": Amend(f"m{number}", place=f"place {number}"),
        "forget": Forget(f"m{number}"),
    }
    try:
        if kind == "undo":
            undo_all(graph, last_edits(graph.journal, number), at=NOW)
        else:
            graph.apply([made[kind]], at=NOW)
    except MemlaneError:
        pass


def test_sources_given_twice_count_once(graph: MemoryGraph):
    source = graph.sources.add(SourceKind.NOTE, "A.", NOW, locator="/a.md")
    graph.apply([Insert(draft("A."))], at=NOW, source=source.id)
    assert len(from_sources(graph.journal, [source.id, source.id])) == 1


def test_a_message_of_several_edits_names_them_all_and_they_go_together(
    five: MemoryGraph, memlane: Memlane, monkeypatch: pytest.MonkeyPatch
):
    from cli.output.render import undo_of

    entries = five.journal.list()
    assert undo_of(entries[-2:]) == "e4 e5"
    assert undo_of(entries) == "e1 --batch"
    named = undo_of(entries[-2:]).split()
    assert memlane("memories", "undo", *named, "--yes").code == 0
    assert texts(five) == ["Fact 1.", "Fact 2.", "Fact 3."]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"/undo e1 e2\n/undo e99\n")))
    result = memlane("chat")
    assert result.out.count("Undone: ") == 2
    assert "There is no edit e99" in result.err
    assert texts(five) == ["Fact 3."]
