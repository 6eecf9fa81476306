"""What the person says of an answer becomes practice, and a step of learning that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.answering.selection.policy_weights import weights_of
from agent.config import load_config
from agent.errors import ModelMissing
from agent.learning import feedback
from agent.learning.feedback import judge, learn
from agent.learning.train_home import roll_back, starting_policy
from agent.learning.training import HeldBackVerdict
from agent.ports import Embedder
from agent.session.session import Session, open_session
from policies.base import Episode
from store.errors import InvalidInput, UnknownId
from store.journal import Forget
from store.tables.side_tables.training_data import AnswerJudgement, PairOrigin
from tests.conftest import NOW, Result
from tests.support.learning import KnowingModel, KnowingRewards, live

Memlane = Callable[..., Result]


@pytest.fixture
def session(own_home: Path, embedder: Embedder) -> Iterator[Session]:
    with open_session(
        load_config(now=NOW), llm=KnowingModel(), embedder=embedder, rewards=KnowingRewards()
    ) as opened:
        yield opened


@pytest.fixture
def known(session: Session) -> dict[str, str]:
    """A life, and one question about it that was answered."""
    found = live(session.graph)
    reply = session.ask("What is my bank?", policy="top-k")
    assert reply.text == "Your bank is Triodos."
    return found


def test_a_good_answer_becomes_a_pair_with_what_it_rested_on(
    session: Session, known: dict[str, str]
):
    judged = judge(session, AnswerJudgement.GOOD)
    (pair,) = session.graph.learned.pairs(NOW)
    assert (pair.question, pair.answer) == ("What is my bank?", "Your bank is Triodos.")
    assert known["bank"] in pair.memories
    assert (pair.origin, pair.turn, pair.at) == (PairOrigin.JUDGED, judged.turn.id, NOW)
    assert session.graph.learned.judgements() == {judged.turn.id: AnswerJudgement.GOOD}
    assert session.graph.verify() == ()


def test_a_corrected_answer_rests_on_the_memories_that_say_it(
    session: Session, known: dict[str, str]
):
    session.ask("Who checks my teeth?", policy="top-k")
    judge(session, AnswerJudgement.ANSWER, text="Dr. Osei, my dentist")
    (pair,) = session.graph.learned.pairs(NOW)
    assert (pair.question, pair.answer) == ("Who checks my teeth?", "Dr. Osei, my dentist")
    assert pair.memories == (known["dentist"],)
    assert pair.origin is PairOrigin.CORRECTED


def test_an_answer_that_nothing_says_rests_on_nothing_known(
    session: Session, known: dict[str, str]
):
    judge(session, AnswerJudgement.ANSWER, text="The Xylophone Society of Quito")
    (pair,) = session.graph.learned.pairs(NOW)
    assert pair.memories == ()


def test_a_bad_answer_is_never_learned_from(session: Session, known: dict[str, str]):
    judge(session, AnswerJudgement.GOOD)
    judged = judge(session, AnswerJudgement.BAD)
    assert not judged.learnable
    assert session.graph.learned.pairs(NOW) == ()
    assert session.graph.learned.judgements() == {judged.turn.id: AnswerJudgement.BAD}


def test_an_abstention_called_good_teaches_no_words(session: Session, known: dict[str, str]):
    session.ask("What is my shoe size?", policy="top-k")
    assert not judge(session, AnswerJudgement.GOOD).learnable
    assert session.graph.learned.pairs(NOW) == ()


def test_any_earlier_answer_can_be_judged(session: Session, known: dict[str, str]):
    session.ask("What is my gym?", policy="top-k")
    assert judge(session, AnswerJudgement.GOOD, turn="t1").turn.text == "What is my bank?"
    with pytest.raises(UnknownId, match="t99"):
        judge(session, AnswerJudgement.GOOD, turn="t99")


def test_what_was_told_and_what_is_forgotten_cannot_be_judged(
    session: Session, known: dict[str, str]
):
    told = session.graph.turns.log(NOW, "I moved.", "update", "Noted.", {})
    with pytest.raises(UnknownId, match="asked nothing"):
        judge(session, AnswerJudgement.GOOD, turn=told)
    session.graph.erase([known["bank"]], at=NOW)
    with pytest.raises(UnknownId, match="forgotten"):
        judge(session, AnswerJudgement.GOOD, turn="t1")
    with pytest.raises(UnknownId, match="no answer to judge"):
        judge(session, AnswerJudgement.GOOD)


@pytest.mark.parametrize("text", [None, "", "  ", "?!"])
def test_an_answer_needs_words(session: Session, known: dict[str, str], text: str | None):
    with pytest.raises(InvalidInput, match="feedback answer"):
        judge(session, AnswerJudgement.ANSWER, text=text)
    assert session.graph.learned.judgements() == {}


# ---- learning from it ---------------------------------------------------------------------


def test_a_step_is_learned_once_and_can_be_taken_back(session: Session, known: dict[str, str]):
    before = starting_policy(session, "scout").network.flat
    judge(session, AnswerJudgement.GOOD)
    step = learn(session, "scout")
    assert step is not None
    assert step.episodes == 1
    assert step.verdict.after >= step.verdict.before
    if step.kept:
        own = weights_of(session.graph, "scout")
        assert own is not None
        assert 0 < abs(own.flat - before).max() < 0.1  # a small step
        active = session.graph.learned.active("scout")
        assert active is not None
        assert (active.by, active.continues) == ("feedback", 0)
        roll_back(session.graph, "scout", None)
    assert (starting_policy(session, "scout").network.flat == before).all()
    assert learn(session, "scout") is None


def test_a_step_that_serves_earlier_answers_worse_is_not_kept(
    session: Session, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    judge(session, AnswerJudgement.GOOD)
    learn(session, "scout")
    before = starting_policy(session, "scout").network.flat
    session.ask("What is my gym?", policy="top-k")
    judge(session, AnswerJudgement.GOOD)
    judged_by: list[str] = []

    def worse(old: Any, new: Any, held: Sequence[Episode], value: Any) -> HeldBackVerdict:
        judged_by.extend(episode.question.text for episode in held)
        return HeldBackVerdict(1.0, 0.5, 0.0, len(held))

    monkeypatch.setattr(feedback, "compare", worse)
    step = learn(session, "scout")
    assert step is not None
    assert (step.episodes, step.kept) == (1, False)
    assert judged_by == ["What is my bank?", "What is my gym?"]
    assert (starting_policy(session, "scout").network.flat == before).all()


def test_without_the_reward_model_it_waits_for_the_next_training(
    session: Session, known: dict[str, str]
):
    class Missing(KnowingRewards):
        def log_likelihood(self, *_: Any, **__: Any) -> list[Any]:
            raise ModelMissing("It is not installed.")

    judge(session, AnswerJudgement.GOOD)
    session.rewards = Missing()
    with pytest.raises(ModelMissing):
        learn(session, "scout")
    (pair,) = session.graph.learned.pairs(NOW)
    assert not pair.learned
    session.rewards = KnowingRewards()
    assert learn(session, "scout") is not None


def test_a_forgotten_answer_is_not_learned_from(session: Session, known: dict[str, str]):
    judge(session, AnswerJudgement.GOOD)
    (pair,) = session.graph.learned.pairs(NOW)
    for memory in pair.memories:
        session.graph.apply([Forget(memory)], at=NOW, actor="user")
    assert learn(session, "scout") is None


# ---- the terminal ---------------------------------------------------------------------------


def test_feedback_from_the_terminal(
    memlane: Memlane, session: Session, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMLANE_POLICY", "top-k")
    later = memlane("feedback", "good", "--later", "--json").json
    assert (later["turn"], later["judgement"], later["learnable"]) == ("t1", "good", True)
    assert later["step"] is None
    waits = memlane("feedback", "answer", "It is Triodos", "--turn", "t1")
    assert waits.code == 0
    assert "the policy in use, top-k, cannot be trained" in waits.out
    monkeypatch.setenv("MEMLANE_POLICY", "scout")
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "/nowhere/none.gguf")
    missing = memlane("feedback", "good")
    assert missing.code == 0
    assert "next 'memlane train'" in missing.out
    assert "none.gguf" in missing.out
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "smollm2-135m")
    assert memlane("feedback", "good", "--json").json["step"]["episodes"] == 1
    bad = memlane("feedback", "bad")
    assert "Nothing is learned from it: it does not say what is right" in bad.out
    assert '"What is my bank?"' in bad.out
    assert session.graph.learned.pairs(NOW) == ()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["great"], 2, "good, bad, answer"),
        (["good", "really"], 2, "Only answer takes a text"),
        (["answer"], 2, "feedback answer"),
        (["good", "--turn", "t99"], 1, "t99"),
        (["good", "--turn", "m1"], 1, "turn"),
        (["good"], 1, "no answer to judge"),
    ],
)
def test_bad_input_is_one_line(memlane: Memlane, arguments: list[str], code: int, said: str):
    done = memlane("feedback", *arguments)
    assert done.code == code
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_judging_in_the_chat(
    memlane: Memlane, session: Session, known: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    import io
    import sys

    lines = b"/good\n/answer Triodos\n/answer\n/bad\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    done = memlane("chat")
    assert done.code == 0
    assert done.out.count("Noted for t1") == 3
    assert "feedback answer" in done.err
    assert session.graph.learned.judgements() == {"t1": AnswerJudgement.BAD}
