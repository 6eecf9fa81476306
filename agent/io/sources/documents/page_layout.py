"""Boxes of text on the pages of a document -> Markdown: paragraphs, headings, rows of tables.

A PDF knows where text stands and nothing of what it is. Rows of cells that stand one below the
other are a table; a row in larger type is a heading; what comes back at the edge of most pages is
a header or footer, and is left out. Pure geometry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from agent.extraction.documents.markdown_notes import PAGE_BREAK
from agent.io.sources.documents.plain import one_line, table_lines
from agent.io.sources.ocr_layout import Row, below, cells, height_of
from agent.ports import TextLine

HEADING = 1.18
"""How much higher than running text the letters of a heading are."""
TITLE = 1.5
"""The same for the title of the document."""
WORDS = 14
"""Words of a heading at most."""
GAP = 1.8
"""How much further apart than lines paragraphs are."""
FILLED = 0.8
"""Part of the width of its column that a line takes up whose sentence goes on in the next."""
PROSE_WORDS = 5
"""Words of the cells, in the middle, from which rows are columns of running text."""
EDGE = 2
"""Rows at the top and bottom of a page that may be its header and footer."""
REPEATED = 0.5
"""Part of the pages on which a header or footer stands."""
_HYPHENS = ("-", "\xad", "\ufffe", "\x02")

Page = Sequence[TextLine]
"""The boxes of a page in the order in which it is read, tops above bottoms."""


@dataclass(frozen=True, slots=True)
class _Measures:
    """What the rows of a whole document look like."""

    height: float
    """Of a line of running text."""
    paragraph: float
    """The distance from which two lines are two paragraphs."""


def markdown_of_pages(pages: Sequence[Page]) -> str:
    """The text of a document, with a page break between two pages."""
    rows = [list(_rows(page)) for page in pages]
    repeated = _repeated(rows)
    rows = [_without(page, repeated) for page in rows]
    measures = _measured(rows)
    titled = False
    texts: list[str] = []
    for page in rows:
        lines: list[str] = []
        above: Row | None = None
        for part in _parts(page):
            if above and part[0][0][0].top - above[0][0].bottom > measures.paragraph:
                lines.append("")
            block, is_title = _written(part, measures, titled=titled)
            titled = titled or is_title
            if above and len(part) == len(block) == 1 and lines and _fills(above, page):
                lines[-1] = _joined(lines[-1], block[0])
            else:
                lines += block
            above = part[-1] if len(part) == len(block) == 1 else None
        texts.append("\n".join(lines))
    return f"\n{PAGE_BREAK}".join(texts)


def _rows(page: Page) -> Iterator[Row]:
    """Boxes that follow one another to the right at one height are a row."""
    row: list[TextLine] = []
    for box in page:
        if row and not _continues(row[-1], box):
            yield cells(row)
            row = []
        row.append(box)
    if row:
        yield cells(row)


def _continues(before: TextLine, box: TextLine) -> bool:
    middle = (box.top + box.bottom) / 2
    return before.top <= middle <= before.bottom and box.left > before.left


# ---- headers and footers ----------------------------------------------------------------------


def _repeated(pages: Sequence[Sequence[Row]]) -> frozenset[str]:
    """The rows at the edges that most pages have, without their numbers."""
    if len(pages) < 3:
        return frozenset()
    counts = Counter(
        name for page in pages for name in {_anonymous(row) for row in _edges(page)} if name
    )
    return frozenset(name for name, times in counts.items() if times > REPEATED * len(pages))


def _edges(page: Sequence[Row]) -> list[Row]:
    return [*page[:EDGE], *page[EDGE:][-EDGE:]]


def _anonymous(row: Row) -> str:
    return "".join("#" if one.isdigit() else one for one in _text(row)).replace("##", "#")


def _without(page: list[Row], repeated: frozenset[str]) -> list[Row]:
    edges = {id(row) for row in _edges(page)}
    return [row for row in page if id(row) not in edges or _anonymous(row) not in repeated]


# ---- what belongs together --------------------------------------------------------------------


def _parts(page: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows of one table together, every other row alone."""
    at = 0
    while at < len(page):
        end = _end_of_table(page, at)
        rows = list(page[at:end])
        if len(rows) > 1 and not _is_prose(rows):
            yield rows
        else:
            # Columns of running text are read one after the other.
            for column in range(len(rows[0]) if len(rows) > 1 else 0):
                yield from ([[row[column]]] for row in rows if column < len(row))
            if len(rows) == 1:
                yield rows
        at = end


