"""Parser: applies the grammar and chooses one reading per expression.

What is ambiguous is decided here: the half of the day by likelihood, past or future by the nearest
sign of tense in the sentence, the future where there is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache, lru_cache

from agent.language.dates.grammar import Grammar
from agent.language.dates.in_english import InEnglish, in_english
from agent.language.dates.recurrence import is_weekly
from agent.language.dates.rules.clock import CLOCK_TABLE
from agent.language.dates.rules.days import DAY_TABLE
from agent.language.dates.rules.holidays import HOLIDAY_TABLE
from agent.language.dates.rules.joined import JOINED_TABLE, REPEATED_TABLE
from agent.language.dates.rules.numbers import NUMBER_TABLE
from agent.language.dates.rules.periods import PERIOD_TABLE
from agent.language.dates.rules.pieces import PIECE_TABLE
from agent.language.dates.rules.ranges import RANGE_TABLE
from agent.language.dates.values import Core, Reading, When


@dataclass(frozen=True, slots=True)
class Expression:
    """A time expression at ``start:end`` of the text, on the wall clock of the message."""

    start: int
    end: int
    when: When
    reading: Reading
    foreign: bool = False
    """Whether the text is in another language, and was read by way of ``in_english``."""


@cache
def _grammar() -> Grammar:
    # Tables in the order of the cascade; what repeats goes before the days it is made of.
    return Grammar(
        (
            *(NUMBER_TABLE, CLOCK_TABLE, REPEATED_TABLE),
            *(DAY_TABLE, HOLIDAY_TABLE, PERIOD_TABLE, PIECE_TABLE, JOINED_TABLE, RANGE_TABLE),
        )
    )


def expressions(text: str, now: datetime) -> tuple[Expression, ...]:
    """The time expressions of ``text`` in order. Raises ValueError where ``now`` has no zone."""
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    return _expressions(text, now.replace(tzinfo=None), now.tzinfo)


@lru_cache(maxsize=256)  # a sentence is written out and read for how long it holds
def _expressions(text: str, wall: datetime, zone: tzinfo) -> tuple[Expression, ...]:
    # Times of two zones may be equal and yet not on one wall, so the zone is told apart.
    translated = in_english(text)
    if translated is None:
        return _english(text, wall, zone)
    foreign = tuple(
        _in_original(found, translated) for found in _english(translated.text, wall, zone)
    )
    as_it_is = _english(text, wall, zone) if foreign else ()
    return as_it_is if _takes_in(as_it_is, foreign) else foreign


def _takes_in(english: tuple[Expression, ...], foreign: tuple[Expression, ...]) -> bool:
    """Whether the text read as English has the same dates with more words to them.

    Then it is English, with so many foreign names that its language was mistaken.
    """
    around = [
        (one, other)
        for one in foreign
        for other in english
        if other.start <= one.start and one.end <= other.end
    ]
    wider = any(other.end - other.start > one.end - one.start for one, other in around)
    return wider and len({one.start for one, _ in around}) == len(foreign)


def _in_original(found: Expression, translated: InEnglish) -> Expression:
    """An expression of the English text at its place in the original.

    Where a year would go is not known there.
    """
    when, core = replace(found.when, slots=()), found.when.core
    if core is not None:
        start, end = translated.back(core.start, core.end)
        when = replace(when, core=Core(start, end, replace(core.when, slots=())))
    start, end = translated.back(found.start, found.end)
    return Expression(start, end, when, found.reading, foreign=True)


def _english(text: str, wall: datetime, zone: tzinfo) -> tuple[Expression, ...]:
    parts = _grammar().read(text, wall, lambda moment: moment.replace(tzinfo=zone))
    tenses = Tenses(text)
    return tuple(
        Expression(part.start, part.end, _EVERY_WEEK, _NO_READING)
        if is_weekly(text, part.start, part.end)
        else Expression(
            part.start, part.end, part.when, _choose(tenses, part.start, part.end, part.when, wall)
        )
        for part in parts
        if part.when is not None
    )


_NO_READING = Reading(None, None)
_EVERY_WEEK = When("recurring", "set", ())
# How far around an expression its tense is looked for, in characters.
_REACH = 160
_WORD_OR_END = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|[.!?](?=\s)|\n")
_FUTURE_WORDS = frozenset(
    "will won't shall going gonna would want wants need needs plan plans planning must should can "
    "could may might let's let please remind book booked schedule scheduled planned reserved "
    "reserve arranged invited agreed promised hope hoping until till by due deadline tomorrow "
    "upcoming next soon expire expires valid red bed speed seed feed".split()
)
_PAST_WORDS = frozenset(
    "was were wasn't weren't had did didn't ago last yesterday went bought saw met took came flew "
    "got made left began ate drove found gave heard held kept knew lost paid ran read said sat "
    "sent slept spent spoke swam taught thought told won wrote fell felt broke became grew rode "
    "sang since been born".split()
)


_FAR, _NEARER = timedelta(days=90), 4
"""From how far back a date gives way to one ahead that is so many times nearer, although a verb is
past: 'Bumped to 26 March', said in February. Who means a day of last year says the year."""
_MOVED_TO = re.compile(
    r"\b(?:moved|postponed|rescheduled|shifted|pushed|changed|brought|put off|delayed)"
    r"(?: back| forward| on)? (?:to|until|till|for) (?:the )?\Z",
    re.IGNORECASE,
)
"""'The defense moved to 14 May': what is moved lies ahead, though the verb is past."""


class Tenses:
    """The words of a text that tell past from future, found once for all its expressions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at: list[int] | None = None
        self._signs: list[str] = []

    def past(self, start: int, end: int) -> bool:
        """Whether the sentence around ``start:end`` tells of the past: its nearest verb decides."""
        if _MOVED_TO.search(self._text, max(0, start - 40), start):
            return False
        if self._at is None:
            self._at = self._scan()
        before = bisect_left(self._at, start) - 1
        if before >= 0 and self._at[before] >= start - _REACH and self._signs[before] != "end":
            return self._signs[before] == "past"
        after = bisect_left(self._at, end)
        if after < len(self._at) and self._at[after] < end + _REACH:
            return self._signs[after] == "past"
        return False

    def _scan(self) -> list[int]:
        at = []
        before = word = ""
        for match in _WORD_OR_END.finditer(self._text):
            before, word = word, match[0].lower().replace("’", "'")
            if word == "got" and (before in ("have", "has") or before.endswith(("'ve", "'s"))):
                continue  # 'have got' is the present of having
            if before == "be":
                continue  # 'will be closed' tells no past
            if not word[0].isalpha():
                sign = "end"
            elif word in _FUTURE_WORDS or word.endswith(("'ll", "'d")):
                sign = "future"
            elif word in _PAST_WORDS or (word.endswith("ed") and not word.endswith("eed")):
                sign = "past"
            else:
                continue
            at.append(match.start())
            self._signs.append(sign)
        return at


def _choose(tenses: Tenses, start: int, end: int, when: When, wall: datetime) -> Reading:
    if not when.readings:
        return _NO_READING
    if len(when.readings) == 1:
        return when.readings[0]
    if when.bound is not None:
        past = when.bound == "since"
    else:
        past = when.dated and tenses.past(start, end)

    def distance(reading: Reading) -> tuple[bool, int, timedelta]:
        moment = reading.start or reading.end or wall
        ahead = moment >= wall or (reading.end is not None and reading.end > wall)
        wrong_side = when.dated and (moment >= wall if past else not ahead)
        return wrong_side, reading.rank, abs(moment - wall)

    chosen = min(when.readings, key=distance)
    if when.bound is None and past:
        ahead = [one for one in when.readings if _much_nearer(one, chosen, wall)]
        return min(ahead, key=distance, default=chosen)
    return chosen


def _much_nearer(one: Reading, chosen: Reading, wall: datetime) -> bool:
    """Whether ``one`` lies ahead and so much nearer than ``chosen`` that the tense is no reason."""
    if one.start is None or chosen.start is None or one.start < wall:
        return False
    back = wall - chosen.start
    return back > _FAR and back > _NEARER * (one.start - wall)
