"""Recurring weekdays: 'My gym is open on Sunday', 'I swim on Tuesday'.

English names a weekly habit and a day of this week in the same words; what decides is the rest of
the sentence: opening times, a word of frequency, or an activity in the simple present. All else
('The dentist is on Sunday', 'I play chess with Ben on Tuesday') stays a date, since a missed
appointment costs more than a habit told with one date too many. Pure functions over text.
"""

from __future__ import annotations

import re

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_BARE = re.compile(
    rf"(?:on )?{_DAY}(?:(?:,| and| or|, and) (?:on )?{_DAY})*"
    r"(?: (?:morning|afternoon|evening|night))?"
    r"(?:,? (?:at|from|until|till|between|around) .*|,? \d.*)?",
    re.IGNORECASE,
)
_ON = re.compile(r"(?:\bon|,|\band|\bor)\s+$", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[.!?;:\n](?:\s|$)|,? (?:but|because|so|although|while|and(?= (?:I|we|my|our|the)\b))\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"(?!(?:I|we|you|he|she|they)\b).+\b(?:is|are|isn['’]t|aren['’]t)(?: not| only| also)?"
    r" (?:open|closed|shut|crowded|packed|quiet|cheap|cheaper|half[- ]price)\b[^,]{0,30}",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:always|usually|normally|often|sometimes|never|generally|typically|regularly|mostly"
    r"|tends? to)\b",
    re.IGNORECASE,
)
_ACTIVITY = (
    r"(?:swim|run|jog|cycle|hike|climb|dance|sing|paint|draw|cook|bake|clean|garden|play|practi[sc]e"
    r"|train|exercise|volunteer|teach|study|rest|relax|eat|drink|fast|babysit|coach|row|ski|skate"
    r"|surf|stretch|meditate|pray|commute|box|knit|iron|vacuum|wash|water|shop"
    r"|sleep in|lift weights|work from home|walk the dog"
    r"|do (?:the |my |our )?(?:yoga|pilates|laundry|washing|groceries|shopping|cleaning|ironing"
    r"|dishes)"
    r"|go (?:swimming|running|jogging|cycling|hiking|climbing|dancing|shopping|fishing|bowling"
    r"|to (?:church|the gym|mosque|yoga|choir|the market)))"
)
_DOES = re.compile(
    rf"(?:(?:I|we)(?: also| only| just)?(?: don['’]t| do not)? {_ACTIVITY}"
    rf"|(?:my|our) (?!team|band|club)[\w'’-]+(?: [A-Z]\w+)? (?:doesn['’]t |does not )?"
    rf"(?!plays? ?$){_ACTIVITY}e?s?)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:with|against|will|going to|tomorrow|this|next|last|tonight|again|for the first time"
    r"|instead|because|until|since)\b",
    re.IGNORECASE,
)


def is_weekly(text: str, start: int, end: int) -> bool:
    """Whether the expression at ``start:end`` is a plain weekday that stands for every week's."""
    said = text[start:end]
    if _BARE.fullmatch(said) is None:
        return False
    before = text[max(0, start - 160) : start]
    if not said.casefold().startswith("on ") and _ON.search(before) is None:
        return False
    clause = re.sub(r"(?<!\s)\s+on$", "", _CLAUSE.split(before)[-1].strip(), flags=re.IGNORECASE)
    if _OFTEN.search(clause):
        return True
    if _ONCE.search(clause):
        return False
    return _OPEN.fullmatch(clause) is not None or _DOES.fullmatch(clause) is not None
