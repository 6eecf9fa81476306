"""Training: it learns a bandit, asks for each value once, and goes on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from policies.base import Episode, Question
from policies.selection import Selection
from policies.training.mlp import Mlp
from policies.training.reinforce import (
    Progress,
    Rollout,
    State,
    advantages,
    policy_gradient,
    returns,
    warm_start,
)
from store.derived.view import GraphView
from store.errors import InvalidInput, WeightsDamaged

EMPTY = GraphView((), np.zeros((0, 2), np.float32))
ASKED = Question("Which arm?", np.zeros(2, np.float32), datetime(2024, 5, 8, tzinfo=UTC))
ARMS = np.array([[1.0, 0.0], [0.0, 1.0]])


@dataclass(frozen=True)
class Bandit:
    """A policy for two arms: it decides of each whether to pull it."""

    network: Mlp = field(default_factory=lambda: Mlp.fresh(2, seed=5))
    name: str = "bandit"

    def with_network(self, network: Mlp) -> Bandit:
        return replace(self, network=network)

    def select(self, question: Question, view: GraphView) -> Selection:
        return Selection(self.name, (), ())

    def chances(self) -> tuple[float, float]:
        left, right = self.network.probabilities(ARMS)[:, 1]
        return float(left), float(right)

    def lesson(self, question: Question, view: GraphView, required: frozenset[str]):
        return ARMS, np.array([int(arm in required) for arm in ("left", "right")])

    def roll(self, question: Question, view: GraphView, rng: np.random.Generator) -> Rollout:
        actions = (rng.random(2) < self.network.probabilities(ARMS)[:, 1]).astype(np.int64)
        sets: list[tuple[str, ...]] = []
        for arm, action in zip(("left", "right"), actions, strict=True):
            held = sets[-1] if sets else ()
            sets.append((*held, arm) if action else held)
        return Rollout(ARMS, actions, tuple(sets))


def episodes(count: int = 3, required: frozenset[str] | None = None) -> list[Episode]:
    return [Episode(f"e{number}", ASKED, EMPTY, required) for number in range(count)]


def pays(episode: Episode, selections: Sequence[tuple[str, ...]]) -> list[float]:
    """The right arm pays, the left one costs a little."""
    return [float("right" in made) - 0.2 * ("left" in made) for made in selections]


def test_the_policy_gradient_finds_the_arm_that_pays():
    left, right = policy_gradient(Bandit(), episodes(), pays, count=300, rate=0.02).chances()
    assert right > 0.95
    assert left < 0.05


def test_the_warm_start_learns_what_is_required():
    taught = warm_start(Bandit(), episodes(3, frozenset({"left"})), count=300, rate=0.02)
    left, right = taught.chances()
    assert left > 0.95
    assert right < 0.05


def test_a_step_reports_its_reward_and_the_running_one():
    told: list[Progress] = []
    policy_gradient(Bandit(), episodes(), pays, count=200, rate=0.02, on_step=told.append)
    assert [progress.step for progress in told] == list(range(1, 201))
    assert told[0].running == told[0].reward
    assert told[-1].of == 200
    assert told[-1].running > told[0].running


def trained(stage: str, count: int, state: State[Mlp] | None = None, on_step=None) -> Bandit:
    if stage == "warm":
        known = episodes(4, frozenset({"left"}))
        return warm_start(Bandit(), known, count=count, seed=7, state=state, on_step=on_step)
    return policy_gradient(
        Bandit(), episodes(4), pays, count=count, seed=7, state=state, on_step=on_step
    )


class Stop(Exception):
    """Raised by a person who has seen enough."""


@pytest.mark.parametrize("stage", ["warm", "gradient"])
def test_an_interrupted_training_goes_on_bit_for_bit(stage: str, tmp_path: Path):
    whole = trained(stage, 30)
    path = tmp_path / "state.npz"

    def stop(progress: Progress) -> None:
        progress.state.save(path)
        if progress.step == 13:
            raise Stop

    with pytest.raises(Stop):
        trained(stage, 30, on_step=stop)
    resumed = trained(stage, 30, state=State.load(path, Mlp))
    assert resumed.network.flat.tobytes() == whole.network.flat.tobytes()


def test_a_finished_state_trains_no_further():
    state: list[State[Mlp]] = []
    done = trained("gradient", 5, on_step=lambda progress: state.append(progress.state))
    again = trained("gradient", 5, state=state[-1])
    assert again.network.flat.tobytes() == done.network.flat.tobytes()


def test_each_selection_is_valued_once_an_episode_in_one_call():
    asked: list[list[tuple[str, ...]]] = []

    def value(episode: Episode, selections: Sequence[tuple[str, ...]]) -> list[float]:
        asked.append(list(selections))
        return pays(episode, selections)

    policy_gradient(Bandit(), episodes(), value, count=6, rollouts=8)
    assert len(asked) == 6
    for sets in asked:
        assert () in sets
        assert len(sets) == len(set(sets))


def test_returns_add_up_the_gains_of_later_decisions():
    roll = Rollout(np.zeros((3, 2)), np.array([1, 0, 1]), (("a",), ("a",), ("a", "b")))
    worth = {(): 0.1, ("a",): 0.5, ("a", "b"): 0.3}
    np.testing.assert_allclose(returns(roll, worth, 0.5), [0.4 + 0.25 * -0.2, 0.5 * -0.2, -0.2])
    np.testing.assert_allclose(returns(roll, worth, 1.0)[0], worth["a", "b"] - worth[()])


def test_advantages_compare_rollouts_at_the_same_decision():
    made = advantages([np.array([1.0, 0.5]), np.array([0.0])])
    np.testing.assert_allclose(made, [0.5, 0.25, -0.5])
    assert not advantages([np.array([0.3]), np.array([0.3])]).any()


@pytest.mark.parametrize(
    "start", [lambda: warm_start(Bandit(), episodes()), lambda: policy_gradient(Bandit(), [], pays)]
)
def test_training_without_anything_to_learn_from_is_refused(start: Callable[[], object]):
    with pytest.raises(InvalidInput):
        start()


def test_a_damaged_state_is_refused(tmp_path: Path):
    path = tmp_path / "state.npz"
    Mlp.fresh(2).save(path)  # weights alone are no state
    with pytest.raises(WeightsDamaged, match="Begin it anew"):
        State.load(path, Mlp)
