"""Verbatim texts split into standalone facts.

"I like tea. My aunt lives in Bonn." as one memory would lose the tea when the aunt moves. So each
sentence that needs no other begins a memory; one that leans on what was said before it ("Her dog is
called Rex.") stays with that. Not a word is changed, and no model is asked.
"""

from __future__ import annotations

import re

from agent.extraction.own_words import needs_context
from agent.language.sentences import sentence_places

_LEANS = re.compile(
    r"(?:and|but|so|or|yet|because|since|then|also|too|otherwise|therefore|however|still|instead"
    r"|there|here|both|neither|another|one|the (?:other|same|second|third|last|latter|former))\b"
    r"|(?:因为|所以|但是?|而且|然后|不过|另外)",
    re.IGNORECASE,
)


def facts(text: str) -> tuple[str, ...]:
    """The facts in their order; a text of several lines is one, for its lines belong together."""
    places = list(sentence_places(text))
    if "\n" in text or len(places) < 2:
        return (text,)
    begins = [0]
    for start, end in places[1:]:
        part = text[start:end]
        if not needs_context(part) and not _LEANS.match(part):
            begins.append(start)
    return tuple(
        text[start:end].strip() for start, end in zip(begins, [*begins[1:], None], strict=True)
    )
