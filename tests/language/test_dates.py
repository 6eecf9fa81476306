"""Times in text: what is found, what it resolves to, given as an option, and any text."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.language.dates import TimeSpan, find_times, parse_when, resolve_text, validity
from agent.language.dates.dated import in_figures
from agent.language.dates.english.tokenizer import tokens
from agent.language.dates.parser import _grammar
from store.errors import InvalidInput

# A Saturday.
NOW = datetime(2024, 5, 11, 9, 0, tzinfo=UTC)


def at(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def only(text: str, now: datetime = NOW) -> TimeSpan:
    spans = find_times(text, now)
    assert len(spans) == 1, spans
    return spans[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-12", "2024-05-12"),
        ("12 May 2024", "2024-05-12"),
        ("May 12th 2024", "2024-05-12"),
        ("the 12th of May, 2024", "2024-05-12"),
        ("12-May-2024", "2024-05-12"),
        ("2024/may/12", "2024-05-12"),
        ("20240512", "2024-05-12"),
        ("12 May", "2024-05-12"),
        ("March 3", "2025-03-03"),
        ("the second of June", "2024-06-02"),
        ("twenty second of June", "2024-06-22"),
        ("Sunday the 12th", "2024-05-12"),
        ("January twenty five nineteen eighty six", "1986-01-25"),
        # By value where only one reading exists, else month first; with dots day first.
        ("22/04/2024", "2024-04-22"),
        ("04/22/2024", "2024-04-22"),
        ("05/12/2024", "2024-05-12"),
        ("12.05.2024", "2024-05-12"),
        ("today", "2024-05-11"),
        ("tomorrow", "2024-05-12"),
        ("yesterday", "2024-05-10"),
        ("the day after tomorrow", "2024-05-13"),
        ("on Friday", "2024-05-17"),
        ("next Friday", "2024-05-17"),
        ("this Friday", "2024-05-17"),
        ("last Monday", "2024-04-29"),
        ("next week on Tuesday", "2024-05-14"),
        ("Wednesday of last week", "2024-05-01"),
        ("in three days", "2024-05-14"),
        ("two weeks ago", "2024-04-27"),
        ("a week from Monday", "2024-05-20"),
        ("the fifth of next month", "2024-06-05"),
        ("the first Monday of June", "2024-06-03"),
        ("the last Friday of May 2024", "2024-05-31"),
        ("two Sundays ago", "2024-04-28"),
        ("Christmas", "2024-12-25"),
        ("Easter 2018", "2018-04-01"),
        ("Easter Sunday 2018", "2018-04-01"),
        ("Good Friday 2026", "2026-04-03"),
        ("Black Friday", "2024-11-29"),
        ("3 business days ago", "2024-05-08"),
    ],
)
def test_a_date_in_any_form_is_one_day(text: str, day: str):
    span = only(text)
    assert (span.kind, span.start, span.end) == ("date", at(day), at(day) + timedelta(days=1))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow at 5pm", "2024-05-12T17:00"),
        ("at 5 tomorrow", "2024-05-12T17:00"),
        ("next Friday at 17:30", "2024-05-17T17:30"),
        ("12 May at 01:40", "2024-05-12T01:40"),
        ("tomorrow at noon", "2024-05-12T12:00"),
        ("half past five in the morning on 12 May", "2024-05-12T05:30"),
        ("tonight at 8", "2024-05-11T20:00"),
        ("tomorrow morning at 9", "2024-05-12T09:00"),
        ("2024-05-12 17:00", "2024-05-12T17:00"),
        ("2024-05-12T17:00:30", "2024-05-12T17:00:30"),
        ("2024-05-12T17:00+02:00", "2024-05-12T15:00"),
        ("in 2 hours", "2024-05-11T11:00"),
        ("twenty minutes ago", "2024-05-11T08:40"),
        ("quarter to six on May 12", "2024-05-12T17:45"),
        ("12 May at twenty to three", "2024-05-12T14:40"),
        ("12 May at 20 to 10 in the morning", "2024-05-12T09:40"),
    ],
)
def test_a_day_with_a_time_is_one_moment(text: str, moment: str):
    span = only(text)
    assert (span.kind, span.start, span.end) == ("datetime", at(moment), at(moment))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("from 12 to 18 May", "2024-05-12", "2024-05-19"),
        ("May 12-18", "2024-05-12", "2024-05-19"),
        ("between 12 May and 3 June", "2024-05-12", "2024-06-04"),
        ("from tomorrow to next Friday", "2024-05-12", "2024-05-18"),
        ("next week", "2024-05-13", "2024-05-20"),
        ("next month", "2024-06-01", "2024-07-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("this weekend", "2024-05-11", "2024-05-13"),
        ("May 2024", "2024-05-01", "2024-06-01"),
        ("in September", "2024-09-01", "2024-10-01"),
        ("Q1 2025", "2025-01-01", "2025-04-01"),
        ("the 1990s", "1990-01-01", "2000-01-01"),
        ("this coming summer", "2024-06-01", "2024-09-01"),
        ("the next three days", "2024-05-12", "2024-05-15"),
        ("the last week of July", "2024-07-22", "2024-07-29"),
        ("early next week", "2024-05-13", "2024-05-16"),
        ("tomorrow from 3 to 5pm", "2024-05-12T15:00", "2024-05-12T17:00"),
        ("tomorrow evening", "2024-05-12T16:00", "2024-05-12T20:00"),
        ("the evening of 12 May", "2024-05-12T16:00", "2024-05-12T20:00"),
    ],
)
def test_a_range_ends_with_the_first_moment_after_it(text: str, start: str, end: str):
    span = only(text)
    assert (span.kind, span.start, span.end) == ("range", at(start), at(end))


def test_a_range_that_names_its_last_day_says_which():
    assert only("from 12 to 18 May").last == at("2024-05-18")
    assert only("next week").last is None


@pytest.mark.parametrize(
    ("text", "start", "end", "bound"),
    [
        ("until Friday", None, "2024-05-18", "until"),
        ("before Friday", None, "2024-05-17", "before"),
        ("until the end of the month", None, "2024-06-01", "until"),
        ("since 2020", "2020-01-01", None, "since"),
        ("after 2020", "2021-01-01", None, "after"),
    ],
)
def test_an_open_range_has_one_end(text: str, start: str | None, end: str | None, bound: str):
    span = only(text)
    assert span.bound == bound
    assert (span.start, span.end) == (start and at(start), end and at(end))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("for two weeks", 14 * 86400),
        ("for half an hour", 1800),
        ("one hour and a half", 5400),
        ("2 days and 3 hours", 2 * 86400 + 3 * 3600),
        ("a month", 30 * 86400),
    ],
)
def test_a_duration_has_a_length_and_no_place_in_time(text: str, seconds: float):
    span = only(text)
    assert (span.kind, span.start, span.seconds) == ("duration", None, seconds)


@pytest.mark.parametrize(
    "text",
    [
        "every second Tuesday",
        "every day at 7:13 p.m.",
        "on weekends",
        "Mondays and Wednesdays at 6pm",
        "twice a week",
        "the 19th of every month",
        "daily",
    ],
)
def test_what_repeats_is_no_single_day(text: str):
    span = only(text)
    assert (span.kind, span.start, span.text) == ("recurring", None, text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The plumber comes on the 13th instead.", ["on the 13th"]),
        ("It's the 19th unless it rains.", ["the 19th"]),
        ("Who lives on the 3rd floor?", []),
        ("What was the 3rd film that we saw?", []),
        ("Who lives on the third floor?", []),
        ("Am I free on the 2nd?", ["on the 2nd"]),
    ],
)
def test_whether_a_number_before_a_word_is_a_day_is_learned(text: str, found: list[str]):
    assert [span.text for span in find_times(text, NOW)] == found


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("at 5", "17:00"),
        ("at 9", "09:00"),
        ("at 01:40", "01:40"),
        ("5pm", "17:00"),
        ("half past five", "17:30"),
        ("half five", "17:30"),
        ("half 9 in the morning", "09:30"),
        ("noon", "12:00"),
        ("midnight", "00:00"),
        ("eight forty five pm", "20:45"),
        ("7 at night", "19:00"),
    ],
)
def test_a_time_alone_is_put_on_the_day_of_the_message(text: str, clock: str):
    span = only(text)
    assert span.kind == "time"
    assert not span.dated
    assert span.start == at(f"2024-05-11T{clock}")


@pytest.mark.parametrize(
    "text",
    [
        "I may go on a march in the sun.",
        "One may ask. You may not! May I?",
        "Mark sat down, it was the second wave.",
        "Flight EK349, gate B12, seat 12A",
        "version 1.2.3, v2.0.1",
        "It costs $12, 5 % of €2000 and 20°",
        "Call +31 6 1234 5678 or 555-1234 or (555) 555-1234",
        "https://example.com/2024-05-12/may?x=3am and me@may.com",
        "#2024 and A-2024-05-12 and user_2024",
        "I have 2 dogs and 12 people came to 5 Main Street.",
        "recently, soon, sometimes, once",
        "Good morning Paul",
    ],
)
def test_words_and_numbers_that_are_no_times_are_left_alone(text: str):
    assert find_times(text, NOW) == ()


@pytest.mark.parametrize(
    "text", ["30 February 2024", "31 June", "2024-02-30", "25:00", "13/32/2024"]
)
def test_an_impossible_date_in_running_text_is_untouched(text: str):
    sentence = f"The concert is on {text}."
    assert find_times(sentence, NOW) == ()
    assert resolve_text(sentence, NOW) == sentence


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I flew to Rome on 3 March.", "2024-03-03"),
        ("I fly to Rome on 3 March.", "2025-03-03"),
        ("We met on Friday.", "2024-05-10"),
        ("We will meet on Friday.", "2024-05-17"),
        ("I booked a flight for 3 March.", "2025-03-03"),
        ("I've got a call with Ida on Friday.", "2024-05-17"),
        ("I got a call from Ida on Friday.", "2024-05-10"),
        ("I was ill. I see the doctor on Friday.", "2024-05-17"),
    ],
)
def test_the_tense_decides_between_past_and_future(text: str, day: str):
    span = only(text)
    assert span.start == at(day)
    assert len(span.alternatives) == 1


def test_times_carry_the_zone_of_the_message():
    paris = ZoneInfo("Europe/Paris")
    now = datetime(2024, 3, 30, 23, 0, tzinfo=paris)
    assert only("tomorrow", now).start == datetime(2024, 3, 31, tzinfo=paris)
    # The clock jumps from 2 to 3 that night, and four hours stay four hours.
    assert only("in 4 hours", now).start == datetime(2024, 3, 31, 4, 0, tzinfo=paris)


def test_a_message_without_a_zone_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="time zone"):
        find_times("tomorrow", datetime(2024, 5, 11))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-12", "2024-05-12"),
        ("2024-05-12T17:00", "2024-05-12T17:00"),
        (" 2024-05-12 17:00 ", "2024-05-12T17:00"),
        ("2024-05-12T17:00:00+02:00", "2024-05-12T15:00"),
        ("tomorrow", "2024-05-12"),
        ("next Friday at 5pm", "2024-05-17T17:00"),
        ("in three days", "2024-05-14"),
        ("next month", "2024-06-01"),
    ],
)
def test_an_option_takes_iso_first_and_english_second(text: str, moment: str):
    assert parse_when(text, NOW) == at(moment)


def test_an_option_can_mean_the_end_of_its_day():
    assert parse_when("2024-05-14", NOW, end=True) == at("2024-05-15")
    assert parse_when("next week", NOW, end=True) == at("2024-05-20")
    assert parse_when("2024-05-14T12:00", NOW, end=True) == at("2024-05-14T12:00")


@pytest.mark.parametrize(
    "text",
    ["2024-02-30", "31 June", "25:00", "2024-13-01", "", "gibberish", "every Monday", "two weeks",
     "tomorrow or Friday", "9" * 400, "in 99999999 years"],
)  # fmt: skip
def test_an_option_that_is_no_date_gives_one_clear_line(text: str):
    with pytest.raises(InvalidInput) as caught:
        parse_when(text, NOW)
    assert "\n" not in str(caught.value)
    assert "2024-05-12" in str(caught.value)


_WORDS = (
    "next last this monday Friday Sat may May march 12 5 18 2024 the of second first in on at to "
    "from - , . / : pm am tomorrow yesterday week month year days ago two until by for every "
    "morning evening noon half past quarter and between end early Q1 1990s 5/12 22/04 2024-05-12 "
    "17:30 31 June 2/30 christmas easter s ' \" ( ) 99 9999 0 weekend summer hours now later after "
    "before since twenty hundred thousand one a an ten 24:00 12am 20240512 1:1 jan-15 5th not"
).split()
_TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join),
    st.lists(st.sampled_from(_WORDS), max_size=8).map("".join),
)
_NOWS = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone.min])
)


@given(_TEXTS, _NOWS)
@settings(deadline=None, max_examples=300)
def test_any_text_gives_ordered_spans_inside_it_and_no_error(text: str, now: datetime):
    done = 0
    for span in find_times(text, now):
        assert done <= span.start_char < span.end_char <= len(text)
        assert span.text == text[span.start_char : span.end_char]
        done = span.end_char
    validity(text, now)


@given(_TEXTS, _NOWS)
@settings(deadline=None, max_examples=300)
def test_resolving_twice_changes_nothing_more(text: str, now: datetime):
    once = resolve_text(text, now)
    assert resolve_text(once, now) == once


@given(_TEXTS, _NOWS)
@settings(deadline=None, max_examples=300)
def test_no_word_of_a_text_is_changed(text: str, now: datetime):
    written = iter(resolve_text(text, now))
    assert all(character in written for character in text)


@given(_TEXTS)
@settings(deadline=None, max_examples=200)
def test_the_tokeniser_knows_only_categories_that_rules_were_built_for(text: str):
    grammar = _grammar()
    for token in tokens(text, grammar.words):
        assert token.categories in grammar.known_signatures


@pytest.mark.parametrize(
    "piece",
    [
        "the quick brown fox jumps over the lazy dog and it is so. ",
        "Let us meet next Friday at 5pm with 12 people from the 3rd floor. ",
        "1-",
        "monday and ",
        "+1 ",
        "Friday (2024-05-17) and ",
    ],
)
def test_the_cost_grows_with_the_text_and_no_faster(piece: str):
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        began = time.process_time()
        find_times(text, NOW)
        in_figures(text)
        return time.process_time() - began

    seconds(len(piece))
    # The best of some, since a shared machine may slow any of them down.
    short, long = (min(seconds(length) for _ in range(3)) for length in (20_000, 80_000))
    # Four times the text; a quadratic engine would need sixteen times the time.
    assert long < 9 * short + 0.1
