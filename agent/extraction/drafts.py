"""Drafts of memories from classified sentences, with dates, relations and validity.

Pure but for the language model, which is asked for relations that no pattern reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from agent.extraction.documents.context import DocumentLine
from agent.extraction.documents.markdown_notes import read_note
from agent.extraction.documents.screens import read_screen_lines
from agent.extraction.documents.sections import read_document_lines, read_mail_lines
from agent.extraction.documents.wiki_links import links, with_links
from agent.extraction.ratings.parse import read_ratings
from agent.extraction.ratings.relations import relations_of
from agent.extraction.source_spans import SourceMap
from agent.extraction.told import tell_habits
from agent.extraction.triples.read import ME, NOTED
from agent.extraction.validity import held
from agent.language.dates import resolve_text
from agent.language.dates.dated import in_figures
from agent.ports import LanguageModel, StatementReader
from store.types import Draft, Source, SourceKind, Span, TextBox, Triple


def make_drafts(
    sentences: Sequence[str],
    subclasses: Sequence[str],
    source: Source,
    *,
    llm: LanguageModel | None,
    reader: StatementReader | None = None,
) -> tuple[Draft, ...]:
    """Placed sentences -> drafts with absolute dates, relations and validity.

    With ``llm`` None relations come from exact patterns alone, without ``reader`` every weekday is
    one day.
    """
    origin = SourceMap(source, sentences)
    read_at = [origin.locate(sentence) for sentence in sentences]
    weekly = tell_habits(sentences, reader)
    texts = [
        resolve_text(sentence, source.captured, weekly=habit)
        for sentence, habit in zip(sentences, weekly, strict=True)
    ]
    related = relations_of(sentences, [in_figures(text) for text in texts], llm)
    if source.kind is SourceKind.NOTE and (named := links(source.text)):
        related = [
            with_links(triples, text, source, named)
            for triples, text in zip(related, texts, strict=True)
        ]
    periods = [
        held(text, subclass, triples, source.captured)
        for text, subclass, triples in zip(texts, subclasses, related, strict=True)
    ]
    return tuple(
        Draft(
            text=text,
            subclass=subclass,
            created=source.captured,
            triples=triples,
            valid_from=start,
            valid_until=end,
            place=source.place,
            source=source.id,
            span=at,
            trust=origin.trust(at),
        )
        for text, subclass, triples, (start, end), at in zip(
            texts, subclasses, related, periods, read_at, strict=True
        )
    )


def drafts_of_document(
    source: Source,
    layout: Sequence[TextBox],
    place: Callable[[Sequence[str]], Sequence[str]],
    own: Collection[str] = (),
) -> tuple[Draft, ...]:
    """The drafts of a note, screen, document or mail in its own words; no model is asked.

    ``place`` gives the subclass of each sentence. What rates something in a note is a rating.
    ``own`` are the person's mail addresses, in small letters.
    """
    is_note = source.kind is SourceKind.NOTE
    read = _lines_of(source, layout, own)
    rated = read_ratings(source.text) if is_note else ()
    said = [rating.said for rating in rated]
    taken = [Span(rating.start, rating.end) for rating in rated]
    lines = [line for line in read if line.span is None or not any(map(line.span.overlaps, taken))]
    placed = place([*said, *(line.text for line in lines)])
    return (
        *make_drafts(said, placed[: len(said)], source, llm=None),
        *_of_lines(lines, placed[len(said) :], source),
    )


def _lines_of(
    source: Source, layout: Sequence[TextBox], own: Collection[str]
) -> tuple[DocumentLine, ...]:
    text, captured = source.text, source.captured
    if source.kind is SourceKind.NOTE:
        return read_note(text, source.locator, captured)
    if source.kind is SourceKind.DOCUMENT:
        return read_document_lines(text, source.locator, captured)
    if source.kind is SourceKind.MAIL:
        return read_mail_lines(text, captured, own)
    return read_screen_lines(text, layout, captured)


def _of_lines(
    lines: Sequence[DocumentLine], subclasses: Sequence[str], source: Source
) -> tuple[Draft, ...]:
    """Placed sentences of a document -> drafts; dates are relative to the day of each."""
    origin = SourceMap(source, [line.text for line in lines])
    named = links(source.text) if source.kind is SourceKind.NOTE else ()
    by_anybody = source.kind in (SourceKind.DOCUMENT, SourceKind.MAIL)
    drafts = []
    for line, subclass in zip(lines, subclasses, strict=True):
        said, text = line.dated()
        (triples,) = relations_of([line.said], [in_figures(said)], None)
        triples = with_links(_about(triples, line), text, source, named)
        triples = _by_writer(triples, line) if by_anybody else triples
        start, end = held(said, subclass, triples, line.context.written)
        span = line.span or origin.locate(line.text)
        drafts.append(
            Draft(
                text=text,
                subclass=subclass,
                created=line.context.written,
                triples=triples,
                valid_from=start,
                valid_until=end,
                place=source.place,
                source=source.id,
                span=span,
                trust=line.trust or origin.trust(span),
            )
        )
    return tuple(drafts)


def _about(triples: tuple[Triple, ...], line: DocumentLine) -> tuple[Triple, ...]:
    """What no pattern reads hangs on the person or topic of the document, where it has one."""
    title = line.context.title
    if not title or line.context.is_own:
        return triples
    return tuple(
        replace(triple, head=title) if triple.relation == NOTED else triple for triple in triples
    )


def _by_writer(triples: tuple[Triple, ...], line: DocumentLine) -> tuple[Triple, ...]:
    """The relations of whoever wrote a document or mail: its 'I' is not the person's."""
    writer = line.context.speaker or line.context.title
    if writer == ME:
        return triples
    return tuple(
        replace(
            triple,
            head=writer if triple.head == ME else triple.head,
            tail=writer if triple.tail == ME else triple.tail,
        )
        for triple in triples
        if writer or ME not in (triple.head, triple.tail)
    )
