"""PDF files: the text of each page where it stands; a page that is only a picture goes through OCR.

PDFium may be called by one thread at a time, so a lock is held while it works, page by page.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from math import sqrt
from pathlib import Path
from typing import Any

from agent.errors import UnreadableSource
from agent.io.sources.documents.page_layout import Page, markdown_of_pages
from agent.io.sources.documents.plain import (
    damaged,
    is_locked,
    useful_title,
    with_fields,
)
from agent.ports import TextLine, TextReader
from store.maintenance.left_overs import scratch_folder

MAX_PAGES = 3_000
MAX_SCANNED = 200
"""Pages without text that are read by OCR, which takes a second or more for each."""
SCAN_PIXELS = 2_000_000
"""Pixels of a page for OCR, 140 to the inch of a sheet of A4: with more it reads no better."""
SPARSE = 30
"""Characters below which a page that is a picture has no text of its own but a stamp."""
COVERS = 0.4
"""Part of the page that such a picture takes up."""
_PDFIUM = threading.Lock()


def read_pdf(path: Path, data: bytes, reader: TextReader, scratch: Path) -> str:
    """The text of a PDF as Markdown, a page break between two pages.

    ``scratch`` is where pictures of scanned pages are put while they are read.

    :raises UnreadableSource: if it is damaged, has a password, too many pages or no text.
    """
    with _opened(path, data) as document:
        count = len(document)
        if count > MAX_PAGES:
            raise UnreadableSource(
                f"{path} has {count:,} pages; at most {MAX_PAGES:,} are read: split it into "
                "smaller files."
            )
        pages = [_boxes(document, number) for number in range(count)]
        scanned = [number for number, page in enumerate(pages) if page is None]
        if len(scanned) > MAX_SCANNED:
            raise UnreadableSource(
                f"{path} has {len(scanned):,} scanned pages; at most {MAX_SCANNED} are read: "
                "split it into smaller files."
            )
        found: list[Page] = [page or () for page in pages]
        if scanned:
            with scratch_folder(scratch) as folder:
                for number in scanned:
                    picture = folder / f"{number + 1}.png"
                    _draw(document, number, picture)
                    found[number] = reader.read(picture)
                    picture.unlink()
        with _PDFIUM:
            about: dict[str, str] = document.get_metadata_dict()
    body = markdown_of_pages(found)
    if not body.strip():
        raise UnreadableSource(f"{path} shows no text that could be read.")
    return with_fields(
        body,
        title=useful_title(about.get("Title")),
        author=about.get("Author"),
        date=_day(about.get("CreationDate") or ""),
    )


@contextmanager
def _opened(path: Path, data: bytes) -> Iterator[Any]:
    import pypdfium2

    try:
        with _PDFIUM:
            document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise is_locked(path) if "password" in str(error).lower() else damaged(path) from error
    try:
        yield document
    except pypdfium2.PdfiumError as error:
        raise damaged(path) from error
    finally:
        with _PDFIUM:
            document.close()


def _boxes(document: Any, number: int) -> Page | None:
    """The boxes of text on a page, measured from its top; None where it is a picture of text."""
    with _PDFIUM, closing(document[number]) as page, closing(page.get_textpage()) as text:
        top = page.get_height()
        boxes = []
        for place in map(text.get_rect, range(text.count_rects())):
            if (said := text.get_text_bounded(*place)).strip():
                left, below, right, above = _as_set(text, *place)
                boxes.append(TextLine(said, left, top - above, right, top - below, 1.0))
        length = sum(len(box.text) for box in boxes)
        return None if length < SPARSE and _is_picture(page) else boxes


def _as_set(text: Any, left: float, below: float, right: float, above: float) -> tuple[float, ...]:
    """A box as high as its type is, whichever letters are in it."""
    at = text.get_index((left + right) / 2, (below + above) / 2, right - left, above - below)
    if at is None:
        return left, below, right, above
    _, below, _, above = text.get_charbox(at, loose=True)
    return left, below, right, above


def _is_picture(page: Any) -> bool:
    import pypdfium2.raw as pdfium

    whole = max(1.0, page.get_width() * page.get_height())
    for shape in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE]):
        left, below, right, above = shape.get_bounds()
        if (right - left) * (above - below) >= COVERS * whole:
            return True
    return False


def _draw(document: Any, number: int, picture: Path) -> None:
    with _PDFIUM, closing(document[number]) as page:
        scale = sqrt(SCAN_PIXELS / max(1.0, page.get_width() * page.get_height()))
        with closing(page.render(scale=min(scale, 6.0), grayscale=True)) as bitmap:
            bitmap.to_pil().save(picture)


def _day(stamp: str) -> str | None:
    """'D:20240301...' as a day."""
    digits = stamp.removeprefix("D:")[:8]
    if len(digits) < 8 or not digits.isdigit():
        return None
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
