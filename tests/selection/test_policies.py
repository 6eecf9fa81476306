"""The contract every policy keeps; a new one in the registry is tested by being there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from policies.base import Policy, Question
from policies.baselines.fusion import FAR, activate
from policies.registry import POLICIES, Tools, make_policy
from policies.scoring import pca_search
from store.derived.view import GraphView
from store.errors import InvalidInput
from store.types import Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
DIMENSION = 384
EVEN = np.full(DIMENSION, DIMENSION**-0.5, np.float32)
MAY_BE_SILENT = {"walk", "scout", "rums-binary", "rums-multi"}
UNBOUND = {"all", "oracle", "walk", "scout"}
"""These decide themselves how many."""

TOOLS = Tools(
    k=3,
    names=lambda texts: np.tile(np.ones(8, np.float32) / 8**0.5, (len(texts), 1)),
    tokens=lambda texts: [
        np.full((len(text) % 5 + 1, 384), len(text), np.float32) for text in texts
    ],
    pick=lambda question, texts: [1, 0, 99, 1],
    entropies=lambda question, lists: [(5.0 - len(texts),) * 2 for texts in lists],
    gold=lambda question: {"m3", "m4", "gone"},
)


def view(count: int, texts: tuple[str, ...] = (), *, triples: bool = True) -> GraphView:
    vectors = np.random.default_rng(0).standard_normal((count, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    memories = tuple(
        Memory(
            f"m{n}",
            texts[n % len(texts)] if texts else f"Kenji told of thing {n}.",
            "Event",
            ("event.arrangement", "event.life")[n % 2],
            NOW + timedelta(minutes=n),
            (Triple("Kenji", "told_of", f"thing {n % 4}"),) if triples else (),
        )
        for n in range(count)
    )
    return GraphView(memories, vectors, frozenset(m.id for m in memories))


def question(like: GraphView, text: str = "What did Kenji tell of thing 3?") -> Question:
    vector = like.vectors[3] if len(like.memories) > 3 else EVEN
    return Question(text, vector, NOW)


@pytest.fixture(params=sorted(POLICIES))
def policy(request: pytest.FixtureRequest) -> Policy:
    return make_policy(request.param, TOOLS)


def test_an_empty_view_gives_an_empty_selection(policy: Policy):
    empty = GraphView((), np.zeros((0, 0), np.float32))
    selection = policy.select(question(empty), empty)
    assert (selection.chosen, selection.trace) == ((), ())


def _holds(policy: Policy, given: GraphView, asked: Question) -> None:
    selection = policy.select(asked, given)
    ids = [choice.memory.id for choice in selection.chosen]
    assert len(ids) == len(set(ids))
    assert set(ids) <= {memory.id for memory in given.memories}
    assert all(0.0 <= choice.score <= 1.0 for choice in selection.chosen)
    assert len(ids) <= TOOLS.k or policy.name in UNBOUND
    assert selection.policy == policy.name
    assert {step.memory for step in selection.trace if step.chosen} == set(ids)
    assert len({step.memory for step in selection.trace}) == len(selection.trace)
    assert all(step.reason for step in selection.trace)


def test_choices_come_from_the_view_once_each_and_the_trace_says_why(policy: Policy):
    given = view(30)
    _holds(policy, given, question(given))
    if policy.name not in MAY_BE_SILENT:  # what they learned may be to choose nothing here
        assert policy.select(question(given), given).chosen


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_view_of_less_than_is_asked_for_is_no_problem(policy: Policy, count: int):
    given = view(count)
    _holds(policy, given, question(given))


def test_chinese_memories_and_questions_are_no_problem(policy: Policy):
    given = view(12, ("我住在上海浦东新区。", "健二喜欢喝绿茶。", "下周三晚上七点有课。"))
    _holds(policy, given, question(given, "健二喜欢喝什么？"))


def test_the_same_text_many_times_and_views_without_relations_are_no_problem(policy: Policy):
    given = view(12, ("I like green tea.",), triples=False)
    _holds(policy, given, question(given))
    _holds(policy, given, question(given, "?!"))


def test_the_same_question_gives_the_same_selection(policy: Policy):
    given, again = view(30), view(30)
    asked = question(given)
    first = policy.select(asked, given)
    assert policy.select(asked, given) == first
    assert make_policy(policy.name, TOOLS).select(asked, again) == first


def test_a_view_is_never_changed(policy: Policy):
    given, before = view(30), view(30)
    policy.select(question(given), given)
    assert given.memories == before.memories
    assert given.current == before.current
    assert np.array_equal(given.vectors, before.vectors)
    assert not (given.row.keys() ^ before.row.keys())


def test_top_k_takes_the_nearest_and_never_more_than_k():
    given = view(30)
    chosen = make_policy("top-k", TOOLS).select(question(given), given).chosen
    assert chosen[0].memory.id == "m3"
    assert len(chosen) <= 3


def test_bm25_finds_a_rare_word_in_any_form_and_nothing_where_no_word_is_shared():
    given = view(12, ("I bought flights to Zürich.", "I like tea.", "健二喜欢喝绿茶。"))
    bm25 = make_policy("bm25", TOOLS)
    assert (
        "Zürich"
        in bm25.select(question(given, "Which FLIGHT goes to zurich?"), given).chosen[0].memory.text
    )
    assert "绿茶" in bm25.select(question(given, "谁爱喝绿茶？"), given).chosen[0].memory.text
    assert bm25.select(question(given, "Xylophone?"), given).chosen == ()


def test_fused_finds_what_follows_the_memory_that_shares_the_words():
    texts = tuple(f"Filler number {n}." for n in range(10))
    given = view(10, (*texts[:5], "Kenji: how was the marathon?", "Me: exhausting, four hours.",
                      *texts[7:]))  # fmt: skip
    flat = replace(given, vectors=np.tile(given.vectors[:1], (10, 1)))
    chosen = make_policy("fused", TOOLS).select(question(given, "How was the marathon?"), flat)
    assert {"m5", "m6"} <= {choice.memory.id for choice in chosen.chosen}


def test_among_thousands_the_one_of_many_alike_that_has_every_word_comes_first():
    texts = [f"Filler number {n}." for n in range(4000)]
    for row in range(0, 4000, 100):  # rare enough that each lies far from the mean
        texts[row] = f"I bought kettle number {row} at the fair."
    flat = replace(view(4000, tuple(texts)), vectors=np.tile(EVEN, (4000, 1)))
    found = activate(question(flat, "Where did I buy kettle number 3300?"), flat, 3)
    assert found[0].row == 3300
    assert all(one.score <= FAR for one in found)


def test_a_large_home_is_looked_at_by_outlines_and_closely_where_it_matters(
    monkeypatch: pytest.MonkeyPatch,
):
    rng = np.random.default_rng(1)
    common = rng.standard_normal((4, 200))
    vectors = (rng.standard_normal((900, 4)) @ common + rng.standard_normal((900, 200))).astype(
        np.float32
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = tuple(Memory(f"m{n}", f"Thing {n}.", "Event", "event.life", NOW) for n in range(900))
    whole = GraphView(memories, vectors)
    asked = [Question("Which thing?", vectors[row], NOW) for row in (3, 500, 899)]
    right = [[c.row for c in activate(one, whole, 10)] for one in asked]
    monkeypatch.setattr(pca_search, "CLOSELY", 100)
    rough = GraphView(memories, vectors)
    for one, rows in zip(asked, right, strict=True):
        assert [c.row for c in activate(one, rough, 10)] == rows
    # After an edit, only what is new gets an outline.
    edited = GraphView(memories[1:], vectors[1:], cache=rough.cache)
    found = [c.row for c in activate(asked[1], edited, 10)]
    assert [row + 1 for row in found][:3] == right[1][:3]


def test_a_question_that_names_a_day_prefers_what_is_of_that_day():
    told = tuple(
        Memory(f"m{n}", "I went swimming.", "Event", "event.life", NOW + timedelta(days=31 * n))
        for n in range(5)
    )
    given = GraphView(told, np.tile(EVEN, (5, 1)))
    asked = Question("Did I swim in July 2024?", given.vectors[0], NOW)
    assert activate(asked, given, 1)[0].row == 2


def test_what_asks_something_itself_comes_after_what_tells_it():
    texts = ("Is the boat red?", "The boat is red.", "I like tea.")
    given = view(3, texts)
    flat = replace(given, vectors=np.tile(given.vectors[:1], (3, 1)))
    assert activate(question(flat, "Which colour has the boat?"), flat, 1)[0].row == 1


def test_recency_takes_the_last_and_random_depends_on_its_seed():
    given = view(30)
    recent = make_policy("recency", TOOLS).select(question(given), given).chosen
    assert [choice.memory.id for choice in recent] == ["m29", "m28", "m27"]
    drawn = {
        tuple(
            choice.memory.id
            for choice in make_policy("random", replace(TOOLS, seed=seed))
            .select(question(given), given)
            .chosen
        )
        for seed in range(4)
    }
    assert len(drawn) > 1


def test_decomposition_follows_the_relations_of_whom_the_question_names():
    memories = tuple(
        Memory(f"m{n}", text, "Relationship", "relationship.family", NOW, (Triple(*triple),))
        for n, (text, triple) in enumerate(
            (
                ("My boss is Kenji.", ("me", "boss", "Kenji")),
                ("Kenji is married to Aya.", ("Kenji", "wife", "Aya")),
                ("Aya works as a baker.", ("Aya", "works_as", "baker")),
                ("Bruno works as a baker.", ("Bruno", "works_as", "baker")),
                ("I live in Oslo.", ("me", "lives_in", "Oslo")),
            )
        )
    )
    given = GraphView(memories, np.tile(EVEN, (5, 1)))
    asked = Question("What is Kenji's wife's job?", given.vectors[0], NOW)
    chosen = make_policy("decomposed", TOOLS).select(asked, given).chosen
    assert {"m1", "m2"} <= {choice.memory.id for choice in chosen}


def test_what_asks_others_says_which_tool_it_lacks():
    with pytest.raises(InvalidInput, match="language model"):
        make_policy("picked", Tools())
    with pytest.raises(InvalidInput, match="key"):
        make_policy("oracle", Tools())


def test_an_unknown_policy_or_number_is_refused_with_the_names_there_are():
    with pytest.raises(InvalidInput, match="top-k"):
        make_policy("magic", Tools())
    with pytest.raises(InvalidInput, match="at least 1"):
        make_policy("top-k", Tools(k=0))
