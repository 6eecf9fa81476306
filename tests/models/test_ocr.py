"""Reading pictures: rendered text comes back, everything else ends in one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from agent.errors import UnreadableSource
from agent.models.adapters.ocr import MAX_PIXELS, RapidReader, reading_order
from agent.ports import TextLine


@pytest.fixture(scope="module")
def reader() -> RapidReader:
    return RapidReader()


def draw(
    texts: dict[tuple[int, int], str], size: tuple[int, int] = (900, 320), mode: str = "RGB"
) -> Image.Image:
    picture = Image.new(mode, size, (255,) * 3 if mode == "RGB" else (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    for place, text in texts.items():
        pen.text(place, text, fill="black", font=ImageFont.load_default(size=32))
    return picture


FORM = {(40, 30): "Flight to Lisbon", (40, 130): "Departs", (480, 130): "Monday 08:45"}


def test_text_comes_back_in_reading_order(reader: RapidReader, tmp_path: Path, capfd):
    path = tmp_path / "form.png"
    draw(FORM).save(path)
    lines = reader.read(path)
    assert [line.text for line in lines] == list(FORM.values())
    for line, (left, top) in zip(lines, FORM, strict=True):
        assert abs(line.left - left) < 20
        assert top - 20 < line.top < line.bottom < top + 60
        assert 0.5 < line.confidence <= 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", ["jpg", "webp", "bmp", "gif", "tiff"])
def test_common_formats_are_read(reader: RapidReader, tmp_path: Path, suffix: str):
    path = tmp_path / f"form.{suffix}"
    draw(FORM).save(path)
    assert "Flight to Lisbon" in [line.text for line in reader.read(path)]


def test_transparent_pictures_lie_on_white(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "form.png"
    draw(FORM, mode="RGBA").save(path)
    assert [line.text for line in reader.read(path)] == list(FORM.values())


def test_a_turned_photo_is_read_upright(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it a quarter turn clockwise
    draw(FORM).rotate(90, expand=True).save(path, exif=exif)
    lines = reader.read(path)
    assert [line.text for line in lines] == list(FORM.values())
    assert max(line.right for line in lines) > 320, "boxes are in pixels of the upright picture"


def test_boxes_of_a_large_picture_are_in_its_own_pixels(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "large.png"
    draw(FORM).resize((3600, 1280)).save(path)
    first = reader.read(path)[0]
    assert first.text == "Flight to Lisbon"
    assert abs(first.left - 160) < 60
    assert 1000 < first.right < 1400


def test_a_picture_without_text_has_no_lines(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "blank.png"
    for size in ((400, 300), (1, 1), (3, 2000), (9000, 1)):
        Image.new("RGB", size, "white").save(path)
        assert reader.read(path) == []


def test_a_long_screenshot_is_read_whole(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "long.png"
    texts = {(40, 300 * n + 40): f"Message number {n}" for n in range(20)}
    draw(texts, size=(540, 6000)).save(path)
    assert [line.text for line in reader.read(path)] == list(texts.values())


def test_unreadable_files_end_in_one_line(reader: RapidReader, tmp_path: Path):
    whole = tmp_path / "whole.png"
    draw(FORM).save(whole)
    data = whole.read_bytes()
    cases = {
        "empty": (b"", "is empty"),
        "cut": (data[: len(data) // 2], "truncated or damaged"),
        "head": (data[:20], "truncated or damaged|not a picture"),
        "text": (b"dear diary", "not a picture"),
    }
    for name, (content, reason) in cases.items():
        path = tmp_path / f"{name}.png"
        path.write_bytes(content)
        with pytest.raises(UnreadableSource, match=reason) as caught:
            reader.read(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(UnreadableSource, match="There is no file"):
        reader.read(tmp_path / "nothing.png")
    with pytest.raises(UnreadableSource, match="is a folder"):
        reader.read(tmp_path)


def test_a_huge_picture_is_refused_before_it_is_decoded(reader: RapidReader, tmp_path: Path):
    path = tmp_path / "huge.png"
    Image.new("1", (10_000, MAX_PIXELS // 10_000 + 1)).save(path)
    with pytest.raises(UnreadableSource, match="Crop or shrink"):
        reader.read(path)


def line(text: str, left: float, top: float, height: float = 20) -> TextLine:
    return TextLine(text, left, top, left + 50, top + height, 1.0)


def test_rows_are_told_by_overlap():
    lines = [
        line("d", 300, 48, 30),
        line("a", 0, 0),
        line("c", 0, 52),
        line("b", 200, 4),
        line("e", 0, 90),
    ]
    assert [found.text for found in reading_order(lines)] == ["a", "b", "c", "d", "e"]
    assert reading_order([]) == []
