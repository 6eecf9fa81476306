"""Helpers shared by the rule tables."""

from __future__ import annotations

from agent.language.dates.english.grammar import RuleMatch
from agent.language.dates.english.lexicon import full_year
from agent.language.dates.values import Reading, When, YearSlot

NEXT = "next/following/coming/upcoming"
LAST = "last/previous/past/prior/preceding"
_SPELLED = {
    "NEXT": NEXT,
    "LAST": LAST,
    "THIS": "this/current/present",
    "MON": "MONTH/WEAK_MONTH",
    "WDAY": "WEEKDAY/NAMED_WEEKDAY",
    "DAYN": "DAY/ORD_DAY",
}


def spell(pattern: str) -> str:
    """A rule's pattern with ``{NEXT}`` and its like filled in."""
    for name, spelled in _SPELLED.items():
        pattern = pattern.replace("{" + name + "}", spelled)
    return pattern


def year_of(found: RuleMatch) -> int | None:
    """The year that the match names under ``y``, if it does."""
    return full_year(found.number("y")) if "y" in found else None


def year_slot(found: RuleMatch, name: str, sign: str = ", ") -> tuple[YearSlot, ...]:
    """The place after the part ``name`` is where a missing year belongs."""
    return (YearSlot(found.end(name), sign),)


def steps_of(word: str) -> int:
    """1 for next, -1 for last and their like, else 0."""
    if word in NEXT.split("/"):
        return 1
    return -1 if word in LAST.split("/") else 0


def a_period(
    grain: str, reading: Reading, *, relative: bool = True, explicit: bool = False
) -> When:
    """The meaning of an expression for one stretch of whole days."""
    return When("range", grain, (reading,), relative=relative, explicit_year=explicit)
