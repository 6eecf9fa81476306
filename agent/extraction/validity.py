"""Validity of memories beyond explicit wording. Pure.

``agent.language.dates.validity`` reads words of validity (a voucher, 'until Friday', 'since
March'). Three things follow without them: an arrangement ends with its day, a state that is told as
begun begins with its date ('I moved to Bedok in March'), and one told in the past is over ('I
worked at Acme in 2019'). Nothing is lost: what is over stays in history, and questions about the
past find it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from agent.extraction.own_words import has_verb
from agent.language.clauses import joined_parts
from agent.language.dates import TimeSpan, Validity, find_times, validity
from agent.language.dates.date_literals import values_of
from agent.language.dates.values import midnight
from agent.language.relation_names import LASTING
from agent.language.sentences import sentences, words
from store.types import Triple

_ARRANGEMENT = "event.arrangement"
_STANDS = re.compile(
    r"\b(?:appointments?|reservations?|bookings?|booked|reserved|interview|viewing|check-?(?:in|up))\b",
    re.IGNORECASE,
)
_AT = frozenset("is_at departs_at arrives_at".split())
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]\.?m\b", re.IGNORECASE)
_DUE = re.compile(r"\b(?:must|need to|have to|has to|should|deadline|due|by)\b", re.IGNORECASE)
_BEGINS = re.compile(
    r"\b(?:mov(?:e|es|ed|ing)|went to|start(?:s|ed|ing)?|beg[aiu]n\w*|join(?:s|ed|ing)?"
    r"|becom\w+|became|switch\w*|chang\w+|tak\w+ over|took over|married|marry\w*|transfer\w*"
    r"|promoted|hired|settled|new|will)\b|['’]ll\b",
    re.IGNORECASE,
)
_SUBJECT = r"^(?:(?:back )?(?:in|until|from|before) [^,]{2,30}, )?(?:i|we|he|she|my [\w'’ ]{2,30}?)"
_WAS = re.compile(
    # 'My cousin has worked there since May' is not over.
    rf"{_SUBJECT} (?<!has )(?<!have )(?:used to|(?:formerly|previously|once) \w+ed|lived|worked"
    r"|was|were|resided|rented)\b"
    r"|\b(?:used to be|formerly|previously) (?:my|our)\b|\bmy (?:old|former|previous)\b",
    re.IGNORECASE,
)


def is_arranged(text: str, triples: Sequence[Triple] = ()) -> bool:
    """Whether it is an appointment or booking, which is over with its day.

    Anything is that takes place at a time of day; 'the new tram opens on 12 May' goes on after it.
    """
    at_a_time = any(t.relation in _AT and _CLOCK.search(t.tail) for t in triples)
    found = values_of(text)
    on_a_day = bool(found["date"]) and len(found["time"]) == 1
    return at_a_time or on_a_day or _STANDS.search(text) is not None


def held(
    text: str, subclass: str, triples: Sequence[Triple], said: datetime
) -> tuple[datetime | None, datetime | None]:
    """From when and until when a memory holds that was ``said`` then; None: nothing says so."""
    read = validity(text, said)
    start, end, when = read.valid_from, read.valid_until, read.when
    if is_over(text, triples):
        if when is not None and when.kind != "recurring":
            start, end = start or when.start, end or when.end
        end = min(end or said, said)
        return (start if start is not None and start <= end else None), end
    start = _start(read, text, triples)
    end = end or over_after(text, subclass, triples, when, said)
    if (end is not None or (start is not None and start > said)) and tells_more(text, said):
        return (start if start is not None and start <= said else None), None
    return (start if start is None or end is None or start <= end else None), end


def begins(text: str, triples: Sequence[Triple], said: datetime) -> datetime | None:
    """From when a state holds that a sentence tells of; None where nothing says so.

    Unlike ``held``, also where the sentence may tell more than that: it hides nothing.
    """
    return None if is_over(text, triples) else _start(validity(text, said), text, triples)


def tells_more(sentence: str, said: datetime) -> bool:
    """Whether a part of the sentence tells something and names no time.

    'My laptop is a ThinkPad and the lesson is on Thursday': the laptop is not over with the lesson,
    and it is worse to hide what holds than to keep what is over. So of several sentences none may
    be without a time: '187 dollars. Cone on her till Sunday.'
    """
    several = sentences(sentence)
    if len(several) > 1 and not all(find_times(one, said) for one in several):
        return True
    parts = joined_parts(sentence)
    telling = [part for part in parts if len(words(part)) > 2 and has_verb(part)]
    return len(parts) > 1 and any(not find_times(part, said) for part in telling)


def _start(read: Validity, text: str, triples: Sequence[Triple]) -> datetime | None:
    if read.valid_from is not None or read.when is None:
        return read.valid_from
    return read.when.start if _begins(text, triples, read.when) else None


def _begins(text: str, triples: Sequence[Triple], when: TimeSpan) -> bool:
    """Whether the date a sentence names is where the state it tells of begins."""
    if when.start is None or not when.dated or when.kind == "recurring":
        return False
    lasting = any(t.relation in LASTING for t in triples)
    return lasting and not is_arranged(text, triples) and _BEGINS.search(text) is not None


def over_after(
    text: str, subclass: str, triples: Sequence[Triple], when: TimeSpan | None, said: datetime
) -> datetime | None:
    """The end of the last day of an appointment or booking; None for all else.

    What happened already stays as it is, so does what recurs or has no day, and a duty is not over
    because its day has passed. Of several days the last one counts: "that weekend instead, ferry on
    24 April" is not over before the ferry.
    """
    if subclass != _ARRANGEMENT or when is None or when.start is None or not when.dated:
        return None
    if when.kind == "recurring" or _DUE.search(text) or not is_arranged(text, triples):
        return None
    if (when.end or when.start) <= said or when.start < said:
        return None
    days = [one for one in find_times(text, said) if one.dated and one.one_day]
    days = [when, *(one for one in days if one.kind != "recurring")]
    end = max(last for one in days if (last := one.end or one.start) is not None)
    if (end.hour, end.minute, end.second) == (0, 0, 0) and end > when.start:
        return end
    return midnight(end) + timedelta(days=1)


def is_over(text: str, triples: Sequence[Triple]) -> bool:
    """Whether a sentence tells of a lasting state as past: 'I used to work at Acme'."""
    lasting = any(t.relation in LASTING for t in triples)
    return lasting and _WAS.search(text) is not None
