"""Messages that ask several things: how they are split, and the one reply to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from agent.answering.question.parts import chance_of_several, questions_in
from agent.ports import Embedder
from agent.results import Reply, Route
from agent.session.session import Session
from agent.session.several_questions import combined
from policies.selection import Choice, Selection, Step
from store.journal import Insert
from store.types import Draft, Memory
from tests.conftest import NOW, ScriptedModel

TWO = "When is my eye test and who is my optician?"


def split(message: str, *lines: str, session: Session) -> tuple[str, ...]:
    model = ScriptedModel(["\n".join(lines)])
    return questions_in(message, session.trained, session.statements, model)


def test_two_questions_are_asked_apart(session: Session):
    parts = ("When is my eye test?", "Who is my optician?")
    assert split(TWO, *parts, session=session) == parts


@pytest.mark.parametrize(
    "lines",
    [
        [TWO],
        ["When is my eye test?", "I have an optician."],
        ["When is my eye test?", "Who is my optician Mr Hale?"],
        ["When is my eye test?", "Who pays for the new glasses of my brother?"],
        [f"{n}. When is my eye test?" for n in range(5)],
    ],
    ids=["one", "no question", "a name", "other words", "too many"],
)
def test_what_is_not_of_the_message_leaves_it_whole(lines: Sequence[str], session: Session):
    assert split(TWO, *lines, session=session) == (TWO,)


@pytest.mark.parametrize(
    "message",
    ["Where do I live?", "Wann ist mein Termin und wer kommt mit?", " ".join([TWO] * 10)],
    ids=["one", "German", "long"],
)
def test_the_model_is_not_asked_about_one_question_or_another_language(
    message: str, session: Session
):
    assert questions_in(message, session.trained, session.statements, ScriptedModel()) == (message,)


def test_the_classifier_tells_two_questions_from_one(embedder: Embedder):
    one = "Where do my mum and dad live?"
    assert chance_of_several(one, embedder) < chance_of_several(TWO, embedder)


def test_each_question_is_answered_from_its_own_notes(session: Session, scripted: ScriptedModel):
    drafts = [
        Draft("My eye test is on 12 June 2024.", "event.arrangement", NOW),
        Draft("My optician is Vera Holm.", "attribute.health", NOW),
    ]
    session.graph.apply([Insert(draft) for draft in drafts], at=NOW)
    scripted.replies = [
        "When is my eye test?\nWho is my optician?",
        "Your eye test is on 12 June 2024.",
        "Your optician is Vera Holm.",
    ]
    reply = session.ask(TWO)
    assert reply.text == "Your eye test is on 12 June 2024.\nYour optician is Vera Holm."
    assert {choice.memory.text for choice in reply.memories} == {draft.text for draft in drafts}
    assert reply.turn is not None and session.graph.turns.get(reply.turn).text == TWO


def test_a_question_may_lean_on_the_one_before_it(session: Session, scripted: ScriptedModel):
    drafts = [
        Draft("My optician is Vera Holm.", "attribute.health", NOW),
        Draft("Vera Holm has her practice in Dock Street.", "attribute.health", NOW),
    ]
    session.graph.apply([Insert(draft) for draft in drafts], at=NOW)
    scripted.replies = [
        "Who is my optician?\nWhere does she have her practice?",
        "Your optician is Vera Holm.",
        "She has her practice in Dock Street.",
    ]
    session.ask("Who is my optician, and where does she have her practice?")
    asked = scripted.asked[-1][-1].content.splitlines()[-1]
    assert asked == "Question: Where does Vera Holm have her practice?"


def reply(text: str, memory: Memory | None, *, abstained: bool = False) -> Reply:
    choices = () if memory is None else (Choice(memory, 0.5),)
    steps = () if memory is None else (Step(memory.id, 0.5, not abstained, "near"),)
    return Reply(
        Route.RETRIEVE, text, memories=choices, abstained=abstained,
        selection=Selection("top-k", choices, steps), likely=0.2 if abstained else 0.8,
    )  # fmt: skip


def test_what_is_not_known_is_said_of_its_question():
    memory = Memory("m1", "I live in Ghent.", "attribute.address", "", datetime.now(UTC))
    known, unknown = (
        reply("You live in Ghent.", memory),
        reply("I don't know.", None, abstained=True),
    )
    done = combined(["where do i live", "whats my tax code"], [known, unknown])
    assert done.text == "You live in Ghent.\n“whats my tax code”: I don't know."
    assert not done.abstained and done.likely == 0.8 and len(done.memories) == 1
    none = combined(["a", "b"], [unknown, unknown])
    assert none.text == "I don't know." and none.abstained


def test_a_memory_of_both_answers_is_there_once_with_the_step_that_chose_it():
    memory = Memory("m1", "I live in Ghent.", "attribute.address", "", datetime.now(UTC))
    done = combined(["a", "b"], [reply("A.", memory, abstained=True), reply("B.", memory)])
    assert done.selection is not None
    assert len(done.memories) == 1 and [s.chosen for s in done.selection.trace] == [True]
