"""Rows, cells, and labels with their values, by where they stand on a screen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from agent.extraction.documents.labelled_fields import read_screen
from agent.io.sources.ocr_layout import arranged
from agent.io.sources.screenshots import read_screenshot, written
from agent.models.adapters.ocr import RapidReader
from agent.ports import TextLine


def box(text: str, left: float, top: float, width: float = 100, height: float = 20) -> TextLine:
    return TextLine(text, left, top, left + width, top + height, 1.0)


def text_of(*lines: TextLine) -> str:
    shuffled = list(lines)
    random.Random(3).shuffle(shuffled)
    return written(shuffled)[0]


def test_a_row_is_one_line_and_its_cells_are_apart():
    assert text_of(box("Flight", 10, 100), box("KL1007", 300, 103), box("Seat", 10, 200)) == (
        "Flight  KL1007\nSeat"
    )


def test_pieces_of_one_cell_are_one_space_apart():
    assert text_of(box("Tan", 10, 100, 40), box("Wei", 55, 100, 40)) == "Tan Wei"


def test_labels_above_their_values_lead_them():
    told = text_of(
        box("FLIGHT", 10, 100), box("GATE", 150, 100), box("SEAT", 290, 100),
        box("KL1007", 10, 125), box("D12", 150, 125), box("9F", 290, 125),
        box("Have a pleasant flight!", 10, 220, 300),
    )  # fmt: skip
    assert told == "FLIGHT  KL1007\nGATE  D12\nSEAT  9F\nHave a pleasant flight!"


def test_a_table_stays_a_table():
    told = text_of(
        *(box(f"{name}{row}", 10 + 150 * at, 100 + 25 * row) for row in range(4)
          for at, name in enumerate("abc"))
    )  # fmt: skip
    assert told.splitlines()[0] == "a0  b0  c0"


def test_label_value_rows_are_not_read_downwards():
    told = text_of(
        box("Passenger", 10, 100),
        box("Tan Wei", 200, 100),
        box("Seat", 10, 125),
        box("23A", 200, 125),
    )
    assert told == "Passenger  Tan Wei\nSeat  23A"


def test_a_value_below_its_label():
    told = text_of(box("Steps today", 10, 100), box("8,412", 10, 124), box("Settings", 10, 220))
    assert told == "Steps today  8,412\nSettings"


def test_entries_of_a_list_stay_together_and_a_paragraph_is_left():
    entries = [
        item for at in range(3)
        for item in (box(f"Song {at}", 10, 100 + 90 * at), box("The Band", 10, 124 + 90 * at))
    ]  # fmt: skip
    assert text_of(*entries).splitlines() == [f"Song {at}  The Band" for at in range(3)]
    lines = [box(f"running text number {at}", 10, 100 + 24 * at, 400) for at in range(5)]
    assert len(text_of(*lines).splitlines()) == 5


def test_a_title_above_a_line_of_text_stays_a_line():
    told = text_of(
        box("Crowne Plaza Amsterdam", 10, 50, 300), box("Reservation confirmed", 10, 74, 300)
    )
    assert told == "Crowne Plaza Amsterdam\nReservation confirmed"


def test_boxes_point_at_their_text():
    lines = [box("Gate", 10, 100), box("D12", 200, 100), box("Seat 9F", 10, 200)]
    text, boxes = written(lines)
    assert [b.span.of(text) for b in boxes] == ["Gate", "D12", "Seat 9F"]
    assert boxes[1].left == 200
    assert sum(len(cell) for row in arranged(lines) for cell in row) == 3


@pytest.mark.parametrize("scale", [1, 2])
def test_a_rendered_ticket_is_read_by_its_columns(tmp_path: Path, scale: int):
    picture = Image.new("RGB", (720 * scale, 520 * scale), "white")
    draw = ImageDraw.Draw(picture)
    small, large = (ImageFont.load_default(size * scale) for size in (22, 34))
    draw.text((40 * scale, 30 * scale), "Boarding pass", "black", large)
    for at, (label, value) in enumerate(
        (("FLIGHT", "KL1007"), ("GATE", "D12"), ("SEAT", "23A"), ("DATE", "12 May 2024"))
    ):
        x, y = (40 + 340 * (at % 2)) * scale, (140 + 150 * (at // 2)) * scale
        draw.text((x, y), label, "gray", small)
        draw.text((x, y + 30 * scale), value, "black", large)
    path = tmp_path / "ticket.png"
    picture.save(path)
    text, _ = read_screenshot(path, RapidReader())
    for line in ("FLIGHT  KL1007", "GATE  D12", "SEAT  23A", "DATE  12 May 2024"):
        assert line in text.splitlines()
    assert "The gate of the KL1007 flight is D12." in read_screen(text).memories
