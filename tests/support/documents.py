"""Documents of every kind for tests, made by hand or by the libraries that people use."""

from __future__ import annotations

import io
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

import docx
from PIL import Image, ImageDraw, ImageFont

from benchmarks.shared.made_documents import Put, pdf

LEASE = [
    [
        Put(50, 60, "Lease of Gartenweg 4", 20),
        Put(
            50,
            100,
            "The rent is 1,240 euros a month and is due on the first day of each month. The",
        ),
        Put(
            50,
            114,
            "deposit was paid to Otto Brandl, who lives next door and keeps the key to the cel-",
        ),
        Put(50, 128, "lar. I live in Paris and my phone number is 030 1234567."),
        Put(50, 180, "Rooms", 15),
        *[
            Put(left, 220 + 20 * row, text)
            for row, cells in enumerate(
                [
                    ("Room", "Size", "Floor"),
                    ("Kitchen", "12 m2", "oak"),
                    ("Bath", "6 m2", "tile"),
                ]
            )
            for left, text in zip((50, 200, 350), cells, strict=True)
        ],
        Put(
            50,
            700,
            "The lease is signed by the tenant and by the landlord of the house, and ends on",
        ),
        Put(250, 800, "Page 1 of 3", 9),
    ],
    [
        Put(
            50, 60, "30 June 2027, unless it is renewed in writing by both of them before that day."
        ),
        Put(250, 800, "Page 2 of 3", 9),
    ],
    [Put(50, 60, "The meter in the hall reads 48,213."), Put(250, 800, "Page 3 of 3", 9)],
]
"""A lease of three pages: a sentence that goes over the page, a table, footers."""


def lease(**about: Any) -> bytes:
    return pdf(LEASE, **about)


def scan(lines: Sequence[str]) -> bytes:
    """A PDF whose page is a picture of text."""
    page = Image.new("L", (1240, 1754), 255)
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(28)
    for number, line in enumerate(lines):
        draw.text((90, 200 + 90 * number), line, fill=0, font=font)
    out = io.BytesIO()
    page.save(out, "PDF", resolution=150)
    return out.getvalue()


def word_file() -> bytes:
    """A curriculum vitae with headings, a list and a table."""
    document = docx.Document()
    document.core_properties.title = "Word Document"
    document.add_heading("Curriculum vitae", 0)
    document.add_paragraph("I studied chemistry in Graz.")
    document.add_heading("Skills", 1)
    document.add_paragraph("Python", style="List Bullet")
    document.add_paragraph("Welding", style="List Bullet")
    table = document.add_table(rows=3, cols=2)
    for row, cells in enumerate([("Firm", "Years"), ("Voest", "2012 to 2016"), ("Bosch", "2020")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def mail(
    text: str,
    sender: str = "Mia Berg <mia@example.org>",
    subject: str = "Trip to Rome",
    html: bool = False,
) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, "Omar Said <o@x.org>", subject
    message["Date"] = "Fri, 01 Mar 2024 10:00:00 +0100"
    message.set_content(text, subtype="html" if html else "plain")
    return message.as_bytes()


def mbox(*messages: bytes) -> bytes:
    return b"".join(b"From x Fri Mar  1 10:00:00 2024\n" + one + b"\n" for one in messages)
