"""Dates of other languages put into English words, for the one grammar of dates.

Of a sentence only its dates are put into English; everything else becomes filler, as words of one
language are dates of another by chance (French "mon", Spanish "mar"). Positions lead back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from agent.language.dates.foreign.date_rules import rules
from agent.language.dates.foreign.date_words import LANGUAGES, date_words
from agent.language.identify import language_of

_IN_FIGURES = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d)?|\b\d{1,2}:\d\d\b|\b\d{1,4}[./]\d{1,2}[./]\d{1,4}\b",
    re.ASCII,
)
"""Dates that are the same in all languages."""
_SHORT = 2000
"""Characters of a text up to which looking for a date word costs less than to load what tells
languages apart; in longer ones that is the faster of the two."""
_NO_DAY = ("at ", "in ", "every ")
"""What stands before a time, a month or a habit in English: no last day."""
_FILLED = re.compile(r"[^\W_]|['’]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A date of the text at ``start:end``, in English."""

    start: int
    end: int
    english: str


@dataclass(frozen=True, slots=True)
class InEnglish:
    """A text whose dates are in English, and where each of its characters comes from."""

    text: str
    starts: tuple[int, ...]
    """Where each stretch of it begins; stretches are pieces and what stands between them."""
    origins: tuple[tuple[int, int], ...]
    """Of each stretch where it begins and ends in the original."""
    whole: tuple[bool, ...]
    """Whether a stretch is a piece, which leads back as a whole."""

    def back(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original that ``start:end`` of the text stands for."""
        first, last = self._stretch(start), self._stretch(end - 1)
        begin = self.origins[first][0]
        if not self.whole[first]:
            begin += start - self.starts[first]
        stop = self.origins[last][1]
        if not self.whole[last]:
            stop = self.origins[last][0] + end - self.starts[last]
        return begin, stop

    def _stretch(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1


def in_english(text: str) -> InEnglish | None:
    """The text with its dates in English; None for English, and where no date word stands."""
    if len(text) < _SHORT and _any_word().search(text) is None:
        return None
    language = language_of(text)
    if language not in LANGUAGES:
        return None
    return _joined(text, _pieces(text, language), padded=not date_words(language).spaced)


def tells_of_time(text: str) -> bool:
    """Whether a text in another language has words of a date."""
    found = in_english(text)
    return found is not None and any(found.whole)


@cache
def _any_word() -> re.Pattern[str]:
    """What any date in any of the languages has; a cheap look before the language is identified."""
    found: list[str] = [r"\d[./:]\d", r"\d[点月日年时]"]
    for language in LANGUAGES:
        words = date_words(language)
        edge = r"\b" if words.spaced else ""
        heads = [*words.months, *words.weekdays, words.hours, words.glue["weekend"]]
        heads += [wording for row in words.relative.values() for wording in row.values()]
        heads += [
            p.partition("{0}")[2] for row in (words.ahead, words.ago) for u in row for p in row[u]
        ]
        heads += [words.glue["tonight"], words.glue["early"], *([words.at] if words.at else [])]
        found.append(f"{edge}(?:{'|'.join(h.strip() for h in heads if h.strip())}){edge}")
    return re.compile("|".join(found), re.IGNORECASE)


def _pieces(text: str, language: str) -> list[Piece]:
    """The dates of the text; where two rules want the same words, the earlier rule has them."""
    found: list[Piece] = []
    taken = bytearray(len(text))
    table = rules(language)
    for rule in table.rules:
        for match in rule.pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            english = rule.english(match)
            if english is not None:
                found.append(Piece(start, end, english))
                taken[start:end] = b"\1" * (end - start)
    found.sort(key=lambda piece: piece.start)
    return [one for piece in found for one in (*_until(text, piece, table.until), piece)]


def _until(text: str, piece: Piece, until: re.Pattern[str]) -> list[Piece]:
    """The word before a last day, as a piece of its own: it stays where the day is rewritten."""
    before = until.search(text, max(0, piece.start - 20), piece.start)
    if before is None or piece.english.startswith(_NO_DAY):
        return []
    return [Piece(before.start(), piece.start, "until ")]


def _joined(text: str, pieces: list[Piece], *, padded: bool) -> InEnglish:
    parts: list[tuple[str, int, int, bool]] = []
    done = 0
    for piece in pieces:
        parts.append((_filler(text[done : piece.start]), done, piece.start, False))
        english = f" {piece.english} " if padded else piece.english
        parts.append((english, piece.start, piece.end, True))
        done = piece.end
    parts.append((_filler(text[done:]), done, len(text), False))
    parts = [part for part in parts if part[0]]
    starts, at = [], 0
    for part in parts:
        starts.append(at)
        at += len(part[0])
    return InEnglish(
        "".join(part[0] for part in parts),
        tuple(starts),
        tuple((start, end) for _, start, end, _ in parts),
        tuple(whole for *_, whole in parts),
    )


def _filler(text: str) -> str:
    """The text without words; dates in figures stay, as they are the same everywhere."""
    filled, done = [], 0
    for match in _IN_FIGURES.finditer(text):
        filled += [_FILLED.sub("x", text[done : match.start()]), match[0]]
        done = match.end()
    return "".join([*filled, _FILLED.sub("x", text[done:])])
