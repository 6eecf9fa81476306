"""Corrections such as 'no, the 4th, not the 14th', applied in place.

A correction says that the memory was never right, so it is amended in place (the journal keeps
what stood there), not replaced. Pure functions over text; the recent memories come from outside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from agent.extraction.validity import held
from agent.language.dates import find_times
from agent.language.dates.date_literals import KINDS, MONTHS, clock, right_weekdays, values_of
from agent.language.dates.dated import in_figures
from agent.language.patterns import linear
from store.journal import Amend
from store.types import Memory, Triple

LONGEST = 16
"""Words of a correction; longer messages are extracted like any other."""
RECENT = 12
"""How many of the last edits a correction may be about."""

_LEAD = (
    r"(?:(?:no|nope|sorry|oops|wait|actually|correction|my mistake|i was wrong|that['’]s wrong"
    r"|that is wrong|not quite|hm+|ah|oh|well|but|rather|i mean|i meant|i misspoke"
    r"|make (?:that|it))"
    r"[\s,.:;!–—-]+)"
)
_FILLER = (
    r"(?:(?:(?:it|that|this|he|she|they)(?:['’]s| is| was| are)|it should be|should be|i mean"
    r"|i meant(?: to say)?|i said|make (?:that|it)|on|at|in|for|by|to|is|called|the name is)\s+)*"
)
_RIGHT_NOT_WRONG = linear(
    rf"^(?P<lead>{_LEAD}*){_FILLER}(?P<right>[^,;.]+?)\s*[,;]?\s+(?:and\s+)?not\s+{_FILLER}"
    r"(?P<wrong>[^,;.?]+)[.!]*$",
    re.IGNORECASE,
)
_NOT_WRONG_RIGHT = linear(
    rf"^(?P<lead>{_LEAD}*){_FILLER}not\s+{_FILLER}(?P<wrong>[^,;.]+?)"
    rf"\s*(?:[,;.]\s*(?:but\s+)?|\s+but\s+){_FILLER}(?P<right>[^,;.?]+)[.!]*$",
    re.IGNORECASE,
)
_RIGHT = linear(
    rf"^(?P<lead>{_LEAD}+){_FILLER}(?P<right>[^,;.?]+?)(?:,? i (?:mean|meant))?[.!]*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:i|we|you|my|our)\b|\b(?:like|love|want|prefer|need|think|live|work|have|find|show)\b",
    re.I,
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAY = re.compile(rf"(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+(?:of\s+)?({MONTHS}))?", re.I)


@dataclass(frozen=True, slots=True)
class Correction:
    """What is right, and what it takes the place of where that was said."""

    right: str
    wrong: str | None


def correction_in(message: str) -> Correction | None:
    """What a message corrects; None where it is not plainly a correction."""
    text = " ".join(message.split())
    if not text or len(text.split()) > LONGEST or text.endswith(("?", "？")):
        return None
    for pattern in (_NOT_WRONG_RIGHT, _RIGHT_NOT_WRONG):
        if match := pattern.match(text):
            right, wrong = match["right"].strip(), match["wrong"].strip()
            # 'I like tea, not coffee' is a statement; only with 'no, ...' it corrects one.
            if not match["lead"] and (_SENTENCE.search(right) or _SENTENCE.search(wrong)):
                continue
            if max(len(right.split()), len(wrong.split())) <= 6:
                return Correction(right, wrong)
    if (match := _RIGHT.match(text)) and _kind(match["right"]) and len(match["right"].split()) <= 5:
        return Correction(match["right"].strip(), None)
    return None


def plan_correction(
    correction: Correction, recent: Sequence[Memory], now: datetime
) -> Amend | None:
    """The amendment of the most recent memory that the correction fits; None where none does.

    What names nothing that is wrong is of the last memory with a time, and of no earlier one.
    """
    for memory in recent:
        plain = in_figures(memory.text)
        text = corrected(plain, correction, now)
        if text is None or text == plain:
            if correction.wrong is None and find_times(plain, now):
                return None
            continue
        triples = tuple(
            Triple(
                corrected(t.head, correction, now) or t.head,
                t.relation,
                corrected(t.tail, correction, now) or t.tail,
            )
            for t in memory.triples
        )
        _, ends = held(text, memory.subclass, triples, memory.created)
        _, before = held(memory.text, memory.subclass, memory.triples, memory.created)
        return Amend(
            memory.id, text=text, triples=triples, valid_until=None if ends == before else ends
        )
    return None


def corrected(text: str, correction: Correction, now: datetime) -> str | None:
    """The text with the right thing in place of the wrong one; None where it does not say it."""
    right, wrong = correction.right, correction.wrong
    return (
        _day(text, right, wrong, now)
        or _hour(text, right, wrong)
        or (_words(text, right, wrong) if wrong else _number(text, right))
    )


def _day(text: str, right: str, wrong: str | None, now: datetime) -> str | None:
    """A date of the text that ``wrong`` names (or its only one) moved to the day of ``right``."""
    for found in KINDS["date"].finditer(text):
        stands = _as_date(found.group(), now)
        if stands is None or (wrong and not _is_day(wrong, stands)):
            continue
        if not wrong and len(values_of(text)["date"]) != 1:
            return None
        moved = _day_near(right, stands, now)
        if moved is None:
            return None
        new = moved.isoformat() if _ISO.fullmatch(found.group()) else _worded(moved, found.group())
        return right_weekdays(text[: found.start()] + new + text[found.end() :])
    return None


def _as_date(written: str, now: datetime) -> date | None:
    if _ISO.fullmatch(written):
        try:
            return date.fromisoformat(written)
        except ValueError:
            return None
    spans = find_times(written, now)
    return spans[0].start.date() if spans and spans[0].start else None


def _is_day(said: str, day: date) -> bool:
    """Whether 'the 14th', '14 May' or 'Tuesday' can mean this day."""
    bare = said.casefold().strip()
    if bare in _WEEKDAYS:
        return day.weekday() == _WEEKDAYS.index(bare)
    if _ISO.fullmatch(bare):
        return bare == day.isoformat()
    match = _DAY.fullmatch(bare)
    if match is None or int(match.group(1)) != day.day:
        return False
    return match.group(2) is None or _month(match.group(2)) == day.month


def _day_near(said: str, day: date, now: datetime) -> date | None:
    """The day that 'the 4th', '4 June' or 'Thursday' means beside ``day``."""
    bare = said.casefold().strip()
    try:
        if bare in _WEEKDAYS:
            return date.fromordinal(day.toordinal() - day.weekday() + _WEEKDAYS.index(bare))
        if match := _DAY.fullmatch(bare):
            month = _month(match.group(2)) if match.group(2) else day.month
            moved = day.replace(month=month, day=int(match.group(1)))
            if match.group(2) is None and moved < now.date() <= day:
                # What is still to come cannot move to a day that is over.
                ahead = moved.month % 12 + 1
                moved = moved.replace(month=ahead, year=moved.year + (ahead == 1))
            return moved
    except ValueError:
        return None
    spans = [span for span in find_times(said, now) if span.dated and span.start]
    return spans[0].start.date() if len(spans) == 1 and spans[0].start else None


def _month(name: str) -> int:
    return "jan feb mar apr may jun jul aug sep oct nov dec".split().index(name[:3].casefold()) + 1


def _worded(day: date, like: str) -> str:
    """'4 May 2024' where the year stood too, else '4 May'; '4th of May' where it was told so."""
    year = f" {day.year}" if like[-4:].isdecimal() else ""
    number = f"{day.day}{_suffix(day.day)}" if like[:4].lstrip("0123456789")[:1].isalpha() else ""
    return f"{number or day.day}{' of' if ' of ' in like else ''} {day:%B}{year}"


def _suffix(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _hour(text: str, right: str, wrong: str | None) -> str | None:
    new = re.fullmatch(KINDS["time"].pattern, right.strip(), re.IGNORECASE)
    if new is None:
        return None
    found = list(KINDS["time"].finditer(text))
    old = clock(wrong) if wrong else None
    fits = [one for one in found if old is None or clock(one.group()) == old]
    if len(fits) != 1:
        return None
    spot = fits[0]
    told = clock(right) if re.fullmatch(r"\d{1,2}:\d{2}", spot.group()) else right
    return text[: spot.start()] + told + text[spot.end() :]


def _words(text: str, right: str, wrong: str) -> str | None:
    """The wrong words, where they stand as whole words, exchanged for the right ones."""
    for old in dict.fromkeys((wrong, re.sub(r"^(?:the|a|an|my|in|on|at)\s+", "", wrong))):
        pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
        if len(pattern.findall(text)) == 1:
            new = right if old == wrong else re.sub(r"^(?:the|a|an|my|in|on|at)\s+", "", right)
            return pattern.sub(new.replace("\\", r"\\"), text)
    return None


def _number(text: str, right: str) -> str | None:
    """A plain number takes the place of the only plain number of the text."""
    if not re.fullmatch(r"\d+(?:[.,]\d+)?", right):
        return None
    found = list(re.finditer(r"(?<![\w:.-])\d+(?:[.,]\d+)?(?![\w:-])", text))
    if len(found) != 1:
        return None
    return text[: found[0].start()] + right + text[found[0].end() :]


def _kind(said: str) -> bool:
    """Whether a bare correction names something whose place is known: a day, an hour, a number."""
    bare = said.strip().casefold()
    return (
        bare in _WEEKDAYS
        or _DAY.fullmatch(bare) is not None
        or re.fullmatch(KINDS["time"].pattern, bare, re.IGNORECASE) is not None
        or KINDS["date"].fullmatch(bare) is not None
    )
