"""Relations of memories: rating fields or triples."""

from __future__ import annotations

from collections.abc import Sequence

from agent.extraction.ratings.items import triples_of
from agent.extraction.ratings.parse import one_rating
from agent.extraction.triples.read import triples_for
from agent.ports import LanguageModel
from store.types import Triple


def relations_of(
    sentences: Sequence[str], texts: Sequence[str], llm: LanguageModel | None
) -> list[tuple[Triple, ...]]:
    """The relations of memories: the fields of what is a rating, else as ``triples_for`` has it.

    ``sentences`` are as they were said, ``texts`` with absolute dates.
    """
    rated = [one_rating(sentence) for sentence in sentences]
    others = [text for text, one in zip(texts, rated, strict=True) if one is None]
    rest = iter(triples_for(others, llm))
    return [next(rest) if one is None else triples_of(one) for one in rated]
