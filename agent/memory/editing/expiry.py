"""Ends of memories inferred from a draft.

Pure functions; when a draft itself begins and ends is read by ``agent.extraction.validity``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.extraction.validity import is_over
from agent.language.dates import find_times
from agent.language.relation_names import LASTING
from agent.memory.editing.compare import names, slot, values, words
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft, Memory, may_replace

_PLANNED = re.compile(
    r"\b(?:will|shall|going to|(?:am|are|is) (?:moving|starting|joining|switching|changing)"
    r"|plan(?:s|ning)? to|hop(?:e|es|ing) to)\b"
    r"|['’](?:ll|m moving|re moving|m starting|m joining)\b",
    re.IGNORECASE,
)


def replaces_nothing(draft: Draft) -> bool:
    """Whether a draft says nothing of what holds now: a past state, or a plan without its date.

    'I lived in Oslo until 2019' leaves the present address alone, and so does 'I will move to
    Berlin': only from a known day on can a plan take the place of what holds.
    """
    if draft.valid_until is not None and draft.valid_until <= draft.created:
        return True
    if is_over(draft.text, draft.triples):
        return True
    begins = draft.valid_from is not None and draft.valid_from > draft.created
    return _PLANNED.search(draft.text) is not None and not begins and _lasts(draft)


def _lasts(draft: Draft) -> bool:
    return any(t.relation in LASTING for t in draft.triples)


def ended_by(draft: Draft, matches: Sequence[NearMemory]) -> NearMemory | None:
    """The memory that a draft only gives an end: 'I used to work at Acme', 'until the end of May'.

    It says the same of the same thing; the end is all that is new.
    """
    if draft.valid_until is None:
        return None
    told = {(*slot(t), entity_key(t.tail)) for t in draft.triples if t.relation in LASTING}
    for match in matches:
        memory = match.memory
        known = {(*slot(t), entity_key(t.tail)) for t in memory.triples}
        begun = memory.valid_from is None or memory.valid_from < draft.valid_until
        free = memory.valid_until is None and may_replace(draft.trust, memory.trust)
        if told & known and begun and free:
            return match
    return None


def beyond_the_end(draft: Draft, memory: Memory) -> Draft | None:
    """What a draft that ends a memory tells besides, by itself; None where that is nothing.

    'Ana was my tutor until May, now it is Bo' ends Ana, and Bo must not be lost with her.
    """
    text = draft.text
    for span in reversed(find_times(text, draft.created)):
        text = text[: span.start_char] + text[span.end_char :]
    known = {*words(memory.text)}
    if names(text) <= known and {*values(text)} <= {*values(memory.text)}:
        return None
    ended = {(*slot(t), entity_key(t.tail)) for t in memory.triples}
    triples = tuple(t for t in draft.triples if (*slot(t), entity_key(t.tail)) not in ended)
    return replace(draft, triples=triples, valid_from=None, valid_until=None)


def passes(draft: Draft, match: NearMemory) -> bool:
    """Whether a draft holds for a while beside something that lasts: a stay is no new home."""
    return draft.valid_until is not None and match.memory.valid_until is None and _lasts(draft)
