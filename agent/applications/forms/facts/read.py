"""Facts in memories, with their subject.

Invariant: a fact's value stands in the memory it names, but for the notation of dates, or is
split off such a value by a stated rule; nothing is inferred about another person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from agent.applications.forms.facts.attribute_patterns import (
    ATTRIBUTES,
    VALUES,
    Attribute,
    attribute_pattern,
    chinese_pattern,
    reversed_pattern,
)
from agent.applications.forms.facts.own_language import from_own_language
from agent.applications.forms.facts.verb_patterns import NEGATED, ONE_DAY, OUTDATED, STAY, VERBS
from agent.applications.forms.fields import ME
from agent.applications.forms.matching.label_words import fold, is_unspaced, matches, role_in, words
from agent.applications.forms.values.fit import dates_in, without_when
from agent.applications.forms.values.postal_addresses import country_named
from agent.extraction.validity import begins
from agent.language.dates.dated import in_figures
from agent.language.patterns import bounded
from agent.language.relation_names import LASTING
from store.types import Memory, Triple

THINGS = "thing"
"""The subject of 'the seat', 'the flight': a booking, whoever travels."""
BOOKED_FOR = "booked-for"
"""No key of a form: the role that a booking was made for."""
_OTHERS_BOOKING = bounded(
    r"\b(?:book(?:ed)?|reserv(?:ed|ation)|flight|hotel|ticket|trip)\b.*\bfor my (?P<role>[a-z]+)",
    re.IGNORECASE,
)
_SELF = frozenset({"i", "me", "user", "the user", "myself", "self", "我", "用户"})
DATES = frozenset({"bday", "cc-exp", "passport-expiry", "departure-date", "check-in", "check-out"})
"""Keys whose values are days."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One stated value."""

    key: str
    value: str
    memory: Memory
    subject: str
    confidence: float
    words: frozenset[str]
    """The memory's words, to tell two numbers of one person apart."""
    dates: tuple[str, ...] = ()
    """The days the memory speaks of, to tell the coming booking from past ones."""
    only: bool = False
    """Whether a relation of the memory gives the same value to what has one value at a time: a
    home, an employer. Pattern and relation agree, so it may take the place of an earlier value."""
    begins: datetime | None = None
    """The day from which that value holds; None where nothing says so."""


def read_facts(memories: Sequence[Memory]) -> tuple[Fact, ...]:
    """Every fact of the memories, subjects resolved across them: 'Anna' is 'my wife Anna'."""
    found = [fact for memory in memories for fact in _facts_of(memory)]
    people = [one for memory in memories for one in _people_of(memory)]
    for role, name, memory in people:
        only = any(_is_one(triple, role, name) for triple in memory.triples)
        said = frozenset(words(memory.text))
        begun = _begins(memory) if only else None
        found.append(Fact("name", name, memory, role, 0.95, said, (), only, begun))
    known = _people(people, found)
    return tuple(replace(f, subject=known[f.subject]) if f.subject in known else f for f in found)


@lru_cache(maxsize=20_000)
def _facts_of(memory: Memory) -> tuple[Fact, ...]:
    """The facts of one memory, whoever its names stand for; memories are frozen, so kept."""
    return tuple(_facts(memory))


def _facts(memory: Memory) -> Iterator[Fact]:
    text = " ".join(in_figures(memory.text).split())
    said = frozenset(words(text))
    dates = tuple(d for d, _, _ in dates_in(text))
    related = tuple(_related(memory))
    single = {(key, who, fold(tail)) for key, tail, who, relation in related if relation in LASTING}
    by_pattern = (
        *_from_attributes(text),
        *_from_verbs(text, memory.subclass),
        *_from_stay(text),
        *_from_bookings(text),
    )
    seen: set[tuple[str, str, str]] = set()
    for number, (key, value, subject, confidence) in enumerate(
        (
            *by_pattern,
            *((key, tail, who, 0.88) for key, tail, who, _ in related),
            *((key, value, ME, 0.93) for key, value in from_own_language(memory)),
        )
    ):
        for cleaned in _clean(key, value):
            if (key, cleaned, subject) in seen or _is_piece_of_date(key, cleaned, text):
                continue
            seen.add((key, cleaned, subject))
            only = number < len(by_pattern) and (key, subject, fold(cleaned)) in single
            # Where somebody lives is the home; an address of another kind has its own relation.
            named = said | {"home"} if only and key == "street-address" else said
            begun = _begins(memory) if only else None
            yield Fact(key, cleaned, memory, subject, confidence, named, dates, only, begun)


def _begins(memory: Memory) -> datetime | None:
    return memory.valid_from or begins(memory.text, memory.triples, memory.created)


def _is_piece_of_date(key: str, value: str, text: str) -> bool:
    """Whether the value stands only within dates: the 9 of '9 September' is no number."""
    if key in DATES:
        return False
    places = [n for n in range(len(text)) if text.startswith(value, n)]
    spans = [(a, b) for _, a, b in dates_in(text) if b - a > len(value)]
    inside = [n for n in places if any(a <= n and n + len(value) <= b for a, b in spans)]
    return bool(places) and inside == places


