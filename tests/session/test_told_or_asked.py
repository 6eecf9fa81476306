"""What a message is taken for where the router and the statement reader do not agree."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.answering.routing import Router
from agent.results import Route
from agent.session.respond import NOT_KEPT
from agent.session.session import Session
from tests.conftest import ScriptedModel


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
