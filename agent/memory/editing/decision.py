"""Final decision from the pair judgements of a draft.

The judge (``agent.memory.editing.judges.pair_judge``) is learned and may err; an edit that it
causes must not lose a fact. So a memory is only taken to be repeated, denied or replaced where the
subject is the same person, nothing that the draft adds would be lost, and the kind of memory allows
it. Where the judge finds another value but cannot tell whether both may stand, both do, and the
person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from agent.extraction.triples.pattern_kinds import PERSON
from agent.language.dates.date_literals import values_of
from agent.memory.editing.compare import named_apart, values
from agent.memory.editing.judges.pair_judge import Judgement, Verdict
from agent.memory.editing.judges.wording_features import (
    averse,
    common,
    counts,
    coverage,
    folded,
    is_request,
    value_and_slot,
)
from store.derived.partitions import NearMemory
from store.types import Draft

Judge = Callable[[Sequence[tuple[Draft, NearMemory]]], Sequence[Judgement]]

SURE = 0.5
"""Probability from which a verdict is acted upon."""
JUDGED = 5
"""How many of the nearest memories are judged; 99 in 100 right ones are the third or nearer."""
ONE, SEVERAL = 0.62, 0.42
"""From ONE a slot is taken to hold one value, below SEVERAL several; between, we ask."""
CLOSE = 0.35
"""Cosine similarity below which a memory is not taken for the one a question would be about."""

_PERSON = re.compile(rf"\b(?:my|our) (?:\w+ )?({PERSON})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the nearest memory means for a draft; ``match`` is None where the draft is new."""

    match: NearMemory | None
    same: bool = False
    """The memory says it already."""
    replaces: bool = False
    """The draft takes its place."""
    asks: bool = False
    """Both stay, and the person is asked which holds."""


NEW = Decision(None)


def decide(pairs: Iterable[tuple[Draft, NearMemory]], judge: Judge) -> Decision:
    """The decision for a draft against the memories near it, best first.

    Each memory comes with the draft in the names which that memory uses; none is asked for beyond
    those that are judged.
    """
    alike = (
        (draft, match)
        for draft, match in pairs
        if same_person(draft, match) and not deny_two_things(draft.text, match.memory.text)
    )
    near = list(islice(alike, JUDGED))
    if not near:
        return NEW
    (draft, match), found = min(zip(near, judge(near), strict=True), key=lambda one: one[1].apart)
    match found.verdict:
        case Verdict.SAME if found.same >= SURE and adds_nothing(draft, match):
            return Decision(match, same=True)
        case Verdict.NEGATED if found.negated >= SURE and may_deny(draft, match):
            return Decision(match, replaces=True)
        case Verdict.OTHER if found.other >= SURE and sets_a_slot(draft, match):
            if found.single >= ONE:
                return Decision(match, replaces=True)
            if found.single >= SEVERAL and match.score >= CLOSE:
                return Decision(match, asks=True)
    return NEW


def same_person(draft: Draft, match: NearMemory) -> bool:
    """Whether both speak of the same people: what my mother likes says nothing of what I like."""
    return _people(draft.text) == _people(match.memory.text)


def deny_two_things(told: str, known: str) -> bool:
    """Whether both are denials, and of two things: 'I no longer eat fish', 'I can't stand snow'.

    The judge sees two like sentences; neither takes the other's place, nor says the same.
    """
    if is_request(told) or not (counts(told)[0] and (counts(known)[0] or averse(known))):
        return False
    mine, theirs = ({*common(folded(text))} - _ATTITUDES - _DENYING for text in (told, known))
    return bool(mine and theirs) and not mine & theirs


_DENYING = frozenset(
    folded("no longer any more never stop gave give up gone off quit tired of used")
)


@lru_cache(maxsize=8192)
def _people(text: str) -> frozenset[str]:
    return frozenset(found.casefold() for found in _PERSON.findall(text))


def adds_nothing(draft: Draft, match: NearMemory) -> bool:
    """Whether nothing is lost when the draft is not stored.

    A request ('find jazz') only repeats the preference. A statement must be about what lasts and
    bring no word of its own: that one had tea yesterday is more than that one likes tea.
    """
    if is_request(draft.text):
        return True
    known = set(folded(match.memory.text))
    return (
        is_lasting(draft, match)
        and set(folded(draft.text)) - _ATTITUDES <= known
        and set(values(draft.text)) <= set(values(match.memory.text))
        and not _PAST.search(draft.text)
    )


_ATTITUDES = frozenset(
    folded(
        """like love enjoy hate dislike stand can can't cannot don't not never really very much
        still know prefer favourite favorite fond keen own got kept always usually have you please
        avoid want need also"""
    )
)
"""Words in which one attitude can be told in several ways; the judge has read them already."""


