"""A told change ends what it puts an end to, however both are worded; with the real encoder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.answering.notes.gather import DOUBTED
from agent.answering.told_or_asked import states_facts
from agent.session.session import Session
from store.types import Status

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def tell(session: Session, text: str, at: datetime):
    return session.remember(text, at=at)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My sister is a florist.", "My sister works as a beekeeper now."),
        ("My rowing club is Blue Oars.", "I row with the Harbour Eight these days."),
        ("I drive a Saab.", "I've traded my Saab for a Twingo."),
    ],
)
def test_a_change_that_the_reader_is_not_sure_of_is_an_edge_between_two_kept_memories(
    session: Session, before: str, after: str
):
    (old,) = tell(session, before, NOW).entries
    (new,) = tell(session, after, NOW + timedelta(days=1)).entries
    assert new.kind.value == "insert"
    (edge,) = session.graph.change_edges.of([old.memory])
    assert (edge.older, edge.newer) == (old.memory, new.memory)
    assert edge.probability >= DOUBTED


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("My brother works at Hexa.", "I now work at Norbank."),
        ("My landlord is Mr Lindt.", "My dentist is Dr Chu now."),
        ("I like jazz.", "I like bouldering now."),
        ("My brother lives in Rome.", "My sister lives in Paris."),
        ("Since May 9, 2024 I live in Oslo.", "Since May 9, 2024 I drive a Skoda."),
        ("I have a cat.", "I have a new bicycle."),
        ("I have a dentist appointment on 2024-05-20 at 09:00.", "My gym is Fit24 now."),
        ("My passport number is K4471902.", "From 23 June my phone number is 0171 5550123."),
        ("My phone number is (303) 555-0142.", "My home address is 88 Pine Avenue now."),
        ("My best friend is Tom.", "My new friend is Lena."),
    ],
)
def test_a_change_of_one_thing_leaves_all_others_alone(session: Session, kept: str, said: str):
    tell(session, kept, NOW)
    done = tell(session, said, NOW + timedelta(days=1))
    assert [entry.kind.value for entry in done.entries] == ["insert"]
    assert kept in [m.text for m in session.graph.memories.list(Status.CURRENT)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The gate of the SQ318 flight is C12.", True),
        ("So, I have my account at Monta. Anyway.", True),
        ("What is the gate of the SQ318 flight?", False),
        ("Please book me a table.", False),
        ("ok thanks", False),
    ],
)
def test_a_plain_statement_is_known_from_small_talk(text: str, plain: bool):
    assert states_facts(text) is plain
