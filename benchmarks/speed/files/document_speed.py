"""How many pages of documents are read in a minute, and how many are filed.

Files of our own: a PDF of full pages with a heading, paragraphs and a table each; the same text as
a Word file, a book and mail; a few scanned pages. Reading is what the readers of documents do, from
bytes to text; filing is all that ingest does, which is the same for every kind of file.
"""

from __future__ import annotations

import io
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import docx
from PIL import Image, ImageDraw, ImageFont

from agent.config import load_config
from agent.io.ingest import kind_of
from agent.io.sources.documents.read import read_document
from agent.models.adapters.ocr import RapidReader
from agent.models.lazy import LocalEmbedder
from agent.session.session import Session
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.made_documents import Put, epub, pdf
from benchmarks.speed.files.ingest_speed import Quiet, note
from store.graph import MemoryGraph

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
PAGES = 300
FILED = 20
"""Pages that are also filed: that takes the encoder most of a second for each."""
SCANNED = 6
LINE = 88
"""Characters of a line of the PDF."""
PARAGRAPHS = 12


def paragraphs(random_: random.Random) -> list[str]:
    """The text of a page: some 500 words."""
    sentences = [line for _ in range(3) for line in note(random_).splitlines()]
    size = -(-len(sentences) // PARAGRAPHS)
    return [" ".join(sentences[at : at + size]) for at in range(0, len(sentences), size)]


def page_of(number: int, texts: Sequence[str]) -> list[Put]:
    """A page with its heading, paragraphs, a table and a footer."""
    put = [Put(50, 50, f"Chapter {number + 1}", 16)]
    top = 80.0
    for text in texts:
        for line in wrapped(text):
            put.append(Put(50, top, line, 9))
            top += 11
        top += 8
    for row in range(4):
        cells = (
            ("Item", "Price", "Stock") if not row else (f"Bolt M{row}", f"{row}.20", f"{row * 7}")
        )
        put += [Put(50 + 150 * n, top + 12 * row, cell, 9) for n, cell in enumerate(cells)]
    return [*put, Put(280, 825, f"Page {number + 1}", 8)]


def wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if len(line) + len(word) >= LINE:
            yield line
            line = ""
        line += f" {word}" if line else word
    yield line


def word_of(pages: Sequence[Sequence[str]]) -> bytes:
    document = docx.Document()
    for number, texts in enumerate(pages):
        document.add_heading(f"Chapter {number + 1}", 1)
        for text in texts:
            document.add_paragraph(text)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def mbox_of(pages: Sequence[Sequence[str]]) -> bytes:
    raw = b""
    for number, texts in enumerate(pages):
        message = EmailMessage()
        message["From"], message["To"] = "Mia Berg <mia@example.org>", "Omar <omar@example.org>"
        message["Subject"], message["Date"] = f"Chapter {number}", "Fri, 01 Mar 2024 10:00:00 +0100"
        message.set_content("\n\n".join(texts))
        raw += b"From x Fri Mar  1 10:00:00 2024\n" + message.as_bytes() + b"\n"
    return raw


def scan_of(pages: Sequence[Sequence[str]]) -> bytes:
    pictures = []
    for texts in pages:
        picture = Image.new("L", (1240, 1754), 255)
        draw, font = ImageDraw.Draw(picture), ImageFont.load_default(22)
        lines = [line for text in texts[: PARAGRAPHS // 2] for line in wrapped(text)]
        for row, line in enumerate(lines):
            draw.text((90, 120 + 36 * row), line, fill=0, font=font)
        pictures.append(picture)
    out = io.BytesIO()
    pictures[0].save(out, "PDF", resolution=150, save_all=True, append_images=pictures[1:])
    return out.getvalue()


def read_seconds(path: Path, data: bytes, reader: RapidReader) -> tuple[float, str]:
    """Seconds from the bytes of a file to its text, the best of three; OCR is timed once."""
    kind = kind_of(path)
    assert kind is not None
    path.write_bytes(data)
    best, text = float("inf"), ""
    for _ in range(1 if path.stem == "scan" else 3):
        begun = time.perf_counter()
        text = read_document(path, data, kind, reader, path.parent)
        best = min(best, time.perf_counter() - begun)
    return best, text


def main() -> None:
    """Write ``document_speed.json``."""
    options = parser("document_speed", "pages of documents a minute")
    given = options.parse_args()
    count, filed, scanned = (30, 4, 1) if given.quick else (PAGES, FILED, SCANNED)
    random_ = random.Random(0)
    pages = [paragraphs(random_) for _ in range(count)]
    made = {
        "pdf": pdf([page_of(number, texts) for number, texts in enumerate(pages)]),
        "docx": word_of(pages),
        "epub": epub("Book", ["".join(f"<p>{t}</p>" for t in texts) for texts in pages]),
        "mbox": mbox_of(pages),
    }
    figures: dict[str, float | int | None] = {"pages": count, "scanned_pages": scanned}
    reader = RapidReader()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for ending, data in made.items():
            seconds, text = read_seconds(folder / f"all.{ending}", data, reader)
            figures[f"{ending}_pages_a_minute"] = 60 * count / seconds
            figures[f"{ending}_words"] = len(text.split())
            progress(f"{ending}: {60 * count / seconds:,.0f} pages a minute")
        read_seconds(
            folder / "scan.pdf", scan_of(pages[:1]), reader
        )  # the models are loaded before
        seconds, text = read_seconds(folder / "scan.pdf", scan_of(pages[:scanned]), reader)
        figures["scanned_pages_a_minute"] = 60 * scanned / seconds
        figures["scanned_words"] = len(text.split())
        progress(f"scanned: {60 * scanned / seconds:,.0f} pages a minute")
        path = folder / "some.pdf"
        path.write_bytes(
            pdf([page_of(number, texts) for number, texts in enumerate(pages[:filed])])
        )
        config = replace(load_config(), home=folder / "home", fixed_now=NOW)
        with MemoryGraph.open(config.home) as graph:
            session = Session(config, graph, llm=Quiet(), embedder=LocalEmbedder(config))
            session.remember("I like tea.")  # models, examples and grammars are loaded before
            begun = time.perf_counter()
            (report,) = session.ingest([path])
            seconds = time.perf_counter() - begun
            assert report.status == "new" and not graph.verify()
        figures["filed_pages"], figures["filed_memories"] = filed, report.memories
        figures["filed_pages_a_minute"] = 60 * filed / seconds
    progress(str(figures))
    write_results("document_speed", {"quick": given.quick}, (0,), figures)


if __name__ == "__main__":
    main()
