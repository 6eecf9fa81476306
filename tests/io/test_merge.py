"""An export taken into a home that has memories: nothing is doubled, and ids follow."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from agent.io.transfer.export import export_jsonl
from store.graph import MemoryGraph
from store.journal import Insert, Replace
from store.maintenance.batch_undo import from_sources, undo_all
from store.types import SourceKind, Span, Status, Trust
from tests.conftest import NOW
from tests.support.exports import draft, lines_of, take_in


def test_a_merge_doubles_nothing_and_keeps_statuses(exported: Path, own: Path):
    done = take_in(exported, own)
    assert (done.mode, done.complete) == ("merged", True)
    assert done.tally.unchanged["memory"] == 1
    assert done.tally.new["memory"] == 4
    with MemoryGraph.open(own) as graph:
        memories = {memory.text: memory for memory in graph.memories.list()}
        assert "I like green tea." not in memories
        old, new = memories["I live in Bedok."], memories["I live in Jurong."]
        assert (old.status, old.replaced_by) == (Status.REPLACED, new.id)
        assert old.place == "Bedok\nNorth"
        assert memories["I will be forgotten."].status is Status.FORGOTTEN
        assert memories["I will be forgotten."].trust is Trust.SEEN
        assert not memories["Voucher ABC runs out."].holds_at(NOW)
        assert graph.verify() == ()
        (turn,) = graph.turns.last()
        assert turn.trace["memories"] == ["m1"]


def test_references_follow_the_new_ids(tmp_path: Path, own: Path):
    with MemoryGraph.open(tmp_path / "other") as graph:
        source = graph.sources.add(SourceKind.NOTE, "Rosa plays chess.", NOW, locator="/x.md")
        made = draft("Rosa plays chess.", source=source.id, span=Span(0, 17))
        graph.apply([Insert(made)], at=NOW)
    export_jsonl(tmp_path / "other", tmp_path / "x.jsonl", NOW)
    take_in(tmp_path / "x.jsonl", own)
    with MemoryGraph.open(own) as graph:
        (memory,) = graph.memories.search("chess")
        assert memory.id != "m1"
        assert memory.source != "s1"
        assert memory.source is not None and memory.span is not None
        assert memory.span.of(graph.sources.get(memory.source).text) == "Rosa plays chess."


def test_what_was_replaced_by_something_known_holds_no_longer(tmp_path: Path, own: Path):
    """Also where its end, or even its beginning, lies ahead."""
    later = NOW + timedelta(days=300)
    with MemoryGraph.open(tmp_path / "other") as graph:
        for old in (draft("My bicycle is blue."), draft("My bicycle is green.", valid_from=later)):
            (entry,) = graph.apply([Insert(old)], at=NOW)
            new = draft("My bicycle is red.", valid_from=later)
            graph.apply([Replace(entry.memory, new)], at=NOW)
    export_jsonl(tmp_path / "other", tmp_path / "x.jsonl", NOW)
    assert take_in(tmp_path / "x.jsonl", own).tally.new["memory"] == 2
    with MemoryGraph.open(own) as graph:
        holding = {m.text for m in graph.memories.list() if m.holds_at(NOW)}
        assert holding == {"I like GREEN tea", "My bicycle is red."}
        assert graph.verify() == ()
    assert take_in(tmp_path / "x.jsonl", own).tally.new["memory"] == 0


def test_undo_takes_a_merge_back(exported: Path, own: Path):
    with MemoryGraph.open(own) as graph:
        before = graph.memories.list()
    run = take_in(exported, own).run
    assert run is not None
    with MemoryGraph.open(own) as graph:
        undo_all(graph, from_sources(graph.journal, graph.runs.get(run).sources), at=NOW)
        assert graph.memories.list() == before
        assert graph.verify() == ()


def test_a_dry_run_tells_the_same_and_changes_nothing(exported: Path, own: Path, tmp_path: Path):
    before = lines_of(own)
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(exported.read_bytes() + b"{broken\n")
    dry = take_in(broken, own, dry_run=True)
    assert lines_of(own) == before
    assert not broken.with_name("broken.jsonl.rejected").exists()
    wet = take_in(broken, own)
    assert (dry.tally.new, dry.tally.unchanged) == (wet.tally.new, wet.tally.unchanged)
    assert dry.tally.rejected == wet.tally.rejected
    assert take_in(exported, tmp_path / "nowhere", dry_run=True).mode == "restored"
    assert not (tmp_path / "nowhere").exists()


def test_a_subclass_of_the_other_homes_own_comes_along(full: Path, own: Path, tmp_path: Path):
    from store.types import Subclass

    pets = Subclass("preference.pets", "Preference", "Pets", False, ("I like my cat Tom.",))
    with MemoryGraph.open(full) as graph:
        graph.add_subclass(pets)
        graph.apply([Insert(draft("I like cats.", subclass="preference.pets"))], at=NOW)
    export_jsonl(full, tmp_path / "x.jsonl", NOW)
    for home in (own, tmp_path / "new"):
        assert take_in(tmp_path / "x.jsonl", home).complete
        with MemoryGraph.open(home) as graph:
            assert pets in graph.subclasses()


def test_what_was_forgotten_for_good_stays_forgotten(full: Path, tmp_path: Path, own: Path):
    with MemoryGraph.open(full) as graph:
        (memory,) = graph.memories.search("green tea")
        graph.erase([memory.id], at=NOW)
        wanted = graph.journal.list()
    export_jsonl(full, tmp_path / "x.jsonl", NOW)
    assert "I like green tea." not in (tmp_path / "x.jsonl").read_text()
    done = take_in(tmp_path / "x.jsonl", tmp_path / "new")
    assert done.complete, done.tally.rejected
    assert lines_of(tmp_path / "new") == lines_of(full)
    with MemoryGraph.open(tmp_path / "new") as graph:
        assert graph.journal.list() == wanted
        assert graph.verify() == ()
        assert graph.count_forgotten() == 1
    assert take_in(tmp_path / "x.jsonl", own).complete
