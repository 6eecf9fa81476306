"""Addresses in memories: 'Orchard Clinic is at 12 Mill Road, Leeds.'

Pure. A place is what stands in the memory, without the time behind it; a sentence of where somebody
is at the moment ('Tom is in a meeting') names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.extraction.triples.patterns import thing
from agent.language.dates import find_times
from agent.language.dates.time_phrases import without_end, without_times
from agent.memory.editing.compare import negated
from store.types import Memory

_HOUSE = (
    r"(?:(?:home|work|office|new|postal|street) )?(?:address|flat|house|home|place|apartment|room"
    r"|practice|office|surgery|shop|studio|clinic|workshop|salon|garage|headquarters|school)"
)
_AT = r"(?:now |still |currently )?(?:(?:located|found|situated|based) )?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:[Tt]he|[Mm]y) (?:\w+ )?address (?:of|for) (?P<who>.+?) is (?P<where>.+)$",
        rf"^(?P<who>.+?)['’]s? {_HOUSE} is {_AT}(?:at |in |on )?(?P<where>.+)$",
        r"^[Yy]ou (?:can )?find (?P<who>.+?) (?:at|in|on) (?P<where>.+)$",
        r"^(?P<who>.+?) can be found (?:at|in|on) (?P<where>.+)$",
        r"^(?P<where>.+?) is where (?P<who>.+?) (?:lives?|works?|is|are)$",
        r"^(?P<who>.+?) (?:has moved|have moved|moved|relocated) (?:house )?to (?P<where>.+)$",
        rf"^(?P<who>.+?) (?:is|are|lives?|resides?|stays?) {_AT}(?:at|in|on) (?P<where>.+)$",
    )
)
_OWN_HOUSE = re.compile(rf"^[Mm]y {_HOUSE} is {_AT}(?:at |in |on )?(?P<where>.+)$")
_OFFICE = re.compile(r"^[Mm]y (?:work|office|shop|studio|practice|school)\b")
_MAY_SAY = re.compile(
    rf"\b(?:address|where|find|found|moved|relocated|{_HOUSE} is"
    r"|(?:is|are|lives?|resides?|stays?|located|situated|based) (?:\w+ ){0,2}(?:at|in|on))\b",
    re.IGNORECASE,
)
"""Words of which every sentence of the patterns has one; of many memories most have none."""
_SAID_BY_RELATIONS = frozenset({"lives_in", "address", "located_in", "located_at", "locate_at"})
_NAMED = re.compile(r"\d|[A-ZÀ-Þ]|[\u3400-\u9fff]")
"""A place has a number or a name; 'in a meeting' has neither."""
_EVENT_AT = re.compile(
    r"\b(?:at|in) (?P<where>(?:the )?(?:\d|[A-ZÀ-Þ])[^,.;]*(?:, ?(?:\d|[A-ZÀ-Þ])[^,.;]*)*)"
)
_EVENT_WITH = re.compile(
    r"\bwith (?P<where>(?:the )?[A-ZÀ-Þ][\w’'.-]*(?: (?:& )?[A-ZÀ-Þ][\w’'-]*)*)"
)
_BEHIND = re.compile(r" (?:with|for|and|is|are|was|were|will|starts?|begins?|takes?)\b.*$")
"""What follows the place in a sentence about an event: the company, or the verb."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory says that its subject is."""

    subject: str
    """As the house names it (``triples.patterns.thing``): 'me', 'my sister', 'Orchard Clinic'."""
    where: str
    memory: Memory


def places_in(memory: Memory) -> Iterator[Place]:
    """The places that a memory states, by its relations and by its words."""
    if negated(memory.text):
        return
    said: set[str] = set()
    for triple in memory.triples:
        where = _cleaned(triple.tail)
        if triple.relation in _SAID_BY_RELATIONS and where:
            said.add(thing(triple.head))
            yield Place(thing(triple.head), where, memory)
    if _MAY_SAY.search(memory.text) is None:
        return
    sentence = without_times(_undated(memory)).rstrip(".")
    if (own := _OWN_HOUSE.match(sentence)) is not None:
        subject = "office" if _OFFICE.match(sentence) else "me"
        if subject not in said and (where := _cleaned(own["where"])):
            yield Place(subject, where, memory)
        return
    found = next((f for pattern in _PATTERNS if (f := pattern.match(sentence))), None)
    if found is None:
        return
    subject, where = thing(found["who"]), _cleaned(found["where"])
    if where and subject and subject not in said:
        yield Place(subject, where, memory)


def event_place(memory: Memory) -> str | None:
    """Where an event takes place: 'at Orchard Clinic', or the place that a calendar gives it."""
    # Not memory.place: there the person was when they said it.
    for triple in memory.triples:
        if triple.relation == "address":
            return triple.tail
    found = _EVENT_AT.search(_undated(memory))
    return None if found is None else _BEHIND.sub("", found["where"]).strip(" .")


def event_company(memory: Memory) -> str | None:
    """With whom an event is: 'with Marlow & Sons', whose address may be where it takes place."""
    found = _EVENT_WITH.search(_undated(memory))
    return None if found is None else found["where"].strip(" .")


def _undated(memory: Memory) -> str:
    """The sentence without its times, and without the preposition that each hung on."""
    text, end = "", 0
    for span in find_times(memory.text, memory.created):
        # '5 May Street' is read as a day by none; a number of a street is no time of day.
        if span.kind == "time" and not re.search(r":|m\b|noon", span.text):
            continue
        text += re.sub(
            r"\s(?:on|at|by|from|in|for|until)\s*$", " ", memory.text[end : span.start_char]
        )
        end = span.end_char
    return " ".join((text + memory.text[end:]).replace(" ,", ",").split()).replace(" .", ".")


def _cleaned(where: str) -> str:
    """A place without its preposition and the time behind it; '' for what names none."""
    bare = re.sub(r"^(?:at|in|on|near) ", "", where.strip(" .,;"))
    bare = without_end(bare).strip(" .,;")
    return bare if _NAMED.search(bare) and len(bare) <= 200 else ""
