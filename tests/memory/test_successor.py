"""A told change ends what it puts an end to, however both are worded; with the real encoder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.answering.notes import CHANGED
from agent.answering.plain_statements import states_facts
from agent.extraction.triples.read import triples_for
from agent.memory.editing.judges.successor import (
    SIGNS,
    SURE,
    WEIGHTS,
    Succession,
    load,
    parts,
    subject,
)
from agent.session.session import Session
from policies.weight_file import write_json
from store.types import Status

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def tell(session: Session, text: str, at: datetime):
    return session.remember(text, at=at)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm working on project Heron.", "I have been working on project Osprey since 6 May."),
        ("I drive a Saab.", "I've traded my Saab for a Twingo."),
        ("My broadband comes from Netwave.", "I switched from Netwave to Fibrix."),
    ],
)
def test_a_change_in_other_words_takes_the_place_of_the_old(session: Session, old: str, new: str):
    tell(session, "I live in Bedok.", NOW)
    tell(session, "My landlord is Mr Lindt.", NOW)
    tell(session, old, NOW)
    done = tell(session, new, NOW + timedelta(days=1))
    assert [entry.kind.value for entry in done.entries] == ["replace"]
    assert done.entries[0].before == old
    assert session.graph.verify() == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My sister is a florist.", "My sister works as a beekeeper now."),
        ("My rowing club is Blue Oars.", "I row with the Harbour Eight these days."),
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
    assert edge.probability >= CHANGED


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("My brother works at Hexa.", "I now work at Norbank."),
        ("My landlord is Mr Lindt.", "My dentist is Dr Chu now."),
        ("I like jazz.", "I like bouldering now."),
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


def test_what_was_given_up_lends_its_relation_to_what_came(session: Session):
    tell(session, "I drive a Saab.", NOW)
    tell(session, "I've traded my Saab for a Twingo.", NOW + timedelta(days=1))
    (memory,) = session.graph.memories.list(Status.CURRENT)
    assert [(t.head, t.relation, t.tail) for t in memory.triples] == [("me", "drives", "Twingo")]


def test_signs_have_weights_and_a_damaged_file_of_others_is_refused(tmp_path):
    bias, weights = load(WEIGHTS)
    assert len(weights) == len(SIGNS)
    assert -20 < bias < 20
    other = tmp_path / "succession.json"
    write_json(other, {"bias": 0.0, "weights": {"cosine": 1.0}})
    with pytest.raises(ValueError, match="succession_train"):
        load(other)


def test_the_chance_grows_with_what_both_share(embedder):
    judge = Succession.shipped(embedder.encode_names)
    nothing, everything = [0.0] * len(SIGNS), [1.0] * len(SIGNS)
    assert judge.chance(nothing) < SURE < judge.chance(everything)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("My sister works as a nurse.", "sister"),
        ("Since 3 May 2024 my brother works at Hexa.", "brother"),
        ("From May 9, 2024 my brother works at Hexa.", "brother"),
        ("These days my aunt lives in Malta.", "aunt"),
        ("My manager is Iris Falk.", ""),
        ("Iris Falk is my manager.", ""),
        ("I live with my sister.", ""),
    ],
)
def test_whom_a_sentence_is_about(text: str, who: str):
    assert subject(text) == who


def test_a_value_is_told_from_the_words_beside_it():
    text = "I have been working on project Osprey since 6 May 2024."
    assert parts(text, triples_for([text], None)[0])[0] == "Osprey"


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
