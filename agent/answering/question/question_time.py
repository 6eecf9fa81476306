"""Parser for the time a question asks about. Pure: no model, no database.

``time_filter`` chooses by it among all memories that were ever stored; docs/time.md lists the ways
of asking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from agent.language.dates import TimeSpan, find_times
from agent.language.dates.values import unit_start
from agent.language.sentences import sentences
from agent.memory.time.timeline import Period


class About(StrEnum):
    """What time a question asks about."""

    NOW = "now"
    AT = "at"
    """A moment or interval: 'in March', 'last year', 'when I lived in Oslo'."""
    FORMER = "former"
    """What no longer holds: 'my previous boss', 'before Mr Tan'."""
    PAST = "past"
    """'Who was my boss?': what no longer holds where there is such a thing, else what does."""
    HAPPENED = "happened"
    """'Did I book a table?': what happened, over or not, but nothing that was replaced."""
    CHANGE = "change"
    """'When did I move?', 'since when': the state and when it began."""
    PLANNED = "planned"
    """'Where will I work?': what is planned to hold, else what holds."""
    EVER = "ever"
    """'Which cities have I lived in?': everything."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The time a question asks about; ``start`` and ``end`` half open, None where open."""

    about: About
    now: datetime
    start: datetime | None = None
    end: datetime | None = None
    first: bool = False
    """The earliest of several is wanted ('originally') rather than the latest."""
    anchor: str = ""
    """What the time is told by ('Mr Tan', 'I moved to Bedok'); ``anchored`` resolves it."""
    link: str = ""
    """How the anchor is meant: before, after or while."""
    core: str = ""
    """The question without its anchor."""

    @property
    def needs_history(self) -> bool:
        """Whether what no longer holds may take part."""
        return self.about is not About.NOW

    def before(self, moment: datetime) -> bool:
        """Whether the time asked about was over at a moment."""
        return self.about is About.AT and self.end is not None and self.end <= moment

    def __str__(self) -> str:
        """For people and for prompts: 'from 2024-03-01 to 2024-03-31'."""
        first = f"from {self.start:%Y-%m-%d}" if self.start else ""
        last = f"to {self.end - timedelta(seconds=1):%Y-%m-%d}" if self.end else ""
        if self.start and self.end and self.end - self.start <= timedelta(days=1):
            return f"on {self.start:%Y-%m-%d}"
        return f"{first} {last}".strip()


