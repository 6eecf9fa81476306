"""Documents and mail: their sentences in their own words, and the page or message each stands in.

A reader of ``agent.io.sources.documents`` has made Markdown of the file. Anybody may have written
it, so who says 'I' is the document or the sender, and never the person whose memory this is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath

from agent.extraction.documents.context import DocumentContext, DocumentLine, day_in
from agent.extraction.documents.front_matter import read_front_matter
from agent.extraction.documents.markdown_notes import PAGE_BREAK, NoteReader, read_note
from agent.extraction.own_words import first_person
from agent.extraction.source_spans import foreign
from agent.language.email_headers import as_blanks, blanked
from store.types import Source, SourceKind, Span

_PARTS = {".pdf": "page", ".epub": "chapter"}
"""What lies between two page breaks, by the ending of the file; nothing in all others."""
AROUND = 1_000
"""Characters that are shown on both sides of what was read, in a document without pages."""
_REPLIES = ("re", "aw", "antw", "antwort", "sv", "rif")
_FORWARDS = ("fwd", "fw", "wg", "tr", "rv", "enc", "i")
"""Prefixes of subjects, before a colon."""


def read_document_lines(
    text: str, locator: str | None, captured: datetime
) -> tuple[DocumentLine, ...]:
    """The sentences of a document, each with its context."""
    fields = {field.name: field.value for field in read_front_matter(text)[0]}
    stem = " ".join(PurePath(locator or "").stem.replace("_", " ").split())
    title = fields.get("title") or stem
    lines = read_note(text, locator, captured, title)
    return tuple(_named(line, title) for line in lines)


def _named(line: DocumentLine, title: str) -> DocumentLine:
    """A sentence that says 'I' with the name of its document before it."""
    if line.lead or not first_person(line.said):
        return line
    return replace(line, lead=line.context.lead(line.said) or line.context.title or title)


# ---- mail ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MailHead:
    """Who wrote a message to whom, when and about what."""

    sender: str
    """The name, or the address where there is none."""
    address: str
    to: str
    written: datetime | None
    subject: str
    is_forward: bool
    start: int
    """Where its words begin."""


def read_mail_lines(
    text: str, captured: datetime, own: Collection[str] = ()
) -> tuple[DocumentLine, ...]:
    """The sentences of messages; ``own`` are the person's addresses, in small letters.

    What a reply quotes is left out, and so is what stands below a signature's dashes.
    """
    lines: list[DocumentLine] = []
    at = 0
    for message in text.split(PAGE_BREAK):
        lines += _message(message, at, captured, own)
        at += len(message) + len(PAGE_BREAK)
    return tuple({line.text: line for line in lines}.values())


def _message(
    text: str, at: int, captured: datetime, own: Collection[str]
) -> Iterator[DocumentLine]:
    head = read_head(text, captured)
    mine = head.address in own
    written = min(head.written or captured, captured)
    speaker = "me" if mine else head.sender
    context = DocumentContext(head.subject, written, speaker=speaker)
    others = [one for one in foreign(text) if one.start >= head.start]
    about = f" about {head.subject}" if head.subject else ""
    by_me = f"I wrote to {head.to}" if mine and head.to else f"{head.sender} wrote"
    for line in NoteReader(context, captured).read(_own_words(text, head, others), head.start):
        within = line.context
        lead = f"{by_me}{about}"
        if line.span and any(map(line.span.overlaps, others)):
            # Whoever wrote it first is not known: its 'I' is nobody's.
            lead = f"{'I' if mine else head.sender} passed on a message{about}"
            within = replace(within, title="", speaker="")
        names = ", ".join([lead, *within.headings, *filter(None, [within.row])])
        span = line.span and Span(line.span.start + at, line.span.end + at)
        yield replace(line, lead=names, context=within, span=span)


def read_head(text: str, captured: datetime) -> MailHead:
    """The head of a message as ``agent.io.sources.documents.mail`` writes it."""
    whole = text.partition("\n\n")[0]
    found = dict(line.split(": ", 1) for line in whole.splitlines() if ": " in line)
    sender, address = _person(found.get("From", ""))
    prefix, subject = _subject(found.get("Subject", ""))
    day = day_in(found["Date"], captured)[0] if "Date" in found else None
    to = _person(found.get("To", "").split(">, ")[0])[0]
    return MailHead(sender or address, address, to, day, subject, prefix in _FORWARDS, len(whole))


def _person(text: str) -> tuple[str, str]:
    """Name and address of 'Mia Berg <mia@example.org>'."""
    name, _, address = text.rpartition("<")
    address = address.rstrip(">").strip()
    return name.strip().strip("\"'") or address, address.lower()


def _subject(text: str) -> tuple[str, str]:
    """The last prefix ('fwd') and the subject without any."""
    prefix = ""
    while (parts := text.partition(":"))[1] and parts[0].strip().lower() in (_REPLIES + _FORWARDS):
        prefix, text = parts[0].strip().lower(), parts[2].strip()
    return prefix, text


def _own_words(text: str, head: MailHead, others: Sequence[Span]) -> str:
    """A message with blanks in place of what ``others`` wrote in it; in a forward, in place of the
    lines that say so."""
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    signed = False
    for line in lines:
        signed = signed or line.rstrip("\n") in ("-- ", "--")
        quoted = signed or line.startswith(">")
        kept.append(as_blanks(line) if quoted else line)
    said = "".join(kept)
    for other in others:
        end = other.end
        if head.is_forward:
            end = text.find("\n", other.start, other.end)
        said = said[: other.start] + as_blanks(text[other.start : end]) + said[end:]
    return said[: head.start] + blanked(said[head.start :])


# ---- where it stands ----------------------------------------------------------------------------


def part_of(source: Source, span: Span | None) -> str | None:
    """The page, paragraph or message that a stretch of a document stands in, in words."""
    if span is None or source.kind not in (SourceKind.DOCUMENT, SourceKind.MAIL):
        return None
    before = source.text[: span.start]
    number = before.count(PAGE_BREAK) + 1
    start = before.rfind(PAGE_BREAK) + 1
    if source.kind is SourceKind.MAIL:
        head = read_head(source.text[start:], source.captured)
        day = f", {head.written:%Y-%m-%d}" if head.written else ""
        return f"message {number} ({head.sender}{day})"
    name = _PARTS.get(PurePath(source.locator or "").suffix.lower(), "")
    if name == "page":
        return f"page {number}"
    paragraph = f"paragraph {_paragraphs(source.text[start : span.end])}"
    return f"{name} {number}, {paragraph}" if name else paragraph


def _paragraphs(text: str) -> int:
    """How many paragraphs a text has; the fields at its top are none."""
    text = text[read_front_matter(text)[1] :]
    return sum(1 for part in text.split("\n\n") if part.strip())


def around(source: Source, span: Span | None) -> str:
    """The text of the page, chapter or message around a stretch, or the paragraphs near it; the
    whole of a source that is no document."""
    if span is None or source.kind not in (SourceKind.DOCUMENT, SourceKind.MAIL):
        return source.text
    if PAGE_BREAK not in source.text:
        return source.text[max(0, span.start - AROUND) : span.end + AROUND].strip()
    start = source.text.rfind(PAGE_BREAK, 0, span.start) + 1
    end = source.text.find(PAGE_BREAK, span.end)
    return source.text[start : len(source.text) if end < 0 else end].strip()
