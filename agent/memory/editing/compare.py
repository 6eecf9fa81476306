"""Exact comparison of a draft with a stored memory.

Pure functions over words, values and relations; no model. A small model names the same relation
in two ways now and then, so relations are compared beside the words (EMG-RAG section 4.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from agent.language.dates.dated import in_figures
from agent.language.relation_names import attribute_name, holds_several, is_single
from store.derived.partitions import NearMemory
from store.row_codecs import entity_key
from store.types import Draft, Subclass, Triple

SAME_TEXT = 0.97
"""Cosine similarity from which two sentences with the same values say the same."""
SAME_TOPIC = 0.60
"""Cosine similarity from which a relation that is single only in its subclass is the same slot."""

_KEPT = 8192
"""Sentences and names whose reading is kept: a draft is compared with many memories."""
SHORT = 12
"""Words of a sentence that gives one value to a relation which only its subclass calls single."""

_CODE = re.compile(r"\b(?=[A-Za-z0-9-]{0,60}\d)(?=[A-Za-z0-9-]{0,60}[A-Za-z])[A-Za-z0-9-]{3,}\b")
_VALUE = re.compile(
    r"""\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?   # a resolved date
      | \d{1,2}:\d{2}(?:\s?[ap]\.?m\.?)?        # a time of day
      | \b(?=\w*\d)[\w+.-]*\w                   # a number or a code
    """,
    re.VERBOSE | re.IGNORECASE,
)
_JOINS = re.compile(r"\bjoin\w*\b(?!.*\bas (?!well\b))", re.IGNORECASE)
"""To join Bolt is a job only by the look of it; to join it as a designer is one for sure."""
_NAMED = re.compile(
    r"\b(?:my|our) (?:new |current )?(?P<noun>[\w'’ -]{2,40}?) (?:is|are|has been|will be)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def same_statement(draft: Draft, match: NearMemory) -> bool:
    """Whether the memory says what the draft says."""
    memory = match.memory
    if words(draft.text) == words(memory.text):
        return True
    if values(draft.text) != values(memory.text) or negated(draft.text) != negated(memory.text):
        return False
    if match.score >= SAME_TEXT and names(draft.text) == names(memory.text):
        return True
    told = {(*slot(t), _name(t.tail)) for t in draft.triples}
    known = {(*slot(t), _name(t.tail)) for t in memory.triples}
    return bool(told) and told <= known and match.score >= 0.85


def sameslot(draft: Draft, match: NearMemory, subclasses: Mapping[str, Subclass]) -> bool:
    """Whether draft and memory give different values to one relation that can hold only one."""
    memory = match.memory
    told = {slot(t): _name(t.tail) for t in draft.triples}
    for triple in memory.triples:
        place = slot(triple)
        if place not in told or told[place] == _name(triple.tail):
            continue
        relation = place[1]
        if is_single(relation):
            return not may_be_no_job(draft, match)
        subclass = subclasses.get(draft.subclass)
        if (
            subclass is not None
            and subclass.single
            and not holds_several(relation)
            and memory.subclass == draft.subclass
            and match.score >= SAME_TOPIC
            # Two stories that share a verb ('I joined ...') are no two values of one thing.
            and max(len(words(text)) for text in (draft.text, memory.text)) <= SHORT
        ):
            return True
    return False


def may_be_no_job(draft: Draft, match: NearMemory) -> bool:
    """Whether one of two employers may be none: 'I joined Fit24' tells of a gym or of a job.

    One may join a club and a choir; only an employer there is one of.
    """
    memory = match.memory
    told = {slot(t): _name(t.tail) for t in draft.triples if t.relation == "works_at"}
    if not told:
        return False
    known = {slot(t): _name(t.tail) for t in memory.triples}
    return (
        any(known.get(place, tail) != tail for place, tail in told.items())
        and any(map(_JOINS.search, (draft.text, memory.text)))
        and not draft.subclass == memory.subclass == "attribute.occupation"
    )


def same_but_value(new: str, old: str) -> bool:
    """Whether two sentences differ in nothing but their last values.

    'The EK349 flight departs at 01:40.' and '... at 01:30.' do; with EK350 they do not, because
    what stands before the verb says what the sentence is about.
    """
    (new_values, new_words), (old_values, old_words) = _values_apart(new), _values_apart(old)
    if len(new_values) != len(old_values) or not new_values or new_values == old_values:
        return False
    if new_words != old_words:
        return False
    subject = _subject(new)
    return bool(subject.strip()) and _VALUE.findall(subject) == _VALUE.findall(_subject(old))


@lru_cache(maxsize=_KEPT)
def _values_apart(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values of a sentence, and its words without them."""
    plain = in_figures(text)
    return tuple(_VALUE.findall(plain)), words(_VALUE.sub(" ", plain))


def _subject(sentence: str) -> str:
    """The sentence up to its first common finite verb; empty where there is none."""
    match = re.search(
        r"\b(is|are|was|were|will|has|departs?|arrives?|leaves?|starts?|ends?|costs?|expires?"
        r"|begins?|takes?|lives?|works?)\b",
        sentence,
        re.IGNORECASE,
    )
    return sentence[: match.start()] if match else ""


def slot(triple: Triple) -> tuple[str, str]:
    """What a triple gives a value to: its head and relation, folded."""
    return (_name(triple.head), triple.relation.casefold())


@lru_cache(maxsize=_KEPT)
def _name(entity: str) -> str:
    """An entity's key; one that holds a code is that code ('flight EK349' = 'EK349')."""
    codes = _CODE.findall(entity)
    return codes[0].casefold() if len(codes) == 1 else entity_key(entity)


@lru_cache(maxsize=_KEPT)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, folded, without punctuation; dates for the words they explain."""
    return tuple(word.casefold() for word in _WORD.findall(in_figures(text)))


@lru_cache(maxsize=_KEPT)
def values(text: str) -> tuple[str, ...]:
    """Numbers, times, dates and codes of a text, sorted and folded."""
    return tuple(sorted(value.casefold() for value in _VALUE.findall(in_figures(text))))


@lru_cache(maxsize=_KEPT)
def names(text: str) -> frozenset[str]:
    """Capitalised words other than the first and 'I': what a sentence is specifically about."""
    found = _WORD.findall(text)[1:]
    return frozenset(word.casefold() for word in found if word[0].isupper() and word != "I")


@lru_cache(maxsize=_KEPT)
def negated(text: str) -> bool:
    return bool(
        re.search(r"\b(not|no longer|never|cannot|stopped|quit)\b|n['’]t\b", text, re.IGNORECASE)
    )


def named_apart(new: str, old: str) -> bool:
    """Whether each names what it gives a value to, and not the same: a phone, a passport number."""
    named = [_NAMED.search(text) for text in (new, old)]
    names = {attribute_name(found["noun"]) for found in named if found is not None}
    return len(names) == 2
