"""Leading and trailing time phrases, removed before comparison.

'From 1 June I work at Bolt now' and 'I work at Bolt' give the same edge; when it holds is read by
``agent.extraction.validity`` from the whole sentence. Pure functions over text.
"""

from __future__ import annotations

import re

from agent.language.dates.date_literals import MONTHS

_UNIT = r"(?:day|week|weekend|fortnight|month|quarter|year|summer|winter|spring|autumn)"
_POINT = (
    rf"(?:{MONTHS}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{4}}(?:-\d\d){{0,2}}\b"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTHS}\b|{MONTHS}\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|the \d{1,2}(?:st|nd|rd|th)\b"
    rf"|(?:last|next|this|the) (?:{_UNIT}|\w+day|{MONTHS})\b|tomorrow|yesterday|today|tonight|then"
    r"|now|(?:the )?(?:end|start|beginning|middle) of (?:the )?\w+)"
)
_LEADING = re.compile(
    rf"^(?:and |so |but )?(?:(?:since|until|till|from|as of|starting|effective|in|on|by|back in)"
    rf"(?: early| late| mid)?[ -]{_POINT}(?:,? \d{{4}})?|{_POINT}(?:,? \d{{4}})?|these days"
    r"|nowadays|currently|at the moment|right now|for now)(?: on(?:wards?)?)?,? "
    r"(?=(?:i|we|my|our|he|she|they)(?:['’]|\b)|(?-i:(?:[A-Z][\w.]+ )+)(?:is|has|will)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^\w+(?: \w+){0,3}: (?=(?:I|We|[Mm]y|[Oo]ur|Since|From|As of)\b"
    r"|(?:The |(?:Mr|Mrs|Ms|Dr)\.? )?[A-Z][\w’'-]*(?: [A-Z][\w’'-]*)* [a-z])"
)
_SHORT = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_CONTRACTED = re.compile(r"\b(I|[Ww]e)['’](m|re|ve|ll)\b")
_NOW = re.compile(
    r"(?<=\w) (?:now|nowadays|currently|these days|at the moment|at present|right now)"
    r"(?=[\s,.!?]|$)",
    re.IGNORECASE,
)
_USED_TO = re.compile(r"(?<=\w) used to (?=[a-z])")
_FORMERLY = re.compile(r"(?<=\w) (?:formerly|previously|once) (?=[a-z]+ed\b)")
_TRAILING = re.compile(
    rf",? (?:(?:since|until|till|from|as of|starting|effective|in|on|by|around)"
    rf"(?: early| late| mid| about)*[ -](?:{_POINT}|(?:summer|winter|spring|autumn)\b)"
    rf"|(?:last|next|this) (?:{_UNIT}|\w+day)"
    rf"|yesterday|tomorrow|today|now|recently|again|a {_UNIT} ago|\w+ {_UNIT}s ago|as an? \w+"
    rf"|for (?:the )?(?:next |last |past |about )?\w+ {_UNIT}s?)(?:\b|$).*$",
    re.IGNORECASE,
)


def without_times(sentence: str) -> str:
    """The sentence without a leading time, 'now' and 'used to', contractions in full.

    The times of events stay: there they are the fact.
    """
    bare = _CONTRACTED.sub(lambda m: f"{m[1]} {_SHORT[m[2]]}", without_lead(sentence))
    bare = _FORMERLY.sub(" ", _USED_TO.sub(" ", _NOW.sub("", bare)))
    return bare[:1].upper() + bare[1:]


def without_lead(sentence: str) -> str:
    """The sentence without label and time before it: 'News: from 1 June my gym is Fit24'."""
    bare = _LEADING.sub("", _LABEL.sub("", sentence))
    return bare[:1].upper() + bare[1:]


def without_end(value: str) -> str:
    """The value of a lasting relation without the time behind it: 'Oslo until 2019' is Oslo."""
    return _TRAILING.sub("", value) or value
