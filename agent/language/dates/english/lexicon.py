"""Lexicon of English time expressions.

A token is one word, number or sign with the *categories* it may play in a rule of the grammar
("may" is a month and a verb, "12" a day, an hour, a month number and a count). What can be no part
of a time expression (other words, prices, phone numbers, flight numbers, versions, links) becomes
an opaque token, so no rule can reach into it or across it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from agent.language.dates.values import HOLIDAYS

MONTH_NAMES = (
    "January February March April May June July August September October November December"
).split()
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
"""A pattern of their names in small letters, in full and abbreviated."""

# What an opaque token may be called in a rule, as in "no word may follow".
OTHER_WORD = "OTHER_WORD"
OTHER_SIGN = "OTHER_SIGN"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign at ``start:end`` of the text."""

    categories: frozenset[str]
    start: int
    end: int
    word: str = ""
    number: float = 0.0
    """Its value: a count, a month 1..12, a weekday 0..6 (Monday first), an ordinal's rank."""
    moment: datetime | None = None
    """Set for a numeric date or an ISO date and time; aware where its own UTC offset is written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the lexicon knows about one word."""

    categories: frozenset[str]
    number: float = 0.0


def _entries() -> dict[str, Entry]:
    words: dict[str, Entry] = {}

    def add(category: str, spelling: str, number: float = 0.0) -> None:
        for word in spelling.split():
            known = words.get(word)
            kinds = (known.categories if known else frozenset()) | {category}
            words[word] = Entry(kinds, known.number if known and known.number else number)

    months = (
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
        "september sept sep|october oct|november nov|december dec"
    )
    for number, spelling in enumerate(months.split("|"), start=1):
        for word in spelling.split():
            # Verbs, a name and a planet's mother: a month only in company (see the rules).
            add("WEAK_MONTH" if word in ("may", "march", "mar", "jan") else "MONTH", word, number)
    days = (
        "monday mon|tuesday tues tue|wednesday weds wed|thursday thurs thur thu|friday fri|"
        "saturday sat|sunday sun"
    )
    for number, spelling in enumerate(days.split("|")):
        for word in spelling.split():
            add("WEAK_WEEKDAY" if word in ("sat", "sun", "wed", "mon") else "WEEKDAY", word, number)
            if len(word) > 5:
                add("WEEKDAYS", word + "s", number)
    small = (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ).split()
    for number, word in enumerate(small, start=1):
        add("SMALL", word, number)
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    for number, word in enumerate(tens, start=2):
        add("TENS", word, number * 10)
    ordinals = (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
    ).split()
    for number, word in enumerate(ordinals, start=1):
        add("ORD_SMALL", word, number)
    add("ORD_TENS", "twentieth", 20)
    add("ORD_TENS", "thirtieth", 30)
    units = (
        ("second", "second seconds sec secs"),
        ("minute", "minute minutes min mins"),
        ("hour", "hour hours hr hrs"),
        ("day", "day days"),
        ("night", "night nights"),
        ("weekend", "weekend weekends"),
        ("fortnight", "fortnight fortnights"),
        ("week", "week weeks wk wks"),
        ("month", "month months"),
        ("quarter", "quarter quarters"),
        ("year", "year years yr yrs"),
        ("decade", "decade decades"),
        ("century", "century centuries"),
    )
    for unit, spelling in units:
        for word in spelling.split():
            UNIT_OF[word] = unit
            # "May 4 night" is no count of nights; see the rules for lengths.
            add("NIGHT_UNIT" if word == "night" else "UNIT", word)
    add("HUNDRED", "hundred")
    add("THOUSAND", "thousand")
    add("DECADE", "twenties thirties forties fifties sixties seventies eighties nineties")
    add("DECADE", "noughties")
    for season in ("spring", "summer", "autumn", "fall", "winter"):
        add("WEAK_SEASON" if season in ("spring", "fall") else "SEASON", season)
    for part in ("morning", "afternoon", "evening", "night", "daytime", "nighttime", "lunchtime"):
        add("PART", part)
        add("PARTS", part + "s")
    add("PART", "dinnertime breakfasttime suppertime")
    add("MEAL", "breakfast brunch lunch dinner supper")
    return words


UNIT_OF: dict[str, str] = {}
LEXICON = _entries()


def full_year(number: int) -> int:
    """A year of two digits: 40 to 99 lie in the 1900s, 00 to 39 in the 2000s."""
    if number >= 100:
        return number
    return number + (1900 if number >= 40 else 2000)


