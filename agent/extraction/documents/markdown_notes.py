"""Sentences of Markdown notes in their own words, without a model.

A line such as 'next visit 12 May' says nothing by itself: what it is about stands above it, in
the file name, the headings and the bullets it lies under. Each line becomes one sentence with that
context before it; a list of bare words stays together as one, a row of a table is one. No word is
added and none is changed, so nothing can be read that is not there. What is no statement (headings,
code, empty boxes, questions) is in the source and in no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath

from agent.extraction.documents.context import (
    DocumentContext,
    DocumentLine,
    day_in,
    is_whole,
    not_after,
)
from agent.extraction.documents.front_matter import field_lines, read_front_matter, written_in
from agent.extraction.documents.labelled_fields import read_screen
from agent.extraction.documents.prose import paragraph_lines, stands_alone
from agent.extraction.documents.wiki_links import plain_links
from agent.extraction.own_words import clean_sentence, has_verb, is_worth_keeping
from agent.language.email_headers import blanked
from agent.language.sentences import declarative, is_heading, is_instruction, strip_wrapper
from store.types import Span, Trust

BARE = 3
"""Most words of a list item that says nothing alone, such as 'olive oil'."""
PASTED = 3
"""Labels of known meaning that make a text without headings a pasted ticket or booking."""
PAGE_BREAK = "\f"
"""The line between two pages, chapters or messages of a document."""
DAY, CALLOUT = 5, 6
"""Levels of the headings that a line with a day and a callout are: they stand below all others."""

TITLE = 60
"""Most characters of a line that may be a title or a date above what it is about."""
_ENDS = (".", "!", "?", ":", ",", ";")

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\](?:[ \t]+|$))?(.*)$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_GENERIC = frozenset(
    "notes note info information details misc miscellaneous todo to-do todos tasks links log"
    " general other various inbox today journal diary facts summary overview".split()
)
"""Headings that tell nothing about what stands below them."""
_LISTS = _GENERIC | frozenset(
    "list remember reminder reminders memo memos things important quick daily weekly monthly my the"
    " to do of for and self monday tuesday wednesday thursday friday saturday sunday week".split()
)
"""Words of headings that add nothing to a whole sentence: 'Monday list', 'To remember'."""


def read_note(
    text: str, locator: str | None, captured: datetime, title: str = ""
) -> tuple[DocumentLine, ...]:
    """The sentences of a note, each with its context; ``locator`` is its path.

    ``title`` is what it is called where no heading says so.
    """
    fields, start = read_front_matter(text)
    body = blanked(text)
    day = written_in(fields, captured)
    context, dated = _context(body[start:], locator, day, captured, title, has_fields=bool(fields))
    lines = list(field_lines(fields, context, dated=dated))
    if any(map(_HEADING.match, body.splitlines())):
        lines += NoteReader(context, captured).read(body, start)
    else:
        # A ticket or a booking that was pasted as it stands has labels of its own.
        screen = read_screen(body[start:], least=PASTED)
        lines += [DocumentLine("", memory, context) for memory in screen.memories]
        rest, at = (screen.rest, 0) if screen.memories else (body, start)
        read = NoteReader(context, captured).read(rest, at)
        lines += [replace(line, span=None) for line in read] if screen.memories else read
    return tuple({line.text: line for line in lines}.values())


def _context(
    body: str,
    locator: str | None,
    written: datetime | None,
    captured: datetime,
    given: str,
    *,
    has_fields: bool,
) -> tuple[DocumentContext, bool]:
    """The context of the whole note, and whether its name is a day.

    A note that has fields at its top, or a name for its file, may well begin without a title.
    """
    stem = PurePath(locator).stem if locator else ""
    first = next((found for line in body.splitlines() if (found := _HEADING.match(line))), None)
    heading = _bare(plain_links(first[2])) if first and len(first[1]) == 1 else ""
    named = stem if _is_name(stem) else ""
    top = "" if first or has_fields else _top_line(body)
    if named and not top[:1].isupper():
        top = ""
    title, dated = heading or top or given or named, False
    for name in (stem, title):
        day, whole = day_in(name, written or captured)
        written = written or not_after(day, captured)
        dated = dated or (whole and day is not None)
        title = "" if whole and name == title else title
    title = "" if _is_generic(title, whole=False) or "{{" in title else title
    return DocumentContext(title, min(written or captured, captured)), dated


def _top_line(body: str) -> str:
    """The title of a plain text: a short first line that ends no sentence, a blank line below."""
    top, _, rest = body.lstrip("\n").partition("\n")
    short = len(top) <= TITLE and declarative(top) and not top.rstrip().endswith(_ENDS)
    return top.strip() if short and rest[:1] in "\r\n" and rest.strip() else ""


def _is_name(stem: str) -> bool:
    """Whether a file name was meant as a title: 'Marcus Berg', 'Health', and not 'a' or 'IMG_3'."""
    return stem != stem.lower() and not stem.isupper() and "_" not in stem


@dataclass(slots=True)
class _Item:
    """A bullet with what lies under it."""

    indent: int
    text: str
    done: str | None
    """'x' or ' ' of a check box; None where there is none."""
    span: Span
    below: list[_Item] = field(default_factory=list)


class NoteReader:
    """Reads the body of a note line by line; what belongs together is stated when it ends."""

    def __init__(self, context: DocumentContext, captured: datetime) -> None:
        self._note = self._context = context
        self._captured = captured
        self._headings: list[tuple[int, str, datetime]] = []
        self._items: list[_Item] = []
        self._rows: list[tuple[Span, str]] = []
        self._prose: list[tuple[Span, str]] = []
        self._in_callout = self._below_label = False

    def read(self, text: str, at: int) -> Iterator[DocumentLine]:
        fenced = crossed = False
        for line in text[at:].splitlines(keepends=True):
            raw, start = line.rstrip("\r\n"), at
            at += len(line)
            if raw == PAGE_BREAK:
                crossed = self._is_open()
                continue
            if crossed and (raw[:1].islower() or raw[:1].isdigit()):
                # '12 May' at the top of a page may be the end of a sentence, and no heading.
                self._prose.append((Span(start, start + len(raw)), raw))
                crossed = False
                continue
            crossed = False
            if _FENCE.match(raw):
                fenced = not fenced
            elif not fenced:
                yield from self._line(raw, start)
        yield from self._flush()

    def _is_open(self) -> bool:
        """Whether a sentence has begun that is not over."""
        return bool(self._prose) and not self._prose[-1][1].rstrip().endswith(_ENDS[:3])

    def _line(self, raw: str, start: int) -> Iterator[DocumentLine]:
        span = Span(start, start + len(raw))
        if self._in_callout and not raw.startswith(">"):
            yield from self._end_of_part()
        if self._below_label and not raw.strip() and (self._items or self._prose or self._rows):
            yield from self._end_of_part()
        callout = _callout(raw)
        if heading := _HEADING.match(raw) or callout:
            yield from self._flush()
            self._in_callout, self._below_label = callout is not None, False
            self._head(len(heading[1]), _bare(plain_links(heading[2])))
        elif raw.strip() and (raw.strip() == self._note.title or self._is_day(raw)):
            yield from self._flush()
            self._below_label = False
            self._head(DAY if self._is_day(raw) else 1, raw.strip())
        elif is_heading(raw):
            yield from self._flush()
            self._below_label = True
            self._head(CALLOUT, _bare(plain_links(raw)).rstrip(":："))
        elif raw.lstrip().startswith("|"):
            yield from self._flush(but=self._rows)
            self._rows.append((span, raw))
        elif bullet := _BULLET.match(raw):
            yield from self._flush(but=self._items)
            self._bullet(bullet, start)
        elif self._items and raw.strip() and raw[:1] in " \t":
            _go_on(self._items[-1], raw, span)
        elif not raw.strip():
            yield from self._flush(but=self._items)
        elif not raw.lstrip().startswith(("<!--", "![")):
            yield from self._flush(but=self._prose)
            self._prose.append((span, raw))

    def _is_day(self, raw: str) -> bool:
        """Whether a line is nothing but a day: what stands below it is of that day."""
        return 0 < len(raw.strip()) <= TITLE and day_in(raw.strip(), self._note.written)[1]

    def _end_of_part(self) -> Iterator[DocumentLine]:
        """End what stands below a callout or a line that ends in a colon."""
        yield from self._flush()
        self._in_callout = self._below_label = False
        self._head(CALLOUT, "")

    def _head(self, level: int, name: str) -> None:
        """What stands below a heading has its name and its day, and those of the headings above."""
        self._headings = [above for above in self._headings if above[0] < level]
        near = self._headings[-1][2] if self._headings else self._note.written
        day, whole = day_in(name, near)
        if whole and day is not None:
            # The day of the whole note stands in no sentence; that of a part does.
            name = "" if level == 1 else f"{day:%Y-%m-%d}"
        written = min(not_after(day, self._captured) or near, self._captured)
        self._headings.append((level, name, written))
        names = tuple(name for _, name, _ in self._headings if name and name != self._note.title)
        self._context = replace(self._note, headings=names, written=written)

    def _bullet(self, bullet: re.Match[str], start: int) -> None:
        span = Span(start + bullet.start(3), start + bullet.end())
        if not bullet[3].strip() or "{{" in bullet[3]:
            return
        indent = len(bullet[1].expandtabs(4))
        siblings = self._items
        while siblings and indent > siblings[-1].indent:
            siblings = siblings[-1].below
        siblings.append(_Item(indent, _bare(plain_links(bullet[3])), bullet[2], span))

    def _flush(self, but: object = None) -> Iterator[DocumentLine]:
        """State what has been gathered, but for a kind that may go on."""
        if but is not self._items:
            yield from _stated(self._items, self._context)
            self._items.clear()
        if but is not self._rows:
            yield from _table(self._rows, self._context)
            self._rows.clear()
        if but is not self._prose:
            own = Trust.NOTED if self._in_callout else None
            yield from _prose(self._prose, self._context, own)
            self._prose.clear()


def _callout(raw: str) -> re.Match[str] | None:
    """'> [!warning] Freeze' heads the lines below it."""
    if not raw.startswith("> [!"):
        return None
    return _HEADING.match(f"{'#' * CALLOUT} {raw.partition(']')[2].lstrip('+- ')}")


def _go_on(item: _Item, raw: str, span: Span) -> None:
    """A bullet that goes on in the next line."""
    while item.below:
        item = item.below[-1]
    item.text += f" {_bare(plain_links(raw))}"
    item.span = Span(item.span.start, span.end)


# ---- bullets --------------------------------------------------------------------------------


def _stated(items: Sequence[_Item], own: DocumentContext) -> Iterator[DocumentLine]:
    bare = [item for item in items if _is_bare(item)]
    if len(bare) > 1 and len(bare) == len(items):
        said = ", ".join(item.text for item in bare)
        span = Span(items[0].span.start, items[-1].span.end)
        yield _line(own, said, span)
        return
    for item in items:
        context = _on_its_day(item, own)
        name = item.text.rstrip(":： ")
        if item.below and (item.text != name or len(name.split()) <= 2 * BARE):
            yield from _stated(item.below, context.below(name))
            continue
        yield from _bullet_lines(item, context)
        yield from _stated(item.below, context.below(name))


def _on_its_day(item: _Item, context: DocumentContext) -> DocumentContext:
    """The context of a bullet; a day of the past at its beginning is taken off and is its day."""
    label, _, rest = item.text.partition(": ")
    if not rest or len(label) > TITLE:
        return context
    day, whole = day_in(label, context.written)
    if not whole or day is None or day >= context.written:
        return context
    item.text = rest
    return replace(context.below(f"{day:%Y-%m-%d}"), written=day)


def _bullet_lines(item: _Item, context: DocumentContext) -> Iterator[DocumentLine]:
    if is_instruction(item.text) or (item.done is None and item.text.endswith(("?", "？"))):
        return
    state = {None: "", " ": "to do: "}.get(item.done, "done: ")
    stripped = strip_wrapper(item.text)
    changed = stripped and stripped.lower() != item.text.lower()  # else only its capital
    said = stripped if changed and not state else item.text
    alone = stands_alone(said)
    line = _line(context, state + said, item.span, alone=alone)
    if alone or state or line.lead or is_worth_keeping(line.said):
        yield line


def _is_bare(item: _Item) -> bool:
    short = len(item.text.split()) <= BARE and not item.below and item.done is None
    return short and not re.search(r"\d|[:：.!?]", item.text) and not has_verb(item.text)


def _line(context: DocumentContext, said: str, span: Span, *, alone: bool = False) -> DocumentLine:
    """'Trip to Rome, Hotel: booked for three nights.'; what the bullet says itself is left out."""
    lead = "" if alone else context.lead(said, _unnamed(context, said))
    if not lead:
        said = said[:1].upper() + said[1:] if ": " in said else clean_sentence(said)
    return DocumentLine(lead, said, context, span)


def _unnamed(context: DocumentContext, said: str) -> tuple[str, ...]:
    """The headings that tell nothing beside what is said."""
    names = (context.title, *context.headings)
    return tuple(name for name in names if _is_generic(name, whole=is_whole(said)))


def _is_generic(heading: str, *, whole: bool) -> bool:
    """Whether a heading names nothing, beside a ``whole`` sentence or a mere piece of one."""
    if heading.lower() in _GENERIC:
        return True
    said = set(re.findall(r"[\w-]+", heading.lower()))
    return whole and len(said) > 0 and said <= _LISTS


# ---- tables and paragraphs ------------------------------------------------------------------


def _table(rows: Sequence[tuple[Span, str]], context: DocumentContext) -> Iterator[DocumentLine]:
    """A row a line: 'Appliances, Router: model Fritz, bought 2023-05-02.'."""
    cells = [(span, _cells(raw)) for span, raw in rows]
    ruled = len(cells) > 1 and not any(c.strip(":- ") for c in cells[1][1])
    labels = cells[0][1] if ruled else []
    for span, row in cells[2:] if ruled else cells:
        named = [
            f"{label} {cell}".strip()
            for label, cell in zip([*labels[1:], *[""] * len(row)], row[1:], strict=False)
            if cell
        ]
        if named and row[0]:
            within = replace(context, row=row[0])
            said = ", ".join(named)
            yield _line(within, said, span)


def _cells(raw: str) -> list[str]:
    return [_bare(plain_links(cell)) for cell in raw.strip().strip("|").split("|")]


def _prose(
    lines: Sequence[tuple[Span, str]], context: DocumentContext, trust: Trust | None
) -> Iterator[DocumentLine]:
    named = bool(context.lead(""))
    for said, span in paragraph_lines(lines, lambda part: _bare(plain_links(part)), named=named):
        if "{{" in said:
            continue
        lead = "" if stands_alone(said) else context.lead(said, _unnamed(context, said))
        if lead or is_worth_keeping(said):
            yield DocumentLine(lead, said, context, span, trust)


def _bare(text: str) -> str:
    """Without marks of emphasis."""
    text = re.sub(r"(\*\*|__|==|~~|`)(?=\S)(.+?)(?<=\S)\1", r"\2", text.strip())
    return re.sub(r"(?<![\w*])[*_](?=\S)([^*_]+?)(?<=\S)[*_](?![\w*])", r"\1", text)
