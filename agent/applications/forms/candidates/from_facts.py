"""Candidate values for one field, derived from facts.

Best first: more certain, closer to the field's own words, newer. Bookings prefer what lies ahead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache

from agent.applications.forms.facts.outlived import outlived
from agent.applications.forms.facts.read import BOOKED_FOR, THINGS, Fact
from agent.applications.forms.fields import ME, Asked
from agent.applications.forms.matching.label_words import words
from agent.applications.forms.matching.vocabulary import vocabulary
from agent.applications.forms.values.fit import parts_of_date
from agent.applications.forms.values.phones import parts_of_phone, without_calling_code
from agent.applications.forms.values.postal_addresses import (
    Country,
    country_named,
    split_address,
    split_name,
    split_street,
)
from store.types import Trust

_ADDRESS_PARTS = frozenset(
    {
        "address-line1",
        "address-line2",
        "address-level1",
        "address-level2",
        "address-level3",
        "postal-code",
        "country",
        "house-number",
        "street-address",
    }
)
_TOWN_PARTS = frozenset({"address-level2", "postal-code"})
_PHONE_PARTS = frozenset(
    {"tel-country-code", "tel-area-code", "tel-local-prefix", "tel-local-suffix"}
)
# Facts of other keys that a key's value can be split off or follows from; see `_readings`.
_SOURCES: dict[str, tuple[str, ...]] = {
    "given-name": ("name",),
    "family-name": ("name",),
    "additional-name": ("name",),
    "honorific-prefix": ("name",),
    "cc-name": ("name",),
    "tel-national": ("tel",),
    "tel-country-code": ("tel", "street-address", "country"),
    "tel-area-code": ("tel",),
    "tel-local-prefix": ("tel",),
    "tel-local-suffix": ("tel",),
    "bday-day": ("bday",),
    "bday-month": ("bday",),
    "bday-year": ("bday",),
    "cc-exp-month": ("cc-exp",),
    "cc-exp-year": ("cc-exp",),
    "age": ("bday",),
}
_TRAVEL_WORDS = frozenset({"guest", "passenger", "traveller", "traveler", "occupant"})
_AT_WORK = frozenset({"work", "office", "business", "company"})
_OF_WORK = frozenset({"organization", "organization-title"})
"""Keys that words of work tell no two values of apart."""
_KINDS = frozenset({"home", "private", "mobile", "cell", "landline", "billing", "shipping"})
_IDLE_WORDS = frozenset(
    {"number", "the", "your", "my", "is", "a", "of", "no", "for", "date", "name"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that may go into the field, before it is put into the field's form."""

    key: str
    value: str
    confidence: float
    memories: tuple[str, ...]
    over: bool = False
    """Whether a later value has taken its place: it may be offered, not filled in."""


_MADE_UP = ("nickname", "username", "given-name")
"""What people often choose where a site asks for a name to show."""


def candidates(ask: Asked, facts: Sequence[Fact], now: datetime) -> list[Candidate]:
    """All that memory offers for the field, best first, those that are over last."""
    assert ask.key is not None
    found = list(_for_key(ask.key, ask.subject, ask, facts, now))
    if ask.key in ("name", "cc-name") and not found:
        found = list(_joined_name(ask, facts, now))
    if ask.key == "username":
        # A log-in called 'e-mail' takes the e-mail; one that takes either, first the user name.
        others = [c for k in ask.instead for c in _for_key(k, ask.subject, ask, facts, now)]
        found = [*others, *found] if ask.instead[:1] == ("email",) else [*found, *others]
    elif not found:
        found = [c for k in ask.instead[:2] for c in _for_key(k, ask.subject, ask, facts, now)]
        found = [replace(c, confidence=c.confidence * 0.7) for c in found]
    if ask.key in ("name", "given-name", "family-name") and _TRAVEL_WORDS & ask.qualifiers:
        found = [*found, *_travelling_instead(ask, facts, now)]
    return sorted(found, key=lambda one: one.over)


def only_offered(ask: Asked, facts: Sequence[Fact], now: datetime) -> list[Candidate]:
    """Values that fit the field but that the person has to choose: none of them is filled in.

    A delivery goes to a home, not to the firm that somebody works for; and what a site shows of a
    person is made up for that site.
    """
    if ask.key == "organization" and ask.delivery:
        return list(_for_key(ask.key, ask.subject, ask, facts, now))
    if ask.key == "display-name":
        return [c for key in _MADE_UP for c in _for_key(key, ask.subject, ask, facts, now)]
    return []


