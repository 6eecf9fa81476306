"""Partial updates: an event moves, its other facts stay.

``The dentist appointment is moved to 11:00.`` changes the hour in ``I have a dentist appointment
with Dr Lund on 2024-05-14 10:00 at Orchard Clinic.`` and nothing else. Pure functions over text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from agent.extraction.validity import held
from agent.language.dates.date_literals import (
    KINDS,
    clock,
    right_weekdays,
    values_of,
    without_weekdays,
)
from agent.language.dates.dated import in_figures
from agent.memory.editing.judges.wording_features import common, folded
from store.types import Draft, Memory, Triple

_CODE = re.compile(r"\b(?=[A-Z-]*\d)[A-Z0-9-]{1,6}\b")
_TIMED = frozenset("is_at departs_at arrives_at expected_on reserved_for expires_on".split())
_ENDS = frozenset("departs_at arrives_at".split())
_ARRIVES = re.compile(r"\b(?:arriv\w+|lands?|landing|back)\b", re.IGNORECASE)
_NUMBERED = frozenset("seat gate terminal platform coach room table".split())
_MOVES = re.compile(
    r"\b(?:moved?|re-?scheduled?|postponed?|brought forward|pushed(?: back)?|shifted|delayed"
    r"|changed|now|put off|set back)\b|改到|推迟",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"^(?:(?:and|also),? )?(?:i|we)(?:['’]ve| have)?(?: also| just)?"
    r"(?: got| booked| made| reserved)? (?:an?|another|two) ",
    re.IGNORECASE,
)
_ABOUT_MOVING = frozenset(
    """mov resched reschedul postpon brought forward push back shift delay dela chang now put off
    set start begin tak plac time at appointment depart departur leav arriv arrival land flight
    train instead""".split()
)


def moved(draft: Draft, memory: Memory) -> bool:
    """Whether the draft gives another date or time to the very event the memory is about.

    Without a word of moving only another hour does: another day may well be another appointment.
    """
    told = values_of(draft.text)
    given = {kind: found[0].casefold() for kind, found in told.items() if len(found) == 1}
    if not given or any(len(found) > 1 for found in told.values()):
        return False
    known = values_of(memory.text)
    if any(len(known[kind]) != 1 for kind in given):
        return False
    if all(clock(known[kind][0]) == clock(value) for kind, value in given.items()):
        return False
    if not _MOVES.search(draft.text) and "date" in given:
        return False
    if not _same_end(draft, memory):
        return False
    inside = set(folded(memory.text))
    about = [common(folded(t.head)) for t in draft.triples if t.relation in _TIMED]
    # One word alone ('meeting') is the event only where the draft says that it moved.
    enough = 1 if _MOVES.search(draft.text) else 2
    return any(len(head) >= enough and set(head) <= inside for head in about)


def _same_end(draft: Draft, memory: Memory) -> bool:
    """Whether both times are of the same end of a journey.

    The one hour of a booking is when it leaves, unless it is told to be the arrival's.
    """
    told = {t.relation for t in draft.triples} & _ENDS
    known = {t.relation for t in memory.triples} & _ENDS
    if not told or told & known:
        return True
    return told == {"departs_at"} and not known and _ARRIVES.search(memory.text) is None


def another(draft: Draft, memory: Memory) -> bool:
    """Whether the draft tells of a further event: 'I have an appointment', on another day.

    The same head and relation would otherwise be taken for the one appointment that moved.
    """
    told, known = values_of(draft.text)["date"], values_of(memory.text)["date"]
    return bool(told and known and told != known and _INTRODUCES.search(draft.text))


def merged(draft: Draft, memory: Memory) -> Draft:
    """The draft with what the memory knows beyond it; the draft itself where it says it all."""
    swap = _swaps(draft, memory)
    if not swap:
        return draft
    told_text, known_text = in_figures(draft.text), in_figures(memory.text)
    told_words, known_words = (folded(without_weekdays(one)) for one in (told_text, known_text))
    beyond = set(told_words) - set(known_words) - _ABOUT_MOVING
    # '9:15' is put in as '09:15': neither form is a word of its own.
    told = [value for found in values_of(draft.text).values() for value in found]
    new_words = beyond - {word for new in (*swap.values(), *told) for word in folded(new)}
    # What the draft calls the event ('the dinner reservation' for a table) is no news of it.
    new_words -= {word for t in draft.triples if t.relation in _TIMED for word in folded(t.head)}
    kept = _without(without_weekdays(known_text), swap) - set(told_words)
    if new_words or not kept:
        until = draft.valid_until or _end(draft, memory)
        return draft if until == draft.valid_until else replace(draft, valid_until=until)
    text = _swapped(known_text, swap)
    triples = tuple(
        Triple(_swapped(t.head, swap), t.relation, _swapped(t.tail, swap)) for t in memory.triples
    )
    _, end = held(text, memory.subclass, triples, draft.created)
    return replace(
        draft,
        text=text,
        subclass=memory.subclass,
        triples=triples,
        valid_from=draft.valid_from or memory.valid_from,
        valid_until=draft.valid_until or end or _end(draft, memory),
        place=draft.place or memory.place,
    )


def _end(draft: Draft, memory: Memory) -> datetime | None:
    """When an event of which only the hour was told anew is over: with its day, as before."""
    only_hour = not values_of(draft.text)["date"] and bool(values_of(memory.text)["date"])
    return memory.valid_until if only_hour else None


def _swaps(draft: Draft, memory: Memory) -> dict[str, str]:
    """Old value -> new value, where each kind stands once in both."""
    told, known = values_of(draft.text), values_of(memory.text)
    swap: dict[str, str] = {}
    for kind in KINDS:
        if len(told[kind]) == 1 and len(known[kind]) == 1:
            new, old = told[kind][0], known[kind][0]
            swap[old] = clock(new) if re.fullmatch(r"\d{1,2}:\d{2}", old) else new
        elif told[kind]:
            return {}
    for told_of in draft.triples:
        given = _CODE.match(told_of.tail)
        for known_of in memory.triples:
            stood = _CODE.match(known_of.tail)
            same = told_of.relation == known_of.relation and told_of.relation in _NUMBERED
            if same and given and stood:
                swap[stood.group()] = given.group()
    return {old: new for old, new in swap.items() if old != new}


def _without(text: str, swap: Mapping[str, str]) -> set[str]:
    for old in swap:
        text = text.replace(old, " ")
    return set(folded(text))


def _swapped(text: str, swap: Mapping[str, str]) -> str:
    for old, new in swap.items():
        text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new.replace("\\", r"\\"), text)
    return right_weekdays(text)