def sets_a_slot(draft: Draft, match: NearMemory) -> bool:
    """Whether the draft gives a value to something that has a name, as the memory does.

    A story has no slot: of two sentences about one's work neither takes the other's place.
    """
    return (
        is_lasting(draft, match)
        and not named_apart(draft.text, match.memory.text)
        and _SLOT.search(match.memory.text) is not None
        and len(match.memory.text.split()) <= LONGEST
        and (
            is_request(draft.text)
            or _SETS.search(draft.text) is not None
            or _SLOT.search(draft.text) is not None
        )
    )


LONGEST = 25
"""Words of a memory that states one value; longer ones tell a story."""
_SLOT = re.compile(
    r"[:;=]\s|\([^()]+\)\W*$|\bprefer\w*\b"
    r"|^(?:for [^,.]{3,40}, )?(?:my|our|the user['’]s) [^,.]{3,60}? (?:is|are)\b"
    r"(?! (?:not|no|so|very|too)\b)",
    re.IGNORECASE,
)
_SETS = re.compile(
    r"^(?:set|switch|change|make|use|keep|put|turn)\b|\b(?:from now on|instead|switch(?:ed)?"
    r"|any ?more|i(?:['’]d| would) (?:rather|like)|no longer|these days|in (?:the )?future)\b",
    re.IGNORECASE,
)


_PAST = re.compile(
    r"\b(?:yesterday|ago|last (?:night|week|month|year|\w+day)|went|had|bought|ate|met|visited|was"
    r"|were|did|played|watched|read a|saw)\b",
    re.IGNORECASE,
)


def may_deny(draft: Draft, match: NearMemory) -> bool:
    """Whether a denial may end the memory: one for a while does not end what lasts.

    What happened stays true, so an event ends only where the draft says so in words; a sentence of
    many words ends only where the draft names most of what it states.
    """
    old = match.memory.text
    if draft.valid_until is not None and match.memory.valid_until is None:
        return False
    value, _ = value_and_slot(old, match.memory.triples)
    named = coverage(common(folded(value)), folded(draft.text)) >= MOST
    labelled = _SLOT.search(old) is not None
    asks = is_request(draft.text)
    if not asks:
        plain = _ENDS.search(draft.text) is not None
        back = _ENDS.search(old) is not None or averse(old) > 0
        if not plain and not (back and named) and not labelled:
            return False
        if len(draft.text.split()) > TELLING and not labelled:
            return False
    elif not (labelled or counts(draft.text)[0] or counts(old)[0] or averse(old)):
        return False
    if not labelled and _LASTS.search(draft.text) and not _LASTS.search(old):
        # 'I don't like Bedok' does not say that I live there no more.
        return match.memory.type == "Preference" and len(old.split()) <= SHORT
    if happens(old, match.memory.type == "Event") and not _ENDS.search(draft.text):
        return False
    return named or labelled or len(old.split()) <= SHORT


SHORT = 8
"""Words of a memory that may be denied in other words ('I like steak', 'I am vegetarian now')."""
TELLING = 14
"""Words of a statement that denies; in a longer one 'not' may belong to anything."""
_ENDS = re.compile(
    r"\b(?:not|never|no (?:longer|more)|any ?more|stopped|quit|g[ai]ve(?:n|) (?:up|away)|cancell?ed"
    r"|called off|is off|sold|got rid|gone|died|ended|over|divorced|broke up|tired of|gone off"
    r"|done with|cut out|swore off"
    r"|lost interest|unsubscribed|resigned|became|become|vegan|vegetarian|hate"
    r"|can(?:no|['’])t stand|can not stand|left|cannot|non|free|teetotal)\b|n['’]t\b|不|没",
    re.IGNORECASE,
)
MOST = 0.5
"""Share of a longer memory's value that a denial must name."""


def is_lasting(draft: Draft, match: NearMemory) -> bool:
    """Whether both are states of the person rather than things that happen at a time."""
    return (
        not happens(match.memory.text, match.memory.type == "Event")
        and draft.valid_until is None
        and (is_request(draft.text) or not happens(draft.text, draft.subclass.startswith("event.")))
    )


def happens(text: str, event: bool) -> bool:
    """Whether a text placed among the events is one: placing a few words is a guess, a date is not.

    ``Price range: cheap`` may land beside the bookings and is a preference all the same.
    """
    told = re.match(r"(?:i|we|my|our|the)\b", text, re.IGNORECASE) is not None
    stated = told and not _LASTS.search(text) and not _SLOT.search(text)
    return event and bool(stated or _PAST.search(text) or any(values_of(text).values()))


_LASTS = re.compile(
    r"\b(?:prefer\w*|like|love|favou?rite|enjoy|hate|want|avoid|always|usually)\b", re.IGNORECASE
)