_Raw = tuple[str, str, str, float]


def _from_attributes(text: str) -> Iterator[_Raw]:
    folded = text.lower()
    chinese = is_unspaced(text)
    for attribute in ATTRIBUTES:
        patterns: list[re.Pattern[str] | None] = []
        # A cheap look for the attribute's own words, whether to run the patterns at all.
        if re.search(attribute.words, folded):
            patterns = [attribute_pattern(attribute), reversed_pattern(attribute)]
        if chinese:
            patterns.append(chinese_pattern(attribute))
        for pattern in patterns:
            for match in pattern.finditer(text) if pattern else ():
                subject = _owner(match, attribute)
                if subject is not None:
                    yield attribute.key, match["v"], subject, 0.96


def _owner(match: re.Match[str], attribute: Attribute) -> str | None:
    groups = match.groupdict()
    if groups.get("zh"):
        return role_in(groups.get("rel") or "") or (ME if not groups.get("rel") else None)
    modifiers = set(words(groups.get("mods") or ""))
    if modifiers & OUTDATED:
        return None
    if groups.get("pro"):
        return _spoken_of_before(match)
    if attribute.subject:
        return attribute.subject if groups.get("my") and not groups.get("rel") else None
    if groups.get("the"):
        return THINGS if attribute.things else None
    role = role_in(" ".join(modifiers)) if modifiers else None
    if groups.get("who"):
        return fold(groups["who"])
    if groups.get("rel"):
        return _relative(groups["rel"])
    if role == "employer":
        # 'My work phone' is mine; 'my company address' is the company's.
        return ME if modifiers & {"work", "office"} else role
    return role or ME


def _spoken_of_before(match: re.Match[str]) -> str | None:
    """'My mother is called Fang and her number is': the only person named so far."""
    return role_in(match.string[: match.start()])


def _relative(text: str) -> str:
    """'wife', 'wife Anna' and 'boss' as roles; anyone else by name."""
    return role_in(text) or fold(text).strip()


def _from_verbs(text: str, subclass: str) -> Iterator[_Raw]:
    for verb in VERBS:
        if verb.subclass and verb.subclass != subclass:
            continue
        for match in verb.pattern.finditer(text):
            groups = match.groupdict()
            subject: str | None
            if groups.get("pro"):
                subject = _spoken_of_before(match)
            elif groups.get("rel"):
                subject = _relative(groups["rel"])
            elif groups.get("who"):
                subject = fold(groups["who"])
            elif groups.get("me") or groups.get("my"):
                subject = ME
            else:
                subject = THINGS
            if subject is not None:
                yield verb.key, match["v"], subject, verb.confidence


def _from_stay(text: str) -> Iterator[_Raw]:
    if not STAY.search(text) or ONE_DAY.search(text):
        return
    dates = [d for d, _, _ in dates_in(text)]
    if len(dates) == 2:
        yield "check-in", dates[0], THINGS, 0.93
        yield "check-out", dates[1], THINGS, 0.93
    elif len(dates) == 1:
        leaving = re.search(r"check(?:ing)?[- ]out|until|退房", text, re.IGNORECASE)
        arriving = re.search(r"check(?:ing)?[- ]in|from|入住", text, re.IGNORECASE)
        if bool(leaving) != bool(arriving):
            yield ("check-out" if leaving else "check-in"), dates[0], THINGS, 0.85


def _from_bookings(text: str) -> Iterator[_Raw]:
    match = _OTHERS_BOOKING.search(text)
    role = role_in(match["role"]) if match else None
    if role is not None:
        yield BOOKED_FOR, role, THINGS, 0.9


_RELATION_KEYS = {
    "lives_in": "street-address",
    "works_at": "organization",
    "works_as": "organization-title",
}
"""Relations whose names are no words of a form."""


def _related(memory: Memory) -> Iterator[tuple[str, str, str, str]]:
    """What the relations of a memory give: (key, value, subject, relation)."""
    for triple in memory.triples:
        key = _RELATION_KEYS.get(triple.relation)
        if key is None:
            named = [m for m in matches(triple.relation) if m.coverage >= 0.99]
            if len(named) != 1:
                continue
            key = named[0].key
        head = fold(triple.head).strip()
        subject = ME if head in _SELF else role_in(triple.head) or head
        attribute = next((a for a in ATTRIBUTES if a.key == key), None)
        tail = triple.tail.strip()
        shape = VALUES[attribute.value] if attribute else VALUES["line"]
        if attribute is not None and attribute.value not in ("date", "line", "phrase"):
            fitting = re.fullmatch(shape, tail)
            if fitting is None:
                continue
        # A triple is the model's reading; only what the person's sentence says may be filled.
        if tail and fold(tail) in fold(memory.text):
            yield key, tail, subject, triple.relation


