"""Past or ahead: what was learned of the words around a date, on sentences it never saw."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agent.language.dates import find_times, resolve_text, validity
from agent.language.dates.learned.tense import WEIGHTS, tells_past

FRIDAY = datetime(2026, 11, 27, 16, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The physio rang, he can do the 12th.", "2026-12-12"),
        ("Our hearing got pushed back to the 3rd.", "2026-12-03"),
        ("Nadja's confirmation is on 9 May, I have the cake ordered.", "2027-05-09"),
        ("they offered me tuesday", "2026-12-01"),
        ("The plumber came on Thursday and fixed it.", "2026-11-26"),
        ("The kiln cracked on Tuesday.", "2026-11-24"),
        ("Vera's mother was buried on the 20th.", "2026-11-20"),
        ("I moved to Ghent in August.", "2026-08-01"),
    ],
)
def test_the_words_around_a_date_tell_where_it_lies(text: str, day: str):
    (found,) = find_times(text, FRIDAY)
    assert found.start == datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_a_weekday_told_in_the_past_on_that_day_is_a_week_ago():
    (found,) = find_times("I gave Olaf the ladder on Friday and he broke it.", FRIDAY)
    assert found.start == datetime(2026, 11, 20, tzinfo=UTC)


def test_where_nothing_tells_a_date_lies_ahead():
    assert not tells_past("xyzzy", 0, 5)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I laughed for the first time since the funeral.", None),
        ("She gave the soup 8/10.", None),
        ("My sister can reach the coast in forty minutes.", None),
        ("My hearing is on the 3rd.", "My hearing is on the 3rd (2026-12-03)."),
        (
            "The surveyor is here on Tuesday at noon.",
            "The surveyor is here on Tuesday at noon (2026-12-01 12:00).",
        ),
    ],
)
def test_only_what_names_a_day_gets_a_date(said: str, kept: str | None):
    assert resolve_text(said, FRIDAY) == (kept or said)


def test_what_names_no_day_ends_nothing():
    assert validity("I gave the holiday flat 8/10.", FRIDAY).when is None


@pytest.mark.parametrize("learned", ["tense", "one_day"])
def test_the_weights_are_a_sorted_file_that_a_person_can_read(learned: str):
    weights = json.loads((WEIGHTS / f"{learned}.json").read_text("utf-8"))
    assert list(weights) == sorted(weights)
    assert all(abs(weight) < 20 for weight in weights.values())
