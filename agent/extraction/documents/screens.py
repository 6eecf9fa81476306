"""Sentences of screens in their own words, with who spoke, which day and which row.

A conversation, a calendar and an article are told by where their texts stand (``screen_layout``);
tickets, receipts and lists by their labels (``labelled_fields``, ``vouchers``). No model is asked,
so nothing can be read that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from agent.extraction.documents.context import DocumentContext, DocumentLine, day_in, ended
from agent.extraction.documents.labelled_fields import is_generic, read_screen
from agent.extraction.documents.prose import paragraph_lines, stands_alone
from agent.extraction.documents.screen_layout import (
    Block,
    Bubble,
    blocks,
    calendar_days,
    columns,
    conversation,
    rows,
    without_status_bar,
)
from agent.extraction.documents.vouchers import read_pass
from agent.extraction.own_words import is_clean, is_worth_keeping
from agent.language.email_headers import without_headers
from agent.language.sentences import declarative, sentences
from store.types import Span, TextBox

PROSE = 0.6
"""Part of a screen's characters that paragraphs make up where it is an article."""
LINES = 3
"""Fewest lines of a paragraph of an article."""

LABELLED = 0.5
"""Part of the rows that labels of known meaning make up on a ticket or booking."""


def read_screen_lines(
    text: str, layout: Sequence[TextBox], captured: datetime
) -> tuple[DocumentLine, ...]:
    """The sentences of a screen, each with its context."""
    boxes = without_status_bar(layout, text, captured) if layout else []
    context = DocumentContext("", captured)
    name, bubbles = conversation(boxes, text, captured)
    lines = list(_messages(name, bubbles, text, context))
    lines = lines or list(_calendar(boxes, text, context))
    lines = lines or list(_article(boxes, text, context))
    if not lines:
        body = "\n".join(_rows(boxes, text)) if boxes else text
        lines = list(_labelled(body, context))
    return tuple({line.text: line for line in lines}.values())


def _rows(boxes: Sequence[TextBox], text: str) -> Iterator[str]:
    """The rows of a screen, cells two spaces apart; a row of values right below its labels is one
    row for each of them."""
    found = rows(boxes)
    skip = False
    for row, below in zip(found, [*found[1:], []], strict=True):
        if skip:
            skip = False
            continue
        pairs = columns(row, below, text)
        skip = bool(pairs)
        yield from map("  ".join, pairs or [[box.span.of(text) for box in row]])


# ---- conversations, calendars, articles -----------------------------------------------------


def _messages(
    name: str, bubbles: Sequence[Bubble], text: str, context: DocumentContext
) -> Iterator[DocumentLine]:
    """'Mia wrote: the train leaves at nine.' What the message before explains stands with that."""
    name = name or "Somebody"
    context = replace(context, title=name)
    before: Bubble | None = None
    for bubble in bubbles:
        said = " ".join(filter(None, map(declarative, sentences(bubble.block.text(text)))))
        if said:
            lead, span = _wrote(bubble.mine, name), bubble.block.span
            if before is not None and before.mine != bubble.mine and not is_clean(said):
                verb = "I answered" if bubble.mine else f"{name} answered"
                said = f"{ended(before.block.text(text))} {verb}: {said}"
                lead, span = _wrote(before.mine, name), Span(before.block.span.start, span.end)
            speaker = "me" if bubble.mine else name
            yield DocumentLine(lead, said, replace(context, speaker=speaker), span)
        before = bubble


def _wrote(mine: bool, name: str) -> str:
    return f"I wrote to {name}" if mine else f"{name} wrote"


def _calendar(
    boxes: Sequence[TextBox], text: str, context: DocumentContext
) -> Iterator[DocumentLine]:
    for day, entries in calendar_days(boxes, text, context.written):
        row = f"{day:%a} {day.day} {day:%B %Y}"
        for entry in entries:
            said = ", ".join(box.span.of(text) for box in entry.boxes)
            yield DocumentLine("", f"On {row}: {said}", replace(context, row=row), entry.span)


def _article(
    boxes: Sequence[TextBox], text: str, context: DocumentContext
) -> Iterator[DocumentLine]:
    """The sentences of paragraphs below their headline, relative to the day it is dated."""
    found = blocks(boxes)
    heights = {id(block): block.boxes[0].bottom - block.boxes[0].top for block in found}
    headline = max(found, key=lambda block: heights[id(block)], default=None)
    long = [block for block in found if block is not headline and len(block.boxes) >= LINES]
    size = sum(len(block.text(text)) for block in found)
    if headline is None or sum(len(block.text(text)) for block in long) < PROSE * size:
        return
    above = [block for block in found if block not in long and block is not headline]
    days = [day for block in above if (day := day_in(block.text(text), context.written)[0])]
    written = min([*days, context.written])
    context = replace(context, title=headline.text(text), written=written)
    for block in long:
        yield from _paragraph(block, text, context)


def _paragraph(block: Block, text: str, context: DocumentContext) -> Iterator[DocumentLine]:
    whole = block.text(text)
    for said, _ in paragraph_lines([(Span(0, len(whole)), whole)], str.strip, named=True):
        yield DocumentLine(context.lead(said), said, context, block.span)


# ---- labels and rows ------------------------------------------------------------------------


def _labelled(text: str, context: DocumentContext) -> Iterator[DocumentLine]:
    if card := read_pass(text):
        yield DocumentLine("", card, context)
        return
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    days = [day for line in lines if (day := day_in(line, context.written)[0])]
    # What stands at the top tells what the rows below are of.
    title = " ".join(lines[0].split()) if len(lines) > 1 else ""
    screen = read_screen(without_headers(text), least=2)
    if screen.known >= LABELLED:
        # 'Boarding pass' tells no more than the sentences do.
        named = replace(context, title="" if is_generic(title) else title)
        for memory in screen.memories:
            yield DocumentLine(named.lead(memory), memory, named)
        lines = screen.rest.splitlines()
    elif len(lines) > 1:
        written = days[0] if len(days) == 1 and days[0] <= context.written else context.written
        context, lines = replace(context, title=title, written=written), lines[1:]
    for line in lines:
        yield from _stated_row(line, context)


def _stated_row(line: str, context: DocumentContext) -> Iterator[DocumentLine]:
    """A row of a label and its value, or what a row says."""
    cells = [cell for cell in line.split("  ") if cell.strip()]
    if len(cells) == 2:
        label, value = cells
        yield DocumentLine(context.title, f"{label} is {value}", context, literal=True)
        return
    for said, _ in paragraph_lines([(Span(0, len(line)), line)], str.strip, named=True):
        if is_worth_keeping(said):
            lead = "" if stands_alone(said) else context.lead(said)
            yield DocumentLine(lead, said, context)