def sources_of(key: str) -> tuple[str, ...]:
    """The keys of facts that a key's value is, or is a part of."""
    return (key, *_SOURCES.get(key, ()), *(("street-address",) if key in _ADDRESS_PARTS else ()))


def subjects(asked: str) -> set[str]:
    """Whose facts may answer for somebody: a wife's for a spouse, a booking's for oneself."""
    own = {THINGS} if asked == ME else set()
    return {asked, *vocabulary().wider.get(asked, ()), *own}


def home_country(subject: str, facts: Sequence[Fact]) -> tuple[Country, str] | None:
    """The country somebody lives in, as an address or they themself say, and the memory."""
    for fact in facts:
        if fact.subject == subject and fact.key in ("country", "street-address"):
            named = split_address(fact.value).get("country", "")
            country = country_named(fact.value if fact.key == "country" else named)
            if country is not None:
                return country, fact.memory.id
    return None


def _for_key(
    key: str, subject: str, ask: Asked, facts: Sequence[Fact], now: datetime
) -> Iterator[Candidate]:
    allowed = subjects(subject)
    sources = sources_of(key)
    own = [f for f in facts if f.key in sources and f.subject in allowed]
    over = outlived(own, now, lambda fact: _aptness(fact, ask))
    ranked = sorted(own, key=lambda f: (f not in over, *_rank(f, ask, now)), reverse=True)
    if key in _PHONE_PARTS:
        holding = [fact for fact in ranked if fact not in over]
        yield from _phone_parts(key, holding, home_country(subject, facts))
        return
    for fact in ranked:
        for value, share in _readings(key, fact, ask, now):
            if ask.qualifiers & _AT_WORK and not fact.words & _AT_WORK and key in ("tel", "email"):
                share *= 0.5  # a private number where the one at work is asked for
            confidence = fact.confidence * share
            yield Candidate(key, value, confidence, (fact.memory.id,), fact in over)


def _rank(fact: Fact, ask: Asked, now: datetime) -> tuple[float, ...]:
    apt, overlap = _aptness(fact, ask)
    trust = (fact.memory.trust or Trust.TOLD).rank
    age = fact.memory.created.timestamp()
    return (apt, trust, overlap, _ahead(fact, now), fact.confidence, age)


def _aptness(fact: Fact, ask: Asked) -> tuple[float, float]:
    """How well the words of the memory fit the label: whether both are of work, and how many."""
    work = frozenset[str]() if fact.key in _OF_WORK else _AT_WORK
    named = _key_words(fact.key) | _key_words(ask.key or fact.key) | (_AT_WORK - work)
    asked = ask.qualifiers - named
    overlap = len(asked & fact.words) - len((fact.words & work) - asked)
    # A number at work is no contradiction of the private one that the person told.
    return not asked & work or bool(fact.words & work), overlap


@cache
def _key_words(key: str) -> frozenset[str]:
    """Words that name the key itself, and so tell no two values of it apart."""
    named = {w for phrase in vocabulary().keys[key].phrases for w in words(phrase)}
    return frozenset((named | _IDLE_WORDS) - _AT_WORK - _KINDS)


def _ahead(fact: Fact, now: datetime) -> float:
    """For bookings: 1 for the next to come, less for later ones, negative for past ones."""
    if fact.subject != THINGS:
        return 0.0
    days = []
    for text in fact.dates:
        try:
            days.append((date.fromisoformat(text) - now.date()).days)
        except ValueError:
            continue
    if not days:
        return 0.0
    coming = [d for d in days if d >= 0]
    return 1.0 / (1 + min(coming)) if coming else -1.0