def _end_of_table(page: Sequence[Row], at: int) -> int:
    """The first row that is not of the table which begins at a row; ``at + 1`` where none does."""
    first = page[at]
    end = at + 1
    if len(first) < 2:
        return end
    while end < len(page) and _places(page[end], first) is not None:
        end += 1
    return end


def _places(row: Row, first: Row) -> list[int] | None:
    """The columns of a row's cells by the first row; None where they are not in its columns."""
    if row[0][0].top <= first[0][0].top:
        return None
    found = [below(cell, first) for cell in row]
    alone = len(row) == 1 and found[0] == 0
    return None if alone or -1 in found or len(set(found)) < len(found) else found


def _is_prose(rows: Sequence[Row]) -> bool:
    """Whether rows are pieces of running text in columns, side by side."""
    return median(len(_said(cell).split()) for row in rows for cell in row) > PROSE_WORDS


def _written(rows: Sequence[Row], measures: _Measures, *, titled: bool) -> tuple[list[str], bool]:
    """The lines of a table, a heading or a row of text; whether it is the title."""
    if len(rows) > 1:
        return ["", *table_lines(_table(rows)), ""], False
    (row,) = rows
    text, height = _text(row), height_of(row)
    worded = len(row) == 1 and len(text.split()) <= WORDS and any(map(str.isalpha, text))
    if worded and height >= HEADING * measures.height and not text.endswith((".", ",", ";")):
        is_title = not titled and height >= TITLE * measures.height
        return ["", f"{'#' if is_title else '##'} {text}", ""], is_title
    return [text], False


def _table(rows: Sequence[Row]) -> list[list[str]]:
    """Cells by column; a row of one cell alone goes on what stands above it."""
    first = rows[0]
    table: list[list[str]] = []
    for row in rows:
        places = list(range(len(first))) if row is first else _places(row, first) or []
        if len(places) == 1 and table:
            table[-1][places[0]] += f" {_said(row[0])}"
            continue
        table.append([""] * len(first))
        for place, cell in zip(places, row, strict=True):
            table[-1][place] = _said(cell)
    return table


# ---- lines --------------------------------------------------------------------------------------


def _measured(pages: Sequence[Sequence[Row]]) -> _Measures:
    """Height of running text and the distance from line to line, as most characters have it."""
    heights: Counter[float] = Counter()
    gaps: Counter[float] = Counter()
    for page in pages:
        for row in page:
            heights[round(height_of(row), 1)] += len(_text(row))
    height = _middle(heights) or 1.0
    for page in pages:
        for above, row in pairwise(page):
            gap = row[0][0].top - above[0][0].bottom
            if 0 <= gap < height:
                gaps[round(gap, 1)] += 1
    return _Measures(height, GAP * max(_middle(gaps), 0.2 * height))


def _middle(counts: Counter[float]) -> float:
    half, seen = sum(counts.values()) / 2, 0
    for value, times in sorted(counts.items()):
        seen += times
        if seen >= half:
            return value
    return 0.0


def _fills(row: Row, page: Sequence[Row]) -> bool:
    """Whether a row goes as far to the right as those below and above it that begin where it does,
    so that its text goes on in the next one."""
    left, slack = row[0][0].left, 2 * height_of(row)
    near = [cell for other in page for cell in other if abs(cell[0].left - left) <= slack]
    return row[-1][-1].right >= left + FILLED * (max(cell[-1].right for cell in near) - left)


def _joined(line: str, following: str) -> str:
    """A line with what goes on in the next; a word that was parted at its hyphen is one again."""
    if not line or line.startswith(("|", "#")):
        return f"{line}\n{following}"
    if line.endswith("-") and following[:1].islower():
        return line[:-1] + following
    return f"{line} {following}"


def _text(row: Row) -> str:
    return "  ".join(map(_said, row))


def _said(cell: Sequence[TextLine]) -> str:
    # The hyphen that a program put in is no text; at the end of a line it says how it goes on.
    text = " ".join(box.text.strip() for box in cell)
    return one_line(text[:-1]) + "-" if text.endswith(_HYPHENS) else one_line(text)
