"""Names, numbers and dates of an extracted line, compared with the text that it was read from.

A small model writes Rosni for roshni and November 17 for 17/11. The first is repaired, the second
stands; what is in the source in no form is an invention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches
from itertools import groupby

from agent.language.dates import find_times
from agent.language.sentences import numbers

ALIKE = 0.8
"""Similarity of two spellings (difflib's ratio) from which one is a slip of the other."""
SHORTEST = 4
"""Letters below which two names differ by too little to tell a slip from another name."""
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w’'-]+")


def as_spelt(line: str, source: str) -> str:
    """The line with its names spelt as the source spells them."""
    known = {word.lower(): word for word in map(_bare, source.split())}

    def spelt(name: re.Match[str]) -> str:
        bare = _without_owner(name[0])
        if len(bare) < SHORTEST or bare.lower() in known:
            return name[0]
        near = get_close_matches(bare.lower(), known, 1, ALIKE)
        if not near:
            return name[0]
        own = known[near[0]]
        return own[:1].upper() + own[1:] + name[0][len(bare) :]

    return _NAME.sub(spelt, line)


def invents(line: str, told: str, now: datetime | None) -> bool:
    """Whether the line has a number, a date or a name that ``told`` has in no form.

    Without ``now`` dates are compared as they are written.
    """
    rest, _ = without_known_dates(line, told, now)
    low = told.lower()
    names = (_without_owner(name).lower() for name in _NAME.findall(rest))
    return any(name not in low for name in names) or bool(lost(rest, told))


def lost(text: str, told: str) -> set[str]:
    """The numbers of a text that ``told`` does not have, however they are written there."""
    runs = _runs(told)
    return {
        number
        for number in numbers(text)
        if number not in told.lower() and not (":" not in number and _within(number, runs))
    }


def _within(number: str, runs: list[str]) -> bool:
    own = _runs(number)
    return any(runs[at : at + len(own)] == own for at in range(len(runs) - len(own) + 1))


def _runs(text: str) -> list[str]:
    """The runs of digits in a text, in order."""
    return ["".join(run) for digits, run in groupby(text, str.isdigit) if digits]


def _bare(word: str) -> str:
    """A word without the marks and signs around it, and without the ending of an owner."""
    while word and not word[0].isalnum():
        word = word[1:]
    while word and not word[-1].isalnum():
        word = word[:-1]
    return _without_owner(word)


def _without_owner(name: str) -> str:
    for ending in ("'s", "’s", "'", "’"):
        name = name.removesuffix(ending)
    return name


def without_known_dates(line: str, told: str, now: datetime | None) -> tuple[str, int]:
    """The line without the dates that ``told`` has too, in whatever form, and how many they are."""
    if now is None:
        return line, 0
    known, count = set(_days(told, now)), 0
    for span in reversed(find_times(line, now)):
        if span.start is not None and span.dated and (span.start, span.grain) in known:
            line = line[: span.start_char] + line[span.end_char :]
            count += 1
    return line, count


def _days(text: str, now: datetime) -> Iterator[tuple[datetime, str]]:
    return ((span.start, span.grain) for span in find_times(text, now) if span.start is not None)
