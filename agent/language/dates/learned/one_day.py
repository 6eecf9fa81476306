"""Whether a time expression names one day.

"The first" is a day in "due on the first", and none in "for the first time"; "Tuesday" may be one
Tuesday or all of them; "in ten minutes" is how long a walk takes. A logistic regression over the
words in and around the expression decides; ``benchmarks.one_day_train`` makes its weights from
labelled messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from agent.language.dates.english.lexicon import names_weekday
from agent.language.dates.learned.tense import chance, signs_around, signs_of
from agent.language.dates.values import When

_PIECE = re.compile(r"[a-z]+|\d+|[^\w\s]")
_LONG = 5
"""Pieces of an expression beyond which one more tells nothing."""


def names_one_day(text: str, start: int, end: int, when: When, wall: datetime) -> bool:
    """Whether ``start:end`` of the text names a day, time or period of its own."""
    return chance("one_day", signs(text, start, end, when, wall)) > 0.5


def signs(text: str, start: int, end: int, when: When, wall: datetime) -> Iterator[str]:
    """The words around an expression, its own words, and what kind of expression it is."""
    yield from signs_around(text, start, end)
    yield from signs_of(when, wall)
    pieces = [_piece(found) for found in _PIECE.findall(text[start:end].lower())]
    yield from (f"{piece} in it" for piece in pieces)
    yield f"it is {' '.join(pieces)}"
    yield f"{min(len(pieces), _LONG)} long"


def _piece(written: str) -> str:
    if written.isdigit():
        return "#" * len(written)
    return "weekday" if names_weekday(written) else written