_PAST = re.compile(r"\b(?:did|was|were|had|wasn['’]t|weren['’]t|didn['’]t)\b", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|going to)\b|['’]ll\b|\b(?:am|are|is) (?:i|we|my \w+) (?:moving|starting"
    r"|joining|switching|changing|leaving)\b|\bmy (?:next|new) \w+",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\b(?:start|begin|move|join|switch|change|leave|take over)\b", re.IGNORECASE)
_FORMER = re.compile(
    r"\bprevious(?:ly)?\b|\bformer(?:ly)?\b|\bused to\b|\bin the past\b|\bback then\b"
    r"|\b(?:no longer|any ?more|any longer)\b|\bprior\b"
    r"|\bold (?:job|address|phone|number|flat|home|house|place|car|boss|manager|employer|company"
    r"|gym|email|e-mail|doctor|dentist|landlord|landlady|bank|password|code|apartment|neighbou?rhood"
    r"|team|school|office|desk|provider|plan|favou?rite)\b"
    r"|\blast (?:job|address|employer|boss|manager|flat|home|landlord|apartment|company)\b"
    r"|\bbefore(?: that| then| now| this| the change)?\s*(?:$|[?.!,])",
    re.IGNORECASE,
)
_EARLIER = re.compile(r"\bearlier\s*(?:$|[?.!])", re.IGNORECASE)
_FIRST = re.compile(
    r"\b(?:original(?:ly)?|at first|initially|to begin with|in the beginning)\b", re.IGNORECASE
)
_EVER = re.compile(
    r"\bever\b|\bover the years\b|\bhistory of\b|\ball (?:the|my) (?:\w+ )?(?:jobs|addresses|bosses"
    r"|cities|places|homes|flats|employers)\b"
    r"|\bhave (?:i|we) (?:\w+ )?(?:lived|worked|stayed|studied|had|been|owned|used)\b",
    re.IGNORECASE,
)
_HOW_LONG = re.compile(r"\b(?:how long|since when|from when|until when|till when)\b", re.IGNORECASE)
_UNTIL_WHEN = re.compile(r"\b(?:until|till) when\b", re.IGNORECASE)
_WHEN_DID = re.compile(
    r"\b(?:when|(?:what|which) (?:day|date|month|year|time)|in (?:what|which) (?:month|year))"
    r"(?: exactly)? (?:did|have|had|has) (?:i|we|my|our|\w+)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:mov|chang|switch|start|stop|quit|join|leav|left|becom|beg[iau]n|end|retir|marr|get|got|took"
    r"|take|live|work)",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"\bagain\b|\bdid (?:i|we) (?:say|tell|mention)\b", re.IGNORECASE)
_STATE = re.compile(
    r"\b(?:was|were|wasn['’]t|weren['’]t) (?!there\b)|\bdid (?:i|we|my \w+|[a-z]+) (?:\w+ )?(?:live"
    r"|work|study|stay|like|love|prefer|drive|use|own|have|go to|belong|report|rent|reside|eat"
    r"|drink)\b",
    re.IGNORECASE,
)
_ASKS = r"where|who|whom|whose|what|which|how|did|was|were|had"
_LINKED = re.compile(
    r"(?<=\w )(?P<link>before|after|while|when|during my time (?:at|in)|back when)\s+"
    rf"(?P<anchor>(?!(?:that|then|now|this|the change)\b)[^?,.;]+?)\s*(?:[?.,;]|$|\b(?:{_ASKS})\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?P<link>before|after|while|when|back when)\s+(?P<anchor>[^?,.;]+),\s*"
    rf"(?={_ASKS})",
    re.IGNORECASE,
)


def read_question(question: str, now: datetime) -> Asked:
    """What time a question asks about; ``now`` is the moment it is asked, aware.

    What stands around the one sentence that asks has a tense of its own, which does not count:
    'What's on for 9 May? Feels like there were a couple of things.'
    """
    asking = asking_sentence(question)
    if find_times(question, now) and not find_times(asking, now):
        return _read(question, now)
    asked = _read(asking, now)
    return asked if asked.anchor else replace(asked, core=question)


def asking_sentence(message: str) -> str:
    """The one sentence of a message that ends with a question mark; all of it if not one does."""
    asking = [one for one in sentences(message) if one.endswith(("?", "？"))]
    return asking[0] if len(asking) == 1 else message


def _read(question: str, now: datetime) -> Asked:
    asked = Asked(About.NOW, now, core=question)
    past = _PAST.search(question) is not None
    future = not past and _FUTURE.search(question) is not None
    if _AGAIN.search(question) and not _FORMER.search(question):
        return asked
    if _EVER.search(question):
        return replace(asked, about=About.EVER)
    span = _when(question, now, past)
    if span is not None:
        return _at(asked, span, past=past, future=future)
    if past and (found := _LEADING.match(question) or _LINKED.search(question)):
        link = found["link"].casefold()
        link = link if link in ("before", "after") else "while"
        about = About.FORMER if link == "before" else About.AT
        rest = f"{question[: found.start('link')]} {question[found.end('anchor') :]}"
        return replace(
            asked, about=about, anchor=found["anchor"].strip(), link=link, core=rest.strip(" ,")
        )
    if _WHEN_DID.search(question) and _CHANGES.search(question):
        return replace(asked, about=About.CHANGE)
    if _FIRST.search(question):
        return replace(asked, about=About.FORMER, first=True)
    if _FORMER.search(question) or (past and _EARLIER.search(question)):
        if not past and re.search(r"\bany ?more\b|\bno longer\b", question, re.IGNORECASE):
            # 'Do I work there any more?' asks about now; 'what do I no longer eat?' about before.
            wh = re.match(rf"(?:{_ASKS})\b", question, re.IGNORECASE)
            return replace(asked, about=About.EVER if wh else About.NOW)
        return replace(asked, about=About.FORMER)
    if _HOW_LONG.search(question):
        # 'Until when is my voucher valid?' asks about one that holds.
        ends = not past and _UNTIL_WHEN.search(question)
        return asked if ends else replace(asked, about=About.CHANGE)
    if past:
        return replace(asked, about=About.PAST if _STATE.search(question) else About.HAPPENED)
    if future or (re.match(r"(?:when|what (?:day|date)|from when)\b", question, re.IGNORECASE)
                  and _BEGINS.search(question)):  # fmt: skip
        return replace(asked, about=About.PLANNED)
    return asked


def _when(question: str, now: datetime, past: bool) -> Period | None:
    """The interval that a question names; None where it names none or more than one."""
    # 'Between January and March' is read as two months where 'from ... to' is one range.
    question = re.sub(r"\bbetween (\w+) and (?=\w+\b)", r"from \1 to ", question)
    spans = [
        span
        for span in find_times(question, now)
        if span.dated
        and span.kind in ("date", "datetime", "range")
        and span.text.casefold() not in _NOWS
        and (span.start or span.end) is not None
    ]
    return _interval(spans[0], now, past) if len(spans) == 1 else None


_NOWS = frozenset("now|right now|currently|at the moment|these days|nowadays".split("|"))


def _interval(span: TimeSpan, now: datetime, past: bool) -> Period:
    start, end = span.start, span.end
    if past and (start or end or now) > now:
        # 'Until March' leans to the future; a question in the past tense does not.
        earlier = [(s, e) for s, e in span.alternatives if (s or e or now) <= now]
        start, end = max(earlier, key=lambda pair: pair[0] or pair[1] or now, default=(start, end))
    if span.text.casefold().startswith("as of") and start is not None:
        end = start + timedelta(days=1)
    if start is not None and end is not None and end <= start:
        end = start + timedelta(seconds=1)
    if span.bound == "until" and past and end is not None:
        # Until March is up to its first day: what began in March is not asked for.
        wall = unit_start(span.grain, end.replace(tzinfo=None) - timedelta(seconds=1))
        end = wall.replace(tzinfo=end.tzinfo)
    return Period(start, end, True)


def _at(asked: Asked, span: Period, *, past: bool, future: bool) -> Asked:
    """The reading of a question that names an interval."""
    now = asked.now
    start, end = span.start, span.end
    if future or (start is not None and start > now):
        return replace(asked, about=About.AT, start=start, end=end)
    if past:
        return replace(asked, about=About.AT, start=start, end=min(end or now, now))
    if end is not None and end <= now:
        # 'What is the code of the voucher from last week?': the present tense wants no old value.
        return replace(asked, about=About.HAPPENED)
    return replace(asked, start=start, end=end)


def anchored(asked: Asked, period: Period) -> Asked:
    """The same question with the period of the memory that its anchor names."""
    match asked.link:
        case "before":
            return replace(asked, end=period.start if period.sure else None, anchor="")
        case "after":
            return replace(asked, start=period.end or period.start, end=asked.now, anchor="")
        case _:
            return replace(asked, start=period.start, end=period.end or asked.now, anchor="")
