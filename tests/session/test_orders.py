"""Orders about memory in a chat, with the real encoder and the shipped statement reader."""

from __future__ import annotations

import pytest

from agent.session.orders import order_in
from agent.session.session import Session
from store.types import Status
from tests.conftest import ScriptedModel


@pytest.fixture(autouse=True)
def _told(session: Session) -> None:
    for text in (
        "The code of my locker is 4471.",
        "My sister Bo owes me 50 euros.",
        "I work at Kindling Coffee.",
    ):
        session.remember(text)


def current(session: Session) -> list[str]:
    return [memory.text for memory in session.graph.memories.list(Status.CURRENT)]


@pytest.mark.parametrize(
    ("order", "gone"),
    [
        ("Forget my locker code.", "locker"),
        ("please delete what I said about Bo", "Bo"),
    ],
)
def test_an_order_to_forget_hides_what_it_names_and_is_no_fact_itself(
    session: Session, order: str, gone: str
):
    reply = session.respond(order)
    assert [entry.kind.value for entry in reply.entries] == ["forget"]
    assert len(current(session)) == 2
    assert not any(gone in text for text in current(session))
    session.graph.undo(reply.entries[0].id, at=session.config.now())
    assert len(current(session)) == 3


def test_an_order_to_undo_takes_the_last_edit_back(session: Session):
    reply = session.respond("undo that")
    assert "Kindling" in reply.text and "memlane memories undo" in reply.text
    assert len(current(session)) == 2


def test_an_order_that_names_nothing_stored_says_so(session: Session):
    reply = session.respond("Forget everything about my dentist in Lyon.")
    assert not reply.entries
    assert "nothing to forget" in reply.text
    assert len(current(session)) == 3


@pytest.mark.parametrize(
    "text", ["I forgot my locker code.", "My boss asked me to forget the loan to Bo."]
)
def test_a_statement_about_forgetting_is_no_order(
    session: Session, scripted: ScriptedModel, text: str
):
    scripted.replies.append("The code of your locker is 4471.")  # the first one may be asking
    reply = session.respond(text)
    assert all(entry.kind.value != "forget" for entry in reply.entries)
    assert len(current(session)) >= 3


@pytest.mark.parametrize(
    "text", ["scrap that, I work at Redford now", "scrap that, the MOT is on the 11th instead"]
)
def test_what_is_told_in_place_of_the_last_thing_takes_nothing_back_and_hides_nothing(
    session: Session, text: str
):
    order = order_in(text, session)
    assert order is not None and order.kind == "undo" and order.rest, "else nothing is shown here"
    before = current(session)
    reply = session.respond(text)
    assert not {"undo", "forget"} & {entry.kind.value for entry in session.graph.journal.list()}
    assert set(before) - set(current(session)) <= {"I work at Kindling Coffee."}  # by a change
    assert order.rest[-8:].rstrip(".") in reply.text


def test_only_the_order_names_what_is_forgotten(session: Session):
    reply = session.respond("Forget my locker code, I work at Redford Coffee in the evenings now.")
    assert [e.before for e in reply.entries if e.kind.value == "forget"] == [
        "The code of my locker is 4471."
    ]


def test_what_is_told_after_an_order_to_forget_is_kept(session: Session):
    reply = session.respond("Forget my locker code, I have given the locker to Ana now.")
    assert [entry.kind.value for entry in reply.entries] == ["forget", "insert"]
    assert not any("4471" in text for text in current(session))
    assert any("Ana" in text for text in current(session))


def test_an_order_with_a_reason_is_carried_out_and_the_reason_is_no_fact(session: Session):
    reply = session.respond("delete my locker code, that is private")
    assert [entry.kind.value for entry in reply.entries] == ["forget"]
