"""Screens by where their texts stand: who spoke, which day, which row."""

from __future__ import annotations

from agent.extraction.documents.screens import read_screen_lines
from agent.io.sources.screenshots import written
from agent.ports import TextLine
from store.types import TextBox
from tests.conftest import NOW

BAR = [("8:05", 30, 10, 20), ("4G 61%", 500, 10, 20)]


def screen(*texts: tuple[str, int, int, int]) -> tuple[str, list[TextBox]]:
    """A screen of (text, left, top, height)."""
    lines = [
        TextLine(text, left, top, left + len(text) * height // 2, top + height, 1.0)
        for text, left, top, height in texts
    ]
    return written(lines)


def read(*texts: tuple[str, int, int, int]) -> list[str]:
    text, boxes = screen(*texts)
    return [line.dated()[1] for line in read_screen_lines(text, boxes, NOW)]


def test_a_conversation_tells_who_wrote():
    said = read(
        *BAR,
        ("Otto", 90, 60, 30),
        ("The kiln is free from", 20, 120, 20),
        ("Friday on", 20, 144, 20),
        ("17:02", 150, 170, 12),
        ("I fire the cups then", 200, 210, 20),
        ("17:05", 400, 236, 12),
        ("Ok. Lena has the key", 20, 270, 20),
        ("17:09", 150, 296, 12),
    )
    assert said == [
        "Otto wrote: The kiln is free from Friday (2024-05-10) on.",
        "I wrote to Otto: I fire the cups then.",
        "Otto wrote: Lena has the key.",
    ]


def test_an_answer_stands_with_what_it_answers():
    text, boxes = screen(
        ("Mo", 90, 60, 30),
        ("Can you fetch the drill at Ida's?", 20, 120, 20),
        ("09:00", 150, 146, 12),
        ("I'll get it tomorrow", 200, 190, 20),
        ("09:01", 400, 216, 12),
        ("Perfect, the shop shuts at six", 20, 250, 20),
        ("09:02", 150, 276, 12),
    )
    first, second = read_screen_lines(text, boxes, NOW)
    assert (
        first.text
        == "Mo wrote: Can you fetch the drill at Ida's? I answered: I'll get it tomorrow."
    )
    assert (first.context.title, first.context.speaker, second.context.speaker) == (
        "Mo",
        "me",
        "Mo",
    )
    assert first.span is not None
    assert "drill" in first.span.of(text) and "tomorrow" in first.span.of(text)


def test_entries_of_a_calendar_have_their_day():
    assert read(
        *BAR,
        ("June 2024", 20, 60, 40),
        ("Mon 3", 20, 130, 24),
        ("Roof inspection", 160, 130, 22),
        ("10:00 - 11:00", 160, 158, 20),
        ("Wed 5", 20, 230, 24),
        ("Dance class", 160, 230, 22),
        ("18:30 - 20:00", 160, 258, 20),
        ("Dinner at Kiki's", 160, 330, 22),
    ) == [
        "On Mon 3 June 2024: Roof inspection, 10:00 - 11:00.",
        "On Wed 5 June 2024: Dance class, 18:30 - 20:00.",
        "On Wed 5 June 2024: Dinner at Kiki's.",
    ]


def test_an_article_is_read_in_sentences_below_its_headline():
    text, boxes = screen(
        ("Tram 7 will be rerouted", 20, 60, 44),
        ("2 May 2024", 20, 130, 18),
        ("The city digs up Elm Street from", 20, 180, 20),
        ("20 May. Trams turn at the mill pond", 20, 206, 20),
        ("and night buses stop at the school.", 20, 232, 20),
    )
    lines = read_screen_lines(text, boxes, NOW)
    assert [line.dated()[1] for line in lines] == [
        "Tram 7 will be rerouted: The city digs up Elm Street from 20 May 2024.",
        "Tram 7 will be rerouted: Trams turn at the mill pond and night buses stop at the school.",
    ]
    assert {line.context.written.day for line in lines} == {2}


def test_rows_of_a_label_and_a_value_belong_to_their_screen():
    assert read(
        *BAR,
        ("Garden hut", 20, 60, 40),
        ("Spade, ash handle", 20, 130, 20),
        ("24.50", 400, 130, 20),
        ("Twine", 20, 170, 20),
        ("3.20", 400, 170, 20),
    ) == ["Garden hut: Spade, ash handle is 24.50.", "Garden hut: Twine is 3.20."]


def test_numbers_below_their_labels_are_rows_of_their_own():
    said = read(
        ("Night coach", 20, 20, 40),
        ("GRAZ SPLIT", 20, 90, 20),
        ("22:15", 20, 130, 30),
        ("06:40", 72, 130, 30),
        ("Bring a blanket.", 20, 200, 20),
    )
    assert said[:2] == ["Night coach: GRAZ is 22:15.", "Night coach: SPLIT is 06:40."]


def test_a_status_bar_is_no_part_of_a_screen():
    said = read(*BAR, ("Boiler", 20, 60, 40), ("The valve sticks.", 20, 120, 20))
    assert said == ["Boiler: The valve sticks."]
