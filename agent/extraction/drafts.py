"""Drafts of memories from classified sentences, with dates, relations and validity.

Pure but for the language model, which is asked for relations that no pattern reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.extraction.documents.wiki_links import links, with_links
from agent.extraction.ratings.relations import relations_of
from agent.extraction.source_spans import SourceMap
from agent.extraction.validity import held
from agent.language.dates import resolve_text
from agent.ports import LanguageModel
from store.types import Draft, Source, SourceKind


def make_drafts(
    sentences: Sequence[str],
    subclasses: Sequence[str],
    source: Source,
    *,
    llm: LanguageModel | None,
) -> tuple[Draft, ...]:
    """Placed sentences -> drafts with absolute dates, relations and validity.

    With ``llm`` None relations come from exact patterns alone.
    """
    origin = SourceMap(source, sentences)
    read_at = [origin.locate(sentence) for sentence in sentences]
    texts = [resolve_text(sentence, source.captured) for sentence in sentences]
    related = relations_of(sentences, texts, llm)
    if source.kind is SourceKind.NOTE and (named := links(source.text)):
        related = [
            with_links(triples, text, source, named)
            for triples, text in zip(related, texts, strict=True)
        ]
    periods = [
        held(sentence, text, subclass, triples, source.captured)
        for sentence, text, subclass, triples in zip(
            sentences, texts, subclasses, related, strict=True
        )
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
