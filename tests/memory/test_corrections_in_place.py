"""Corrections in chat: the memory that a short message puts right, and what stays as it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.memory.editing.corrections import Correction, correction_in
from agent.memory.uncertain.settle import settle
from store.types import SourceKind, Status
from tests.memory.test_editing_edits import NOW, current, told


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("No, the 4th, not the 14th.", Correction("the 4th", "the 14th")),
        ("not Bedok but Tampines", Correction("Tampines", "Bedok")),
        ("Sorry, I meant 3 pm.", Correction("3 pm", None)),
        ("no, it's Dr Lind, not Dr Lund", Correction("Dr Lind", "Dr Lund")),
        ("I like tea, not coffee.", None),
        ("No thanks.", None),
        ("Actually, I like rock.", None),
        ("I'm not hungry, but tired.", None),
        ("Is it the 4th, not the 14th?", None),
        ("I want the aisle, not the window.", None),
    ],
)
def test_what_is_a_correction(message, wanted):
    assert correction_in(message) == wanted


@pytest.mark.parametrize(
    ("said", "correction", "wanted"),
    [
        ("The dentist appointment is on 14 June.", "No, the 4th, not the 14th.", "4 June"),
        ("The dentist appointment is on Tuesday at 10:00.", "Sorry, 11:00", "2024-05-14 11:00"),
        ("The dentist appointment is on Tuesday.", "no, Thursday, not Tuesday", "2024-05-16"),
        ("I live in Bedok.", "No, Tampines, not Bedok.", "I live in Tampines."),
        ("My locker number is 41.", "Correction: 14, not 41.", "My locker number is 14."),
    ],
)
def test_a_correction_mends_the_memory_in_place(session, said, correction, wanted):
    memory = told(session, said).entries[0].memory
    told(session, "I like jazz.")
    reply = session.respond(correction)
    assert [entry.kind.value for entry in reply.entries] == ["amend"]
    assert wanted in session.graph.memories.get(memory).text
    assert "Corrected:" in reply.text
    assert session.graph.verify(session.embedder.identity) == ()
    assert any(wanted.split()[-1].rstrip(".") in t.tail for t in
               session.graph.memories.get(memory).triples)  # fmt: skip


def test_a_correction_that_names_nothing_is_of_the_last_time_that_was_told(session):
    plumber = told(session, "The plumber comes on Friday at 8:00.").entries[0].memory
    club = told(session, "Book club is on the 2nd of June at 19:30 at Ida's.").entries[0].memory
    before = session.graph.memories.get(plumber)
    session.respond("Sorry, the 9th")
    assert session.graph.memories.get(plumber) == before
    memory = session.graph.memories.get(club)
    assert memory.text == "Book club is on the 9th of June 2024 at 19:30 at Ida's."
    # It is over with its new day.
    assert memory.valid_until is not None
    assert f"{memory.valid_until:%Y-%m-%d}" == "2024-06-10"


def test_after_an_hour_such_a_correction_is_of_nothing_told_before(session):
    memory = told(session, "The plumber comes on Friday at 8:00.").entries[0].memory
    before = session.graph.memories.get(memory)
    source = session.graph.sources.add(
        SourceKind.CHAT, "Sorry, 8:30", session.config.now() + timedelta(minutes=61)
    )
    assert settle(source, session.graph, session, source.captured) is None
    assert session.graph.memories.get(memory) == before


def test_a_correction_can_be_taken_back(session):
    told(session, "I live in Bedok.")
    reply = session.respond("No, Tampines, not Bedok.")
    session.graph.undo(reply.entries[0].id, at=NOW)
    assert current(session) == ["I live in Bedok."]


def test_a_correction_moves_the_end_of_a_voucher(session):
    told(session, "The Hilton voucher is valid until 14 June.")
    session.respond("no, the 20th, not the 14th")
    (memory,) = session.graph.memories.list(Status.CURRENT)
    assert memory.valid_until == datetime(2024, 6, 21, tzinfo=UTC)
