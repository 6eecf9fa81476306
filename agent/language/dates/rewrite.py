"""Rewriting of relative times as absolute dates.

A memory is read long after it was said, so "tomorrow" must not stay in it. Everything that means
the same on any day stays as it was written, and so do quotes, vague words and what repeats.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from agent.language.dates.lexicon import MONTH_NAMES, names_weekday
from agent.language.dates.parser import Expression, expressions
from agent.language.dates.values import Reading, When, midnight

QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)"
)
_OWN = re.compile(
    r"(on|by|until|till|before|after|since|for|from|between|in|at|during|over|within|throughout)\s+"
    r"(?:the\s+)?",
    re.IGNORECASE,
)
# A word before the expression that already says how it hangs in the sentence.
_HANGS_ON = re.compile(
    r"(?:\b(?:on|by|until|till|til|before|after|since|from|to|through|thru|between|and|or|of|than|"
    r"for|around|about|as|up|due|dated|starting|beginning)\s+(?:the\s+)?"
    r"|[-–:(/]\s*)$",
    re.IGNORECASE,
)
_OUTER = re.compile(r"\b(in|at|during|over|within|throughout)\s+(?:the\s+)?$", re.IGNORECASE)
# What follows an expression that is the subject of its sentence, or owns something.
_SUBJECT = re.compile(
    r"(?:['’]s?\b|\s+(?:is|was|will|would|are|were|may|might|works|suits|has|had|and|or|isn't|"
    r"wasn't|won't)\b)",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s{1,3}|\n\s{0,3})$")
_PARTS_BY_HOURS = {(8, 12): "morning", (12, 16): "afternoon", (16, 20): "evening", (20, 0): "night"}
# A day without a year that comes back each year, or whose year only the speaker knows.
_EVERY_YEAR = re.compile(
    r"\b(?:birthdays?|born|anniversar(?:y|ies)|name ?days?|every year|each year|annual(?:ly)?|"
    r"yearly|always|usually)\b",
    re.IGNORECASE,
)
_SENTENCE_MARK = re.compile(r"[.!?]\s|\n")
# One pass may bring a word into company that makes it a date; more than this never happened.
_PASSES = 5


def rewrite(text: str, now: datetime, *, weekly: bool = False) -> str:
    """See ``agent.language.dates.resolve_text``; repeated until nothing changes, so idempotent."""
    written = text
    for _ in range(_PASSES):
        changed = _rewrite_once(written, now, weekly)
        if changed == written:
            return written
        written = changed
    return text


def _rewrite_once(text: str, now: datetime, weekly: bool) -> str:
    quoted = [match.span() for match in QUOTED.finditer(text)]
    pieces: list[str] = []
    done = 0
    at_quote = 0
    for found in expressions(text, now, weekly=weekly):
        while at_quote < len(quoted) and quoted[at_quote][1] <= found.start:
            at_quote += 1
        if at_quote < len(quoted) and quoted[at_quote][0] < found.end:
            continue
        edit = _edit(text, found)
        if edit is None or edit[0] < done:
            continue
        start, end, written = edit
        pieces += [text[done:start], written]
        done = end
    return "".join([*pieces, text[done:]])


def _edit(text: str, found: Expression) -> tuple[int, int, str] | None:
    """The characters to replace and what to write there, or None to leave the words alone."""
    when, reading, start, end = found.when, found.reading, found.start, found.end
    to_the_end = when.grain.startswith(("end ", "late ")) and when.bound is not None
    core = when.core
    if core is not None and core.when.readings:
        edges = {reading.start, reading.end}
        when, start, end = core.when, core.start, core.end
        # The core's reading that the chosen open range begins or ends with.
        reading = next(
            (one for one in when.readings if {one.start, one.end} & (edges - {None})),
            when.readings[0],
        )
    if when.narrative or not when.dated or when.kind in ("recurring", "duration"):
        return None
    if text[:start].lower().endswith(("the ", " a ", "our ", "my ")) and text[start:end].isalpha():
        return None  # 'the Sunday market' is one on any Sunday
    if reading.start is None or reading.end is None:
        return None
    if text[start:end].endswith(".") and not text[start : end - 1].endswith("."):
        end -= 1  # the full stop of "p.m." or "Dec." may end the sentence too
    if when.slots and not when.relative:
        if _EVERY_YEAR.search(_sentence(text, start, end)):
            return None
        return _with_year(text, when, reading, start, end)
    if not when.relative:
        return None
    if found.foreign:
        return start, end, _in_figures(when, reading, text, start, end)
    if to_the_end:
        return start, end, _date(reading.end - timedelta(days=1))
    adverb, body = _absolute(when, reading, text[start:end])
    if adverb == "on" and names_weekday(text[start:end]):
        # 'Bin day is Friday' may be every Friday: the word stays beside the date.
        date = _date(reading.start)
        body = body.replace(date, f"{reading.start:%A} {date}")
    return _hung(text, start, end, adverb, body)


def _in_figures(when: When, reading: Reading, text: str, start: int, end: int) -> str:
    """A day, time, month, year or span without a word, for sentences in another language."""
    assert reading.start is not None and reading.end is not None
    if when.kind == "datetime":
        written = _moment(reading.start)
    elif when.grain == "month":
        written = f"{_date(reading.start)[:-3]}"
    elif when.grain == "year":
        written = f"{reading.start.year:04}"
    elif when.grain in ("part", "minute", "hour", "second"):
        written = f"{_moment(reading.start)} – {reading.end:%H:%M}"
    else:
        last = _date(reading.end - timedelta(microseconds=1))
        first = _date(reading.start)
        written = first if first == last else f"{first} – {last}"
    # In a script without spaces, figures need some to stand by themselves.
    before = " " if text[start - 1 : start].isalpha() else ""
    after = " " if text[end : end + 1].isalpha() else ""
    return f"{before}{written}{after}"


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around ``start:end``, at most 200 characters to each side."""
    before = _SENTENCE_MARK.split(text[max(0, start - 200) : start])[-1]
    return before + text[start:end] + _SENTENCE_MARK.split(text[end : end + 200])[0]


