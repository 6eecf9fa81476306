"""Days and times told of an earlier one: what they mean, and what is stored of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.extraction.drafts import make_drafts
from agent.memory import remember
from agent.memory.editing.changes.restated import (
    Restated,
    Told,
    as_restated,
    restated_day,
    restated_time,
)
from agent.session.session import Session
from store.graph import MemoryGraph
from store.types import Memory, SourceKind, Trust
from tests.support.scripted_readers import ScriptedReader, ScriptedSecond

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
DENTIST = "My dentist appointment is on 12 January 2027 at 9:30."


def told(words: str) -> Told:
    return Told(words, NOW)


def start(meant: Restated | None) -> str | None:
    return None if meant is None else f"{meant.start:%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("newer", "corrects", "meant"),
    [
        ("Dentist can't do the 12th any more, it's the 19th at 2pm", False, "2027-01-19 14:00"),
        ("It's the 19th now, not the 12th", False, "2027-01-19 00:00"),
        ("No, the 19th.", True, "2027-01-19 09:30"),
        ("The rent is due on the 19th.", False, None),  # it names no day of the older words
        ("It's on Wednesday now, not the 12th", False, None),  # another day in each month
    ],
)
def test_a_day_is_in_the_month_of_the_day_that_it_changes(
    newer: str, corrects: bool, meant: str | None
):
    assert start(restated_day(told(DENTIST), told(newer), corrects=corrects)) == meant


@pytest.mark.parametrize(
    ("older", "newer", "meant"),
    [
        (DENTIST, "The dentist is at 16:40 instead.", "2027-01-12 16:40"),
        (DENTIST, "The dentist is at 16:40 on the 13th instead.", None),
        (DENTIST, "The dentist is now at 16:40. It is the 6th door.", "2027-01-12 16:40"),
        (DENTIST, "The dentist takes 20 minutes longer.", None),
        ("My alarm is set for 7:00.", "My alarm is set for 7:30 now.", None),  # of no day
    ],
)
def test_a_time_of_day_is_on_the_day_that_it_changes(older: str, newer: str, meant: str | None):
    assert start(restated_time(told(older), told(newer))) == meant


def keep(session: Session, text: str, said: datetime, trust: Trust = Trust.TOLD) -> Memory:
    source = session.graph.sources.add(SourceKind.CHAT, text, said)
    (draft,) = make_drafts([text], ["event.arrangement"], source, llm=None)
    draft = replace(draft, trust=trust)
    done = remember.store_drafts([draft], source, session.graph, session, said)
    return session.graph.memories.get(done.entries[-1].memory)


@pytest.mark.parametrize(
    ("newer", "text", "until"),
    [
        ("Dentist can't do the 12th any more, it's the 19th at 2pm",
         "Dentist can't do the 12th (2027-01-12) any more, it's the 19th at 2pm (2027-01-19 14:00)",
         "2027-01-20"),
        ("The dentist is at 16:40 instead.",
         "The dentist is at 16:40 (2027-01-12 16:40) instead.", "2027-01-13"),
    ],
)  # fmt: skip
def test_a_memory_is_stored_with_the_day_that_it_means(
    session: Session, monkeypatch: pytest.MonkeyPatch, newer: str, text: str, until: str
):
    monkeypatch.setattr(remember, "second_reader", lambda llm: ScriptedSecond(0.9))
    session._statements = ScriptedReader(["dentist is", "Dentist can't"])
    keep(session, DENTIST, NOW)
    made = keep(session, newer, NOW + timedelta(days=2))
    assert made.text == text
    assert f"{made.valid_until:%Y-%m-%d}" == until
    assert session.graph.verify(session.embedder.identity) == ()
    # What was judged of the words as they were first read counts for what is stored.
    (edge,) = session.graph.change_edges.of([made.id])
    assert edge.probability == pytest.approx(0.9)


@pytest.mark.parametrize(("chance", "trust"), [(0.4, Trust.TOLD), (0.9, Trust.NOTED)])
def test_what_hardly_changes_it_or_stands_in_a_file_keeps_its_own_day(
    session: Session, monkeypatch: pytest.MonkeyPatch, chance: float, trust: Trust
):
    monkeypatch.setattr(remember, "second_reader", lambda llm: ScriptedSecond(chance))
    session._statements = ScriptedReader(["Dentist can't"])
    keep(session, DENTIST, NOW)
    made = keep(session, "Dentist can't do the 12th any more, it's the 19th", NOW, trust)
    assert "2026-12-19" in made.text


def test_a_period_that_somebody_gave_stays(graph: MemoryGraph):
    source = graph.sources.add(SourceKind.CHAT, "it's the 19th, not the 12th", NOW)
    (draft,) = make_drafts([source.text], ["event.arrangement"], source, llm=None)
    ends = NOW + timedelta(days=3)
    given = replace(draft, valid_until=ends)
    meant = restated_day(told(DENTIST), told(source.text), corrects=False)
    assert meant is not None
    assert "2027-01-19" in as_restated(given, meant).text
    assert as_restated(given, meant).valid_until == ends