def _readings(key: str, fact: Fact, ask: Asked, now: datetime) -> Iterator[tuple[str, float]]:
    """The key's value as the fact states it, or as it follows from it: (value, share of trust)."""
    if key in _ADDRESS_PARTS and fact.key == "street-address":
        part = _part_of_address(key, fact.value, ask.beside)
        if part:
            yield part, 1.0 if key == "street-address" else 0.97
    elif fact.key == key:
        yield fact.value, 1.0
    elif key in ("given-name", "family-name", "additional-name", "honorific-prefix"):
        yield from _part_of_name(key, fact)
    elif key == "cc-name" and fact.key == "name":
        yield fact.value, 0.8
    elif key == "tel-national" and fact.key == "tel":
        local = parts_of_phone(fact.value, "").get("tel-local")
        apart = "tel-area-code" in ask.beside and local
        yield local if apart and local else without_calling_code(fact.value), 0.9
    elif key.startswith(("bday-", "cc-exp-")) and fact.key == key.rpartition("-")[0]:
        part = parts_of_date(fact.value).get(key.rpartition("-")[2])
        if part:
            yield part, 1.0
    elif key == "age" and fact.key == "bday" and re.fullmatch(r"\d{4}-\d\d-\d\d", fact.value):
        born = date.fromisoformat(fact.value)
        today = now.date()
        yield (
            str(today.year - born.year - ((today.month, today.day) < (born.month, born.day))),
            0.95,
        )


def _part_of_name(key: str, fact: Fact) -> Iterator[tuple[str, float]]:
    if fact.key != "name":
        return
    name = split_name(fact.value)
    if name is None:
        if key == "given-name":
            yield fact.value, 0.7
        return
    part = {
        "given-name": name.given,
        "family-name": name.family,
        "additional-name": name.middle,
        "honorific-prefix": name.title,
    }[key]
    if part:
        yield part, 0.97 if name.sure else 0.8


def _joined_name(ask: Asked, facts: Sequence[Fact], now: datetime) -> Iterator[Candidate]:
    """The whole name of somebody whose first and last name were told apart."""
    given = next(_for_key("given-name", ask.subject, ask, facts, now), None)
    family = next(_for_key("family-name", ask.subject, ask, facts, now), None)
    if given is not None and family is not None and not (given.over or family.over):
        whole = f"{given.value} {family.value}"
        memories = tuple(dict.fromkeys((*given.memories, *family.memories)))
        trust = min(given.confidence, family.confidence)
        yield Candidate(ask.key or "name", whole, 0.95 * trust, memories)


def _part_of_address(key: str, address: str, beside: frozenset[str]) -> str | None:
    """What of an address goes into the field, given what other fields take of it."""
    parts = split_address(address)
    line, unit = parts.get("address-line1"), parts.get("address-line2")
    if key == "street-address":
        if "street-address" not in parts and line is None:
            return None
        if not beside & _TOWN_PARTS or line is None:
            land = parts.get("country") if "country" in beside else None
            return address.removesuffix(land).rstrip(" ,") if land and land != address else address
    if key in ("street-address", "address-line1") and line is not None:
        street = split_street(line) if "house-number" in beside else None
        line = street[0] if street else line
        return f"{line}, {unit}" if unit and "address-line2" not in beside else line
    if key == "house-number":
        street = split_street(line) if line else None
        return street[1] if street else None
    return parts.get(key)


def _phone_parts(
    key: str, ranked: Sequence[Fact], home: tuple[Country, str] | None
) -> Iterator[Candidate]:
    """The parts of a number; its country is told by its calling code, or by where one lives."""
    for fact in ranked:
        if fact.key != "tel":
            continue
        known = parts_of_phone(fact.value, "")
        parts = known or parts_of_phone(fact.value, home[0].code if home else "")
        evidence = (fact.memory.id,) if known or home is None else (fact.memory.id, home[1])
        value = parts.get(key)
        if key == "tel-country-code" and home and value == f"+{home[0].calling}":
            # Several countries share a calling code; a list of countries needs to know which.
            value, evidence = home[0].names[0], (fact.memory.id, home[1])
        if value:
            yield Candidate(key, value, fact.confidence * 0.95, evidence)
    if key == "tel-country-code" and home and not any(f.key == "tel" for f in ranked):
        yield Candidate(key, home[0].names[0], 0.75, (home[1],))


def _travelling_instead(ask: Asked, facts: Sequence[Fact], now: datetime) -> Iterator[Candidate]:
    """A guest or passenger may be the one that the person booked for."""
    seen: set[str] = set()
    assert ask.key is not None
    for fact in facts:
        subject = fact.value
        if fact.key != BOOKED_FOR or subject in seen:
            continue
        seen.add(subject)
        for other in _for_key(ask.key, subject, ask, facts, now):
            yield replace(other, memories=(*other.memories, fact.memory.id))
