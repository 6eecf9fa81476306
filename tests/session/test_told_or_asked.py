"""What a message is taken for where the router and the statement reader do not agree."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.answering.routing import Router
from agent.answering.told_or_asked import CHANCE, LEAST
from agent.errors import ModelError
from agent.results import Route
from agent.session.private import NOT_KEPT
from agent.session.session import Session
from policies.selection import Choice
from store.types import SourceKind
from tests.conftest import NOW, ScriptedModel


def test_in_private_a_statement_that_the_router_misses_is_no_question(session: Session):
    text = "I'm thinking about leaving Harrow & Tweed to set up on my own"
    assert session.router.detect(text).probabilities[Route.UPDATE] < 0.5, "else nothing is shown"
    assert session.respond(text, private=()).text == NOT_KEPT


def test_what_the_router_takes_for_told_and_tells_nothing_is_answered(
    session: Session, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    session.remember("My dentist appointment is on Tuesday at ten.")
    likely = {Route.UPDATE: 0.6, Route.RETRIEVE: 0.3, Route.NEITHER: 0.1}
    taken = SimpleNamespace(probabilities=likely)
    monkeypatch.setattr(Router, "detect", lambda *_: taken)
    scripted.replies.append("Your dentist appointment is on Tuesday at ten.")
    reply = session.respond("Is my dentist appointment on Tuesday at ten?")
    assert reply.route is Route.RETRIEVE
    assert "Tuesday" in reply.text and not reply.entries


def test_a_question_beside_what_is_told_loses_nothing(session: Session):
    text = "mum's moving to leeds in may, what is she thinking"
    assert session.router.detect(text).probabilities[Route.UPDATE] < LEAST, "else nothing is shown"
    reply = session.respond(text)
    assert reply.route is Route.UPDATE
    (kept,) = session.graph.memories.list()
    assert "leeds in may" in kept.text


@pytest.mark.parametrize(
    "text", ["whats the wifi password", "who's the van insured with", "names of the twins pls"]
)
def test_a_short_question_without_a_mark_is_asked_and_not_remembered(text: str, session: Session):
    reply = session.respond(text)
    assert reply.route is Route.RETRIEVE and reply.abstained
    assert not session.graph.memories.list()


def test_a_short_sentence_beside_a_question_is_remembered(
    session: Session, scripted: ScriptedModel
):
    scripted.replies.append("1. Dana | looks after | the cats")
    text = "Dana looks after the cats. and who is moving to leeds?"
    likely = session.router.detect(text).probabilities
    assert likely[Route.RETRIEVE] >= CHANCE, "else nothing is shown"
    reply = session.respond(text)
    assert reply.route is Route.UPDATE
    assert any("cats" in kept.text for kept in session.graph.memories.list())


def test_what_stands_beside_a_question_is_taken_up_after_a_crash_too(session: Session):
    text = "mum's moving to leeds in may, what is she thinking"
    assert session.router.detect(text).probabilities[Route.UPDATE] < LEAST, "else nothing is shown"
    session.graph.sources.add(SourceKind.CHAT, text, NOW)
    (report,) = session.retry()
    assert report.memories == 1


def test_a_message_that_tells_and_asks_is_remembered_and_answered(
    session: Session, scripted: ScriptedModel
):
    session.remember("My sister Jo lives in Hull.")
    scripted.replies += ["Jo lives in Hull.", "1. me | moved | desk"]
    reply = session.respond("Moved my desk to the window today. Where does Jo live?")
    assert reply.route is Route.UPDATE and len(reply.entries) == 1
    assert "Jo lives in Hull" in reply.text and "Noted: Moved my desk" in reply.text
    assert [choice.memory.text for choice in reply.memories] == ["My sister Jo lives in Hull."]


def test_what_was_just_told_is_no_answer_to_its_own_question(session: Session):
    reply = session.respond("Mum's moving to Leeds in May. Why would she move to Leeds?")
    assert reply.text.startswith("Noted: ") and len(reply.text.splitlines()) == 1
    assert not reply.memories


def test_a_question_that_the_model_fails_on_takes_no_reply_away(
    session: Session, scripted: ScriptedModel
):
    session.remember("My sister Jo lives in Hull.")
    scripted.replies += [ModelError("The model is not there."), "1. me | moved | desk"]
    reply = session.respond("Moved my desk to the window today. Where does Jo live?")
    failure, *noted = reply.text.splitlines()
    assert failure == "“Where does Jo live?” is not answered. The model is not there."
    assert noted[0].startswith("Noted: Moved my desk") and len(reply.entries) == 1


@pytest.mark.parametrize(
    ("known", "told", "asked", "answer"),
    [
        ("Meine Schwester Jo wohnt in Kiel.", "Ich habe heute den Schreibtisch verschoben.",
         "Wo wohnt Jo?", "Jo wohnt in Kiel."),
        ("我妹妹小雨住在大连。", "我今天把桌子搬到窗边了。", "小雨住在哪里？", "小雨住在大连。"),
    ],
)  # fmt: skip
def test_a_message_in_another_language_tells_and_asks_too(
    session: Session, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch,
    known: str, told: str, asked: str, answer: str,
):  # fmt: skip
    session.remember(known)
    said = SimpleNamespace(text=answer, abstained=False, evidence=())
    questions: list[str] = []

    def answered(_: object, question: str, *_rest: object) -> object:
        questions.append(question)
        return said

    monkeypatch.setattr("agent.session.respond._answered", answered)
    monkeypatch.setattr(scripted, "reply_to", lambda _: "1. me | moved | desk")
    reply = session.respond(f"{told} {asked}")
    assert questions == [asked]
    assert reply.text.startswith(answer) and len(reply.entries) == 1


def test_a_short_question_is_in_the_language_of_the_messages_before_it(session: Session):
    before = ["Mi hermana Jo vive en Cádiz.", "¿Dónde vive Jo?", "gracias"]
    assert session.router.detect("¿Dónde vive Ana?", before).route is Route.RETRIEVE
    assert session.router.detect("gracias", before).route is Route.NEITHER


def test_what_comes_nearest_to_a_question_beside_is_shown(
    session: Session, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
):
    kept = session.remember("My sister Jo lives in Hull.").entries[0].memory
    near = Choice(session.graph.memories.get(kept), 0.4)
    said = SimpleNamespace(text="Nearest: “Jo lives in Hull.”", abstained=True, evidence=(near,))
    monkeypatch.setattr("agent.session.respond._answered", lambda *_: said)
    scripted.replies.append("1. me | moved | desk")
    reply = session.respond("Moved my desk to the window today. Where does Jo live?")
    assert reply.text.startswith(said.text) and len(reply.entries) == 1
