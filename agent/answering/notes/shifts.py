"""Shifts: "an hour later", or "at 16:40 instead", said of an earlier date or time, computed.

A language model says which way and by how much the newer words move the earlier time; it cannot
add. The earlier date or time is read and the amount added by exact code. Where the newer words give
the time of day alone, the day is the earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dateutil.relativedelta import relativedelta

from agent.language.dates import TimeSpan, find_times
from agent.language.dates.moments import CLOCK, Moment, is_now, moment_of, moments
from agent.language.injection import as_data
from agent.memory.editing.changes.restated import Told, restated_time
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel

MAX_TOKENS = 16
LONGEST = 200
"""Characters of older words that are told beside a new time."""
LEFT_OUT = "…"
"""What stands for a value that is no longer right."""
BEFORE = "; before, "
"""What stands between the new date or time and the older words."""
_SYSTEM = (
    "Two messages of a user. The second puts what the first tells about to a later or an "
    "earlier time. Write 'later' or 'earlier' and the amount, as in 'later 2 days' "
    "or 'earlier 1 hour 30 minutes'."
)
_EXAMPLES = (
    (
        "The plumber comes on Tuesday at 14:00.",
        "He rang, he has to push it back by an hour and a half.",
        "later 1 hour 30 minutes",
    ),
    (
        "Rent is due on the 1st of March.",
        "Landlord was decent about it and gave us another week and a half.",
        "later 1 week 4 days",
    ),
    (
        "Boat leaves 9:20 from pier 4.",
        "tide's early so we cast off 1h15 sooner than planned",
        "earlier 1 hour 15 minutes",
    ),
    (
        "Grandma's eye test is on 12 May.",
        "The clinic can take her three days before that.",
        "earlier 3 days",
    ),
)
_BEGIN = fixed(_SYSTEM, ((f"1. {first}\n2. {second}", shift) for first, second, shift in _EXAMPLES))
_GRAMMAR = r"""
root ::= ("later" | "earlier") part part?
part ::= " " [1-9] [0-9]? " " ("minute" | "hour" | "day" | "week" | "month") "s"?
"""
_AMOUNT = re.compile(r" (\d+) (minute|hour|day|week|month)")


@dataclass(frozen=True, slots=True)
class Shift:
    """An amount of time, earlier where it is negative."""

    amount: relativedelta
    by_the_clock: bool
    """Whether it moves a time of day."""


def shifted(
    older: str, said: datetime, newer: str, llm: LanguageModel | None, *, replaces: bool = True
) -> str:
    """The date or time of the older words after the shift that the newer words tell of.

    Empty where the older words have no date or time, where the newer ones have no amount, or where
    they give the new date or time themselves. A time of day alone is on the earlier day, if the
    newer words take the place of the older ones (``replaces``), and these are told with it.
    ``said`` is when the older words were said. Without a language model no amount is read.
    """
    base = moments(older, said)
    given = [span for span in find_times(newer, said) if not is_now(span, said)]
    own = [span for span in given if not _is_amount(span, said)]
    if not base:
        return ""
    if len(own) == len(given):
        return _at_a_new_time(Told(older, said), Told(newer, said)) if replaces else ""
    if llm is None:
        return ""
    shift = shift_of(older, newer, llm)
    if any(moment_of(span) and (span.grain in CLOCK) == shift.by_the_clock for span in own):
        return ""
    return _moved([moment for _, moment in base], shift)


def _at_a_new_time(older: Told, newer: Told) -> str:
    """The time of day that the newer words give on the earlier day, and the older words.

    The newer words may change more than the time, so the older ones are told as what was said
    before.
    """
    new = restated_time(older, newer)
    if new is None or new.clock is None:
        return ""
    moved = day_and_time(new.start, new.clock)
    ((before, _),) = moments(older.words, older.said)
    if older.words.count(before.text) != 1 or len(older.words) > LONGEST:
        return moved
    return f"{moved}{BEFORE}“{older.words.replace(before.text, LEFT_OUT).strip(' .')}”"


def _is_amount(span: TimeSpan, said: datetime) -> bool:
    """Whether a time expression is a length ("two days"), alone or with a direction ("later")."""
    if span.kind == "duration":
        return True
    length, _, direction = span.text.rpartition(" ")
    inner = find_times(length, said)
    return direction != "ago" and len(inner) == 1 and inner[0].kind == "duration"


def shift_of(older: str, newer: str, llm: LanguageModel) -> Shift:
    """Which way and by how much the newer words move what the older ones tell."""
    told = ChatTurn("user", f"1. {as_data(older)}\n2. {as_data(newer)}")
    said = llm.chat((*_BEGIN, told), max_tokens=MAX_TOKENS, grammar=_GRAMMAR)
    parts = _AMOUNT.findall(said)
    sign = -1 if said.startswith("earlier") else 1
    sizes = {f"{unit}s": sign * int(number) for number, unit in parts}
    return Shift(relativedelta(**sizes), any(unit in CLOCK for _, unit in parts))


def _moved(base: Sequence[Moment], shift: Shift) -> str:
    """The first time of day moved, with its date where one is known; else the first date moved."""
    clock = next((moment for moment in base if moment.clock), None)
    dated = next((moment for moment in base if moment.dated), None)
    if clock is None:
        return day(dated.start + shift.amount) if dated and not shift.by_the_clock else ""
    start = clock.start
    if dated is not None and not clock.dated:
        start = datetime.combine(dated.start.date(), start.timetz())
    moved = start + shift.amount
    time = _clock(moved, clock)
    if shift.by_the_clock and (dated is None or moved.date() == start.date()):
        return time
    return day_and_time(moved, clock) if dated is not None else ""


def day_and_time(moment: datetime, said: Moment) -> str:
    """The day, and the time of day as ``said`` where that has one."""
    return f"{day(moment)} {_clock(moment, said)}" if said.clock else day(moment)


def _clock(time: datetime, said: Moment) -> str:
    """A time of day; where the words leave open which half of the day they mean, so does it."""
    return f"{time.hour % 12 or 12}:{time:%M}" if said.either_half else f"{time:%H:%M}"


def day(moment: datetime) -> str:
    """The day with its weekday and year."""
    return f"{moment:%A} {moment.day} {moment:%B %Y}"
