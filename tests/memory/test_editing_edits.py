"""Denials, corrections, partial updates, open contradictions and expiry, with the real encoder.

What is told goes the way of ``remember``, without a language model; chat messages that settle
something (a correction, an answer) go through ``respond``.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.config import load_config
from agent.memory.editing.conflicts import Holds, answer_in
from agent.models.timing import Stopwatch
from agent.session.session import Session, open_session
from store.types import Status

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def told(session: Session, *texts: str):
    return [session.remember(text) for text in texts][-1]


def current(session: Session) -> list[str]:
    now = session.config.now()
    return [m.text for m in session.graph.memories.list(Status.CURRENT) if m.holds_at(now)]


def kinds(done) -> list[str]:
    return [entry.kind.value for entry in done.entries]


# ---- denials --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I eat meat.", "I no longer eat meat."),
        ("I like steak.", "I don't like steak any more."),
        ("I play tennis on Sundays.", "I stopped playing tennis."),
        ("I work at Northwind.", "I no longer work at Northwind."),
        ("I have a dog.", "I no longer have a dog."),
        ("I smoke.", "I quit smoking."),
        ("I do not drink coffee.", "I drink coffee again."),
    ],
)
def test_a_denial_takes_the_place_of_what_it_denies_and_history_keeps_it(session, old, new):
    told(session, "I live in Bedok.", old)
    done = told(session, new)
    assert kinds(done) == ["replace"]
    assert current(session) == ["I live in Bedok.", new]
    history = session.graph.journal.of_memory(done.entries[0].changes[0].memory)
    assert history[-1].before == old
    assert session.graph.verify() == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like steak.", "My brother does not like steak."),
        ("My mother eats meat.", "I no longer eat meat."),
        ("I like tea.", "I don't like coffee."),
        ("I live in Bedok.", "I don't like Bedok."),
        ("I visited Rome in 2023.", "I will not go to Oslo in 2024."),
        ("My wife works at Halden.", "I no longer work at Northwind."),
    ],
)
def test_a_denial_of_something_else_leaves_a_memory_alone(session, old, new):
    told(session, old)
    told(session, new)
    assert old in current(session)
    assert new in current(session)


def test_a_denial_for_a_while_does_not_end_what_lasts(session):
    told(session, "I eat meat.")
    told(session, "I don't eat meat until the end of May.")
    assert "I eat meat." in current(session)


# ---- several allowed, one allowed -------------------------------------------------------------


def test_two_hobbies_stand_together(session):
    told(session, "My hobby is pottery.", "I also like chess.")
    assert len(current(session)) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like tea.", "I like coffee."),
        ("I have a cat.", "I have a parrot."),
        ("I speak Polish.", "I speak Dutch."),
        ("I have a dentist appointment on 3 June at 10:00.", "I am meeting Carla on 3 June."),
        ("The KL204 flight departs at 09:15.", "The KL204 flight arrives at 11:40."),
        ("I bought a bicycle in March.", "I bought a camera in April."),
        ("My sister's name is Clara.", "My brother's name is Hugo."),
        ("I went to the ramen bar with Omar.", "I went to the ramen bar with Sofia."),
        ("I like jazz.", "I went to a jazz concert yesterday."),
    ],
)
def test_facts_that_can_both_hold_both_stay(session, first, second):
    told(session, first, second)
    assert len(current(session)) == 2


@pytest.mark.parametrize(
    ("told_before", "new", "left", "asked_about"),
    [
        ("I work at Acme.", "I joined Bolt as a designer.", 1, 0),
        ("I joined Bolt as a designer.", "I joined Norbank as head of design.", 1, 0),
        ("I work at Acme.", "I joined a choir.", 2, 0),
        ("I work at Acme.", "I joined Riverside Choir in March.", 2, 0),
        ("I work at Acme.", "I joined Tom on a trip to Rome.", 2, 0),
        ("I work at Acme.", "I joined Stripe.", 2, 1),
        ("I work at Acme.", "I joined Fit24 last week.", 2, 1),
    ],
)
def test_joining_ends_a_job_only_where_it_is_one(session, told_before, new, left, asked_about):
    told(session, told_before)
    done = told(session, new)
    assert (len(current(session)), len(done.open)) == (left, asked_about)


def test_one_home_address_stands_at_a_time(session):
    told(session, "I live in Bedok.")
    done = told(session, "I live in Tampines.")
    assert kinds(done) == ["replace"]
    assert current(session) == ["I live in Tampines."]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I can't stand coriander.", "I hate coriander."),
        ("I like green tea.", "I really like green tea."),
        ("I am allergic to peanuts.", "I am allergic to peanuts, as you know."),
    ],
)
def test_the_same_in_other_words_is_stored_once(session, old, new):
    told(session, old)
    assert told(session, new).entries == ()


def test_a_setting_of_one_value_is_replaced_without_a_named_relation(session):
    told(session, "Text size on screen: small")
    done = told(session, "Set the text size to large from now on.")
    assert kinds(done) == ["replace"]


# ---- partial updates --------------------------------------------------------------------------


def test_the_time_moves_and_the_rest_stays(session):
    told(
        session, "I have a dentist appointment with Dr Lund on 14 June at 10:00 at Orchard Clinic."
    )
    done = told(session, "The dentist appointment is moved to 11:00.")
    assert kinds(done) == ["replace"]
    (text,) = current(session)
    assert "11:00" in text and "10:00" not in text
    assert "Dr Lund" in text and "Orchard Clinic" in text and "14 June" in text
    triples = session.graph.memories.get(done.entries[0].memory).triples
    assert any("11:00" in t.tail for t in triples) and not any("10:00" in t.tail for t in triples)
    assert session.graph.verify(session.embedder.identity) == ()


def test_the_day_moves_and_the_hour_stays(session):
    told(session, "The dinner with Ana is on Friday at 19:30 at Luigi's.")
    done = told(session, "The dinner with Ana is moved to Saturday.")
    assert kinds(done) == ["replace"]
    assert current(session) == ["The dinner with Ana is on Saturday 2024-05-11 19:30 at Luigi's."]


def test_another_seat_keeps_the_coach(session):
    told(session, "My seat on the train to Milan is 14C in coach 3.")
    told(session, "My seat on the train to Milan is 15A.")
    assert current(session) == ["My seat on the train to Milan is 15A in coach 3."]


def test_another_day_without_a_move_is_another_appointment(session):
    told(session, "I have a dentist appointment on 14 June at 10:00.")
    told(session, "I have a dentist appointment on 21 June at 10:00.")
    assert len(current(session)) == 2


# ---- contradictions that cannot be decided ------------------------------------------------------


@pytest.fixture
def undecided(session, monkeypatch):
    """A session whose slot cardinality is always in doubt, with one contradiction in it."""
    monkeypatch.setattr("agent.memory.editing.decision.ONE", 2.0)
    monkeypatch.setattr("agent.memory.editing.decision.SEVERAL", 0.0)
    session.remember("I prefer the aisle seat (plane seat).")
    return session


def asked(session: Session):
    """Tell the other value as a chat turn: remembered as it stands, logged with its question."""
    from agent.session.reply import told as reply_to

    done = session.remember("Set my plane seat to the window seat.")
    assert len(done.open) == 1
    clock = Stopwatch()
    reply = session._asking(reply_to(done), NOW)
    return session._logged("Set my plane seat to the window seat.", reply, clock, NOW)


def test_both_stay_and_the_person_is_asked(undecided):
    reply = asked(undecided)
    assert len(current(undecided)) == 2
    assert "Which holds" in reply.text
    assert reply.questions[0] in reply.text


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("The new one.", ["window"]),
        ("the old one", ["aisle"]),
        ("Both.", ["aisle", "window"]),
        ("the window", ["window"]),
    ],
)
def test_the_answer_settles_it(undecided, answer, left):
    asked(undecided)
    reply = undecided.respond(answer)
    assert reply.route.value == "update"
    standing = " ".join(current(undecided))
    assert [word for word in ("aisle", "window") if word in standing] == left
    assert undecided.graph.verify() == ()


def test_the_question_lasts_for_one_message(undecided):
    asked(undecided)
    undecided.llm.replies = ["Hello!"]
    undecided.respond("hello there!")
    undecided.llm.replies = ["Fine."]
    undecided.respond("The new one.")
    assert len(current(undecided)) == 2


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("both are true", Holds.BOTH),
        ("the second", Holds.NEW),
        ("the first one still holds", Holds.OLD),
        ("jazz", Holds.OLD),
        ("What is the new one?", None),
        ("I bought a trumpet yesterday", None),
        ("the newer one, please", Holds.NEW),
        ("两个都对", Holds.BOTH),
        ("旧的那个", Holds.OLD),
        # What tells something of its own is no answer, whatever words of one it has.
        ("Now Bo teaches me the trumpet.", None),
        ("My last concert was sold out", None),
        ("我现在喜欢古典音乐和新的乐队", None),
    ],
)
def test_what_counts_as_an_answer(message, wanted):
    assert answer_in(message, "I like jazz.", "I like rock.") == wanted


# ---- expiry -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("The Hilton voucher expires on 14 May.", datetime(2024, 5, 15, tzinfo=UTC)),
        ("I have a dentist appointment on Tuesday at 10:00.", datetime(2024, 5, 15, tzinfo=UTC)),
        ("I booked a table at Luigi's for Friday at 8 pm.", datetime(2024, 5, 11, tzinfo=UTC)),
        ("The Hilton reservation is for 12 May to 14 May.", datetime(2024, 5, 15, tzinfo=UTC)),
        ("I had a dentist appointment on Monday.", None),
        ("I have to book an appointment by Friday.", None),
        ("I live in Bedok.", None),
    ],
)
def test_vouchers_bookings_and_appointments_end_by_themselves(session, text, until):
    memory = session.graph.memories.get(told(session, text).entries[0].memory)
    assert memory.valid_until == until
    if until is not None:
        assert memory.holds_at(until - timedelta(minutes=1))
        assert not memory.holds_at(until)


def test_an_expired_memory_is_not_what_an_edit_is_about(session, own_home, embedder, scripted):
    told(session, "The Hilton voucher expires on 14 May.")
    later = replace(load_config(now=NOW + timedelta(days=30)))
    with open_session(later, llm=scripted, embedder=embedder) as reopened:
        done = told(reopened, "The Hilton voucher expires on 20 June.")
        assert kinds(done) == ["expire"]
        assert done.entries[0].before is None


# ---- the index kept between edits ---------------------------------------------------------------


def test_what_was_just_told_is_found_by_the_next_edit_without_reading_all_again(session):
    told(session, "I like jazz.")
    told(session, "I live in Bedok.")
    views = []
    original = session.graph.view

    def counted(*given, **named):
        views.append(given)
        return original(*given, **named)

    session.graph.view = counted
    assert kinds(told(session, "I live in Tampines.")) == ["replace"]
    assert told(session, "I live in Tampines.").entries == ()
    assert views == []


def test_an_edit_by_hand_or_an_undo_is_seen_by_the_next_edit(session):
    done = told(session, "I live in Bedok.")
    session.graph.undo(done.entries[0].id, at=NOW)
    assert kinds(told(session, "I live in Tampines.")) == ["insert"]
