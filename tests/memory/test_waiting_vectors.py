"""Memories whose vectors are still to be made: found by their words, encoded step by step."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.answering.retrieve import retrieve
from agent.config import load_config
from agent.memory.vectors import waiting as vectors
from agent.memory.vectors.waiting import Waiting, ensure_vectors
from agent.models.lazy import LocalEmbedder
from agent.ports import Vectors
from agent.server.resident.background import encode
from agent.server.resident.service import Desk
from policies.registry import Tools, make_policy
from store.graph import MemoryGraph
from store.journal import Amend, Forget, Insert
from store.types import Draft
from tests.conftest import NOW

SUBCLASS = "event.life"


def tell(graph: MemoryGraph, *texts: str) -> list[str]:
    entries = graph.apply([Insert(Draft(text, SUBCLASS, NOW)) for text in texts], at=NOW)
    return [entry.memory for entry in entries]


def test_a_question_finds_by_words_what_has_no_vector_yet(
    graph: MemoryGraph, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(vectors, "AT_ONCE", 3)
    monkeypatch.setattr(vectors, "FOUND", 2)
    tell(graph, *(f"I lent book {n} to Kenji." for n in range(20)), "My locker number is 4411.")
    policy = make_policy("fused", Tools(k=5))
    found = retrieve("What is my locker number?", graph, policy, embedder, NOW, k=5)
    assert found.selection.chosen[0].memory.text == "My locker number is 4411."
    assert 0 < len(graph.vectors.of(embedder.identity)) <= 2
    assert graph.vectors.count_bare() >= 19


def test_what_was_encoded_before_the_process_ended_stays(
    graph: MemoryGraph, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
):
    class Ending:
        """Ends in the middle of its second batch."""

        identity, dimension = embedder.identity, embedder.dimension
        calls = 0

        def encode(self, texts: Sequence[str]) -> Vectors:
            self.calls += 1
            if self.calls == 2:
                raise KeyboardInterrupt
            return embedder.encode(texts)

    monkeypatch.setattr(vectors, "BATCH", 4)
    tell(graph, *(f"Book {n} is green." for n in range(10)))
    with pytest.raises(KeyboardInterrupt):
        ensure_vectors(graph, Ending())
    assert graph.vectors.count_bare() == 6
    assert ensure_vectors(graph, embedder) == 6
    assert graph.verify(embedder.identity) == ()


def test_a_memory_that_changed_meanwhile_gets_no_vector_of_its_old_text(
    graph: MemoryGraph, embedder: LocalEmbedder
):
    kept, amended = tell(graph, "The gate code is 12.", "The desk is oak.")
    vector = embedder.encode(["any"])[0]
    graph.apply([Amend(amended, text="The desk is beech.")], at=NOW)
    graph.vectors.put_of_texts(
        embedder.identity,
        [(kept, "The gate code is 12.", vector), (amended, "The desk is oak.", vector)],
    )
    assert graph.vectors.missing(embedder.identity) == (amended,)


def test_an_index_that_is_open_takes_over_vectors_that_arrive(
    graph: MemoryGraph, embedder: LocalEmbedder
):
    texts = [f"Shelf {n} holds paint." for n in range(6)]
    ids = tell(graph, *texts)
    waiting = Waiting()
    for step in range(1, 4):
        assert waiting.encode(2, graph, embedder) == 2
        assert len(graph.index(embedder.identity, NOW)) == 2 * step
    # The newest vector goes with its text, and its number is given to the next one.
    graph.apply([Amend(ids[0], text="Shelf 0 is empty.")], at=NOW)
    assert graph.index(embedder.identity, NOW).lacks_vectors
    assert waiting.encode(2, graph, embedder) == 1
    assert not graph.index(embedder.identity, NOW).lacks_vectors
    graph.apply([Forget(ids[1])], at=NOW)
    assert len(graph.index(embedder.identity, NOW)) == 5
    assert waiting.encode(2, graph, embedder) == 0


def test_the_resident_process_makes_them_in_the_background(own_home: Path, embedder: LocalEmbedder):
    with MemoryGraph.open(own_home) as graph:
        tell(graph, *(f"Cup {n} is blue." for n in range(5)))
    desk = Desk(load_config(now=NOW), embedder=embedder)

    async def work() -> int:
        task = asyncio.create_task(encode(desk))
        try:
            for _ in range(400):
                await asyncio.sleep(0.02)
                with MemoryGraph.open(own_home) as graph:
                    if not graph.vectors.count_bare():
                        return len(graph.vectors.of(embedder.identity))
            return 0
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    try:
        assert asyncio.run(work()) == 5
    finally:
        assert desk.close()