@lru_cache(maxsize=4096)
def number_kinds(value: float, digits: str = "") -> frozenset[str]:
    """What a number may stand for, from its value and, where written so, its digits."""
    kinds = {"NUMBER"}
    if value != int(value) or "." in digits:
        kinds.add("DECIMAL")
        return frozenset(kinds)
    if len(digits) <= 2:
        if 1 <= value <= 31:
            kinds.add("DAY")
        if 0 <= value <= 24:
            kinds.add("HOUR")
        if 0 <= value <= 59:
            kinds.add("MINUTE")
        if len(digits) == 2:
            kinds.add("SHORT_YEAR")
    if len(digits) in (3, 4) and int(value) % 100 < 60 and value < 2400:
        kinds.add("HOURS_MINUTES")
    if len(digits) == 4 and 1000 <= value <= 2999:
        kinds.add("YEAR")
        if 1500 <= value < 2200:
            kinds.add("NEAR_YEAR" if 1900 <= value <= 2100 else "FAR_YEAR")
    return frozenset(kinds)


# Plain words that make a time expression without any word of the lexicon.
_ANCHORS = frozenset(
    "today tomorrow yesterday tonight tmr tmrw noon midday midnight now asap everyday daily weekly "
    "monthly yearly annually annual hourly nightly quarterly fortnightly biweekly bimonthly "
    "semiannual semiannually biannual biannually weekdays workdays weekends date half".split()
)


def is_anchor(word: str) -> bool:
    """Whether a word, in small letters, can be at the heart of a time expression."""
    return word in LEXICON or word in _ANCHORS or word in _HOLIDAY_WORDS or word[0].isdecimal()


_HOLIDAY_WORDS = frozenset(
    word.rstrip("s") if word.endswith("s") else word for name in HOLIDAYS for word in name.split()
) | {word for name in HOLIDAYS for word in name.split()}


# How far a window reaches around a word of the lexicon; longer than any rule's plain words.
_PAD = 100
_STRETCH = 2000
_SIMPLE_WORD = re.compile(r"\d+|[^\W\d_]+")


def names_weekday(text: str) -> bool:
    """Whether a word of the text is a weekday's name, also a short one ('thurs')."""
    found = (LEXICON.get(word.lower()) for word in _SIMPLE_WORD.findall(text))
    return any(one and one.categories & {"WEEKDAY", "WEAK_WEEKDAY"} for one in found)


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of the text around its anchors, cut at spaces, in order and apart."""
    begin = end = -1
    for match in _SIMPLE_WORD.finditer(text):
        if not is_anchor(match[0].lower()):
            continue
        start, stop = match.span()
        if stop + _PAD // 2 <= end:
            continue
        if begin < 0 or start - _PAD > end:
            if begin >= 0:
                yield begin, end
            begin = max(end, _space_before(text, start - _PAD))
        end = _space_after(text, min(len(text), stop + _PAD))
    if begin >= 0:
        yield begin, end


def _space_before(text: str, at: int) -> int:
    if at <= 0:
        return 0
    low = max(0, at - _STRETCH)
    found = max(text.rfind(" ", low, at), text.rfind("\n", low, at))
    return found + 1 if found >= 0 else low


def _space_after(text: str, at: int) -> int:
    high = min(len(text), at + _STRETCH)
    found = [spot for spot in (text.find(" ", at, high), text.find("\n", at, high)) if spot >= 0]
    return min(found) if found else high


def signatures(words: frozenset[str]) -> set[frozenset[str]]:
    """Every set of categories that ``tokens`` can report; a test holds it to that."""
    found = {frozenset(kinds.split()) for kinds in _FIXED_SIGNATURES}
    found |= {frozenset({word}) for word in words}
    for word, entry in LEXICON.items():
        kinds = entry.categories | ({word} & words)
        found |= {kinds, kinds | {k.replace("WEAK", "NAMED") for k in kinds if "WEAK" in k}}
    for width in (1, 2, 3, 4):
        found |= {number_kinds(n, f"{n:0{width}}") for n in range(3000)}
    decimal = number_kinds(1.5, "1.5")
    found |= {decimal, number_kinds(99999, "99999")}
    found |= {decimal | extra for extra in (_DOTTED_CLOCK, _MONTH_DAY_ONLY, _DOTTED_BOTH)}
    return found


_DOTTED_CLOCK = frozenset({"DOTTED_CLOCK"})
_MONTH_DAY_ONLY = frozenset({"MONTH_DAY"})
_DOTTED_BOTH = _DOTTED_CLOCK | _MONTH_DAY_ONLY
_FIXED_SIGNATURES = (
    *("OTHER_WORD", "OTHER_SIGN", "ISO_TIME", "FULL_DATE", "CLOCK", "CLOCK HALF_DAY_CLOCK"),
    *("ORDINAL", "ORDINAL ORD_DAY", "QUARTER", "HALF", "WEEK_NUMBER", "YEAR_MONTH"),
    *(
        "SLASHED MONTH_DAY",
        "MONTH",
        "-",
        ",",
        "lparen",
        "rparen",
        "<",
        ">",
        "=",
        "'s",
        "o'clock",
        "slash",
    ),
)
