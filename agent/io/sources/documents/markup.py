"""HTML as Markdown text: headings, lists, tables and paragraphs; nothing that a browser hides.

lxml reads the HTML, whatever its faults; its tree is walked without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.io.sources.documents.plain import one_line, table_lines

_SKIPPED = frozenset(
    "head script style noscript template svg math nav aside footer form button select textarea"
    " iframe object audio video canvas map dialog".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp"
    " small span strike strong sub sup time tt u var wbr img ruby rb input".split()
)
_BARE_STYLE = ("display:none", "visibility:hidden")
LONGEST_CELL = 400
"""Characters of a cell from which a table is there for the layout."""


def tree_of(data: bytes) -> Any:
    """The tree of a page, with the encoding that it names, or UTF-8 where it is that.

    Gives None where there is nothing in it.
    """
    from lxml import etree, html

    try:
        data.decode("utf-8")
        encoding = "utf-8"
    except UnicodeDecodeError:
        encoding = None
    parser = html.HTMLParser(
        encoding=encoding, huge_tree=True, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return html.document_fromstring(data, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def title_of(tree: Any) -> str:
    """What a page is called in its head."""
    found = tree.find(".//title")
    return "" if found is None else one_line("".join(found.itertext()))


def markdown_of(tree: Any, demoted: int = 0) -> str:
    """The text of a tree as Markdown; headings stand ``demoted`` levels lower."""
    writer = _Writer(demoted)
    writer.write(tree)
    return writer.text()


class _Writer:
    """Walks a tree once and gathers its blocks."""

    def __init__(self, demoted: int) -> None:
        self._demoted = demoted
        self._blocks: list[tuple[str, str]] = []
        """Kind and text; items of one list stand together."""
        self._inline: list[str] = []
        self._mark = ""
        self._lists = 0
        self._quotes = 0

    def text(self) -> str:
        """All blocks, a blank line between those that are not of one list."""
        result, before = "", ""
        for kind, block in self._blocks:
            gap = "\n" if kind == before == "item" else "\n\n"
            result += (gap if result else "") + block
            before = kind
        return result

    def write(self, tree: Any) -> None:
        from lxml import etree

        walk = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walk:
            tag = element.tag if isinstance(element.tag, str) else ""
            tag = tag.rpartition("}")[2].lower()
            if event == "end":
                self._end(tag)
                if element is not tree:
                    self._inline.append(_unbroken(element.tail))
            elif not tag or _is_hidden(tag, element):
                walk.skip_subtree()
            elif tag == "pre":
                self._flush()
                body = "".join(element.itertext()).replace("```", "'''")
                self._blocks.append(("code", f"```\n{body.strip()}\n```"))
                walk.skip_subtree()
            elif tag == "table" and _is_data(element):
                self._flush()
                self._table(element)
                walk.skip_subtree()
            else:
                self._start(tag)
                self._inline.append(_unbroken(element.text))
        self._flush()

    def _start(self, tag: str) -> None:
        if tag == "br":
            self._inline.append("\n")
        if tag in _INLINE or tag == "br" or (tag == "dd" and self._mark):
            return
        self._flush()
        if tag in _HEADINGS:
            self._mark = "#" * min(6, _HEADINGS[tag] + self._demoted) + " "
        elif tag in ("li", "dt"):
            self._mark = "  " * max(0, self._lists - 1) + "- "
        elif tag in ("ul", "ol"):
            self._lists += 1
        elif tag == "blockquote":
            self._quotes += 1

    def _end(self, tag: str) -> None:
        if tag == "dt":
            self._inline.append(": ")  # its meaning goes on in the same item
            return
        if tag in _INLINE or tag == "br":
            return
        self._flush()
        self._mark = ""
        if tag in ("ul", "ol"):
            self._lists -= 1
        elif tag == "blockquote":
            self._quotes -= 1

    def _flush(self) -> None:
        whole = "".join(self._inline)
        self._inline.clear()
        item = self._mark.endswith("- ")
        lines = [whole] if self._mark else whole.split("\n")
        said = [line for line in map(one_line, lines) if line.strip(": ")]
        if not said:
            return
        body = self._mark + "\n".join(said)
        if self._quotes and not self._mark:
            body = "\n".join(f"> {line}" for line in said)
        self._blocks.append(("item" if item else "text", body))
        self._mark = ""

    def _table(self, table: Any) -> None:
        header = table.find(".//th")
        rows = list(_rows(table))
        heads = header is not None and _is_head_row(table)
        lines = table_lines(rows, True if heads else None if header is None else False)
        if lines:
            self._blocks.append(("table", "\n".join(lines)))


def _unbroken(text: str | None) -> str:
    """Text whose line breaks are blanks: only <br> breaks a line."""
    return (text or "").replace("\n", " ").replace("\r", " ")


def _is_hidden(tag: str, element: Any) -> bool:
    if tag in _SKIPPED or "hidden" in element.attrib:
        return True
    style = "".join(element.get("style", "").lower().split())
    return any(bare in style for bare in _BARE_STYLE)


def _is_data(table: Any) -> bool:
    """Whether a table holds rows of values; the others only put parts of a page side by side."""
    if table.get("role") in ("presentation", "none") or table.find(".//table") is not None:
        return False
    rows = list(_rows(table))
    wide = max(map(len, rows), default=0) > 1
    return wide and all(len(cell) <= LONGEST_CELL for row in rows for cell in row)


def _is_head_row(table: Any) -> bool:
    first = next((row for row in table.iter("tr")), None)
    cells = [] if first is None else [cell.tag for cell in first if cell.tag in ("td", "th")]
    return len(cells) > 0 and all(tag == "th" for tag in cells)


def _rows(table: Any) -> Iterator[list[str]]:
    """The cells of each row; one that spans several rows is said in each."""
    over: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _carry(over, cells)
            text = _said(cell)
            wide, high = _count(cell.get("colspan")), _count(cell.get("rowspan"))
            if high > 1:
                over |= {len(cells) + at: (high - 1, text) for at in range(wide)}
            cells += [text, *[""] * (wide - 1)]
        _carry(over, cells)
        yield cells


def _carry(over: dict[int, tuple[int, str]], cells: list[str]) -> None:
    while len(cells) in over and over[len(cells)][0] > 0:
        left, text = over[len(cells)]
        over[len(cells)] = (left - 1, text)
        cells.append(text)


def _count(value: str | None) -> int:
    return min(50, max(1, int(value))) if value and value.isascii() and value.isdigit() else 1


def _said(cell: Any) -> str:
    from lxml import etree

    pieces: list[str] = []
    walk = etree.iterwalk(cell, events=("start", "end"))
    for event, element in walk:
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag not in _INLINE:
            pieces.append(" ")
        if event == "end":
            pieces.append("" if element is cell else element.tail or "")
        elif not tag or _is_hidden(tag, element):
            walk.skip_subtree()
        else:
            pieces.append(element.text or "")
    return one_line("".join(pieces))
