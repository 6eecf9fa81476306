"""``memlane train --policy purple`` on a home: kept, interrupted, taken back, forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.answering.selection.policy_weights import weights_of
from agent.config import load_config
from agent.learning.episodes import current_view
from agent.learning.train_home import roll_back, starting_policy, train_person, trainable
from agent.learning.training import Plan
from agent.ports import Embedder
from agent.session.session import Session, open_session
from policies.base import Question
from policies.purple import purple
from policies.purple.purple_encoder import Propensities, named
from policies.training.reinforce import Progress
from store.journal import Forget
from tests.conftest import NOW
from tests.support.learning import FACTS, KnowingModel, KnowingRewards, fact, live, practise

PLAN = Plan("purple", warm_start=200, episodes=3, seed=1)


@pytest.fixture
def session(
    own_home: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Session]:
    """A home that begins with weights which rank last what the retriever ranks first."""
    wrong = Propensities.fresh(embedder.dimension, 16, 1)
    named(wrong.flat, wrong)["signs.score"][0] = -0.1
    monkeypatch.setattr(purple, "_weights", lambda: wrong)
    config = replace(load_config(now=NOW), k=2)
    with open_session(
        config, llm=KnowingModel(), embedder=embedder, rewards=KnowingRewards()
    ) as opened:
        practise(opened.graph, live(opened.graph))
        yield opened


class Stop(Exception):
    """Stands for Ctrl-C."""


def test_weights_that_win_are_used_go_on_where_stopped_and_are_taken_back(session: Session):
    assert "purple" in trainable()
    what = next(iter(FACTS))
    asked = f"What is my {what}?"
    steps: list[tuple[str, int]] = []

    def stop(phase: str, progress: Progress) -> None:
        if progress.step == 40:
            raise Stop

    with pytest.raises(Stop):
        train_person(session, PLAN, pairs=0, on_step=stop)
    done = train_person(
        session, PLAN, pairs=0,
        on_step=lambda phase, progress: steps.append((phase, progress.step)),
    )  # fmt: skip
    assert (steps[0], steps[-1]) == (("warm start", 41), ("policy gradient", 3))
    assert done.kept
    assert done.verdict.after > done.verdict.before
    own = weights_of(session.graph, "purple")
    assert isinstance(own, Propensities)
    used = starting_policy(session, "purple").network
    assert used.flat.tobytes() == own.flat.tobytes()
    question = Question(asked, session.embedder.encode([asked])[0], NOW)
    view = current_view(session.graph, session.embedder, NOW)
    first = starting_policy(session, "purple").select(question, view).chosen[0].memory
    assert first.text == fact(what)
    assert session.graph.verify() == ()
    assert roll_back(session.graph, "purple", None) == 0
    assert weights_of(session.graph, "purple") is None


def test_forgetting_what_it_learned_from_makes_retraining_due(session: Session):
    train_person(session, PLAN, pairs=0)
    memory = session.graph.learned.pairs(NOW)[0].memories[0]
    session.graph.apply([Forget(memory)], at=NOW, actor="user")
    assert "purple" in session.graph.learned.due()
