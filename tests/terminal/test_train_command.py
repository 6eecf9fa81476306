"""``memlane train``: what the terminal says of a training, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.config import load_config
from agent.learning.train_home import train_person
from agent.learning.training import Plan
from agent.ports import Embedder
from agent.session.session import Session, open_session
from policies.walk.scout import Scout
from store.journal import Forget
from tests.conftest import NOW, Result
from tests.support.learning import KnowingModel, KnowingRewards, forget_all, live, practise

Memlane = Callable[..., Result]


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


def test_status_and_rollback_from_the_terminal(
    memlane: Memlane, session: Session, life: dict[str, str]
):
    forget_all(session)
    train_person(session, Plan("scout", warm_start=300, episodes=2), pairs=0)
    status = memlane("train", "--status", "--policy", "scout", "--json").json
    assert status["pairs"] == {"written": 14}
    (policy,) = status["policies"]
    assert (policy["active"], policy["retrain_due"]) == (2, None)
    assert [row["state"] for row in policy["weights"]] == ["kept", "kept"]
    assert "weights in use: 2" in memlane("train", "--status", "--policy", "scout").out
    back = memlane("train", "--rollback", "--policy", "scout", "--json")
    assert back.json == {"policy": "scout", "active": 1}
    assert memlane("train", "--rollback", "0", "--policy", "scout").code == 0
    gone = memlane("train", "--rollback", "7", "--policy", "scout")
    assert gone.code == 1
    assert "--status" in gone.err
    session.graph.learned.activate("scout", 2)
    session.graph.apply([Forget(life["gym"])], at=NOW, actor="user")
    assert "retrain due" in memlane("train", "--status", "--policy", "scout").out
    doctor = memlane("doctor", "--quick", "--json").json
    (learned,) = [check for check in doctor["checks"] if check["name"] == "learned"]
    assert "training of scout is due" in learned["detail"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--reward", "praise"], 2, "Choose from"),
        (["--policy", "magic"], 2, "no policy 'magic'"),
        (["--policy", "top-k"], 2, "does not learn"),
        (["--episodes", "-3"], 2, "whole numbers"),
        (["4"], 2, "--rollback"),
        (["--status", "--rollback"], 2, "cannot be combined"),
        ([], 1, "at least 10"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_done(
    memlane: Memlane, arguments: list[str], code: int, said: str
):
    done = memlane("train", *arguments)
    assert done.code == code
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert done.out == ""


def test_a_small_life_is_trained_with_a_real_reward_model(
    memlane: Memlane, session: Session, life: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    """The real 135M model scores, the real encoder embeds: it improves or keeps what was."""
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "smollm2-135m")
    forget_all(session)
    done = memlane(
        "train", "--policy", "scout", "--warm-start", "200", "--episodes", "2", "--pairs", "0",
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    trained = done.json
    assert trained["kept"] == ("new" if trained["after"] > trained["before"] else "old")
    assert trained["kept"] == "new"  # whoever knows nothing has much to learn
    assert trained["llm_calls"] > 0
    again = memlane(
        "train", "--policy", "scout", "--warm-start", "0", "--episodes", "1", "--pairs", "0",
        "--json",
    ).json  # fmt: skip
    assert again["before"] == pytest.approx(trained["after"], abs=1e-6)
    assert again["cache_hits"] > 0


def test_a_missing_reward_model_is_said_before_anything_is_done(
    memlane: Memlane, session: Session, life: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "/nowhere/none.gguf")
    done = memlane("train", "--policy", "scout", "--pairs", "0")
    assert done.code == 1
    assert "none.gguf" in done.err
    assert session.graph.learned.history() == ()


def test_ctrl_c_says_how_to_go_on(
    memlane: Memlane, session: Session, life: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*_: object, **__: object) -> Scout:
        raise KeyboardInterrupt

    monkeypatch.setattr("agent.learning.train_home.train", interrupted)
    done = memlane("train", "--policy", "scout", "--pairs", "0", "--reward", "answer")
    assert done.code == 130
    assert "Run the same command again to continue" in done.err
    assert session.graph.learned.history() == ()
