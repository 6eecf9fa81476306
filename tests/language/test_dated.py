"""What is kept of a time: its date behind the words, and how long a memory holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.language.dates import find_times, resolve_text, validity
from agent.language.dates.dated import in_figures

# A Saturday.
NOW = datetime(2024, 5, 11, 9, 0, tzinfo=UTC)


def at(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("Tomorrow is my mom's birthday.", "Tomorrow (2024-05-12) is my mom's birthday."),
        (
            "I fly to Rome next Friday at 5pm.",
            "I fly to Rome next Friday at 5pm (2024-05-17 17:00).",
        ),
        ("I fly tomorrow.", "I fly tomorrow (2024-05-12)."),
        ("Tomorrow I fly.", "Tomorrow (2024-05-12) I fly."),
        ("Yesterday's lunch was great.", "Yesterday's (2024-05-10) lunch was great."),
        ("I work here until next Friday.", "I work here until next Friday (2024-05-17)."),
        (
            "I am away from tomorrow to Friday.",
            "I am away from tomorrow to Friday (2024-05-12 – 2024-05-17).",
        ),
        ("I pay by the end of the month.", "I pay by the end of the month (2024-05-31)."),
        ("I help on the first Saturday of the month.",) * 2,
        ("Rent is due on the 5th of the month.",) * 2,
        (
            "We meet on the first Saturday of next month.",
            "We meet on the first Saturday of next month (2024-06-01).",
        ),
        (
            "I use the gym until the end of next week.",
            "I use the gym until the end of next week (2024-05-19).",
        ),
        ("Next week I start.", "Next week (2024-05-13 – 2024-05-19) I start."),
        ("We hike this weekend.", "We hike this weekend (2024-05-11 – 2024-05-12)."),
        ("I move next month.", "I move next month (2024-06)."),
        ("From next month I work at Acme.", "From next month (2024-06) I work at Acme."),
        ("I moved here 3 years ago.", "I moved here 3 years ago (2021)."),
        ("My exam is in two weeks.", "My exam is in two weeks (2024-05-25)."),
        (
            "I finish in the next three days.",
            "I finish in the next three days (2024-05-12 – 2024-05-14).",
        ),
        ("We ran last night.", "We ran last night (2024-05-10)."),
        ("I am away from 12 to 18 May.", "I am away from 12 to 18 May 2024."),
        ("I flew to Rome on May 3.", "I flew to Rome on May 3, 2024."),
        ("I flew to Rome on November 3.", "I flew to Rome on November 3, 2023."),
        # A past verb near it does not make a day of next month one of last year.
        ("They bumped me to June 3.", "They bumped me to June 3, 2024."),
        ("Nia is operated on on 28 May.", "Nia is operated on on 28 May 2024."),
        ("We meet on the fifth of next month.", "We meet on the fifth of next month (2024-06-05)."),
    ],
)
def test_relative_times_get_their_date_in_brackets(said: str, stored: str):
    assert resolve_text(said, NOW) == stored


@pytest.mark.parametrize(
    "text",
    [
        "My voucher is valid until 14 May 2024.",
        "I was born in 1986 and moved in May 2020.",
        'She said "see you tomorrow".',
        "He wrote 'back next week' on the door.",
        "I go to yoga every Monday and on weekends.",
        "Recently I paint; soon I exhibit; sometimes I rest.",
        "I get up at 7.",
        "I stayed for two weeks.",
        "My birthday is on 12 May.",
        "I was born on March 3.",
        "I love Christmas and September.",
        "The flight is EK349.",
    ],
)
def test_what_means_the_same_on_any_day_stays_as_written(text: str):
    assert resolve_text(text, NOW) == text


@pytest.mark.parametrize(
    "text",
    [
        "My gym is open on Sunday.",
        "The library isn't open on Monday.",
        "The pool is only open on Saturday and Sunday.",
        "I swim on Tuesday.",
        "I swim on Tuesdays.",
        "I go to choir on Thursday evening.",
        "We do yoga on Monday at 7.",
        "I don't eat meat on Friday.",
        "I usually call my mother on Sunday.",
        "My son swims on Tuesday.",
    ],
)
def test_a_weekly_habit_is_no_date(text: str):
    assert resolve_text(text, NOW) == text
    assert validity(text, NOW).when is None


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("The dentist is on Sunday.", "The dentist is on Sunday (2024-05-12)."),
        (
            "I have a dentist appointment on Tuesday.",
            "I have a dentist appointment on Tuesday (2024-05-14).",
        ),
        ("I play chess with Ben on Tuesday.", "I play chess with Ben on Tuesday (2024-05-14)."),
        ("I am busy on Tuesday.", "I am busy on Tuesday (2024-05-14)."),
        ("I swim this Tuesday.", "I swim this Tuesday (2024-05-14)."),
        ("I fly to Rome on Tuesday.", "I fly to Rome on Tuesday (2024-05-14)."),
        ("I will swim on Tuesday.", "I will swim on Tuesday (2024-05-14)."),
        ("I swam on Thursday.", "I swam on Thursday (2024-05-09)."),
        ("My gym will be open on Sunday.", "My gym will be open on Sunday (2024-05-12)."),
    ],
)
def test_what_happens_on_one_day_gets_its_date(said: str, stored: str):
    assert resolve_text(said, NOW) == stored


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("My voucher is valid until 14 May 2024.", "2024-05-15"),
        ("My voucher expires on May 14.", "2024-05-15"),
        ("My passport expires on 3 June 2027.", "2027-06-04"),
        ("Use the coupon by May 14.", "2024-05-15"),
        ("Use the coupon before May 14.", "2024-05-14"),
        ("The offer ends on Sunday.", "2024-05-13"),
        ("I park here until 5pm tomorrow.", "2024-05-12T17:00"),
        ("I stay at Tom's until the end of the month.", "2024-06-01"),
        ("I am on sick leave for three days.", "2024-05-14T09:00"),
        ("I'm in London through Friday.", "2024-05-18"),
    ],
)
def test_wording_of_validity_says_when_a_memory_ends(text: str, until: str):
    found = validity(text, NOW)
    assert found.valid_until == at(until)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("I flew to Amsterdam on 12 May 2023.", "2023-05-12"),
        ("My dentist appointment is tomorrow.", "2024-05-12"),
        ("I am in Rome from 12 to 18 May.", "2024-05-12"),
        ("I need to pay the rent by Friday.", None),
        ("I lived in Paris for two years.", None),
    ],
)
def test_an_event_has_a_time_but_does_not_expire(text: str, start: str | None):
    found = validity(text, NOW)
    assert found.valid_until is None
    assert (found.when.start if found.when else None) == (start and at(start))


def test_a_memory_may_hold_from_a_day_on():
    assert validity("From next month I work at Acme.", NOW).valid_from == at("2024-06-01")
    assert validity("I have lived here since 2020.", NOW).valid_from == at("2020-01-01")
    both = validity("The pass is valid from 1 June to 30 June.", NOW)
    assert (both.valid_from, both.valid_until) == (at("2024-06-01"), at("2024-07-01"))


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("She comes on Saturday 25 May, lands at 7pm, staying till the Tuesday.", "2024-05-29"),
        ("My aunt comes on 25 May and stays until Tuesday.", "2024-05-29"),
        ("My aunt is here until Tuesday.", "2024-05-15"),
    ],
)
def test_an_end_after_a_day_that_was_named_lies_behind_it(text: str, until: str):
    assert validity(text, NOW).valid_until == at(until)


def test_an_end_before_what_is_told_later_ends_nothing():
    found = validity("My aunt is here till Tuesday and comes again on 25 May.", NOW)
    assert found.valid_until is None


def test_a_weekday_that_ends_a_range_is_the_one_after_its_beginning():
    (trip,) = find_times("We are in Rome from 3 June until Friday.", NOW)
    assert (trip.start, trip.end) == (at("2024-06-03"), at("2024-06-08"))


def test_a_quoted_time_says_nothing_of_validity():
    found = validity('The note says "back until Friday".', NOW)
    assert (found.valid_until, found.when) == (None, None)


@pytest.mark.parametrize(
    "said",
    [
        "I fly tomorrow at 7pm.",
        "The gym pass is valid until next Friday.",
        "We are away from tomorrow to Friday.",
        "I ran before Tuesday.",
        "Dinner with Bo is tomorrow evening.",
        "They want the money by the end of next month.",
        "We move next week, and Ida the week after next.",
        "I have had a cough since last Monday.",
        "Ich habe bis Freitag Zeit dafür.",
        "我们明天下午四点在公园见面。",
    ],
)
def test_a_date_in_brackets_is_read_on_any_day_as_what_was_meant(said: str):
    written = resolve_text(said, NOW)
    later = NOW + timedelta(days=400, hours=5)
    assert "(" in written
    assert [(s.start, s.end, s.bound) for s in find_times(written, later)] == [
        (s.start, s.end, s.bound) for s in find_times(said, NOW)
    ]
    assert validity(written, later).valid_until == validity(said, NOW).valid_until


def test_a_stay_ends_after_it_began():
    """Said on a Saturday: Monday comes first, and the sister on Friday."""
    arrives, until = find_times("My sister comes on Friday and stays till Monday.", NOW)
    assert (arrives.start, until.end) == (at("2024-05-17"), at("2024-05-21"))
    (other,) = find_times("I stay till Monday.", NOW)
    assert other.end == at("2024-05-14")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Vet tomorrow at 5 (2026-03-03 17:00).", "Vet on 2026-03-03 17:00."),
        ("Away until Friday (2026-03-06), then home.", "Away until Friday 2026-03-06, then home."),
        ("We saw Toy Story (1995) in March (2024-03).", "We saw Toy Story (1995) in 2024-03."),
        ("Nothing is dated here (really).", "Nothing is dated here (really)."),
        ("It was on Friday (2024-13-45).", "It was on Friday (2024-13-45)."),
    ],
)
def test_a_text_in_figures_has_the_dates_for_the_words(text: str, plain: str):
    assert in_figures(text) == plain
