"""Running text of a document: its sentences in their own words, with their places.

Lines of a paragraph that was wrapped by hand are one text. A sentence that only the one before it
explains stands with that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from agent.extraction.own_words import (
    clean_sentence,
    fits,
    has_verb,
    is_clean,
    join,
    leans,
    needs_context,
)
from agent.language.identify import is_foreign
from agent.language.sentences import declarative, sentence_places
from store.types import Span

WRAPPED = 50
"""Characters of a line from which the next one, in small letters, may go on with it."""
FULL = 65
"""The same for a next line that begins in any way."""

_OWN = re.compile(r"(?:(?:since|from|as of|on|in) [^,]{2,30}? )?(?:I|We|My|Our)\b", re.IGNORECASE)

Lines = Sequence[tuple[Span, str]]
"""Lines of a document with their places."""


def stands_alone(said: str) -> bool:
    """Whether it is a sentence about the writer: 'My gym is Fit24' needs no heading."""
    return _OWN.match(said) is not None and has_verb(said) and is_clean(said)


def paragraph_lines(
    lines: Lines, bare: Callable[[str], str], *, named: bool
) -> Iterator[tuple[str, Span]]:
    """The statements of a paragraph; ``named`` where names will stand before each.

    ``bare`` takes the marks of the format off.
    """
    kept: list[tuple[str, Span]] = []
    for part, span in _sentences(lines):
        stated = _stated(bare(part))
        if not stated:
            continue
        line = stated if named else clean_sentence(stated)
        joined = _joined(kept[-1][0], line, named=named) if kept else ""
        if joined:
            kept[-1] = joined, Span(kept[-1][1].start, span.end)
        else:
            kept.append((line, span))
    yield from kept


def _stated(said: str) -> str:
    """What a sentence states; in a language whose requests nobody knows, all but a question."""
    if is_foreign(said):
        return "" if said.endswith("?") else said
    return declarative(said)


def _joined(before: str, line: str, *, named: bool) -> str:
    """The two as one where the second cannot be understood alone; else nothing."""
    if named:
        return f"{before.rstrip()} {line}" if leans(line) else ""
    return join(before, line) if needs_context(line) and fits(before, line) else ""


def _sentences(lines: Lines) -> Iterator[tuple[str, Span]]:
    for text, at in _wrapped(lines):
        for start, end in sentence_places(text):
            yield " ".join(text[start:end].split()), Span(at + start, at + end)


def _wrapped(lines: Lines) -> Iterator[tuple[str, int]]:
    """Texts with their places; a line that was broken for its length goes on in the next."""
    text, start = "", 0
    for span, raw in lines:
        line = raw.replace(">", " ") if raw.startswith(">") else raw
        if text and _goes_on(text.rsplit("\n", 1)[-1], line):
            text += " " * (span.start - start - len(text)) + line
            continue
        if text:
            yield text, start
        text, start = line, span.start
    if text:
        yield text, start


def _goes_on(line: str, following: str) -> bool:
    if _begins_with_label(following):
        return False
    line = line.replace("*", "")
    if line.rstrip().endswith((".", "!", "?", ":", ";", "。", "！", "？")):
        return False
    return len(line) >= (WRAPPED if following.lstrip()[:1].islower() else FULL)


def _begins_with_label(line: str) -> bool:
    """'**Broadband:** Westwire': emphasis within a sentence ends in no colon."""
    before, _, rest = line.partition("**")
    label, _, after = rest.partition("**")
    return not before.strip() and bool(label) and (label.endswith(":") or after.startswith(":"))
