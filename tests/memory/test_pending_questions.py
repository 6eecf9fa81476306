"""What memlane asks back in chat: each thing once, at the right moment, and answered there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.memory.editing.conflicts import yes_or_no
from agent.memory.entities.identity import Identities
from agent.results import Reply, Route
from agent.session.session import Session
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import SourceKind, Status
from tests.conftest import ScriptedModel

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def say(session: Session, scripted: ScriptedModel, text: str, *replies: str) -> Reply:
    scripted.replies[:] = replies
    return session.respond(text)


def another(session: Session, **later: int) -> Session:
    """The next chat, on the same home."""
    config = replace(session.config, fixed_now=NOW + timedelta(**later))
    return Session(config, session.graph, llm=session.llm, embedder=session.embedder)


def screenshot(session: Session, text: str, scripted: ScriptedModel) -> None:
    """A memory of lower trust that contradicts what was told."""
    from agent.extraction.drafts import make_drafts
    from agent.memory.remember import store_drafts

    source = session.graph.sources.add(SourceKind.SCREENSHOT, text, NOW)
    drafts = make_drafts([text], session.placer.place([text]), source, llm=None)
    store_drafts(drafts, source, session.graph, session, NOW)


# ---- contradictions -----------------------------------------------------------------------


def test_a_contradiction_of_a_screenshot_is_asked_in_the_next_chat_and_not_at_every_message(
    session: Session, scripted: ScriptedModel
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    assert session.graph.questions.undecided(QuestionKind.HOLDS) == (("m1", "m2"),)
    chat = another(session, days=1)
    first = say(chat, scripted, "Good morning!", "Good morning.")
    assert first.open == (("m1", "m2"),)
    assert "I live in Bedok." in first.questions[0]
    assert "screenshot" in first.questions[0]
    assert first.text == "Good morning."
    again = say(chat, scripted, "Thanks a lot!", "You are welcome.")
    assert again.questions == ()


def test_an_undecided_contradiction_is_asked_again_the_next_day_until_it_is_decided(
    session: Session, scripted: ScriptedModel
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    for days in (1, 2):
        chat = another(session, days=days)
        asked = say(chat, scripted, "Good morning!", "Good morning.")
        assert asked.open == (("m1", "m2"),)
    say(another(session, days=2), scripted, "Both are true.")
    assert session.graph.questions.undecided(QuestionKind.HOLDS) == ()
    later = say(another(session, days=9), scripted, "Good morning!", "Good morning.")
    assert later.questions == ()


def test_what_the_answer_ended_is_asked_again_when_that_is_undone(
    session: Session, scripted: ScriptedModel
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    say(another(session, days=1), scripted, "Good morning!", "Good morning.")
    done = say(another(session, days=1), scripted, "The old one.")
    assert session.graph.questions.undecided(QuestionKind.HOLDS) == ()
    session.graph.undo(done.entries[0].id, at=NOW + timedelta(days=1))
    assert session.graph.questions.undecided(QuestionKind.HOLDS) == (("m1", "m2"),)


def test_status_lists_what_is_to_be_decided_and_unlink_decides_it(
    session: Session, scripted: ScriptedModel, memlane
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    at = ("--now", NOW.isoformat())
    (waiting,) = memlane(*at, "status", "--json").json["undecided"]
    assert waiting["memories"] == ["m1", "m2"]
    told = " ".join(memlane(*at, "status").out.split())
    assert "to decide You told me: I live in Bedok. Now: I live in Tampines. (from a scr" in told
    assert "memlane memories unlink m1 m2" in told
    memlane(*at, "memories", "unlink", "m1", "m2")
    assert memlane(*at, "status", "--json").json["undecided"] == []
    assert len(memlane(*at, "list", "--json").json["memories"]) == 2


def test_the_answer_in_chat_settles_what_a_screenshot_left_open(
    session: Session, scripted: ScriptedModel
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    chat = another(session, days=1)
    say(chat, scripted, "Good morning!", "Good morning.")
    say(chat, scripted, "The new one.")
    now = chat.config.now()
    holding = [m.text for m in chat.graph.memories.list(Status.CURRENT) if m.holds_at(now)]
    assert holding == ["I live in Tampines."]
    assert chat.graph.verify() == ()


def test_a_question_about_what_is_gone_is_never_asked(session: Session, scripted: ScriptedModel):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    session.graph.erase(["m2"], at=NOW)
    reply = say(another(session, days=1), scripted, "Good morning!", "Good morning.")
    assert reply.questions == ()


def test_forgetting_what_was_asked_about_leaves_nothing_to_answer(
    session: Session, scripted: ScriptedModel
):
    session.remember("I live in Bedok.")
    screenshot(session, "I live in Tampines.", scripted)
    chat = another(session, days=1)
    say(chat, scripted, "Good morning!", "Good morning.")
    chat.graph.erase(["m2"], at=NOW)
    say(chat, scripted, "The new one.", "Which one?")
    assert [m.text for m in chat.graph.memories.list(Status.CURRENT)] == ["I live in Bedok."]


def test_remember_says_that_it_will_be_asked(memlane):
    at = ("--now", "2024-05-08T10:00")
    memlane(*at, "remember", "My flight to Oslo departs on 2024-05-12 at 07:00.")
    memlane(*at, "remember", "My flight to Lagos departs on 2024-06-12 at 08:40.")
    told = memlane(*at, "remember", "My flight now leaves at 9:15.")
    assert (
        "m1 and m3 contradict each other; in the next chat I will ask which one is true."
        in told.out
    )


# ---- suggestions --------------------------------------------------------------------------

ODA = ("Kenji Oda likes golf.", "Mr Oda likes tea.", "Mr Oda lives in Lund.")


def test_a_ripe_suggestion_is_asked_at_a_quiet_moment_once(
    session: Session, scripted: ScriptedModel
):
    for text in ODA[:2]:
        session.remember(text)
    assert say(session, scripted, "Good morning!", "Good morning.").questions == ()
    session.remember(ODA[2])
    reply = say(session, scripted, "Thanks a lot!", "You are welcome.")
    assert reply.suggested == (QuestionKind.MERGE, "m1", "m2")
    assert "Are Kenji Oda and Mr Oda one and the same" in reply.questions[0]
    chat = another(session, days=1)
    assert say(chat, scripted, "Good morning!", "Good morning.").questions == ()


@pytest.mark.parametrize(("answer", "joined"), [("Yes, they are.", True), ("No.", False)])
def test_yes_and_no_decide_a_suggestion_and_undo_takes_it_back(
    session: Session, scripted: ScriptedModel, answer: str, joined: bool
):
    for text in ODA:
        session.remember(text)
    say(session, scripted, "Thanks a lot!", "You are welcome.")
    reply = say(session, scripted, answer)
    assert reply.route is Route.UPDATE
    known = Identities.of(session.graph, NOW)
    assert (known.who("Kenji Oda") == known.who("Mr Oda")) is joined
    assert (known.apart("Kenji Oda", "Mr Oda") is not None) is not joined
    session.graph.undo(reply.entries[-1].id, at=NOW)
    known = Identities.of(session.graph, NOW)
    assert known.who("Kenji Oda") != known.who("Mr Oda")
    assert known.apart("Kenji Oda", "Mr Oda") is None
    assert session.graph.verify() == ()


def test_one_name_in_two_circles_is_split_in_chat(session: Session, scripted: ScriptedModel):
    for text in ("Tom is my brother.", "Tom is my colleague.", "Tom is my boss."):
        session.remember(text)
    reply = say(session, scripted, "Thanks a lot!", "You are welcome.")
    assert reply.suggested is not None
    assert reply.suggested[0] is QuestionKind.SPLIT
    say(session, scripted, "yes")
    known = Identities.of(session.graph, NOW)
    assert known.who("my brother") != known.who("my colleague")


def test_nobody_is_asked_about_names_while_waiting_for_an_answer(
    session: Session, scripted: ScriptedModel
):
    for text in ODA:
        session.remember(text)
    reply = say(session, scripted, "What does Mr Oda like?", "Mr Oda likes tea.")
    assert reply.route is Route.RETRIEVE
    assert reply.questions == ()


def test_anything_but_yes_or_no_goes_its_own_way(session: Session, scripted: ScriptedModel):
    for text in ODA:
        session.remember(text)
    say(session, scripted, "Thanks a lot!", "You are welcome.")
    say(session, scripted, "Good night.", "Good night.")
    known = Identities.of(session.graph, NOW)
    assert known.who("Kenji Oda") != known.who("Mr Oda")
    assert known.apart("Kenji Oda", "Mr Oda") is None


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("yes", True),
        ("Yes, they are the same person.", True),
        ("Yep!", True),
        ("no", False),
        ("No, they are two different people.", False),
        ("nope.", False),
        ("No, the 4th, not the 14th.", None),
        ("Yes, and I moved to Bedok.", None),
        ("Yesterday", None),
        ("Nothing new.", None),
        ("", None),
    ],
)
def test_what_is_yes_or_no(message: str, answer: bool | None):
    assert yes_or_no(message) is answer
