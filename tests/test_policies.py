"""The contract every policy keeps; a new one in the registry is tested by being there."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from policies.base import Policy, Question
from policies.registry import POLICIES, Tools, make_policy
from store.errors import InvalidInput
from store.types import Memory
from store.view import GraphView

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def view(count: int) -> GraphView:
    vectors = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    memories = tuple(
        Memory(f"m{n}", f"Memory {n}.", "Event", "event.arrangement", NOW) for n in range(count)
    )
    return GraphView(memories, vectors, frozenset(m.id for m in memories))


def question(like: GraphView) -> Question:
    vector = like.vectors[3] if len(like.memories) > 3 else np.ones(8, np.float32) / 8**0.5
    return Question("What?", vector, NOW)


@pytest.fixture(params=sorted(POLICIES))
def policy(request: pytest.FixtureRequest) -> Policy:
    return make_policy(request.param, Tools(k=3))


def test_an_empty_view_gives_an_empty_selection(policy: Policy):
    empty = GraphView((), np.zeros((0, 0), np.float32))
    assert policy.select(question(empty), empty).chosen == ()


def test_choices_come_from_the_view_once_each_with_scores_in_bounds(policy: Policy):
    given = view(30)
    chosen = policy.select(question(given), given).chosen
    ids = [choice.memory.id for choice in chosen]
    assert ids
    assert len(ids) == len(set(ids))
    assert set(ids) <= {memory.id for memory in given.memories}
    assert all(0.0 <= choice.score <= 1.0 for choice in chosen)


def test_the_trace_says_of_each_choice_why(policy: Policy):
    given = view(30)
    selection = policy.select(question(given), given)
    assert selection.policy == policy.name
    traced = {step.memory for step in selection.trace if step.chosen}
    assert traced == {choice.memory.id for choice in selection.chosen}
    assert all(step.reason for step in selection.trace)


def test_the_same_question_gives_the_same_selection(policy: Policy):
    given = view(30)
    asked = question(given)
    assert policy.select(asked, given) == policy.select(asked, given)


def test_top_k_takes_the_nearest_and_never_more_than_k():
    given = view(30)
    chosen = make_policy("top-k", Tools(k=3)).select(question(given), given).chosen
    assert chosen[0].memory.id == "m3"
    assert len(chosen) <= 3


def test_an_unknown_policy_or_number_is_refused_with_the_names_there_are():
    with pytest.raises(InvalidInput, match="top-k"):
        make_policy("magic", Tools())
    with pytest.raises(InvalidInput, match="at least 1"):
        make_policy("top-k", Tools(k=0))
