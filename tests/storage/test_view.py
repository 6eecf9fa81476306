"""What a view derives, and what it shares with the next one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from policies.baselines.bm25 import Lexicon, lexical
from store.derived.cache import DerivedCache
from store.derived.tokenize import words
from store.derived.view import HUB, GraphView
from store.graph import MemoryGraph
from store.journal import Amend, Expire, Forget, Insert
from store.types import Draft, Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
MODEL = "test"


def memory(n: int, text: str = "", **given: Any) -> Memory:
    return replace(Memory(f"m{n}", text or f"Thing {n}.", "Event", "event.life", NOW), **given)


def view(*memories: Memory, cache: DerivedCache | None = None) -> GraphView:
    vectors = np.eye(max(len(memories), 1), dtype=np.float32)[: len(memories)]
    return GraphView(memories, vectors, cache=cache or DerivedCache())


def test_near_is_what_was_told_just_before_and_after():
    hours = (0, 0.5, 3, 3.1, 9)
    told = [memory(n, created=NOW + timedelta(hours=h)) for n, h in enumerate(hours)]
    told[4] = replace(told[4], source="s1")
    told.append(memory(5, created=NOW + timedelta(hours=12), source="s1"))
    seen = view(*told)
    assert [seen.near(row) for row in range(6)] == [(1,), (0,), (3,), (2,), (5,), (4,)]


def test_linked_are_memories_of_the_same_entity_but_not_by_the_person():
    kenji, oslo = Triple("Kenji", "likes", "tea"), Triple("me", "lives_in", "Oslo")
    seen = view(
        memory(0, triples=(kenji,)),
        memory(1, triples=(oslo,)),
        memory(2, triples=(Triple("me", "boss", "kenji"),)),
        memory(3),
    )
    assert [seen.linked(row) for row in range(4)] == [(2,), (), (0,), ()]
    assert seen.about("KENJI").tolist() == [0, 2]


def test_a_hub_links_only_those_told_nearest():
    seen = view(*(memory(n, triples=(Triple("Kenji", "did", f"{n}"),)) for n in range(200)))
    linked = seen.linked(100)
    assert len(linked) == HUB - 1
    assert all(abs(row - 100) <= HUB for row in linked)


def test_a_narrowed_view_counts_words_as_if_nothing_else_were_stored():
    told = [memory(n, f"tea {'green ' * (n % 3)} number{n}") for n in range(9)]
    whole = view(*told)
    lexical("green tea", whole)
    narrowed = whole.narrowed([1, 4, 5])
    alone = view(told[1], told[4], told[5])
    assert narrowed.cache is whole.cache
    assert np.allclose(lexical("green tea", narrowed), lexical("green tea", alone))
    assert whole.narrowed(range(9)) is whole


def test_a_graph_gives_the_same_view_until_something_changes(graph: MemoryGraph):
    texts = ["I drink tea.", "I drink coffee.", "My card expires soon."]
    entries = graph.apply(
        [Insert(Draft(t, "event.life", NOW)) for t in texts],
        at=NOW,
        model=MODEL,
        vectors={t: np.eye(3, dtype=np.float32)[n] for n, t in enumerate(texts)},
    )
    ids = [entry.changes[0].memory for entry in entries]
    first = graph.view(NOW, MODEL)
    assert graph.view(NOW + timedelta(seconds=1), MODEL) is first
    assert lexical("tea", first).argmax() == 0
    graph.apply([Expire(ids[2], NOW + timedelta(days=1))], at=NOW)
    graph.apply([Amend(ids[0], text="I drink water.")], at=NOW, model=MODEL,
                vectors={"I drink water.": np.eye(3, dtype=np.float32)[0]})  # fmt: skip
    second = graph.view(NOW, MODEL)
    assert second.cache is first.cache
    assert len(second.memories) == 3
    assert not lexical("tea", second).any()
    assert lexical("water", second).any()
    later = graph.view(NOW + timedelta(days=2), MODEL)
    assert later.current == set(ids[:2])
    assert not lexical("expires", later).any()
    graph.apply([Forget(ids[1])], at=NOW)
    assert not lexical("coffee", graph.view(NOW, MODEL)).any()


def test_a_view_stays_as_it_was_while_others_follow(graph: MemoryGraph):
    rng = np.random.default_rng(0)
    vectors = {f"Thing {n}.": v for n, v in enumerate(rng.random((90, 4)).astype(np.float32))}
    texts = list(vectors)

    def insert(some: list[str]) -> list[str]:
        edits = [Insert(Draft(text, "event.life", NOW)) for text in some]
        made = graph.apply(edits, at=NOW, model=MODEL, vectors=vectors)
        return [entry.changes[0].memory for entry in made]

    def right(view: GraphView) -> bool:
        return np.array_equal(view.vectors, np.array([vectors[m.text] for m in view.memories]))

    insert(texts[:5])
    views = [graph.view(NOW, MODEL)]
    for n in range(5, 80):  # beyond the room that is kept for what comes
        ids = insert(texts[n : n + 1])
        if n % 20 == 0:
            graph.apply([Forget(ids[0])], at=NOW)
        views.append(graph.view(NOW, MODEL, history=n % 7 == 0))
    graph.apply([Amend("m2", text="Thing 89.")], at=NOW, model=MODEL, vectors=vectors)
    views.append(graph.view(NOW, MODEL))
    assert all(map(right, views))
    assert [len(view.memories) for view in views[:4]] == [5, 6, 7, 8]
    assert len(views[-1].memories) == 80 - 3


def test_forgetting_for_good_leaves_no_word_on_the_shelf(graph: MemoryGraph):
    secret = Draft("My secret is zanzibar.", "event.life", NOW)
    (entry,) = graph.apply([Insert(secret)], at=NOW, model=MODEL,
                           vectors={secret.text: np.ones(1, np.float32)})  # fmt: skip
    seen = graph.view(NOW, MODEL)
    assert lexical("zanzibar", seen).any()
    graph.erase([entry.changes[0].memory], at=NOW)
    cache = graph.view(NOW, MODEL).cache
    assert not len(cache.of(Lexicon).postings.of("zanzibar")[0])


_WORDS = some.lists(some.sampled_from("tea green oslo kenji run 茶 绿茶".split()), max_size=5)


@settings(max_examples=40, deadline=None)
@given(some.lists(some.tuples(some.integers(0, 7), _WORDS), max_size=20))
def test_a_shelf_that_grew_gives_what_a_new_one_gives(edits: list[tuple[int, list[str]]]):
    cache, now = DerivedCache(), {}
    for n, told in edits:
        now[n] = memory(n, " ".join([*told, "."]))
        grown = view(*(now[key] for key in sorted(now)), cache=cache)
        fresh = view(*grown.memories)
        for asked in ("green tea", "Kenji runs", "绿茶"):
            assert np.allclose(lexical(asked, grown), lexical(asked, fresh))


def test_words_are_folded_and_stemmed_and_chinese_is_cut_into_characters_and_pairs():
    assert words("Kenji's FLIGHTS to Zürich, EK349") == ["kenji", "flight", "to", "zurich", "ek349"]
    assert words("住上海A座") == ["住", "上", "海", "住上", "上海", "a", "座"]
    assert words("ｶﾌｪ カフェ") == ["カ", "フ", "ェ", "カフ", "フェ"] * 2
    assert words("don't I've ... ?!") == ["don", "i"]
    assert words("") == []
