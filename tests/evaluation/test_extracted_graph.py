"""Conversations as extracted memories: whose they are, which turn they come from, how they link."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from agent.config import load_config
from agent.session.session import open_session
from benchmarks.papers.emg_rag.emg_graph import folds_of, judged, scored
from benchmarks.papers.emg_rag.node_walk import Nodes, NodeWalk
from benchmarks.shared.questions.qa_data import Collection, Item
from benchmarks.shared.questions.qa_extracted import graph_of, turns_of
from policies.base import Question
from policies.baselines.simple import TopK
from policies.training.mlp import Mlp
from policies.walk.walk import STATE
from store.derived.view import GraphView
from store.types import Memory, Triple

AT = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def memory(key: str, text: str, *triples: tuple[str, str, str]) -> Memory:
    return Memory(key, text, "Event", "event.other", AT, tuple(Triple(*t) for t in triples))


TURNS = (
    memory("D1:1", "Ada: My boss is Kenji Tan. I adopted a dog yesterday."),
    memory("D1:2", "Ben: How are you?"),
    memory("D1:3", "Ben: My sister lives in Bonn."),
)
ITEMS = (
    Item("1", "Who is Ada's boss?", AT, ("Kenji Tan",), frozenset({"D1:1"}), "single-hop"),
    Item("2", "What did Ben ask?", AT, ("How she was",), frozenset({"D1:2"}), "open"),
    Item("3", "What is Ben's cat called?", AT, (), frozenset(), "adversarial"),
)
TALK = Collection("talk", TURNS, ("Ada", "Ben", "Ben"), ITEMS)


@pytest.fixture
def models(embedder, tmp_path):
    with open_session(replace(load_config(), home=tmp_path / "home"), embedder=embedder) as session:
        yield session


def test_each_memory_is_the_speakers_and_knows_its_turn(models, tmp_path):
    graph = graph_of(TALK, models, tmp_path)
    read = [(m.source, m.text) for m in graph.view.memories]
    assert ("D1:1", "Ada: My boss is Kenji Tan.") in read
    assert ("D1:3", "Ben: My sister lives in Bonn.") in read
    assert not any(source == "D1:2" for source, _ in read)  # a question tells nothing
    ends = {end for m in graph.view.memories for t in m.triples for end in (t.head, t.tail)}
    assert "me" not in ends
    assert any("2024-05-07" in text for _, text in read)


def test_what_was_read_once_is_found_again(models, tmp_path):
    first = graph_of(TALK, models, tmp_path)
    (kept,) = tmp_path.glob("*.npz")
    before = kept.stat().st_mtime_ns
    again = graph_of(TALK, models, tmp_path)
    assert again.view.memories == first.view.memories
    assert np.array_equal(again.view.vectors, first.view.vectors)
    assert kept.stat().st_mtime_ns == before


def test_gold_turns_become_gold_memories_and_lost_ones_count(models, tmp_path):
    puts = graph_of(TALK, models, tmp_path).puts(models)
    first, lost, unknown = puts
    assert first.required and turns_of(sorted(first.required), first.view) == {"D1:1"}
    assert lost.required is None and unknown.required == frozenset()
    rows = judged(TopK(k=5, floor=-1.0), puts)
    assert len(rows) == 2 and scored(rows)["n"] == 2  # the lost one is measured, as not found
    assert rows[1].found.f1 == 0


def test_folds_never_part_a_conversation(models, tmp_path):
    puts = graph_of(TALK, models, tmp_path).puts(models)
    assert len(set(folds_of(puts))) == 1


def view_of(*memories: Memory) -> GraphView:
    vectors = np.eye(len(memories), 4, dtype=np.float32)
    return GraphView(memories, vectors, frozenset(m.id for m in memories))


CHAIN = view_of(
    memory("a", "My boss is Kenji.", ("me", "boss", "Kenji")),
    memory("b", "Kenji moved to Bonn.", ("Kenji", "moves_to", "Bonn")),
    memory("c", "Bonn has a zoo.", ("Bonn", "has", "zoo")),
    memory("d", "My cat is Tom.", ("me", "cat", "Tom")),
)


def test_a_node_holds_the_memories_that_point_to_it():
    nodes = Nodes.of(CHAIN)
    assert [held.row for held in nodes.held["bonn"]] == [1]
    assert nodes.beside["bonn"] == {"kenji", "zoo"}


def test_the_walk_goes_from_node_to_node_and_ends_a_branch_it_leaves():
    walk = NodeWalk(Mlp.fresh(len(STATE), seed=0), activated=1)
    asked = Question("Who?", CHAIN.vectors[0], AT)
    states, right = walk.lesson(asked, CHAIN, frozenset({"a", "b", "c"}))
    assert states.shape == (len(right), len(STATE)) and right[:3].tolist() == [1, 1, 1]
    _, ended = walk.lesson(asked, CHAIN, frozenset({"b", "c"}))
    assert ended.tolist() == [0]  # the start was left, so what is behind it is not met


def test_nothing_is_chosen_of_an_empty_graph():
    walk = NodeWalk(Mlp.fresh(len(STATE), seed=0))
    empty = GraphView((), np.zeros((0, 4), np.float32), frozenset())
    assert walk.select(Question("Who?", np.ones(4, np.float32), AT), empty).chosen == ()


def test_speakers_link_nothing_unless_told(models, tmp_path):
    apart = graph_of(TALK, models, tmp_path).view
    joined = graph_of(TALK, models, tmp_path, speakers_link=True).view
    ada = [row for row, m in enumerate(apart.memories) if m.source == "D1:1"]
    assert len(ada) == 2
    assert ada[1] not in apart.linked(ada[0])
    assert joined.entities(ada[0]) == apart.entities(ada[0])
    assert len(joined.linked(ada[0])) >= len(apart.linked(ada[0]))
    assert isinstance(apart.narrowed(ada), type(apart))