def _clean(key: str, value: str) -> Iterator[str]:
    """The value without its sentence; nothing when it does not look like its key."""
    value = value.strip(" \"'”“’,;:!?。，")
    if key in DATES:
        dates = [d for d, _, _ in dates_in(value)]
        short = re.search(r"\b(0?[1-9]|1[0-2])\s?/\s?(\d{2}|20\d{2})\b", value)
        if dates:
            yield dates[0]
        elif key == "cc-exp" and short:
            year = short.group(2)
            yield f"{year if len(year) == 4 else '20' + year}-{int(short.group(1)):02d}"
        return
    value = without_when(value)
    if not value.endswith(("Inc.", "Ltd.", "Co.", "Corp.", "Jr.", "Sr.")):
        value = value.rstrip(".")
    if not value or NEGATED.match(value) or len(value) > 200:
        return
    match key:
        case "tel":
            digits = re.sub(r"\D", "", value)
            if 6 <= len(digits) <= 15 and not re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", value):
                yield value
        case "cc-number":
            if 12 <= len(re.sub(r"\D", "", value)) <= 19:
                yield value
        case "name" | "nickname" | "given-name" | "family-name":
            if country_named(value) is None and fold(value) not in _NO_NAMES:
                yield value
        case "street-address":
            if "@" not in value and "://" not in value:
                yield _MORE.sub("", value)
        case "nationality":
            if country_named(value) is not None:
                yield value
        case (
            "allergies" | "dietary-needs" | "organization" | "organization-title" | "car" | "school"
        ):
            yield without_article(value)
        case _:
            yield value


def without_article(value: str) -> str:
    """'a nurse' is entered as nurse; 'The Hague' stays."""
    return re.sub(r"^(?:the|an?|my|own) (?=[a-z])", "", value)


# 'I live at 5 Mill Road with my sister and two cats'
_MORE = bounded(r",?\s+(?:with my|and) .*$")
_NO_NAMES = frozenset(
    "i not now currently in at on from here sure sorry happy vegetarian vegan married single"
    " left".split()
)


# --- people ---

_PERSON = r"(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-ZÀ-Þ][\w'’\-]+(?: [A-ZÀ-Þ][\w'’\-]+){0,3})"
_REL = r"(?P<rel>[a-z][a-z \-]{2,24}?)"
_CALLED = re.compile(
    rf"\b[Mm]y {_REL}(?:['’]s name)?(?: is| was| changed to|,)?(?: now)?(?: called| named)? "
    rf"{_PERSON}"
)
_IS_MY = re.compile(
    rf"(?<![\w'’-]){_PERSON} (?:is|has been|will be|became)(?: now)? my {_REL}"
    r"(?=[.,;!]|$| (?:now|since|from|as of|and|who|but|these)\b)"
)
_NEW = re.compile(rf"\b(?:have|got) a new {_REL}(?:,|:| called| named) {_PERSON}")


@lru_cache(maxsize=20_000)
def _people_of(memory: Memory) -> tuple[tuple[str, str, Memory], ...]:
    """(role, name, memory): 'My boss is Ms Okafor', 'My wife Anna likes tea'."""
    return tuple(_named_in(memory))


def _named_in(memory: Memory) -> Iterator[tuple[str, str, Memory]]:
    for match in (m for p in (_CALLED, _IS_MY, _NEW) for m in p.finditer(memory.text)):
        parts = words(match["rel"])
        role = role_in(match["rel"])
        if role and role != "employer" and parts and not set(parts) & OUTDATED and len(parts) <= 3:
            name = re.sub(r"['’]s$", "", match["name"])
            if country_named(name) is None:
                yield role, name, memory
    for triple in memory.triples:
        role = role_in(triple.relation)
        if role and fold(triple.head) in _SELF and triple.tail[:1].isupper():
            yield role, triple.tail, memory


def _is_one(triple: Triple, role: str, name: str) -> bool:
    """Whether it gives the name to a role that one person has at a time."""
    return (
        triple.relation in LASTING
        and role_in(triple.relation) == role
        and fold(triple.head) in _SELF
        and fold(triple.tail) == fold(name)
    )


def _people(people: Sequence[tuple[str, str, Memory]], facts: Sequence[Fact]) -> dict[str, str]:
    """Folded names and first names -> the subject they stand for; shared ones stand for none."""
    owners: dict[str, set[str]] = {}
    for fact in facts:
        if fact.subject == ME and fact.key == "name":
            owners.setdefault(fold(fact.value), set()).add(ME)
    for role, name, _ in people:
        owners.setdefault(fold(name), set()).add(role)
        first = fold(name).split()[0]
        if first not in ("mr", "mrs", "ms", "dr", "prof"):
            owners.setdefault(first, set()).add(role)
    return {name: next(iter(who)) for name, who in owners.items() if len(who) == 1}
