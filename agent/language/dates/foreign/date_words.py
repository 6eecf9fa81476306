"""Words of dates in other languages: CLDR's, and what CLDR lacks.

``cldr.json`` is made by ``benchmarks.date_words``; ``glue.toml`` is ours and says what is in it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("de", "es", "fr", "zh")
UNSPACED = frozenset({"zh"})
"""Languages that write no spaces between words."""


@dataclass(frozen=True, slots=True)
class DateWords:
    """The words of one language, as regular expressions where not said otherwise."""

    language: str
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    capitals: bool
    """Whether weekdays are written with a capital."""
    relative: Mapping[str, Mapping[int, str]]
    """Unit (day, week, month, year, or mon to sun) -> steps from now -> wording."""
    units: Mapping[str, str]
    """Names of week, month and year."""
    ahead: Mapping[str, tuple[str, ...]]
    """Unit -> lengths from now on, with "{0}" for the number."""
    ago: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, str]
    """CLDR's part of the day (morning1, pm, ...) -> its names."""
    numbers: Mapping[str, int]
    """Number words, in small letters, as they are."""
    at: str
    """Before a time of day; may be empty."""
    hour: str
    """Behind an hour: "Uhr", "h"."""
    hours: str
    """Hours as a length, which some languages use for times of day too: "heures"."""
    day_link: str
    """Between day and month: "de"; empty where nothing is."""
    glue: Mapping[str, str]
    """``glue.toml`` of the language."""

    @property
    def spaced(self) -> bool:
        """Whether words have spaces between them."""
        return self.language not in UNSPACED

    def number(self, word: str) -> int:
        """What a number in figures or words is; Chinese tens are put together."""
        if word.isdecimal():
            return int(word)
        folded = word.casefold()
        if folded in self.numbers:
            return self.numbers[folded]
        ten = next(name for name, value in self.numbers.items() if value == 10)
        tens, _, ones = folded.partition(ten)
        return 10 * self.numbers.get(tens, 1) + self.numbers.get(ones, 0)


@cache
def date_words(language: str) -> DateWords:
    """The words of one of ``LANGUAGES``."""
    row, glue = _cldr()[language], _glue()[language]
    same = [(known, others) for known, others in glue.pop("same", [])]

    def written(text: str) -> str:
        return _with_others(text, same)

    def one_of(names: Iterable[str]) -> str:
        return any_of(map(written, names))

    return DateWords(
        language=language,
        months=tuple(one_of(_abbreviations(names)) for names in row["months"]),
        weekdays=tuple(one_of(names) for names in row["weekdays"]),
        capitals=row["capitals"],
        relative={
            unit: {int(steps): one_of(names) for steps, names in wordings.items()}
            for unit, wordings in row["relative"].items()
        },
        units={unit: re.escape(name) for unit, name in row["units"].items()},
        ahead={
            unit: tuple(map(written, _ahead(patterns, glue.get("ahead", ""))))
            for unit, patterns in row["future"].items()
        },
        ago={unit: tuple(map(written, patterns)) for unit, patterns in row["past"].items()},
        parts={part: one_of(names) for part, names in row["parts"].items()},
        numbers=row["numbers"],
        at=re.escape(row["at"]),
        hour=re.escape(row["hour"]),
        hours=any_of(_tail(pattern) for pattern in row["future"]["hour"]),
        day_link="".join(re.findall(r"'([^'\W\d]+)'", row["day"])),
        glue=glue,
    )


def any_of(patterns: Iterable[str]) -> str:
    """One of several patterns, the longest first."""
    return "(?:" + "|".join(sorted(dict.fromkeys(patterns), key=len, reverse=True)) + ")"


def _ahead(patterns: Sequence[str], other: str) -> list[str]:
    return [*patterns, *(f"{other} {{0}}{_tail(pattern)}" for pattern in patterns if other)]


def _tail(pattern: str) -> str:
    """What stands behind the number."""
    return pattern.partition("{0}")[2]


def _abbreviations(names: Sequence[str]) -> list[str]:
    """The names, those with a full stop without it too."""
    return [name for full in names for name in dict.fromkeys((full, full.rstrip(".")))]


def _with_others(text: str, same: Sequence[tuple[str, str]]) -> str:
    """A wording as a pattern in which what may be said otherwise is a choice."""
    known = dict(same)
    longest = sorted(known, key=len, reverse=True)
    if not longest:
        return _escaped(text)
    parts = re.split("(" + "|".join(map(re.escape, longest)) + ")", text)
    return "".join(
        f"(?:{re.escape(part)}|{known[part]})" if part in known else _escaped(part)
        for part in parts
    )


def _escaped(text: str) -> str:
    """Literally, but for the number; an apostrophe may be either one."""
    return re.escape(text).replace(r"\{0\}", "{0}").replace("'", "['’]")


@cache
def _cldr() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(_data("cldr.json"))
    return table


@cache
def _glue() -> Mapping[str, Any]:
    return tomllib.loads(_data("glue.toml"))


def _data(name: str) -> str:
    return files("agent.language.dates.foreign").joinpath("words", name).read_text("utf-8")
