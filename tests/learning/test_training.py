"""A training improves a policy or leaves it alone, can be interrupted, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.answering.selection.policy_weights import due, network_of, shipped_network, weights_of
from agent.config import load_config
from agent.errors import TooLittleToLearn
from agent.learning.episodes import collect, split
from agent.learning.rewards import LikelihoodValue
from agent.learning.train_home import roll_back, starting_policy, train_person
from agent.learning.training import (
    GRADIENT,
    WARM,
    Checkpoint,
    HeldBackVerdict,
    Plan,
    compare,
    digest,
    train,
)
from agent.ports import Embedder
from agent.session.session import Session, open_session
from policies.base import Episode
from policies.training.mlp import Mlp
from policies.training.reinforce import Progress
from policies.walk.scout import Scout
from store.errors import InvalidInput, UnknownId
from store.journal import Forget
from tests.conftest import NOW
from tests.support.learning import (
    KnowingModel,
    KnowingRewards,
    forget_all,
    live,
    practise,
    unlearned,
)

PLAN = Plan("scout", warm_start=60, episodes=4, seed=1)


@pytest.fixture
def session(own_home: Path, embedder: Embedder) -> Iterator[Session]:
    """A session with the real encoder, and models that know the small life."""
    with open_session(
        load_config(now=NOW), llm=KnowingModel(), embedder=embedder, rewards=KnowingRewards()
    ) as opened:
        yield opened


@pytest.fixture
def life(session: Session) -> dict[str, str]:
    known = live(session.graph)
    practise(session.graph, known)
    return known


@pytest.fixture
def episodes(session: Session, life: dict[str, str]) -> tuple[Episode, ...]:
    return collect(session.graph, session.embedder, NOW).episodes


@pytest.fixture
def value(session: Session, episodes: tuple[Episode, ...]) -> LikelihoodValue:
    there = collect(session.graph, session.embedder, NOW)
    return LikelihoodValue(KnowingRewards(), there.references)


class Stop(Exception):
    """Stands for Ctrl-C."""


def stop_at(phase: str, step: int) -> Callable[[str, Progress], None]:
    def on_step(name: str, progress: Progress) -> None:
        if (name, progress.step) == (phase, step):
            raise Stop

    return on_step


# ---- training -----------------------------------------------------------------------------


def test_training_finds_what_answers_need(episodes: Sequence[Episode], value: LikelihoodValue):
    learning, held = split(episodes, 0)
    old = unlearned()
    new = train(old, learning, value, Plan("scout", warm_start=400, episodes=10, seed=0))
    verdict = compare(old, new, held, value)
    assert verdict.wins
    assert verdict.after > verdict.before
    for episode in held:
        chosen = new.select(episode.question, episode.view).chosen
        assert {choice.memory.id for choice in chosen} & (episode.required or frozenset())


def test_a_seed_makes_it_repeatable(episodes: Sequence[Episode], value: LikelihoodValue):
    one, other = (train(unlearned(), episodes, value, PLAN) for _ in range(2))
    assert digest(one) == digest(other)
    elsewhere = train(unlearned(), episodes, value, Plan("scout", "likelihood", 60, 4, seed=2))
    assert digest(elsewhere) != digest(one)


@pytest.mark.parametrize(("phase", "step"), [(WARM, 17), (WARM, 60), (GRADIENT, 1), (GRADIENT, 3)])
def test_an_interrupted_training_ends_as_if_it_had_not_been(
    phase: str, step: int, episodes: Sequence[Episode], value: LikelihoodValue, tmp_path: Path
):
    keys = [episode.key for episode in episodes]
    whole = train(unlearned(), episodes, value, PLAN)
    checkpoint = Checkpoint(tmp_path, "scout")
    with pytest.raises(Stop):
        train(
            unlearned(), episodes, value, PLAN, checkpoint=checkpoint, keys=keys,
            on_step=stop_at(phase, step),
        )  # fmt: skip
    assert checkpoint.keys(PLAN) == tuple(keys)
    steps: list[tuple[str, int]] = []
    resumed = train(
        unlearned(), episodes, value, PLAN, checkpoint=checkpoint, keys=keys,
        on_step=lambda name, progress: steps.append((name, progress.step)),
    )  # fmt: skip
    assert digest(resumed) == digest(whole)
    assert steps[0] == ((phase, step + 1) if (phase, step) != (WARM, 60) else (GRADIENT, 1))


def test_a_checkpoint_of_something_else_or_a_damaged_one_is_none(
    episodes: Sequence[Episode], value: LikelihoodValue, tmp_path: Path
):
    keys = [episode.key for episode in episodes]
    checkpoint = Checkpoint(tmp_path, "scout")
    with pytest.raises(Stop):
        train(
            unlearned(), episodes, value, PLAN, checkpoint=checkpoint, keys=keys,
            on_step=stop_at(GRADIENT, 2),
        )  # fmt: skip
    start = digest(unlearned())
    assert checkpoint.load(PLAN, keys, start) is not None
    assert checkpoint.load(Plan("scout", seed=9), keys, start) is None
    assert checkpoint.load(PLAN, keys[1:], start) is None
    assert checkpoint.load(PLAN, keys, digest(unlearned(5))) is None
    folder = tmp_path / "cache" / "training-scout"
    (folder / "state.npz").write_bytes(b"PK\x03\x04 half")
    assert checkpoint.load(PLAN, keys, start) is None
    (folder / "about.json").write_text('{"plan": 3}')
    assert checkpoint.keys(PLAN) is None
    checkpoint.clear()
    assert not folder.exists()


def test_new_weights_win_only_where_they_are_surely_better():
    assert HeldBackVerdict(0.1, 0.2, 0.9, 8).wins
    assert not HeldBackVerdict(0.1, 0.2, 0.7, 8).wins
    assert not HeldBackVerdict(0.2, 0.2, 1.0, 8).wins


def test_the_same_policy_never_wins_against_itself(
    episodes: Sequence[Episode], value: LikelihoodValue
):
    verdict = compare(unlearned(), unlearned(), episodes, value)
    assert verdict.before == verdict.after
    assert not verdict.wins


# ---- a person's training --------------------------------------------------------------------


def test_pairs_are_written_learned_from_and_the_better_weights_kept(session: Session):
    live(session.graph)
    forget_all(session)
    seen: set[str] = set()
    done = train_person(
        session,
        Plan("scout", warm_start=300, episodes=4),
        pairs=12,
        on_step=lambda phase, progress: seen.add(phase),
    )
    assert done.written["kept"] == done.episodes == 12
    assert done.kept
    assert done.verdict.after > done.verdict.before
    assert seen == {WARM, GRADIENT}
    assert done.llm_calls > 12
    active = session.graph.learned.active("scout")
    assert active is not None
    assert (active.number, active.continues, active.state) == (done.number, 1, "kept")
    own = weights_of(session.graph, "scout")
    assert own is not None
    assert own.flat.tobytes() == network_of(active, own).flat.tobytes()
    used = starting_policy(session, "scout").network
    assert used.flat.tobytes() == own.flat.tobytes()
    assert session.graph.verify() == ()


def test_weights_that_do_not_win_are_not_kept(session: Session, life: dict[str, str]):
    before = starting_policy(session, "scout").network.flat
    timid = Plan("scout", warm_start=0, episodes=1, rate=1e-9)  # too small to change any choice
    done = train_person(session, timid, pairs=0)
    assert not done.kept
    assert session.graph.learned.active("scout") is None
    (lost,) = session.graph.learned.history("scout")
    assert (lost.state, lost.flat) == ("lost", None)
    assert (starting_policy(session, "scout").network.flat == before).all()


def test_an_interrupted_training_of_a_person_goes_on(session: Session, life: dict[str, str]):
    forget_all(session)
    with pytest.raises(Stop):
        train_person(session, PLAN, pairs=0, on_step=stop_at(GRADIENT, 2))
    assert len(session.graph.learned.history("scout")) == 1
    steps: list[tuple[str, int]] = []
    train_person(
        session, PLAN, pairs=0,
        on_step=lambda phase, progress: steps.append((phase, progress.step)),
    )  # fmt: skip
    assert steps == [(GRADIENT, 3), (GRADIENT, 4)]
    assert Checkpoint(session.config.home, "scout").keys(PLAN) is None


def test_an_interrupted_training_is_begun_anew_where_an_episode_is_gone(
    session: Session, life: dict[str, str]
):
    with pytest.raises(Stop):
        train_person(session, PLAN, pairs=0, on_step=stop_at(GRADIENT, 2))
    session.graph.apply([Forget(life["gym"])], at=NOW, actor="user")
    steps: list[tuple[str, int]] = []
    train_person(
        session, PLAN, pairs=0,
        on_step=lambda phase, progress: steps.append((phase, progress.step)),
    )  # fmt: skip
    assert steps[0] == (WARM, 1)


def test_forgetting_for_good_takes_the_checkpoint_and_the_weights(
    session: Session, life: dict[str, str]
):
    forget_all(session)
    done = train_person(session, Plan("scout", warm_start=300, episodes=2), pairs=0)
    assert done.kept
    with pytest.raises(Stop):
        train_person(session, PLAN, pairs=0, on_step=stop_at(GRADIENT, 2))
    session.graph.erase([life["locker code"]], at=NOW)
    assert Checkpoint(session.config.home, "scout").keys(PLAN) is None
    assert weights_of(session.graph, "scout") is None
    assert "removed" in session.graph.learned.due()["scout"]
    shipped = shipped_network("scout")
    assert shipped is not None
    assert (starting_policy(session, "scout").network.flat == shipped.flat).all()


def test_retraining_after_a_soft_forgetting_begins_at_the_shipped_start(
    session: Session, life: dict[str, str]
):
    forget_all(session)
    train_person(session, Plan("scout", warm_start=300, episodes=2), pairs=0)
    session.graph.apply([Forget(life["locker code"])], at=NOW, actor="user")
    shipped = shipped_network("scout")
    assert shipped is not None
    assert (starting_policy(session, "scout").network.flat == shipped.flat).all()
    assert weights_of(session.graph, "scout") is not None  # in use until the training is done


def test_rolling_back_returns_to_where_the_weights_came_from(
    session: Session, life: dict[str, str]
):
    forget_all(session)
    train_person(session, Plan("scout", warm_start=300, episodes=2), pairs=0)
    assert roll_back(session.graph, "scout", None) == 1
    assert roll_back(session.graph, "scout", None) == 0
    assert weights_of(session.graph, "scout") is None
    with pytest.raises(UnknownId, match="shipped with memlane"):
        roll_back(session.graph, "scout", None)
    assert roll_back(session.graph, "scout", 2) == 2


def test_too_little_to_learn_from_is_said_and_nothing_is_done(session: Session):
    live(session.graph, 5)
    with pytest.raises(TooLittleToLearn, match="5 memories"):
        train_person(session, PLAN)
    assert session.graph.learned.tried() == frozenset()


def test_too_few_pairs_are_said(session: Session):
    live(session.graph)
    with pytest.raises(TooLittleToLearn, match="3 question-answer pairs"):
        train_person(session, PLAN, pairs=3)
    assert session.graph.learned.history() == ()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan("scout", "praise"), "answer, likelihood, entropy, both"),
        (Plan("top-k"), "does not learn"),
        (Plan("magic"), "no policy 'magic'"),
        (Plan("scout", episodes=-1), "whole numbers"),
        (Plan("scout", warm_start=0, episodes=0), "Nothing to do"),
    ],
)
def test_an_unusable_plan_is_refused(session: Session, plan: Plan, said: str):
    with pytest.raises(InvalidInput, match=said):
        train_person(session, plan)


def test_weights_of_another_shape_are_not_used(session: Session):
    old = starting_policy(session, "scout")
    from agent.learning.train_home import keep

    assert isinstance(old, Scout)
    older = replace(old, network=Mlp.fresh(3, seed=0))  # as an older memlane could have made it
    verdict = HeldBackVerdict(0.0, 1.0, 1.0, 4)
    keep(session, Plan("scout"), old, older, verdict, set(), by="train")
    assert session.graph.learned.active("scout") is not None
    assert weights_of(session.graph, "scout") is None
    assert "older memlane" in due(session.graph)["scout"]
