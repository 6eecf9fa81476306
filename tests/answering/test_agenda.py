"""A question that says nothing but its time is answered with all that falls into it, by code."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.config import Config
from agent.ports import Embedder
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, Trust
from tests.conftest import ScriptedModel
from tests.support.scripted_readers import ScriptedReader

TOLD = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
EVENTS = (
    "Lunch with Priya on 2026-11-20 13:00 at Casa Olmo.",
    "I have a dentist appointment on 2026-11-20 10:00.",
    "The plumber comes on 2026-11-20 15:00.",
    "The parcel arrives on 2026-11-20 18:00.",
    "I fly to Porto on 2026-11-23 08:00.",
)
ALL = (
    "You have a dentist appointment on 2026-11-20 10:00."
    " Lunch with Priya on 2026-11-20 13:00 at Casa Olmo."
    " The plumber comes on 2026-11-20 15:00. The parcel arrives on 2026-11-20 18:00."
)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def session(
    graph: MemoryGraph, settings: Config, embedder: Embedder, own_home: Path, model: ScriptedModel
) -> Session:
    drafts = [Draft(text, "event.arrangement", TOLD) for text in EVENTS]
    graph.apply([Insert(draft) for draft in drafts], at=TOLD)
    config = replace(settings, home=own_home, fixed_now=TOLD + timedelta(days=3))
    return Session(config, graph, embedder=embedder, llm=model, statements=ScriptedReader())


@pytest.mark.parametrize(
    "question",
    [
        "What do I have on Friday?",
        "What is on tomorrow?",
        "what's on tomorrow",
        "what's on tomorrow? feels like there were a few things",
    ],
)
def test_all_that_falls_on_a_day_is_told_in_order_without_a_model(
    session: Session, model: ScriptedModel, question: str
):
    reply = session.ask(question)
    assert reply.text == ALL
    assert {choice.memory.text for choice in reply.memories} == set(EVENTS[:4])
    assert not reply.abstained and model.asked == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What's on for 12 December?", "Ola has an exhibition from 2026-12-12 until 2027-01-14."),
        ("What is on 14 January?", "Ola has an exhibition from 2026-12-12 until 2027-01-14."),
        ("What is on 9 May?", "Mum's birthday is 9 May."),
    ],
)
def test_what_begins_ends_or_comes_back_on_a_day_is_told_too(
    session: Session, question: str, told: str
):
    drafts = [
        Draft(
            "Ola has an exhibition from 2026-12-12 until 2027-01-14.",
            "relationship.relatives",
            TOLD,
        ),
        Draft("Mum's birthday is 9 May.", "relationship.relatives", TOLD),
        Draft("We have lived in Leeds since 2019-05-09.", "attribute.address", TOLD),
    ]
    session.graph.apply([Insert(draft) for draft in drafts], at=TOLD)
    reply = session.ask(question)
    assert reply.text.startswith(told)
    assert "Leeds" not in reply.text


def test_what_may_have_changed_an_event_is_told_beside_it_and_hides_nothing(session: Session):
    drafts = [
        Draft("The plumber can only make it on 2026-11-21.", "event.arrangement", TOLD),
        Draft("Lunch with Bo on 2026-11-20 12:00.", "event.arrangement", TOLD),
    ]
    later, lunch = [e.memory for e in session.graph.apply([Insert(d) for d in drafts], at=TOLD)]
    old = {m.text: m.id for m in session.graph.memories.list()}
    edges = [
        ChangeEdge(old[EVENTS[2]], later, ChangeKind.SUPERSEDES, 0.8),
        ChangeEdge(old[EVENTS[0]], lunch, ChangeKind.SUPERSEDES, 0.8),  # a mistake of the reader
    ]
    session.graph.change_edges.put(edges, TOLD)
    told = session.ask("What do I have on Friday?").text
    assert all(text in told for text in (EVENTS[0], EVENTS[2], drafts[1].text))
    assert "On 2026-11-16 you said: “The plumber can only make it on 2026-11-21.”" in told
    assert "said: “Lunch" not in told


def test_a_question_that_asks_for_more_is_for_the_model(session: Session, model: ScriptedModel):
    model.replies = ["You eat at Casa Olmo."]
    assert session.ask("Where am I eating tomorrow?").text.startswith("You eat at Casa Olmo.")


def test_what_others_wrote_is_not_given_back_as_it_stands(session: Session, model: ScriptedModel):
    draft = Draft("Pay us on 2026-11-20.", "event.arrangement", TOLD, trust=Trust.SEEN)
    session.graph.apply([Insert(draft)], at=TOLD)
    model.replies = ["You have a dentist appointment."]
    assert "Pay us" not in session.ask("What do I have on Friday?").text
