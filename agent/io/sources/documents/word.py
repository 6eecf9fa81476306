"""Word files (.docx): headings, paragraphs, lists and tables in their order."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import UnreadableSource
from agent.io.sources.documents.plain import (
    BROKEN,
    clean,
    damaged,
    is_locked,
    one_line,
    table_lines,
    unpacked,
    useful_title,
    with_fields,
)

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Row
    from docx.text.paragraph import Paragraph

LOCKED = b"\xd0\xcf\x11\xe0"
"""How the container begins that Word puts a file with a password into."""


def read_word(path: Path, data: bytes) -> str:
    """The text of a Word file as Markdown.

    :raises UnreadableSource: if it is damaged, has a password, or holds no text.
    """
    from docx import Document as open_document
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    if data.startswith(LOCKED):
        raise is_locked(path)
    unpacked(path, data).close()
    try:
        document = open_document(io.BytesIO(data))
        body = "\n".join(_lines(document)).strip()
        about = document.core_properties
        title, author, saved = about.title, about.author, about.modified
    except (OpcError, LxmlError, *BROKEN) as error:
        raise damaged(path) from error
    if not body:
        raise UnreadableSource(f"{path} has no text.")
    day = f"{saved:%Y-%m-%d}" if saved else None
    return with_fields(body, title=useful_title(title), author=author, date=day)


def _lines(document: Document) -> Iterator[str]:
    from docx.table import Table

    listed = False
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            yield from ["", *_table(block), ""]
            listed = False
            continue
        line, is_item = _paragraph(block)
        if line and not (listed and is_item):
            yield ""  # a blank line between paragraphs, none between the items of a list
        if line:
            yield line
            listed = is_item


def _paragraph(paragraph: Paragraph) -> tuple[str, bool]:
    """The line of a paragraph, and whether it is an item of a list."""
    text = clean(paragraph.text).strip()
    if not text:
        return "", False
    style = ((paragraph.style.name if paragraph.style else "") or "").lower()
    properties = paragraph._p.pPr
    if style == "title":
        return f"# {one_line(text)}", False
    if style.startswith("heading") and style[-1:].isdigit():
        return f"{'#' * min(6, int(style[-1]))} {one_line(text)}", False
    if style.startswith("list") or (properties is not None and properties.numPr is not None):
        return f"- {one_line(text)}", True
    return text, False


def _table(table: Table) -> list[str]:
    rows = [_cells(row) for row in table.rows]
    return table_lines(rows, _is_header(table.rows[0]) or None) if rows else []


def _cells(row: _Row) -> list[str]:
    """The texts of a row; a cell that spans several columns is said once."""
    seen: set[int] = set()
    texts = []
    for cell in row.cells:
        fresh = id(cell._tc) not in seen
        seen.add(id(cell._tc))
        texts.append(cell.text if fresh else "")
    return texts


def _is_header(row: _Row) -> bool:
    """Whether Word repeats the row on each page, or all of it is bold."""
    marked = row._tr.trPr is not None and bool(row._tr.trPr.xpath("./w:tblHeader"))
    runs = [
        run
        for cell in row.cells
        for part in cell.paragraphs
        for run in part.runs
        if run.text.strip()
    ]
    return marked or (len(runs) > 0 and all(run.bold for run in runs))
