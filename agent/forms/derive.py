"""From facts to the candidates for one field: the right person's, parts split off wholes.

Best first: more certain, closer to the field's own words, newer. Bookings prefer what lies ahead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache

from agent.forms.facts import BOOKED_FOR, THINGS, Fact
from agent.forms.fields import ME, Asked
from agent.forms.keys import vocabulary
from agent.forms.places import country_named, split_address, split_name
from agent.forms.values import parts_of_date
from agent.forms.words import words

_ADDRESS_PARTS = frozenset(
    {
        "address-line1",
        "address-line2",
        "address-level1",
        "address-level2",
        "address-level3",
        "postal-code",
        "country",
    }
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
    "bday-day": ("bday",),
    "bday-month": ("bday",),
    "bday-year": ("bday",),
    "cc-exp-month": ("cc-exp",),
    "cc-exp-year": ("cc-exp",),
    "age": ("bday",),
}
_TRAVEL_WORDS = frozenset({"guest", "passenger", "traveller", "traveler", "occupant"})
_AT_WORK = frozenset({"work", "office", "business", "company"})
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


def candidates(ask: Asked, facts: Sequence[Fact], now: datetime) -> list[Candidate]:
    """All that memory offers for the field, best first."""
    assert ask.key is not None
    found = list(_for_key(ask.key, ask.subject, ask, facts, now))
    if ask.key == "username":
        # A log-in called 'e-mail' takes the e-mail; one that takes either, first the user name.
        others = [c for k in ask.instead for c in _for_key(k, ask.subject, ask, facts, now)]
        found = [*others, *found] if ask.instead[:1] == ("email",) else [*found, *others]
    elif not found:
        found = [c for k in ask.instead[:2] for c in _for_key(k, ask.subject, ask, facts, now)]
        found = [replace(c, confidence=c.confidence * 0.7) for c in found]
    if ask.key in ("name", "given-name", "family-name") and _TRAVEL_WORDS & ask.qualifiers:
        found = [*found, *_travelling_instead(ask, facts, now)]
    return found


def _for_key(
    key: str, subject: str, ask: Asked, facts: Sequence[Fact], now: datetime
) -> Iterator[Candidate]:
    allowed = {subject, *vocabulary().wider.get(subject, ())}
    if subject == ME:
        allowed.add(THINGS)
    sources = {key, *_SOURCES.get(key, ()), *(("street-address",) if key in _ADDRESS_PARTS else ())}
    own = [f for f in facts if f.key in sources and f.subject in allowed]
    ranked = sorted(own, key=lambda f: _rank(f, ask, now), reverse=True)
    for fact in ranked:
        for value, share in _readings(key, fact, now):
            if ask.qualifiers & _AT_WORK and not fact.words & _AT_WORK and key in ("tel", "email"):
                share *= 0.5  # a private number where the one at work is asked for
            yield Candidate(key, value, fact.confidence * share, (fact.memory.id,))


def _rank(fact: Fact, ask: Asked, now: datetime) -> tuple[float, ...]:
    asked = ask.qualifiers - _key_words(fact.key)
    overlap = len(asked & fact.words) - len((fact.words & _AT_WORK) - asked)
    return (overlap, _ahead(fact, now), fact.confidence, fact.memory.created.timestamp())


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


def _readings(key: str, fact: Fact, now: datetime) -> Iterator[tuple[str, float]]:
    """The key's value as the fact states it, or as it follows from it: (value, share of trust)."""
    if fact.key == key:
        if key != "street-address" or "street-address" in split_address(fact.value):
            yield fact.value, 1.0
        return
    if key in ("given-name", "family-name", "additional-name", "honorific-prefix"):
        yield from _part_of_name(key, fact)
    elif key == "cc-name" and fact.key == "name":
        yield fact.value, 0.8
    elif key in _ADDRESS_PARTS and fact.key == "street-address":
        part = split_address(fact.value).get(key)
        if part:
            yield part, 0.97
    elif key == "tel-national" and fact.key == "tel":
        yield _without_calling_code(fact.value), 0.9
    elif key == "tel-country-code":
        if fact.key == "tel" and fact.value.startswith("+"):
            found = re.match(r"\+\d{1,3}(?=[\s(-])", fact.value)
            if found:
                yield found.group(), 0.9
        elif fact.key in ("street-address", "country"):
            named = split_address(fact.value).get("country", fact.value)
            country = country_named(named)
            if country:
                yield named, 0.8
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


def _without_calling_code(number: str) -> str:
    return re.sub(r"^\+\d{1,3}[\s-]+", "", number)


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
