"""A pin is a field of a memory: journalled, undone, exported, and kept by what replaces it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.io.transfer.export import export_jsonl
from store.errors import EditConflict
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert, Replace
from store.row_codecs import memory_from_payload, memory_payload
from tests.conftest import NOW
from tests.support.exports import draft, take_in


def test_a_pin_is_journalled_and_undone(graph: MemoryGraph):
    graph.apply([Insert(draft("I like tea."))], at=NOW)
    (entry,) = graph.apply([Amend("m1", pinned=True)], at=NOW, actor="user")
    assert graph.memories.get("m1").pinned and graph.verify() == ()
    graph.undo(entry.id, at=NOW)
    assert not graph.memories.get("m1").pinned and graph.verify() == ()


def test_it_stays_with_the_fact(graph: MemoryGraph):
    graph.apply([Insert(draft("I like tea."))], at=NOW)
    graph.apply([Amend("m1", pinned=True)], at=NOW)
    graph.apply([Replace("m1", draft("I like coffee."))], at=NOW)
    assert graph.memories.get("m2").pinned
    graph.apply([Forget("m2")], at=NOW, actor="user")
    with pytest.raises(EditConflict):
        graph.apply([Amend("m2", pinned=False)], at=NOW)


def test_a_journal_line_from_before_pins_is_read(graph: MemoryGraph):
    graph.apply([Insert(draft("I like tea."))], at=NOW)
    old = memory_payload(graph.memories.get("m1"))
    del old["pinned"]
    assert memory_from_payload(old) == graph.memories.get("m1")


def test_it_comes_along_in_an_export(graph: MemoryGraph, own_home: Path, tmp_path: Path):
    graph.apply([Insert(draft("I like tea."))], at=NOW)
    graph.apply([Amend("m1", pinned=True)], at=NOW)
    export_jsonl(own_home, tmp_path / "all.jsonl", NOW)
    for home in (tmp_path / "new", tmp_path / "filled"):
        if home.name == "filled":
            with MemoryGraph.open(home) as other:
                other.apply([Insert(draft("I ski."))], at=NOW)
        take_in(tmp_path / "all.jsonl", home)
        with MemoryGraph.open(home) as other:
            assert [m.text for m in other.memories.list() if m.pinned] == ["I like tea."]
            assert other.verify() == ()
