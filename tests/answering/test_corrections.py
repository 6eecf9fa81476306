"""Corrections: the value that is put right is left out, and a corrected day is computed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.answering.notes.corrections import corrected_day, without_corrected
from agent.memory.passages import Passage

SAID = datetime(2026, 2, 20, 19, 2, tzinfo=UTC)


def told(text: str) -> Passage:
    return Passage(text, SAID, text)


@pytest.mark.parametrize(
    ("older", "newer", "left"),
    [
        ("The rent is 640, due on the 3rd.", "604, sorry.", "The rent is …, due on the 3rd."),
        ("The rent is 640, due on the 3rd.", "Sorry, the 5th.", "The rent is 640, due …."),
        ("Bay 12, the code is 4471.", "No, 4417.", "Bay 12, the code is 4471."),  # which one?
        ("Bay 4, open from 14:00.", "No, 5.", "Bay …, open from 14:00."),
        ("Bay 12 … the blue one.", "No, the red one.", "Bay 12 ... the blue one."),
        ("The reg is QX19 LDB.", "LDP at the end.", "The reg is QX19 LDB."),
    ],
)
def test_what_is_put_right_is_left_out_where_it_is_the_only_one_of_its_kind(older, newer, left):
    assert without_corrected(told(older), told(newer)) == left


@pytest.mark.parametrize(
    ("older", "newer", "day"),
    [
        ("Theo turns 9 on 18 April.", "Wrong, the 19th. I should know by now.",
         "Sunday 19 April 2026"),
        ("She lands on 3 April at 9:25.", "No, on the 5th.", "Sunday 5 April 2026 9:25"),
        ("She lands on 3 April at 9:25.", "The 5th, Easter Sunday, at 14:10.",
         "Sunday 5 April 2026 14:10"),
        ("She lands on 3 April.", "No, 5 May.", "Tuesday 5 May 2026"),
        ("She lands on 3 April.", "No, the 5th, and home on the 7th.", ""),
        ("She lands on 3 April.", "No, in terminal 2.", ""),
        ("She lands on Thursday.", "No, I meant Wednesday.", ""),
        ("She lands at nine.", "No, on the 5th.", ""),
    ],
)  # fmt: skip
def test_a_corrected_day_is_in_the_same_month(older, newer, day):
    assert corrected_day(told(older), replace(told(newer), about=older)) == day


@pytest.mark.parametrize(
    ("newer", "day"),
    [
        ("Dentist can't do the 12th any more, it's the 19th at 2pm.", "Friday 19 June 2026 14:00"),
        ("Dentist can't do the 12th any more, it's the 19th.", "Friday 19 June 2026"),
        ("Dentist moved me off the 12th, it is July 3 now.", "Friday 3 July 2026"),
        ("It's the 19th at 2pm now.", ""),  # of February, or of June?
        ("Not the 12th: the 19th, and again on the 22nd.", ""),
        ("The 12th is fine.", ""),
    ],
)
def test_what_names_the_older_day_is_in_its_month(newer, day):
    assert corrected_day(told("My dentist is on 12 June at 9am."), told(newer)) == day
