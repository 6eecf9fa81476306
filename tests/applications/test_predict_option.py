"""Predictions: whose views are asked, how much of them, and how the voices are mixed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.applications.personas.join import NEIGHBOURS, Profile, composed, put_to
from agent.applications.personas.predict_option import Pool, asked_and_said, mixed, vote
from agent.ports import Embedder
from store.tables.side_tables.shared_homes import SharedViews


def test_the_share_of_the_joined_is_rounded_up_and_none_without_them():
    assert composed(20, 0.25, True) == (15, 5)
    assert composed(5, 0.25, True) == (3, 2)
    assert composed(20, 0.5, False) == (20, 0)
    assert composed(5, 0.0, True) == (5, 0)


def test_an_answer_to_a_like_question_speaks_for_the_like_option(embedder: Embedder):
    texts = [
        'Asked "How often do you read the news?", I answered: Never',
        'Asked "Do you own a bicycle?", I answered: Yes',
    ]
    pool = Pool(texts, embedder.encode(texts))
    found = vote(pool, "How often do you watch the news?", ("Often", "Never"), embedder.encode)
    assert found.argmax() == 1
    none = Pool([], np.zeros((0, 3), np.float32))
    assert list(vote(none, "Tea?", ("yes", "no"), embedder.encode)) == [0, 0]
    assert asked_and_said("Do you like tea? Yes.") == ("Do you like tea?", "Yes")
    assert asked_and_said("I like tea.") is None


def test_voices_are_mixed_in_the_logarithm():
    none, own = np.zeros(3), np.array([0.5, 0, -0.5])
    assert mixed(np.full(3, 1 / 3), own, none).argmax() == 0
    assert mixed(np.array([0.1, 0.8, 0.1]), none, none).argmax() == 1


def test_a_question_is_put_to_who_is_alike_and_has_a_view_on_the_matter():
    matter, another = np.eye(2, dtype=np.float32)

    def profile(name: str, view: NDArray[np.float32], nearness: float) -> Profile:
        return Profile(Path(name), SharedViews(("said",), view[None], ()), nearness)

    silent = [profile(f"alike {n}", another, 0.9) for n in range(NEIGHBOURS)]
    told = [profile("told", matter, 0.5), profile("told, and alike", matter, 0.8)]
    asked = put_to(matter, [*silent, *told])
    assert [one.home.name for one in asked[:2]] == ["told, and alike", "told"]
    assert len(asked) == NEIGHBOURS
    empty = Profile(Path("empty"), SharedViews((), np.zeros((0, 2), np.float32), ()), 0.9)
    assert put_to(matter, [empty]) == (empty,)
