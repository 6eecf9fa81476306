"""From when and until when a memory holds, read from its sentence, and what that may edit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.extraction.triples.read import triples_for
from agent.extraction.validity import held
from agent.language.dates import resolve_text
from agent.memory.editing.expiry import replaces_nothing
from agent.session.session import Session
from store.types import Draft, Status

SAID = datetime(2024, 5, 20, 10, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def read(sentence: str, subclass: str = "attribute.address"):
    text = resolve_text(sentence, SAID)
    return held(text, subclass, triples_for([text], None)[0], SAID)


@pytest.mark.parametrize(
    ("sentence", "start", "end"),
    [
        ("I live in Bedok.", None, None),
        ("I moved to Bedok in March.", "2024-03-01", None),
        ("I moved to Bedok last month.", "2024-04-01", None),
        ("I have lived in Bedok since 2 May.", "2024-05-02", None),
        ("I'm moving to Berlin on 1 June.", "2024-06-01", None),
        ("I start at Bolt on 1 June.", "2024-06-01", None),
        ("From 1 June I work at Bolt.", "2024-06-01", None),
        ("I lived in Oslo until 2019.", None, "2020-01-01"),
        ("I lived in Oslo from 2015 to 2019.", "2015-01-01", "2020-01-01"),
        ("I worked at Acme in 2019.", "2019-01-01", "2020-01-01"),
        ("I used to work at Acme.", None, "2024-05-20T10:00"),
        ("I am living in Leeds until Friday.", None, "2024-05-25"),
        ("I was born in Lisbon.", None, None),
        ("I met Ann in March.", None, None),
    ],
)
def test_when_a_state_holds(sentence: str, start: str | None, end: str | None):
    assert read(sentence) == (day(start) if start else None, day(end) if end else None)


@pytest.mark.parametrize(
    ("sentence", "end"),
    [
        ("I have a dentist appointment on Tuesday at 10.", "2024-05-22"),
        ("A table is booked at Nobu for Saturday 8pm.", "2024-05-26"),
        ("The dinner voucher is valid until May 28.", "2024-05-29"),
        ("My gym membership runs out on 30 May.", "2024-05-31"),
        ("The parents' evening is on Tuesday at 18:15.", "2024-05-22"),
        ("My laptop is a ThinkPad and the piano lesson is on Thursday at 17:00.", None),
        ("The piano lesson is on Thursday at 17:00, my laptop is a ThinkPad.", None),
        ("The piano lesson is on Thursday at 17:00. My laptop is a ThinkPad.", None),
        ("187 dollars. A cone on her till Sunday.", None),
        ("The parking permit is valid until 30 May, the number is 4411.", None),
        ("A table is booked for Saturday, May 25, at 8pm, party of four.", "2024-05-26"),
        ("The new tram opens on 30 May.", None),
        ("I must return the book on Tuesday.", None),
        ("I have an appointment every Tuesday.", None),
    ],
)
def test_what_ends_by_itself(sentence: str, end: str | None):
    assert read(sentence, "event.arrangement") == (None, day(end) if end else None)


def draft(sentence: str) -> Draft:
    text = resolve_text(sentence, SAID)
    triples = triples_for([text], None)[0]
    start, end = held(text, "attribute.address", triples, SAID)
    return Draft(text, "attribute.address", SAID, triples, start, end)


@pytest.mark.parametrize(
    ("sentence", "nothing"),
    [
        ("I lived in Oslo until 2019.", True),
        ("I used to live in Oslo.", True),
        ("I will move to Berlin.", True),
        ("I'm moving to Berlin on 1 June.", False),
        ("I moved to Bedok.", False),
    ],
)
def test_a_past_state_and_a_plan_without_a_day_replace_nothing(sentence: str, nothing: bool):
    assert replaces_nothing(draft(sentence)) is nothing


def test_an_end_told_later_ends_what_is_known(session: Session):
    session.remember("I work at Acme.", at=day("2024-05-01"))
    (entry,) = session.remember("I work at Acme until 7 May.", at=day("2024-05-02")).entries
    assert (entry.kind, entry.memory) == ("expire", "m1")
    assert session.graph.memories.get("m1").valid_until == day("2024-05-08")
    session.graph.undo(entry.id, at=SAID)
    assert session.graph.memories.get("m1").valid_until is None
    assert session.graph.verify() == ()


def test_what_an_end_tells_besides_is_not_lost_with_it(session: Session):
    session.remember("I work at Acme.", at=day("2024-05-01"))
    told = session.remember("I work at Acme until 7 May, then at Bolt.", at=day("2024-05-02"))
    ended, added = (entry.memory for entry in told.entries)
    memories = session.graph.memories
    assert ended == "m1" and memories.get(ended).valid_until == day("2024-05-08")
    assert "Bolt" in memories.get(added).text and memories.get(added).valid_until is None


def test_a_named_thing_told_as_now_another_is_replaced(session: Session):
    session.remember("My gym is called Stone Hall.", at=day("2024-05-01"))
    session.remember("From 3 May my gym is Gravity.", at=day("2024-05-02"))
    old, new = session.graph.memories.list()
    assert (old.status, old.valid_until) == (Status.REPLACED, day("2024-05-03"))
    assert new.valid_from == day("2024-05-03")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("My hairdresser is Jenna.", "I go to a new hairdresser, Priya."),
        ("My subject is law.", "I changed my subject to physics."),
        ("My yoga studio is Lotus Room.", "My yoga studio changed from Lotus Room to Moon Barn."),
    ],
)
def test_a_change_told_as_one_replaces_whatever_the_noun(session: Session, before: str, now: str):
    session.remember(before, at=day("2024-05-01"))
    (entry,) = session.remember(now, at=day("2024-05-03")).entries
    assert (entry.kind, entry.before) == ("replace", before)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I can't stand snow any more.", "I no longer eat fish."),
        ("I don't eat cheese.", "I don't eat fish any more."),
        ("I take ibuprofen.", "I take cetirizine now."),
    ],
)
def test_what_one_gives_up_or_does_beside_another_takes_no_place(
    session: Session, before: str, now: str
):
    session.remember(before, at=day("2024-05-01"))
    session.remember(now, at=day("2024-05-02"))
    assert {m.status for m in session.graph.memories.list()} == {Status.CURRENT}


def test_a_moved_event_of_any_name_keeps_its_day_and_its_end(session: Session):
    session.remember("I reserved a table at Sushi Ume for 2024-05-10 at 19:00.",
                     at=day("2024-05-01"))  # fmt: skip
    session.remember("The table reservation at Sushi Ume is at 19:30 now.", at=day("2024-05-02"))
    latest = session.graph.memories.list()[-1]
    assert "19:30" in latest.text
    assert "2024-05-10" in latest.text
    assert latest.valid_until == day("2024-05-11")


def test_a_new_friend_takes_no_friends_place(session: Session):
    session.remember("My friend is Ann.", at=day("2024-05-01"))
    session.remember("My new friend is Bob.", at=day("2024-05-02"))
    assert {m.status for m in session.graph.memories.list()} == {Status.CURRENT}


def test_a_moved_appointment_still_ends_with_its_day(session: Session):
    session.remember("I have a dentist appointment on 2024-05-10 at 10:00.", at=day("2024-05-01"))
    session.remember("The dentist appointment is moved to 11:00.", at=day("2024-05-02"))
    latest = session.graph.memories.list()[-1]
    assert "11:00" in latest.text
    assert latest.valid_until == day("2024-05-11")
