"""Which memories tell of one event, and that a change reaches that event and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.extraction.triples.read import triples_for
from agent.memory.entities.events import events
from agent.memory.entities.identity import Identities
from agent.session.session import Session
from store.types import Memory, Status

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def told(number: int, source: str, text: str) -> Memory:
    return Memory(
        f"m{number}",
        text,
        "Event",
        "event.arrangement",
        NOW,
        triples=triples_for([text], None)[0],
        source=source,
    )


def together(*lines: str, who: tuple[str, ...] = ()) -> set[frozenset[int]]:
    """Numbers of the lines ('source: text') that tell of one event, those alone left out."""
    memories = [told(number, *line.split(": ", 1)) for number, line in enumerate(lines, 1)]
    people = [replace(told(100 + n, "s0", text), source=None) for n, text in enumerate(who)]
    found = events(memories, Identities(people, NOW + timedelta(days=1)))
    groups = (frozenset(int(m[1:]) for m in event.memories) for event in found)
    return {group for group in groups if len(group) > 1}


def test_the_mail_about_a_flight_and_its_boarding_pass_are_one_flight():
    assert together(
        "s1: My flight QX481 departs on 2024-06-12 at 23:45.",
        "s1: The booking reference is R7PLM2.",
        "s2: The seat on QX481 is 17C.",
        "s2: The gate of QX481 on 2024-06-12 is B4.",
        "s3: Booking R7PLM2 includes one bag.",
    ) == {frozenset({1, 2, 3, 4, 5})}


def test_one_number_on_two_days_is_two_flights():
    assert together(
        "s1: My flight QX481 departs on 2024-06-12 at 23:45.",
        "s2: Flight QX481 departs on 2024-06-19 at 23:45.",
        "s3: The seat on QX481 is 17C.",  # of which, nobody can tell
        "s4: The seat on QX481 on 2024-06-19 is 2A.",
    ) == {frozenset({2, 4})}


def test_two_numbers_on_one_day_are_two_flights():
    assert together(
        "s1: My flight QX481 to Lagos departs on 2024-06-12.",
        "s2: My flight QX482 to Lagos departs on 2024-06-12.",
        "s3: The booking reference of QX481 is R7PLM2.",
        "s3: The booking reference of QX482 is R7PLM2.",
        "s4: My flight to Lagos is on 2024-06-12.",
    ) == {frozenset({1, 3}), frozenset({2, 4})}


def test_an_arrival_the_next_morning_is_of_the_same_flight():
    assert together(
        "s1: My flight QX481 departs on 2024-06-12 at 23:45.",
        "s2: Flight QX481 arrives on 2024-06-13 at 06:10.",
    ) == {frozenset({1, 2})}


def test_kind_day_and_people_make_one_event_under_every_name():
    lines = (
        "s1: Dinner with Tunde is on 2024-06-14 at Maxwell Hall.",
        "s2: I have a dinner with my boss at Maxwell Hall on 2024-06-14.",
    )
    assert together(*lines, who=("My boss is Tunde.",)) == {frozenset({1, 2})}
    assert together(*lines, who=("My boss is Petra.",)) == set()


@pytest.mark.parametrize(
    "lines",
    [
        ("s1: Dinner with Tunde is on 2024-06-14.", "s2: Dinner with Petra is on 2024-06-14."),
        ("s1: Dinner with Tunde is on 2024-06-14.", "s2: Dinner with Tunde is on 2024-06-15."),
        ("s1: Dinner with Tunde is on 2024-06-14.", "s2: Lunch with Tunde is on 2024-06-14."),
        ("s1: The interview at Voss is on 2024-06-14 at 09:00.",
         "s2: The interview at Voss is on 2024-06-14 at 15:00."),
        ("s1: Order 4711-22 is expected on 2024-06-14.",
         "s2: Order 4711-23 is expected on 2024-06-14."),
        ("s1: Dinner is on 2024-06-14.", "s2: Dinner is on 2024-06-14 too."),
        ("s1: I like flights.", "s2: I like dinner."),
    ],
)  # fmt: skip
def test_what_differs_in_a_person_day_kind_hour_or_number_stays_two(lines: tuple[str, ...]):
    assert together(*lines) == set()


def test_names_of_an_event_can_be_joined_by_hand():
    lines = (
        "s1: The Lagos flight departs on 2024-06-12 at 23:45.",
        "s2: The seat on QX481 is 17C.",
    )
    assert together(*lines) == set()
    joined = ("The Lagos flight and QX481 are the same flight.",)
    assert together(*lines, who=joined) == {frozenset({1, 2})}


# ---- with the real encoder ----------------------------------------------------------------


def holding(session: Session) -> list[str]:
    now = session.config.now()
    return [m.text for m in session.graph.memories.list(Status.CURRENT) if m.holds_at(now)]


def test_a_changed_time_reaches_the_flight_of_its_day(session: Session):
    session.remember("My flight QX481 departs on 2024-06-12 at 23:45.")
    session.remember("Flight QX481 departs on 2024-06-19 at 08:10.")
    session.remember("Flight QX481 on 2024-06-19 now departs at 09:00.")
    assert holding(session) == [
        "My flight QX481 departs on 2024-06-12 at 23:45.",
        "Flight QX481 on 2024-06-19 now departs at 09:00.",
    ]


def test_a_later_time_moves_the_flight_and_keeps_what_else_is_known(session: Session):
    session.remember("My flight QX481 to Lagos departs on 2024-06-12 at 23:45.")
    session.remember("The seat on QX481 is 17C.")
    session.remember("The departure of QX481 is now 00:20.")
    session.remember("Flight QX481 is delayed to 01:10.")
    assert sorted(holding(session)) == [
        "My flight QX481 to Lagos departs on 2024-06-12 at 01:10.",
        "The seat on QX481 is 17C.",
    ]


@pytest.mark.parametrize(
    ("booked", "moved"),
    [
        (
            "I have a flight to Lagos on 2024-06-12 at 08:40.",
            "I have a flight to Lagos on 2024-06-12 at 09:15.",
        ),
        (
            "My flight QX481 to Lagos departs on 2024-06-12 at 08:40.",
            "My flight QX481 to Lagos departs on 2024-06-12 at 09:15.",
        ),
    ],
)
def test_an_hour_without_a_day_moves_the_flight_that_is_still_to_come(
    session: Session, booked: str, moved: str
):
    session.remember("My flight KL204 to Oslo departs on 2024-04-12 at 07:00.")  # last month's
    session.remember(booked)
    session.remember("My flight now leaves at 9:15.")
    assert holding(session) == ["My flight KL204 to Oslo departs on 2024-04-12 at 07:00.", moved]
    assert session.graph.verify() == ()


def test_an_hour_without_a_day_changes_the_coming_one_of_two_flights_of_a_number(session: Session):
    session.remember("My flight QX481 departs on 2024-04-12 at 23:45.")
    session.remember("My flight QX481 departs on 2024-06-19 at 08:10.")
    session.remember("QX481 now departs at 09:00.")
    assert holding(session) == [
        "My flight QX481 departs on 2024-04-12 at 23:45.",
        "My flight QX481 departs on 2024-06-19 at 09:00.",
    ]


def test_an_hour_that_may_be_of_two_coming_flights_is_asked_about(session: Session):
    session.remember("My flight to Oslo departs on 2024-05-12 at 07:00.")
    session.remember("My flight to Lagos departs on 2024-06-12 at 08:40.")
    done = session.remember("My flight now leaves at 9:15.")
    assert len(holding(session)) == 3
    assert [old.text for old, _ in done.open] == [
        "My flight to Oslo departs on 2024-05-12 at 07:00."
    ]


def test_an_hour_changes_in_the_mail_and_on_the_boarding_pass(session: Session):
    session.remember("I have booked flight QX481 to Lagos on 2024-06-12 at 08:40.")
    session.remember("The QX481 flight departs on 2024-06-12 at 08:40.")
    session.remember("QX481 now departs at 09:15.")
    assert not any("08:40" in text for text in holding(session))
    assert any("to Lagos" in text and "09:15" in text for text in holding(session))


def test_an_arrival_does_not_move_the_departure_of_a_booking(session: Session):
    session.remember("I have a flight to Lagos on 2024-06-12 at 08:40.")
    session.remember("My flight now arrives at 11:20.")
    assert "I have a flight to Lagos on 2024-06-12 at 08:40." in holding(session)


def test_an_appointment_moves_under_another_name_of_its_person(session: Session):
    session.remember("My boss is Tunde.")
    session.remember("My boss's review with Dr Ode is on 2024-06-12 at 10:00 at Voss House.")
    session.remember("Tunde's review is moved to 11:00.")
    assert holding(session)[-1] == (
        "My boss's review with Dr Ode is on 2024-06-12 at 11:00 at Voss House."
    )


def test_asking_about_the_flight_gives_what_both_sources_told(session: Session):
    session.remember("My flight QX481 to Lagos departs on 2024-06-12 at 23:45.")
    session.remember("The seat on QX481 is 17C.")
    for text in ("I like the aisle.", "My seat at the opera is 3F.", "I fly often.",
                 "I hate flight delays.", "Lagos is hot in June.", "I love Lagos."):  # fmt: skip
        session.remember(text)
    chosen = [c.memory.id for c in session.select("When does my flight leave?", k=1).chosen]
    assert chosen == ["m1", "m2"]


def test_what_was_said_of_my_boss_is_found_under_the_name(session: Session):
    for text in ("My boss is Mr Adeyemi.", "Tunde is my boss.", "My boss drinks rooibos.",
                 "Petra drinks water.", "I drink coffee."):  # fmt: skip
        session.remember(text)
    chosen = session.select("What does Tunde drink?", k=2).chosen
    assert chosen[0].memory.text == "My boss drinks rooibos."
    assert "Tunde is my boss." in [choice.memory.text for choice in chosen]


def test_editing_takes_names_and_phrases_for_one(session: Session):
    for text in ("My boss is Mr Adeyemi.", "Tunde is my boss.", "Tunde lives in Lagos.",
                 "My boss lives in Enugu."):  # fmt: skip
        session.remember(text)
    assert holding(session)[-1] == "My boss lives in Enugu."
    assert "Tunde lives in Lagos." not in holding(session)
    session.config = replace(session.config, fixed_now=NOW + timedelta(days=1))
    session.remember("Ms Halloran is my boss.")
    assert not any("Adeyemi" in text or "Tunde is" in text for text in holding(session))
    session.config = replace(session.config, fixed_now=NOW + timedelta(days=2))
    session.remember("My boss lives in Cork.")
    assert "My boss lives in Enugu." in holding(session)  # that was Tunde
    assert session.graph.verify() == ()


def at(session: Session, **later: int) -> Session:
    config = replace(session.config, fixed_now=NOW + timedelta(**later))
    return Session(config, session.graph, llm=session.llm, embedder=session.embedder)


def test_what_says_who_the_former_boss_was_is_read_with_what_was_said_of_him(session: Session):
    session.remember("My boss is Tunde.")
    session.remember("My boss drinks rooibos.")
    at(session, days=5).remember("My new boss is Ms Halloran.")
    later = at(session, days=6)
    found = later.retrieve("What does Tunde drink?", k=1)
    texts = [choice.memory.text for choice in found.selection.chosen]
    assert texts[0] == "My boss drinks rooibos."
    assert "My boss is Tunde." in texts
    assert found.marks["m1"].standing == "replaced"
    asked = [c.memory.text for c in later.select("Who is my boss?").chosen]
    assert "My boss is Tunde." not in asked


def test_a_question_about_the_past_is_asked_under_every_name(session: Session):
    session.remember("My boss is Mr Adeyemi.")
    session.remember("Tunde is my boss.")
    for text in ("My boss drinks rooibos.", "Petra drinks water.", "I drink coffee.",
                 "Tundra is a cold land.", "I drank tea with Petra."):  # fmt: skip
        session.remember(text)
    at(session, days=40).remember("My boss is Ms Halloran.")
    at(session, days=41).remember("My boss drinks cocoa.")
    later = at(session, days=60)
    for question in ("What did Tunde drink in May?", "What did my boss drink in May?"):
        texts = [choice.memory.text for choice in later.select(question).chosen]
        assert "My boss drinks rooibos." in texts
        assert "My boss drinks cocoa." not in texts
