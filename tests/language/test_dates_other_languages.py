"""Dates of other languages are found where they stand, and written in figures."""

from datetime import UTC, datetime

import pytest

from agent.language.dates import find_times, resolve_text

NOW = datetime(2024, 5, 8, 9, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "words", "start"),
    [
        ("Wir gehen übermorgen um 18 Uhr essen.", "übermorgen um 18 Uhr", "2024-05-10 18:00"),
        ("Die Kita hat am 20. Juni 2024 leider zu.", "20. Juni 2024", "2024-06-20 00:00"),
        ("El jueves a las cuatro voy a nadar.", "jueves a las cuatro", "2024-05-09 16:00"),
        ("Hace cinco días compramos un sofá nuevo.", "Hace cinco días", "2024-05-03 00:00"),
        ("On se retrouve demain à 9h30 devant la mairie.", "demain à 9h30", "2024-05-09 09:30"),
        ("Le cours de yoga est mardi prochain.", "mardi prochain", "2024-05-14 00:00"),
        ("我们明天下午四点在公园见面。", "明天下午四点", "2024-05-09 16:00"),
        ("学校6月20日放假。", "6月20日", "2024-06-20 00:00"),
    ],
)  # fmt: skip
def test_a_date_is_found_where_it_stands(text, words, start):
    [span] = find_times(text, NOW)
    assert (text[span.start_char : span.end_char], f"{span.start:%Y-%m-%d %H:%M}") == (words, start)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ich habe bis Freitag Zeit dafür.", "Ich habe bis Freitag (2024-05-10) Zeit dafür."),
        (
            "La próxima semana no estoy en casa.",
            "La próxima semana (2024-05-13 – 2024-05-19) no estoy en casa.",
        ),
        (
            "Le mois prochain nous partons en voyage.",
            "Le mois prochain (2024-06) nous partons en voyage.",
        ),
        ("我昨天买了一辆车。", "我昨天 (2024-05-07)买了一辆车。"),
        # Without a year it may be a birthday, which comes back each year.
        ("Mein Bruder hat am 3. Juni Geburtstag.", "Mein Bruder hat am 3. Juni Geburtstag."),
    ],
)
def test_relative_days_are_written_in_figures_and_only_once(text, written):
    assert resolve_text(text, NOW) == written
    assert resolve_text(written, NOW) == written


@pytest.mark.parametrize(
    "text",
    [
        "Mon voisin et ma voisine se disputent encore.",
        "El mar está tranquilo y el sol brilla mucho.",
        "Frau Sommer wohnt so weit oben im Haus.",
        "Por la mañana solo tomo un café con leche.",
    ],
)
def test_words_that_are_dates_in_another_language_are_none(text):
    assert not [span for span in find_times(text, NOW) if span.dated]


def test_what_is_said_of_every_week_names_no_day():
    [span] = find_times("Le dimanche je prépare toujours du pain.", NOW)
    assert span.kind == "recurring"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tai chi Tuesday 18:00 at Casa de la Juventud", "Tuesday 18:00"),
        ("meet Herr von Stauffenberg in Garmisch-Partenkirchen tomorrow 9:00", "tomorrow 9:00"),
    ],
)
def test_english_with_many_foreign_names_keeps_its_dates(text, words):
    [span] = find_times(text, NOW)
    assert span.text == words
