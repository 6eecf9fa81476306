"""Draws the demo's boarding pass: ``python -m benchmarks.render_boarding_pass``.

The picture in ``cli/assets`` is committed; this is how it was made. It needs DejaVu Sans, which
matplotlib and most Linux systems ship; pass its path as the first argument where it is not found.
"""

from __future__ import annotations

import sys

from PIL import Image, ImageDraw, ImageFont

from benchmarks.shared.common import ROOT

TARGET = ROOT / "cli" / "assets" / "boarding-pass.png"
INK, FAINT, PAPER, BAND = (24, 28, 40), (110, 116, 130), (250, 250, 247), (28, 74, 122)


def draw(font_path: str | None = None) -> Image.Image:
    """A phone screenshot of a mobile boarding pass, 720 x 1280 pixels."""

    def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        return ImageFont.truetype(font_path, size) if font_path else ImageFont.load_default(size)

    picture = Image.new("RGB", (720, 1280), (226, 230, 236))
    pen = ImageDraw.Draw(picture)
    pen.text((36, 18), "09:41", font=font(28), fill=INK)
    pen.text((600, 18), "82%", font=font(28), fill=INK)
    pen.rounded_rectangle((30, 80, 690, 1230), radius=28, fill=PAPER)
    pen.rounded_rectangle((30, 80, 690, 190), radius=28, fill=BAND)
    pen.rectangle((30, 150, 690, 190), fill=BAND)
    pen.text((64, 112), "BOARDING PASS", font=font(40), fill=PAPER)

    def field(x: int, y: int, label: str, value: str, size: int = 42) -> None:
        pen.text((x, y), label, font=font(26), fill=FAINT)
        pen.text((x, y + 36), value, font=font(size), fill=INK)

    field(64, 230, "Passenger", "Kenji Tan")
    field(64, 370, "Flight", "EK349")
    field(400, 370, "Date", "2024-05-12")
    field(64, 510, "From", "Singapore")
    field(400, 510, "To", "Amsterdam")
    field(64, 650, "Departure", "01:40", 56)
    field(400, 650, "Gate", "B7", 56)
    pen.line((64, 800, 656, 800), fill=(200, 204, 210), width=3)
    for index in range(46):  # a bar code that says nothing
        width = 4 + (index * 7919 % 5) * 2
        if index * 31 % 3:
            pen.rectangle((84 + index * 12, 860, 84 + index * 12 + width, 1100), fill=INK)
    return picture


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    draw(sys.argv[1] if len(sys.argv) > 1 else None).save(TARGET, optimize=True)
    print(TARGET)
