"""Literal dates and hours in a text; ``agent.language.dates`` resolves them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType

from agent.language.dates.dated import in_figures

MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_TH = r"(?:st|nd|rd|th)?"
KINDS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in (
        (
            "date",
            rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}{_TH}(?: of)? {MONTHS}(?: \d{{4}})?\b"
            rf"|\b{MONTHS} \d{{1,2}}{_TH}\b(?:,? \d{{4}}\b)?",
        ),
        ("time", r"\b\d{1,2}(?::\d{2})(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?"),
    )
}


_NAMED_DAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day (\d{4}-\d{2}-\d{2})\b")


@lru_cache(maxsize=8192)  # a draft is compared with many memories
def values_of(text: str) -> Mapping[str, tuple[str, ...]]:
    """Dates and times of a text as they stand there, by kind; those in brackets for their words."""
    plain = in_figures(text)
    return MappingProxyType({kind: tuple(p.findall(plain)) for kind, p in KINDS.items()})


def clock(value: str) -> str:
    """'3 pm' and '15:00' as one; anything else folded."""
    match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?\s?([ap])?\.?m?\.?", value.strip(), re.IGNORECASE)
    if match is None or not (match.group(2) or match.group(3)):
        return value.casefold()
    hour = int(match.group(1))
    half = (match.group(3) or "").casefold()
    hour = hour % 12 + 12 if half == "p" else hour % 12 if half == "a" else hour
    return f"{hour:02d}:{match.group(2) or '00'}"


def without_weekdays(text: str) -> str:
    """The text with 'Friday 2024-05-10' as '2024-05-10': the date says it already."""
    return _NAMED_DAY.sub(r"\1", text)


def right_weekdays(text: str) -> str:
    """The text in which each weekday before a date is that of the date, also of one put in anew."""
    return _NAMED_DAY.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    try:
        return f"{date.fromisoformat(found[1]):%A} {found[1]}"
    except ValueError:  # 2024-02-31, as somebody typed it
        return found[0]
