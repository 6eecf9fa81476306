"""Patterns that take time linear in a text, whatever stands in it.

A pattern with two repeats tries every pair of places: fine in a sentence, minutes in a line of ten
thousand equal signs. ``bounded`` looks at a long text a stretch at a time, each cut where a line or
a word ends, so that the cost of a stretch is all that it can cost. ``untrusted`` takes a pattern
that somebody else wrote, for an engine that never backtracks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

STRETCH = 240
"""Characters that are looked at together where a text is longer; no sentence is so long."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """A pattern as of ``re``, over stretches of a long text. Positions are those of the text."""

    whole: re.Pattern[str]

    @property
    def pattern(self) -> str:
        return self.whole.pattern

    @property
    def flags(self) -> int:
        return self.whole.flags

    def search(self, text: str) -> re.Match[str] | None:
        return next(self.finditer(text), None)

    def match(self, text: str) -> re.Match[str] | None:
        """None for what is longer than a stretch: what begins there would be cut."""
        return self.whole.match(text) if len(text) <= STRETCH else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """None for what is longer than a stretch."""
        return self.whole.fullmatch(text) if len(text) <= STRETCH else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        for start, end in _stretches(text):
            yield from self.whole.finditer(text, start, end)

    def sub(self, put: str | Callable[[re.Match[str]], str], text: str) -> str:
        pieces, at = [], 0
        for match in self.finditer(text):
            pieces += [
                text[at : match.start()],
                match.expand(put) if isinstance(put, str) else put(match),
            ]
            at = match.end()
        return "".join([*pieces, text[at:]])


@lru_cache(maxsize=512)
def bounded(pattern: str, flags: int | re.RegexFlag = 0) -> Bounded:
    """A pattern for texts that anybody may have written."""
    return Bounded(re.compile(pattern, flags))


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where each stretch begins and ends: the whole text where it is short."""
    start = 0
    while len(text) - start > STRETCH:
        end = _cut(text, start, start + STRETCH)
        yield start, end
        start = end
    yield start, len(text)


def _cut(text: str, start: int, most: int) -> int:
    """The last end of a line, else of a word, in the second half of a stretch; else its end."""
    half = (start + most) // 2
    for sign in ("\n", " "):
        if (at := text.rfind(sign, half, most)) >= 0:
            return at + 1
    return most


class Match(Protocol):
    """What is found by a pattern of RE2."""

    def __getitem__(self, group: str | int) -> str: ...


class Linear(Protocol):
    """A pattern of RE2: no looking around, no going back, ``\\w`` and ``\\b`` of ASCII."""

    @property
    def pattern(self) -> str: ...
    def search(self, text: str) -> Match | None: ...
    def match(self, text: str) -> Match | None: ...
    def fullmatch(self, text: str) -> Match | None: ...


def linear(pattern: str, flags: int | re.RegexFlag = 0) -> Linear:
    """A pattern of ours with repeats inside of repeats, for the engine that never goes back."""
    import re2

    options = re2.Options()
    options.case_sensitive = not flags & re.IGNORECASE
    return cast(Linear, re2.compile(pattern, options))


@lru_cache(maxsize=512)
def untrusted(pattern: str) -> Linear | None:
    """A pattern that somebody else wrote; None where it cannot be done in linear time."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return cast(Linear, re2.compile(pattern, options))
    except re2.error:
        return None
