"""Reminders: what a memory reminds of, when, and as a calendar."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dateutil.rrule import rrulestr
from icalendar import Calendar

from agent.applications.services.desktop_notifications import message
from agent.applications.services.ical_export import calendar_of
from agent.applications.services.recurrence import clock_of, next_time, next_year_day, rule_of
from agent.applications.services.reminders import coming, reminders
from agent.applications.services.upcoming import Kind, Occasion, occasion
from agent.extraction.triples.read import triples_for
from agent.extraction.validity import held
from agent.io.sources.calendars import read_calendar
from agent.language.dates import resolve_text
from agent.memory.entities.identity import Identities
from store.graph import MemoryGraph
from store.journal import Forget, Insert, Replace
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Draft, Memory, Source, SourceKind, Triple
from tests.conftest import Result

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)  # a Wednesday
WALL = NOW.replace(tzinfo=None)


def draft(text: str, *, subclass: str = "event.arrangement", said: datetime = NOW) -> Draft:
    """A memory as it is stored of a sentence."""
    resolved = resolve_text(text, said)
    (triples,) = triples_for([resolved], None)
    start, end = held(resolved, subclass, triples, said)
    return Draft(resolved, subclass, said, triples, valid_from=start, valid_until=end)


def memory(text: str, number: int = 1, *, said: datetime = NOW) -> Memory:
    one = draft(text, said=said)
    return Memory(
        f"m{number}", one.text, "Event", one.subclass, said, one.triples, one.valid_from,
        one.valid_until,
    )  # fmt: skip


def at(text: str) -> tuple[str, Kind, str] | None:
    """When (with its hour unless all day), what kind and what of the next occasion."""
    found = occasion(memory(text), WALL)
    if found is None:
        return None
    form = "%Y-%m-%d" if found.all_day else "%Y-%m-%d %H:%M"
    return f"{found.at:{form}}", found.kind, found.what


@pytest.mark.parametrize(
    ("said", "when", "kind", "what"),
    [
        ("I have a dentist appointment at Orchard Clinic on 14 May at 15:40.",
         "2024-05-14 15:40", Kind.EVENT, "Dentist appointment at Orchard Clinic"),
        ("Dinner with Laura is tomorrow at 7pm.", "2024-05-09 19:00", Kind.EVENT,
         "Dinner with Laura"),
        ("The concert is from 12 to 14 May.", "2024-05-12", Kind.EVENT, "The concert"),
        ("I must hand in the report by 10 May.", "2024-05-10", Kind.EVENT,
         "I must hand in the report"),
        ("I need to pay the rent before 14 May.", "2024-05-13", Kind.EVENT,
         "I need to pay the rent"),
        ("I'm moving to Oslo on 12 May.", "2024-05-12", Kind.EVENT, "I'm moving to Oslo"),
        ("Anna's birthday party is on 18 May at 18:00.", "2024-05-18 18:00", Kind.EVENT,
         "Anna's birthday party"),
        ("My mother's birthday is on 3 June.", "2024-06-03", Kind.BIRTHDAY,
         "My mother's birthday"),
        ("My mother was born on 3 May 1960.", "2025-05-03", Kind.BIRTHDAY,
         "My mother's birthday"),
        ("Our wedding anniversary is on June 12.", "2024-06-12", Kind.ANNIVERSARY,
         "Our wedding anniversary"),
        ("I got married on 2015-06-12.", "2024-06-12", Kind.ANNIVERSARY,
         "Our wedding anniversary"),
        ("My dinner voucher for Rossi is valid until 12 May.", "2024-05-12", Kind.EXPIRY,
         "My dinner voucher for Rossi"),
        ("My passport expires on 1 June.", "2024-06-01", Kind.EXPIRY, "My passport"),
        ("I swim on Tuesday.", "2024-05-14", Kind.HABIT, "I swim"),
        ("Choir is tue 19:30 (weekly).", "2024-05-14 19:30", Kind.HABIT, "Choir"),
        ("I swim Friday at 5 (weekly) in the lido.", "2024-05-10 17:00", Kind.HABIT,
         "I swim Friday at 5 (weekly) in the lido"),
        ("I play tennis every Thursday at 18:00.", "2024-05-09 18:00", Kind.HABIT,
         "I play tennis"),
        ("Yoga class is on Mondays and Wednesdays at 7pm.", "2024-05-08 19:00", Kind.HABIT,
         "Yoga class"),
        ("I take my pills every day at 8am.", "2024-05-09 08:00", Kind.HABIT, "I take my pills"),
        ("Rent is due on the first of every month.", "2024-06-01", Kind.HABIT, "Rent"),
        ("I am off on Sunday and Monday nights.", "2024-05-12", Kind.EVENT,
         "I am off on Sunday (2024-05-12) and Monday nights"),
        ("On 14 May Bo brings the tent back.", "2024-05-14", Kind.EVENT,
         "On 14 May 2024 Bo brings the tent back"),
    ],
)  # fmt: skip
def test_a_memory_reminds_of_its_next_time(said: str, when: str, kind: Kind, what: str):
    assert at(said) == (when, kind, what)


@pytest.mark.parametrize(
    "said",
    [
        "I had lunch with Ben today.",
        "I moved to Oslo on 2 May 2023.",
        "I don't have an appointment on 12 May.",
        "My gym is open on Sunday.",
        "We have a team call every other Monday at 9.",
        "I water the plants twice a week.",
        "I love long walks.",
        "I am 31 years old.",
        "I gave the cafe 8/10 and was home in ten minutes.",
        "We met in May.",
    ],
)
def test_what_names_no_coming_day_reminds_of_nothing(said: str):
    assert at(said) is None


def test_years_are_told_where_the_first_one_is():
    found = occasion(memory("My mother was born on 3 June 1960."), WALL)
    assert isinstance(found, Occasion) and found.years == 64
    found = occasion(memory("My mother's birthday is on 3 June."), WALL)
    assert found is not None and found.years is None


def test_29_february_is_held_each_year():
    assert next_year_day(2, 29, datetime(2025, 1, 1)) == datetime(2025, 2, 28)
    assert next_year_day(2, 29, datetime(2028, 1, 1)) == datetime(2028, 2, 29)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("every Thursday at 18:00", "FREQ=WEEKLY;BYDAY=TH"),
        ("on Mondays and Wednesdays", "FREQ=WEEKLY;BYDAY=MO,WE"),
        ("on weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("the first Monday of every month", "FREQ=MONTHLY;BYDAY=1MO"),
        ("on the 15th of each month", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("on the last of every month", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("every evening", "FREQ=DAILY"),
        ("every other Tuesday", None),
        ("every second Friday", None),
        ("three times a week", None),
        ("on the 99th of every month", None),
    ],
)
def test_words_become_a_rule_only_where_they_fix_every_day(words: str, rule: str | None):
    assert rule_of(words) == rule


def test_a_rule_that_allows_no_day_or_is_none_has_no_next_time():
    assert next_time("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", WALL, WALL) is None
    assert next_time("FREQ=WEEKLY;UNTIL=20240101T000000Z", datetime(2023, 1, 2), WALL) is None
    assert next_time("FREQ=NEVER;;", WALL, WALL) is None
    assert next_time("FREQ=SECONDLY", WALL, WALL) is None


@pytest.mark.parametrize("end", ["", ";COUNT=3", ";UNTIL=99991231", ";UNTIL=99991231T000000Z"])
def test_no_rule_is_followed_to_the_year_9999(end: str, monkeypatch: pytest.MonkeyPatch):
    looked_for: list[str] = []

    def spied(rule: str, dtstart: datetime) -> object:
        looked_for.append(rule)
        return rrulestr(rule, dtstart=dtstart)

    monkeypatch.setattr("dateutil.rrule.rrulestr", spied)

    assert next_time(f"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30{end}", WALL, WALL) is None

    (rule,) = looked_for
    assert rule.count("UNTIL") == 1 and "9999" not in rule


def test_hours_are_read_as_they_are_said():
    assert str(clock_of("every Monday at 7pm")) == "19:00:00"
    assert str(clock_of("every Monday at 12am")) == "00:00:00"
    assert str(clock_of("at 9")) == "09:00:00"
    assert str(clock_of("Mondays at 4")) == "16:00:00"
    assert str(clock_of("every evening at 9")) == "21:00:00"
    assert str(clock_of("every Monday 7 to 9pm")) == "19:00:00"
    assert clock_of("every Monday") is None


# ---- of a graph -----------------------------------------------------------------------------


def test_soonest_first_and_only_within_the_days(graph: MemoryGraph):
    tennis, exam = "I play tennis every Thursday at 18:00.", "The exam is on 20 May."
    dinner, concert = "Dinner with Laura is on 9 May at 19:00.", "The concert is on 1 July."
    for text in (tennis, exam, dinner, concert):
        graph.apply([Insert(draft(text))], at=NOW)
    assert [one.text for one in coming(graph, NOW)] == [
        "I play tennis", "Dinner with Laura", "The exam",
    ]  # fmt: skip
    assert [one.text for one in coming(graph, NOW, days=2)] == [
        "I play tennis", "Dinner with Laura",
    ]  # fmt: skip
    assert coming(graph, NOW, days=1) == ()


def test_what_was_moved_or_forgotten_is_not_reminded_of(graph: MemoryGraph):
    (told,) = graph.apply([Insert(draft("The exam is on 20 May at 10:00."))], at=NOW)
    graph.apply([Insert(draft("Dinner with Laura is on 9 May."))], at=NOW)
    graph.apply([Replace(told.memory, draft("The exam is on 21 May at 11:00."))], at=NOW)
    graph.apply([Forget("m2")], at=NOW)
    found = coming(graph, NOW, days=30)
    assert [(f"{one.when:%d %H:%M}", one.text) for one in found] == [("21 11:00", "The exam")]


def test_what_has_probably_changed_is_reminded_of_and_says_so(graph: MemoryGraph):
    told = [draft("The exam is on 20 May at 10:00."), draft("They moved it to 21 May at 11:00.")]
    graph.apply([Insert(one) for one in told], at=NOW)
    for chance, changed in ((0.4, None), (0.6, "m2")):
        graph.change_edges.put([ChangeEdge("m1", "m2", ChangeKind.SUPERSEDES, chance)], NOW)
        first, second = coming(graph, NOW, days=30)
        assert (first.changed_by and first.changed_by.id, second.changed_by) == (changed, None)
    assert message(first)[1] == "The exam, 10:00 (probably changed since)"
    assert message(second)[1].endswith("11:00")
    assert calendar_of([first, second], NOW).count(b"STATUS:TENTATIVE") == 1


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("They can't do the 12th any more, it's the 19th at 2pm.", "2024-05-19 14:00"),
        ("They can't do the 12th. It's on Sunday the 19th.", "2024-05-19"),
        ("We don't meet on Friday and on Saturday.", None),
    ],
)
def test_a_day_that_is_not_denied_is_reminded_of(said: str, when: str | None):
    found = at(said)
    assert (found and found[0]) == when


def test_a_habit_ends_where_a_planned_one_takes_its_place(graph: MemoryGraph):
    (told,) = graph.apply([Insert(draft("I play tennis every Thursday."))], at=NOW)
    later = draft("From 9 May I play tennis every Friday.")
    graph.apply([Replace(told.memory, later)], at=NOW)
    found = coming(graph, NOW)
    assert not [one for one in found if one.memory.id == "m1" and one.when.day > 9]


def test_an_event_of_several_sources_is_reminded_of_once():
    told = [memory("I booked the SQ318 flight on 12 May.", 1),
            memory("The SQ318 flight departs on 12 May at 09:05.", 2)]  # fmt: skip
    found = reminders(told, NOW, 14, Identities(told, NOW))
    assert [(one.memory.id, one.all_day) for one in found] == [("m2", False)]


def test_a_recurring_calendar_entry_gives_its_next_occurrence():
    ics = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nSUMMARY:Team standup\nDTSTART:20240507T100000\n"
        "DTEND:20240507T103000\nRRULE:FREQ=WEEKLY;BYDAY=TU\nEXDATE:20240514T100000\nEND:VEVENT\n"
        "END:VCALENDAR\n"
    )
    source = Source("s1", SourceKind.CALENDAR, ics, "hash", NOW)
    (item,) = read_calendar(source).items
    one = item.draft
    told = Memory("m1", one.text, "Event", one.subclass, NOW, one.triples)
    found = occasion(told, WALL)
    assert found is not None
    assert (found.kind, found.what, found.at) == (
        Kind.HABIT, "Team standup", datetime(2024, 5, 21, 10, 0),
    )  # fmt: skip


# ---- as a calendar --------------------------------------------------------------------------


def test_the_calendar_file_says_what_the_reminders_say(graph: MemoryGraph):
    for text in ("Dinner with Laura; bring wine, is on 9 May at 19:00.",
                 "My mother was born on 10 May 1960.", "I play tennis every Thursday at 18:00.",
                 "My voucher for Rossi is valid until 12 May."):  # fmt: skip
        graph.apply([Insert(draft(text))], at=NOW)
    found = coming(graph, NOW)
    written = calendar_of(found, NOW)
    assert b"\r\n" in written and max(map(len, written.split(b"\r\n"))) <= 75
    calendar = Calendar.from_ical(written)
    events = {str(e["SUMMARY"]): e for e in calendar.events}
    assert not any(e.errors for e in calendar.events)
    assert len(events) == len(found) == 4
    rules = {name: e.rrules[0].to_ical() for name, e in events.items() if e.rrules}
    assert rules["I play tennis"] == b"FREQ=WEEKLY;BYDAY=TH"
    assert events["I play tennis"].start == datetime(2024, 5, 9, 18, 0)
    birthday = events["My mother's birthday"]
    assert str(birthday.start) == "2024-05-10"
    assert rules["My mother's birthday"] == b"FREQ=YEARLY;BYMONTHDAY=10;BYMONTH=5"
    assert "Last day: My voucher for Rossi" in events
    assert all(len(e.alarms.times) or e.subcomponents for e in calendar.events)
    uids = {str(e["UID"]) for e in calendar.events}
    again = Calendar.from_ical(calendar_of(found, NOW + timedelta(days=1)))
    assert {str(e["UID"]) for e in again.events} == uids


def test_our_own_reader_takes_the_file_back(graph: MemoryGraph):
    graph.apply([Insert(draft("Dinner with Laura is on 9 May at 19:00."))], at=NOW)
    text = calendar_of(coming(graph, NOW), NOW).decode()
    (item,) = read_calendar(Source("s1", SourceKind.CALENDAR, text, "hash", NOW)).items
    assert item.draft.text.startswith("Dinner with Laura is in my calendar on 2024-05-09 at 19:00")


# ---- the command ----------------------------------------------------------------------------


def test_remind_prints_one_document_and_writes_a_private_file(memlane, graph, tmp_path: Path):
    graph.apply([Insert(draft("Dinner with Laura is on 9 May at 19:00."))], at=NOW)
    path = tmp_path / "coming.ics"
    done: Result = memlane("remind", "--now", NOW.isoformat(), "--ics", path, "--json")
    assert done.code == 0
    (one,) = done.json["reminders"]
    assert one["text"] == "Dinner with Laura" and one["memory"] == "m1"
    assert datetime.fromisoformat(one["when"]) == datetime(2024, 5, 9, 19, 0, tzinfo=UTC)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(Calendar.from_ical(path.read_bytes()).events) == 1


def test_remind_says_so_when_nothing_comes_and_where_it_cannot_write(memlane, tmp_path: Path):
    done: Result = memlane("remind", "--now", NOW.isoformat())
    assert done.code == 0 and "No events that I know of" in done.out
    done = memlane("remind", "--ics", tmp_path / "no" / "folder.ics")
    assert done.code != 0 and done.err.count("\n") == 1 and "Cannot write" in done.err
    assert memlane("remind", "--days", "0").code == 2


@pytest.mark.parametrize(
    "text",
    [
        "Standup is in my calendar daily from 10:00 to 11:00, from 2024-02-31 on (FREQ=DAILY).",
        "Standup is in my calendar daily at 99:99, from 2024-02-01 on (X), next on 2024-13-45.",
        "The end of the world is before 0001-01-01.",
        "The party is on 9999-12-31 at 23:59 (Europe/Oslo).",
        "Every day " * 300,
    ],
)
def test_days_that_no_calendar_has_remind_of_nothing(text: str):
    recurs = (Triple("Standup", "recurs", "FREQ=DAILY"),) if "Standup" in text else ()
    told = Memory("m1", text, "Event", "event.arrangement", NOW, recurs)
    found = reminders([told], NOW, 3000, Identities([told], NOW))
    assert not found or "Every day" in text


def test_triples_are_not_needed_to_be_reminded():
    bare = Memory("m1", "The exam is on 2024-05-20 at 10:00.", "Event", "event.arrangement", NOW)
    named = Memory("m2", bare.text, "Event", bare.subclass, NOW, (Triple("a", "recurs", "junk"),))
    assert occasion(bare, WALL) is not None
    assert occasion(named, WALL) is None
