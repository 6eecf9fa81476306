"""Words that lean on the conversation are understood; all others are left as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agent.answering.question.references import YESTERDAY, in_context, recent, told_as
from agent.language.mentions import Kind, listed, mentions
from agent.memory.passages import WHILE
from agent.results import Exchange
from agent.session.session import Session
from store.types import Status
from tests.conftest import NOW, ScriptedModel

MIA = Exchange("Where does my sister Mia live?", "Your sister Mia lives in Porto.")
BIKES = Exchange("Which bicycles did I like?", "You liked the Trek, the Giant and the old Peugeot.")
FLIGHT = Exchange("When does my flight EK349 leave?", "Your flight EK349 leaves at 01:40.")


@pytest.mark.parametrize(
    ("before", "message", "meant"),
    [
        ([MIA], "What does she do there?", "What does my sister Mia do in Porto?"),
        ([MIA], "And my brother?", "Where does my brother live?"),
        ([MIA], "How often did I fly there?", "How often did I fly to Porto?"),
        ([BIKES], "I bought the second one.", "I bought the Giant."),
        ([BIKES], "How much was the last one?", "How much was the old Peugeot?"),
        ([FLIGHT], "Where does it go?", "Where does my flight EK349 go?"),
        ([FLIGHT, Exchange("Thanks!")], "When is it?", "When is my flight EK349?"),
        ([Exchange("", "1. the red room\n2. the attic")], "Take number 2.", "Take the attic."),
    ],
)
def test_what_leans_on_the_conversation_is_named(before: list[Exchange], message: str, meant: str):
    assert in_context(message, before) == meant


@pytest.mark.parametrize(
    "message",
    [
        "Is it raining?",
        "Is there any milk left?",
        "It's late, good night.",
        "Forget it.",
        "My aunt Greta says she likes her job.",
        "My mother has a cat, and it sleeps all day.",
        "Tell me about the second world war.",
        "Where does Tom live?",
        "那里天气怎么样？",
    ],
)
def test_what_stands_by_itself_is_left_alone(message: str):
    assert in_context(message, [MIA, FLIGHT, BIKES]) == message


def test_two_who_could_be_meant_leave_the_message_as_it_is():
    assert in_context("Where does he live?", [Exchange("Tom met Karl.")]) == "Where does he live?"


def test_a_list_longer_than_the_ordinal_is_not_made_up():
    two = Exchange("", "You liked the Trek and the Giant.")
    assert in_context("And the fourth one?", [two]) == "And the fourth one?"


def test_mentions_tell_people_places_and_things():
    found = {m.text: m.kinds for m in mentions("My boss Kenji parks the car in Porto.")}
    assert found == {
        "my boss Kenji": {Kind.PERSON},
        "the car": {Kind.THING},
        "Porto": {Kind.PLACE},
    }
    assert listed("a red tent, two stoves or Oslo") == ()
    assert listed("I like Oslo, Bergen or the sea.") == ("Oslo", "Bergen", "the sea")


def test_a_name_ends_with_its_sentence_but_not_with_a_title_or_an_initial():
    text = "My brother moved to Oulu. Then Dr. J. Hopwood called."
    assert [one.text for one in mentions(text)] == ["my brother", "Oulu", "Dr. J. Hopwood"]


def test_a_session_answers_the_question_that_is_meant(session: Session, scripted: ScriptedModel):
    session.respond("My sister Mia lives in Porto.")
    scripted.replies.append("She lives in Porto.")
    reply = session.respond("Where does she live?")
    assert reply.read_as == "Where does my sister Mia live?"
    assert "Question: Where does my sister Mia live?" in scripted.asked[-1][-1].content
    turn = session.graph.turns.last(1)[0]
    assert turn.text == "Where does she live?"  # kept as it was said
    assert turn.trace["leans"] is True and "Mia" not in str(turn.trace)


def test_what_is_told_is_remembered_as_it_was_said(session: Session, scripted: ScriptedModel):
    session.respond("My sister Mia lives in Porto.")
    reply = session.respond("I moved there in April 2024.")
    texts = [memory.text for memory in session.graph.memories.list(Status.CURRENT)]
    assert texts == ["My sister Mia lives in Porto.", "I moved there in April 2024."]
    assert not reply.read_as


@pytest.mark.parametrize(
    "message", ["Been to Dr Hopwood. She's put me on ramipril.", "I saw a van. It's blue."]
)
def test_a_word_leans_on_the_sentence_before_it_in_the_message_itself(message: str):
    said = "My sister Mia bought a kayak."
    assert in_context(message, [Exchange(said, said)]) == message


def test_what_is_old_or_forgotten_is_no_context(session: Session):
    session.respond("My sister Mia lives in Porto.")
    assert recent(session.graph, NOW + timedelta(days=1))[-1].answered.startswith("My sister Mia")
    assert recent(session.graph, NOW + YESTERDAY + timedelta(hours=1)) == ()
    assert recent(session.graph, NOW - timedelta(days=1)) == ()  # the clock was moved back
    session.graph.erase(["m1"], at=NOW)
    assert recent(session.graph, NOW) == ()


def test_small_talk_goes_on_and_answers_from_memory_are_not_repeated_to_the_model(
    session: Session, scripted: ScriptedModel
):
    session.remember("My cat is called Zanzibar.")
    scripted.replies += ["Your cat is called Zanzibar.", "Hello!", "Fine, thank you."]
    session.respond("What is my cat called?")
    session.respond("Good morning!")
    session.respond("How are you?")
    said = [turn.content for turn in scripted.asked[-1]]
    assert said[1:] == ["Good morning!", "Hello!", "How are you?"]


def test_judging_an_answer_to_a_question_that_leans_teaches_nothing(
    session: Session, scripted: ScriptedModel
):
    from agent.learning.feedback import judge
    from store.tables.side_tables.training_data import AnswerJudgement

    session.respond("My sister Mia lives in Porto.")
    scripted.replies += ["Your sister Mia lives in Porto."]
    session.respond("Where does she live?")
    assert not judge(session, AnswerJudgement.GOOD).learnable


@pytest.mark.parametrize(
    ("after", "read_as"),
    [(WHILE, "Where does my sister Mia live?"), (WHILE + timedelta(minutes=1), "")],
)
def test_a_word_leans_on_what_was_said_within_the_hour(
    after: timedelta, read_as: str, session: Session, scripted: ScriptedModel
):
    session.respond("My sister Mia lives in Porto.")
    later = Session(
        replace(session.config, fixed_now=NOW + after),
        session.graph,
        llm=scripted,
        embedder=session.embedder,
    )
    scripted.replies.append("Your sister Mia lives in Porto.")
    assert later.respond("Where does she live?").read_as == read_as


@pytest.mark.parametrize(
    ("message", "meant", "told"),
    [
        ("It was moved to Friday.", "My exam was moved to Friday.", "My exam was moved to Friday."),
        ("I moved there in May.", "I moved to Porto in May.", "I moved there in May."),
        (
            "It never rains but it pours and Bo has landed into a house of his own in Salthill.",
            "A van never rains but it pours and Bo has landed into a house of his own in Salthill.",
            "It never rains but it pours and Bo has landed into a house of his own in Salthill.",
        ),
    ],
)
def test_only_a_short_statement_that_leans_with_its_first_word_is_completed(
    message: str, meant: str, told: str
):
    assert told_as(message, meant) == told
