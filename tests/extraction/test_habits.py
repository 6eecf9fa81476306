"""Habits: a weekday in what holds is every week's, so it ends nothing, and says so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.extraction.drafts import make_drafts
from agent.extraction.told import tell_habits
from agent.language.dates import find_times, resolve_text
from agent.session.session import Session
from store.types import Source, SourceKind

MONDAY = datetime(2024, 5, 20, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Swim class is Tuesday at 17:00.", "Swim class is Tuesday at 17:00 (weekly)."),
        ("My day at the archive is on Tuesday.", "My day at the archive is on Tuesday (weekly)."),
        ("The bins go out tomorrow.", "The bins go out tomorrow (2024-05-21)."),
        ("The audit is on the 5th.", "The audit is on the 5th (2024-06-05)."),
        ("We meet next Friday.", "We meet next Friday (2024-05-31)."),
        ("I am away until Friday.", "I am away until Friday (2024-05-24)."),
        ("The fair is Saturday the 8th.", "The fair is Saturday the 8th (2024-06-08)."),
    ],
)
def test_only_a_weekday_without_a_date_stands_for_every_week(text: str, stored: str):
    assert resolve_text(text, MONDAY, weekly=True) == stored


def test_a_weekday_is_one_day_where_nobody_says_otherwise():
    (found,) = find_times("Swim class is Tuesday at 17:00.", MONDAY)
    assert found.start == datetime(2024, 5, 21, 17, tzinfo=UTC)


def test_what_is_weekly_is_read_so_on_any_day():
    (found,) = find_times("Swim class is Tuesday at 17:00 (weekly).", MONDAY)
    assert found.kind == "recurring"


def draft_of(text: str, session: Session):
    source = Source("s1", SourceKind.CHAT, text, "", MONDAY)
    return make_drafts([text], ["event.arrangement"], source, llm=None, reader=session.statements)


def test_a_lesson_of_each_week_is_not_over_after_the_first(session: Session):
    (draft,) = draft_of("I swim Tuesday at 7 in the lido.", session)
    assert draft.valid_until is None
    assert draft.text == "I swim Tuesday at 7 (weekly) in the lido."


def test_an_appointment_is_over_with_its_day(session: Session):
    (draft,) = draft_of("I have a dentist appointment on Tuesday at 10:00.", session)
    assert draft.valid_until == datetime(2024, 5, 22, tzinfo=UTC)
    assert "2024-05-21" in draft.text


def test_an_appointment_of_several_days_is_over_with_the_last_of_them(session: Session):
    (draft,) = draft_of("Booked the hut this weekend, the ferry is on Friday 7 June.", session)
    assert draft.valid_until == datetime(2024, 6, 8, tzinfo=UTC)


def test_without_a_reader_there_are_no_habits():
    assert tell_habits(["My class is Tuesday.", "I like tea."], None) == [False, False]
