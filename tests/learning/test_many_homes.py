"""Training over many homes: the same here and on workers, and nothing but weights comes back."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.answering.selection.policy_weights import numbers, shipped_network
from agent.learning.many_homes import (
    HomeResult,
    TrainHome,
    averaged,
    engine_at,
    homes_in,
    over,
    train_together,
)
from agent.learning.training import Plan
from store.errors import InvalidInput
from store.graph import MemoryGraph
from tests.support.learning import FACTS, live, practise
from tests.support.people_work import DiesOnce, quick_session

PLAN = Plan("scout", warm_start=20, episodes=2)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Three people: two with enough to learn from, one with nearly nothing."""
    for name, count in (("ana", len(FACTS)), ("ben", 10), ("cleo", 2)):
        with MemoryGraph.open(tmp_path / "people" / name) as graph:
            practise(graph, live(graph, count))
    return tmp_path / "people"


def test_the_mean_counts_each_home_by_its_questions():
    def result(value: float, learned: int) -> HomeResult:
        return HomeResult(np.full(3, value, "<f8").tobytes(), learned, 0, 0.0, 0.0)

    mean = averaged([result(1.0, 1), result(4.0, 3), result(9.0, 0)], b"")
    assert np.frombuffer(mean, "<f8").tolist() == [3.25, 3.25, 3.25]
    assert averaged([result(9.0, 0)], b"same") == b"same"


def test_one_policy_is_made_of_many_homes_and_no_home_is_changed(people: Path):
    homes = homes_in([people])
    assert [home.name for home in homes] == ["ana", "ben", "cleo"]
    seen: list[tuple[int, int]] = []
    done = train_together(
        homes[:2], PLAN, rounds=2, test=homes[2:], open=quick_session,
        on_home=lambda at, of: seen.append((at, of)),
    )  # fmt: skip
    assert [one.homes for one in done.rounds] == [2, 2]
    assert seen[-1] == (5, 5)
    shipped = shipped_network("scout")
    assert shipped is not None and numbers(done.network) != numbers(shipped)
    for home in homes:
        with MemoryGraph.open(home) as graph:
            assert graph.learned.history("scout") == ()


def test_nothing_but_weights_and_figures_comes_back(people: Path):
    shipped = shipped_network("scout")
    assert shipped is not None
    result = TrainHome(PLAN, numbers(shipped), open=quick_session)(people / "ana")
    assert result.learned and result.held
    sent = pickle.dumps(result)
    assert not any(value.encode() in sent for value in FACTS.values())
    assert b"dentist" not in sent and b"ana" not in sent


def test_a_home_with_too_little_leaves_the_weights_as_they_are(people: Path):
    with pytest.raises(InvalidInput, match="None of the 1 homes"):
        train_together([people / "cleo"], PLAN, open=quick_session)


def test_what_is_no_home_or_does_not_learn_gets_one_clear_line(people: Path, tmp_path: Path):
    with pytest.raises(InvalidInput, match="is not a home and contains none"):
        homes_in([tmp_path])
    with pytest.raises(InvalidInput, match="does not learn"):
        train_together([people / "ana"], replace(PLAN, policy="top-k"), open=quick_session)
    with pytest.raises(InvalidInput, match="No scheduler answers"), engine_at("nonsense://x"):
        pass


def test_options_of_many_homes_go_with_homes(memlane):
    done = memlane("train", "--workers", "2")
    assert done.code == 2 and "go with --homes" in done.err


@pytest.mark.filterwarnings("default")  # the engine's own; they are not ours to mend
def test_workers_give_what_one_process_gives_and_a_killed_one_is_made_good(
    people: Path, tmp_path: Path
):
    pytest.importorskip("distributed")
    homes = homes_in([people])[:2]
    alone = train_together(homes, PLAN, rounds=2, test=homes[:1], open=quick_session)
    with engine_at(None, workers=2) as engine:
        assert engine is not None
        together = train_together(
            homes, PLAN, rounds=2, test=homes[:1], engine=engine, open=quick_session
        )
        assert numbers(together.network) == numbers(alone.network)
        assert (together.rounds, together.tested) == (alone.rounds, alone.tested)

        marker = tmp_path / "died"
        many = [tmp_path / name for name in ("a", "bb", "ccc", "dddd", "eeeee")]
        work = DiesOnce("ccc", marker)
        assert list(over(work, many, engine)) == [1, 2, 3, 4, 5]
        assert marker.exists()

        assert engine.scheduler is not None
        with engine_at(engine.scheduler.address) as by_address:
            assert by_address is not None
            assert list(over(work, many, by_address)) == [1, 2, 3, 4, 5]
