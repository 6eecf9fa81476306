"""Detection of changed values: 'My gym is Fit24 now'.

Whether a name has one value at a time ('gym') or several ('hobby') cannot be known for every noun;
but who says that it is now another has said that it was one. Pure functions over relations.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent.language.relation_names import holds_several
from agent.memory.editing.compare import slot
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft

_NAMED = re.compile(
    r"\b(?:my|our) (?:new |current )?[\w'’ -]{2,40}? (?:is|are|was|has|changed|switched|became)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:my|our|an?) new \b"
    r"|\b(?:now|from now on|from today|these days|nowadays|instead|no longer)\b"
    r"|\b(?:changed|switched|moved|transferred|gone over|went over|turned) (?:[^.,;]{1,40}? )?to\b"
    r"|\bbecame\b|\bbecomes\b|\b(?:took|taken|taking) over\b|\breplace[sd]\b|\bleft\b|\bquit\b"
    r"|\bdropped\b|\bmoved out\b|\bany ?more\b|\bassigned to\b|\bchanged\b|\bswitched\b",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"\b(?:instead of|rather than|no longer|not|left|quit|stopped|sold|gave up|from|replac\w+"
    r"|swapped|traded|dropped|cancelled|switched)\b",
    re.IGNORECASE,
)
_NEW = re.compile(r"\ban? (?:new|different) ", re.IGNORECASE)
_SEVERAL = re.compile(
    r"(?:best |old |close )?(?:friend|colleague|co-?worker|neighbou?r|team ?mate|client|student"
    r"|child|kid|son|daughter|brother|sister|uncle|aunt|cousin|nephew|niece|grand\w+|relative)s?"
    r"(?:[ -]in[ -]law)?",
    re.IGNORECASE,
)
"""People of whom one has several: a new one takes nobody's place."""


def changes_slot(draft: Draft, match: NearMemory) -> bool:
    """Whether the draft tells a change of what the memory names, whatever the relation."""
    if not (tells_change(draft) or _found(_GONE, draft.text) or _found(_NEW, draft.text)):
        return False  # most drafts; what each gives a value to need not be compared
    told = {slot(t): entity_key(t.tail) for t in draft.triples}
    known = {slot(t): entity_key(t.tail) for t in match.memory.triples}
    other = {place for place, tail in told.items() if known.get(place, tail) != tail}
    if match.memory.type == "Event" and not _found(_NAMED, draft.text):
        return False
    if _found(_GONE, draft.text) and any(_names(draft.text, known[place]) for place in other):
        return True  # 'I left Acme for Bolt' says itself whose place Bolt takes
    # A draft knows from when it holds where its words say so: 'since', 'from', 'moved on'.
    if not tells_change(draft):
        return any(_has_one(r) and _is_new(r, draft.text) for _, r in other)
    return any(_has_one(relation) for _, relation in other)


def tells_change(draft: Draft) -> bool:
    """Whether the words say that something is so from some time on: 'now', 'since May', 'new'."""
    return draft.valid_from is not None or _found(_CHANGED, draft.text)


@lru_cache(maxsize=512)  # one draft is compared with many memories
def _found(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def _is_new(relation: str, text: str) -> bool:
    """Whether the text tells of a new one of just this: 'I go to a new hairdresser, Priya'."""
    noun = re.escape(relation.replace("_", " "))
    return re.search(rf"\ban? (?:new|different) {noun}\b", text, re.IGNORECASE) is not None


def _names(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _has_one(relation: str) -> bool:
    """A friend is not changed for another; a landlord is."""
    return not holds_several(relation) and not is_one_of_several(relation)


def is_one_of_several(relation: str) -> bool:
    """Whether it names people of whom one has several, such as friends."""
    return _SEVERAL.fullmatch(relation.replace("_", " ")) is not None