def _with_year(
    text: str, when: When, reading: Reading, start: int, end: int
) -> tuple[int, int, str] | None:
    assert reading.start is not None and reading.end is not None
    last = reading.last or max(reading.start, reading.end - timedelta(microseconds=1))
    years = [last.year] * len(when.slots)
    slots = when.slots
    if len(slots) == 2 and reading.start.year != last.year:
        years[0] = reading.start.year
    else:
        slots, years = slots[-1:], years[-1:]
    written = text[start:end]
    for slot, year in sorted(zip(slots, years, strict=True), key=lambda pair: -pair[0].at):
        at = slot.at - start
        if not 0 <= at <= len(written):
            return None
        written = f"{written[:at]}{slot.sign}{year}{written[at:]}"
    return start, end, written


def _date(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if moment.year >= 1000 else f"{moment.year:04}-{moment:%m-%d}"


def _moment(moment: datetime) -> str:
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return f"{_date(moment)} {clock}"


def _absolute(when: When, reading: Reading, written: str) -> tuple[str, str]:
    """The preposition that the expression takes as an adverb ("on"), and the expression itself."""
    start, end = reading.start, reading.end
    assert start is not None and end is not None
    edge, _, unit = when.grain.rpartition(" ")
    if edge:
        _, body = _unit(unit, start if edge not in ("end", "late", "later") else end - timedelta(1))
        if edge in ("mid", "early", "late") and unit != "week":
            return "in", f"{edge} {body}"
        name = {"mid": "middle", "early": "beginning", "late": "end", "later": "end"}.get(
            edge, edge
        )
        return "at", f"the {name} of {body}"
    if when.kind == "datetime":
        return "on", _moment(start)
    if when.kind == "date":
        if when.grain in ("month", "year"):
            return _unit(when.grain, start)
        return "on", _date(start)
    if when.grain == "part":
        part = _PARTS_BY_HOURS.get((start.hour, end.hour))
        if part and end - start <= timedelta(hours=4):
            return "on", f"the {part} of {_date(start)}"
    if when.grain in ("part", "minute", "hour", "second"):
        return "", f"{_join(written)[0]} {_moment(start)} {_join(written)[1]} {_moment(end)}"
    named = _unit(when.grain, start)
    if named[1] and reading.last is None:
        return named
    last = reading.last or midnight(end - timedelta(microseconds=1))
    if last <= start:
        return "on", _date(start)
    return "", f"{_join(written)[0]} {_date(start)} {_join(written)[1]} {_date(last)}"


def _join(written: str) -> tuple[str, str]:
    bounded = written.lower().startswith(("between", "within"))
    return ("between", "and") if bounded else ("from", "to")


def _unit(unit: str, start: datetime) -> tuple[str, str]:
    match unit:
        case "week":
            monday = start - timedelta(days=start.weekday())
            return "in", f"the week of {_date(monday)}"
        case "weekend":
            return "on", f"the weekend of {_date(start)}"
        case "month":
            return "in", f"{MONTH_NAMES[start.month - 1]} {start.year:04}"
        case "quarter":
            return "in", f"Q{(start.month + 2) // 3} {start.year:04}"
        case "half":
            return "in", f"H{(start.month + 5) // 6} {start.year:04}"
        case "season":
            name = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}.get(start.month, "")
            return ("in", f"{name} {start.year:04}") if name else ("", "")
        case "year":
            return "in", f"{start.year:04}"
        case "decade":
            return "in", f"the {start.year // 10 * 10:04}s"
        case _:
            return "", ""


def _hung(text: str, start: int, end: int, adverb: str, body: str) -> tuple[int, int, str]:
    """``body`` with the preposition that the sentence needs, in place of ``start:end``."""
    before = text[:start] if start < 200 else text[start - 200 : start]
    own = _OWN.match(text[start:end])
    outer = _OUTER.search(before)
    if own and own[1].lower() not in ("from", "between", "in", "at", "over", "during", "within"):
        written = f"{own[1]} {body}" if adverb else body
        if own[1].lower() == "on" and adverb not in ("on", ""):
            written = f"{adverb} {body}"
    elif outer:
        # "in the next three days" -> "from ... to ..."; "during next week" keeps its word.
        start -= len(outer[0])
        word = outer[1].lower()
        kept = word in ("during", "throughout", "within", "over") and adverb == "in"
        written = f"{outer[1] if kept else adverb} {body}".strip()
    elif _HANGS_ON.search(before) and adverb:
        the = re.search(r"\bthe\s+$", before)
        written = body
        if the:
            start -= len(the[0])
    elif _SUBJECT.match(text, end) or not adverb:
        written = body
    else:
        written = f"{adverb} {body}"
    if _SENTENCE_START.search(text[max(0, start - 4) : start]) or (own and text[start].isupper()):
        written = written[:1].upper() + written[1:]
    return start, end, written
