"""A large home answers as a small one does, from arrays on disk (``store.derived.large``)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from policies.base import Question
from policies.baselines.fusion import Fused
from store.database.notices import listening
from store.derived.large import index
from store.derived.large.arrays import FOLDER, Arrays
from store.derived.large.index import LargeIndex
from store.derived.large.part import Sought
from store.derived.view import GraphView
from store.graph import MemoryGraph
from store.journal import Insert
from tests.storage.test_vector_index import NOW, add, draft, edited_at_random, fresh, vector

SIZE = 300
ALL = 1 << 30


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryGraph]:
    monkeypatch.setattr(index, "LARGE", SIZE)
    with MemoryGraph.open(tmp_path / "home") as opened:
        add(opened, *(f"thing {n} is {n % 7} paces off" for n in range(SIZE)))
        yield opened


def part(graph: MemoryGraph, text: str, now: datetime = NOW, *, history: bool = False) -> GraphView:
    return graph.view(now, "e", history=history, asked=[Sought(text, vector(text))])


def arrays_of(graph: MemoryGraph) -> Arrays:
    found = graph.index("e", NOW)
    assert isinstance(found, LargeIndex)
    return found.arrays


def assert_as_all_in_memory(graph: MemoryGraph, now: datetime) -> None:
    large, small = graph.index("e", now), fresh(graph, now)
    assert isinstance(large, LargeIndex)
    assert len(large) == len(small)
    assert large.lacks_vectors == small.lacks_vectors
    assert large.has_history == small.has_history
    for text in ("probe", "memory 7", "thing 12 is 5 paces off"):
        probe = vector(text)
        found, wanted = (i.nearest(probe, probes=ALL, count=4) for i in (large, small))
        assert [m.memory for m in found] == [m.memory for m in wanted]
        assert [m.score for m in found] == pytest.approx([m.score for m in wanted], abs=1e-6)
        over = [i.nearest_over(probe, count=4) for i in (large, small)]
        assert [m.memory for m in over[0]] == [m.memory for m in over[1]]
    memories, vectors = small.standing(history=True)
    for memory, stored in zip(memories, vectors, strict=True):
        own = large.vector(memory.id)
        assert own is not None and np.array_equal(own, stored)
    ids = [memory.id for memory in memories]
    found, wanted = (i.matches(ids, vector("probe")) for i in (large, small))
    assert [m.memory for m in found] == [m.memory for m in wanted]
    for history in (False, True):
        view = part(graph, "thing 12", now, history=history)
        known = {memory.id: memory for memory in small.standing(history=history)[0]}
        assert all(known[memory.id] == memory for memory in view.memories)
        assert view.current == {m.id for m in view.memories if m.holds_at(now)}
        assert view.size == len(known)
        assert view.weights is not None
        assert view.weights.sum() == pytest.approx(len(known), rel=0.02)
        for row, memory in enumerate(view.memories):
            assert np.array_equal(view.vectors[row], vectors[ids.index(memory.id)])


def test_who_waits_for_the_arrays_is_told_once(graph: MemoryGraph):
    told: list[str] = []
    with listening(told.append):
        graph.index("e", NOW)
        graph.index("e", NOW)
    assert [line.split(" memories")[0] for line in told] == ["Building the search index of 300"]


@pytest.mark.parametrize("seed", range(3))
def test_kept_in_step_with_every_kind_of_edit(graph: MemoryGraph, seed: int):
    graph.index("e", NOW)
    for number, now in enumerate(edited_at_random(graph, seed)):
        if number % 6 == 0:
            assert_as_all_in_memory(graph, now)


def test_arrays_are_made_once(graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch):
    graph.index("e", NOW)

    def never(*given: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(index, "build", never)
    add(graph, "told after")
    with MemoryGraph.open(graph.path.parent) as again:
        assert_as_all_in_memory(again, NOW)
        assert "told after" in {memory.text for memory in part(again, "after").memories}


def test_much_that_is_new_makes_them_again(graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index, "REREAD", 5)
    before = arrays_of(graph)
    for number in range(6):
        add(graph, f"new {number}")
        assert_as_all_in_memory(graph, NOW)
    assert arrays_of(graph) is not before


def test_of_many_vectors_that_come_the_last_are_seen_at_once(
    graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(index, "REREAD", 50)
    monkeypatch.setattr(index, "LATEST", 2)
    texts = [f"imported {n}" for n in range(80)]
    graph.apply([Insert(draft(text)) for text in texts], at=NOW)
    arrays = arrays_of(graph)
    ids = graph.vectors.missing("e")
    graph.vectors.put("e", {i: vector(t) for i, t in zip(ids[:9], texts[:9], strict=True)})
    seen = {memory.text for memory in part(graph, "imported").memories}
    assert seen & set(texts) == set(texts[7:9])
    assert arrays_of(graph) is arrays
    graph.vectors.put("e", {i: vector(t) for i, t in zip(ids[9:], texts[9:], strict=True)})
    assert set(texts) <= {memory.text for memory in part(graph, "imported").memories}
    assert arrays_of(graph) is not arrays
    assert_as_all_in_memory(graph, NOW)


def test_a_part_measures_as_the_whole(graph: MemoryGraph):
    whole = GraphView(*fresh(graph, NOW).standing(history=False))
    for number in range(0, SIZE, 17):
        text = f"thing {number} is {number % 7} paces off"
        put = Question(text, vector(text), NOW)
        chosen = [
            [choice.memory.id for choice in Fused(k=5).select(put, view).chosen]
            for view in (part(graph, text), whole)
        ]
        assert chosen[0] == chosen[1]


def test_what_is_left_out_gives_its_place_to_the_next(graph: MemoryGraph):
    add(graph, "told last")  # not in the arrays
    kept = graph.index("e", NOW)
    probe = vector("told last")
    best = [match.memory.id for match in kept.nearest(probe, probes=1, count=5)]
    assert kept.nearest_to_each(probe[None], probes=1, count=5)[0][0].memory.text == "told last"
    (some,) = kept.nearest_to_each(probe[None], probes=1, count=3, without=best[:2])
    assert [match.memory.id for match in some] == best[2:5]


def test_who_was_told_beside_whom(graph: MemoryGraph):
    add(graph, "told last")
    view = part(graph, "thing 9 and 200")
    for row, memory in enumerate(view.memories[:-1]):
        beside = int(view.neighbours[1][row])
        if beside >= 0:
            assert int(view.memories[beside].id[1:]) == int(memory.id[1:]) + 1


def test_forgetting_takes_the_arrays_along(graph: MemoryGraph):
    graph.index("e", NOW)
    folder = graph.path.parent / FOLDER
    assert folder.is_dir()
    graph.erase(["m5"], at=NOW)
    assert not folder.exists()
    add(graph, "one more, or it would be large no more")
    assert_as_all_in_memory(graph, NOW)
    assert graph.path.parent.stat().st_mode & 0o077 == 0


def test_nothing_of_an_encrypted_home_is_written(
    graph: MemoryGraph, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(index, "is_encrypted", lambda home: True)
    assert_as_all_in_memory(graph, NOW)
    assert not (graph.path.parent / FOLDER).exists()


def test_damaged_arrays_are_made_again(graph: MemoryGraph):
    graph.index("e", NOW)
    (graph.path.parent / FOLDER / "codes.npy").write_bytes(b"no array")
    with MemoryGraph.open(graph.path.parent) as again:
        assert_as_all_in_memory(again, NOW)


def test_what_ends_is_no_longer_found(graph: MemoryGraph):
    add(graph, "the fair", valid_until=NOW + timedelta(days=1))
    with MemoryGraph.open(graph.path.parent) as again:
        assert "the fair" in {m.text for m in part(again, "fair").memories}
        later = NOW + timedelta(days=2)
        assert "the fair" not in {m.text for m in part(again, "fair", later).memories}
        assert "the fair" in {m.text for m in part(again, "fair", later, history=True).memories}
