"""Field matching: a vocabulary key or a free question per field.

The evidence votes: the page's own ``autocomplete`` token outweighs everything, then labels,
placeholders, names and ids, and the text around the field; the fields beside it settle log-ins
and split dates. The form reader has learned what labels mean: it names what no phrase does, leaves
empty what asks for nothing remembered, and overrules a phrase that means another thing.
Invariant: the same fields give the same keys, with or without memories.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.applications.forms.fields import EMPTY, ME, Asked, FormField, worded
from agent.applications.forms.matching.cross_field import settle_together
from agent.applications.forms.matching.label_words import (
    Match,
    is_unspaced,
    leftovers,
    matches,
    nearest_words,
    role_in,
    whole_role,
    words,
)
from agent.applications.forms.matching.neighbours import settle_by_neighbours
from agent.applications.forms.matching.vocabulary import Policy, vocabulary
from agent.language.patterns import bounded
from agent.models.readers.form_reader import FormReader, form_reader
from agent.ports import Embedder

_LEAST_EVIDENCE = 0.9
_NAMES = 0.6
"""Probability from which the reader names what no phrase does."""
_OVERRULES = 0.9
"""Probability from which it may overrule a phrase ..."""
_DISAGREES = 0.02
"""... if what the phrase names has no more than this."""
_PART_PREFIXES = ("bday-", "cc-exp-", "tel-", "honorific-", "address-l")
_LEAST_COVERAGE = 0.4
"""A label whose words are mostly about something else does not ask for the key it mentions."""
_PLAIN_ANYWHERE = frozenset({"email", "current-password", "new-password", "search", "captcha"})
# Possessives that mean the person who fills the form, or belong to the wording of a key.
_OWN_POSSESSIVES = frozenset(
    "your driver drivers cardholder holder bachelor master today what it let here that applicant"
    " patient customer client member passenger guest traveller traveler participant buyer user"
    " card account".split()
)
_PARTS: dict[str, tuple[str, ...]] = {
    "name": ("given-name", "family-name", "additional-name", "cc-name", "username"),
    "street-address": ("address-line1", "address-line2", "address-level2", "postal-code"),
    "address-line1": ("address-line2",),
    "tel": ("tel-country-code", "tel-area-code", "tel-extension"),
    "country": ("tel-country-code", "address-level1"),
}
_SECRET_WORDS = frozenset(
    {"one-time-code", "captcha", "cc-csc", "current-password", "new-password"}
)
_OR_WORDS = frozenset({"or", "oder", "ou", "o", "или", "eller"})


def match_fields(
    fields: Sequence[FormField], embedder: Embedder | None = None
) -> tuple[Asked, ...]:
    """What each field asks for, in the order of the fields."""
    labels_follow = _forms_with_labels_after(fields)
    asked = [_asked(field, after=field.form in labels_follow) for field in fields]
    settle_by_neighbours(fields, asked)
    places = [i for i, ask in enumerate(asked) if _is_worded(ask)]
    reader = form_reader(embedder) if places else None
    if reader is not None:
        _settle_by_meaning(fields, asked, places, reader)
    settle_together(fields, asked, lambda label: _first_key((label,)))
    return tuple(asked)


def _asked(field: FormField, *, after: bool) -> Asked:
    question = _question(field, after=after)
    label = field.label or field.hint or field.placeholder
    base = Asked(
        key=None,
        question=question,
        subject=role_in(question) or _owner_in(question) or _person_of_group(field) or ME,
        qualifiers=frozenset(words(f"{question} {field.name}")),
    )
    if field.hidden or field.type == "hidden":
        return replace(base, key="page-state", via="hidden", confidence=1.0)
    token = _standard_token(field.autocomplete)
    if field.type == "password":
        return _password(field, base, token)
    if field.type in ("checkbox", "boolean") or (field.type == "radio" and not field.options):
        return base  # a yes or no; never a value of the vocabulary
    if token is not None and not (token == "username" and field.type == "email"):
        return replace(base, key=token, via="autocomplete", confidence=1.0)
    votes: defaultdict[str, float] = defaultdict(float)
    alternatives: dict[str, tuple[str, ...]] = {}
    for text, weight, identifier in _evidence(field, after=after):
        match = _best(text, identifier=identifier)
        if match is None or (identifier and label and _is_impersonal(match.key)):
            continue  # 'q3' below 'Occupation' is the third question, no search
        votes[match.key] += weight * (0.45 + 0.55 * match.coverage) * (1.0 if match.exact else 0.7)
        alternatives.setdefault(match.key, match.alternatives)
    _vote_by_type(field, votes, labelled=bool(label))
    if not votes:
        # 'Landlord' or 'Your dentist' asks who that is; 'Reference' mostly asks for a number.
        person = whole_role(label or question) not in (None, "employer", "referee")
        return replace(base, key="name", via="words", confidence=0.8) if person else base
    key, weight = max(votes.items(), key=lambda item: item[1])
    if weight < _LEAST_EVIDENCE:
        return base
    parts = {part: votes[part] for part in _PARTS.get(key, ()) if votes[part] * 2 >= weight}
    if parts:
        # 'Your name' above, 'First name' inside: the narrower wording says what goes in.
        key = max(parts, key=lambda part: parts[part])
    subject = base.subject
    if subject == "employer" and _names_only(label or question, key):
        subject = ME  # 'Company name' asks for the organization itself
    if subject == "employer" and key in ("tel", "email") and {"work", "office"} & base.qualifiers:
        subject = ME  # 'Work phone' is the person's own, 'Employer's phone' is not
    share = weight / sum(votes.values())
    return replace(
        base,
        key=key,
        via="words",
        subject=subject,
        confidence=round(min(0.97, 0.55 + 0.15 * min(weight, 2.0) + 0.12 * share), 3),
        instead=alternatives.get(key, ()),
    )


# Whom a group's heading or an identifier's prefix may name; 'child' and 'parent' are page terms.
_GROUP_ROLES = frozenset(
    {"spouse", "mother", "father", "emergency contact", "guardian", "boss", "girlfriend", "fiance"}
)


_OWNER = bounded(r"(\w[\w ]*?)['’]s\b")


def _owner_in(question: str) -> str | None:
    """'Your bank's phone number' asks for nothing of the person's own."""
    match = _OWNER.search(question)
    owner = [w for w in words(match[1]) if w not in _OWN_POSSESSIVES] if match else []
    return owner[-1] if owner else None


def _person_of_group(field: FormField) -> str | None:
    """'Emergency contact' above the group, or 'emergencyContact.name', says whose name it is."""
    for text in (field.section, field.name):
        role = role_in(text)
        if role in _GROUP_ROLES:
            return role
    return None


def _names_only(text: str, key: str) -> bool:
    """Whether the words that name a person or firm belong to the key's own phrase."""
    match = next((m for m in matches(text) if m.key == key), None)
    if match is None:
        return False
    said = words(text)
    return role_in(" ".join((*said[: match.start], *said[match.end :]))) is None


def _question(field: FormField, *, after: bool) -> str:
    near = field.text_after[:1] if after else nearest_words(_before(field))
    # checkout[address][city] and applicant.vegan: the last part is the field's own name.
    own_name = re.split(r"[.\[\]]+", field.name.strip(".[]"))[-1]
    texts = (field.label, field.hint, field.placeholder, *near, " ".join(words(own_name)))
    return next((" ".join(t.split()) for t in texts if words(t)), "")


def _before(field: FormField) -> tuple[str, ...]:
    """The text before the field; what stands before its label is about another one."""
    before = field.text_before
    return before[before.index(field.label) :] if field.label in before else before


def _evidence(field: FormField, *, after: bool) -> Iterable[tuple[str, float, bool]]:
    """(text, weight, whether it is an identifier), only where there is text."""
    own = any(words(t) for t in (field.label, field.hint, field.placeholder))
    near = field.text_after[:1] if after else nearest_words(_before(field))
    texts: list[tuple[str, float, bool]] = [
        (field.label, 3.0, False),
        (field.hint, 2.4, False),
        (field.placeholder, 2.2, False),
        (field.name if field.name != field.label else "", 2.0, True),
        (field.id if field.id != field.name else "", 1.6, True),
        *((text, 1.2 if own else 2.0, False) for text in near),
    ]
    if field.autocomplete and _standard_token(field.autocomplete) is None:
        texts.append((field.autocomplete, 1.4, True))
    if "@" in field.placeholder and "." in field.placeholder.rpartition("@")[2]:
        texts.append(("email", 2.0, False))
    return [(text, weight, identifier) for text, weight, identifier in texts if words(text)]


def _best(text: str, *, identifier: bool) -> Match | None:
    """The key that a text is about."""
    keys = vocabulary().keys
    found = [
        m
        for m in (_with_role(text, match) for match in matches(text))
        if (identifier or m.coverage >= _LEAST_COVERAGE or m.key in _PLAIN_ANYWHERE)
        and not (keys[m.key].strict and _changed_by_context(text, m, identifier=identifier))
    ]
    if not found:
        return None
    if identifier:
        secret = next((m for m in found if m.key in _SECRET_WORDS), None)
        if secret is not None:
            return replace(secret, coverage=2.0)  # 'email-verification-otp' takes no e-mail
        # shipping_address[first_name]: containers come first, the thing itself last.
        last = found[-1]
        return replace(last, coverage=max(last.coverage, 0.6))
    if _offers(text) and not is_unspaced(text):
        best = found[0]  # 'Email or phone number' asks for the first named
    else:
        # 'Company phone' asks for the last named, unless an earlier phrase is the longer one.
        best = max(found, key=lambda m: (m.end - m.start, m.coverage, m.start))
    others = tuple(dict.fromkeys(m.key for m in found if m.key != best.key))
    return replace(best, alternatives=others)


def _offers(text: str) -> bool:
    """Whether the text names things to choose from: 'Email or phone', 'ZIP/Postal code'."""
    return bool(set(words(text)) & _OR_WORDS) or "/" in text or "," in text


def _with_role(text: str, match: Match) -> Match:
    """'Spouse's name' is all about a name: who it belongs to is no competing content."""
    rest = leftovers(text, match)
    return replace(match, coverage=max(match.coverage, 0.8)) if role_in(" ".join(rest)) else match


def _changed_by_context(text: str, match: Match, *, identifier: bool) -> bool:
    if identifier and match.key not in ("name", "street-address"):
        return False  # identifiers carry prefixes of their page
    rest = leftovers(text, match)
    if not rest or is_unspaced(text):
        return False
    if role_in(" ".join(rest)):
        return False  # 'Spouse name' is a name, of somebody else
    if not identifier and not _offers(text):
        return True
    known = {w for m in matches(text) if m != match for w in words(text)[m.start : m.end]}
    return not set(rest) <= known | _OR_WORDS


def _is_impersonal(key: str) -> bool:
    return vocabulary().keys[key].policy is Policy.NOT_PERSONAL


def _vote_by_type(field: FormField, votes: defaultdict[str, float], *, labelled: bool) -> None:
    codes = sum("+" in o.text and any(c.isdigit() for c in o.text) for o in field.options)
    if codes > 3 and codes * 2 > len(field.options):
        votes["tel-country-code"] += 4.0
    if field.type == "email":
        votes["email"] += 2.5
    elif field.type == "tel" and not votes:
        votes["tel"] += 1.2
    elif field.type == "search":
        votes["search"] += 4.0
    elif field.type == "textarea" and not votes and not labelled:
        votes["message"] += 1.0


def _password(field: FormField, base: Asked, token: str | None) -> Asked:
    """Whatever a password box is called, its value is secret."""
    closed = {k.id for k in vocabulary().keys.values() if k.policy is Policy.NEVER}
    found = token if token in closed else None
    if found is None:
        texts = (field.label, field.hint, field.placeholder, field.name, field.id)
        keys = [m.key for text in texts for m in matches(text) if m.key in closed]
        found = next((k for k in keys if k != "current-password"), "current-password")
    return replace(base, key=found, via="type", confidence=1.0)


def _standard_token(autocomplete: str) -> str | None:
    """The key named by an ``autocomplete`` attribute: its last known token, sections aside."""
    table = vocabulary()
    for token in reversed(autocomplete.lower().split()):
        if token in ("webauthn", "off", "on"):
            continue
        token = table.aliases.get(token, token)
        key = table.keys.get(token)
        return token if key is not None and key.standard else None
    return None


def _forms_with_labels_after(fields: Sequence[FormField]) -> frozenset[int]:
    """The forms whose labels float: in the document they follow their field.

    Decided by the fields whose own attributes say what they are: does the text before or the
    text after agree with them?
    """
    balance: Counter[int] = Counter()
    decided: set[int] = set()
    ends_before: dict[int, bool] = {}
    """Whether the last field has a label before it and none after it."""
    for field in fields:
        if field.label or field.hint or field.placeholder:
            continue
        before = _first_key(nearest_words(field.text_before))
        after = _first_key(field.text_after[:1])
        own = _standard_token(field.autocomplete) or _first_key((field.name,), identifier=True)
        if own is not None:
            balance[field.form] += (own == after) - (own == before)
        elif field.form not in decided and before is None and after is not None:
            balance[field.form] += 1
        decided.add(field.form)
        ends_before[field.form] = before is not None and after is None
    return frozenset(f for f, votes in balance.items() if votes > 0 and not ends_before[f])


def _first_key(texts: tuple[str, ...], *, identifier: bool = False) -> str | None:
    match = _best(texts[0], identifier=identifier) if texts else None
    return match.key if match else None


def _settle_by_meaning(
    fields: Sequence[FormField], asked: list[Asked], places: Sequence[int], reader: FormReader
) -> None:
    """What the reader makes of labels that no phrase names, or whose phrase means another thing.

    It never opens what is closed, and names no part of a whole: 'When were you born?' is no year.
    """
    keys = vocabulary().keys
    kinds = reader.kinds_of([worded(fields[i], asked[i]) for i in places])
    for i, chances in zip(places, kinds, strict=True):
        ask = asked[i]
        best = int(chances.argmax())
        agreed = sum(c for c, key in zip(chances, reader.keys, strict=True) if key == ask.key)
        least = _NAMES if ask.key is None else _OVERRULES
        if chances[best] < least or (ask.key is not None and agreed > _DISAGREES):
            continue
        if not reader.kinds[best]:
            if chances[best] >= _OVERRULES:
                asked[i] = replace(ask, key=None, via=EMPTY)
        elif key := keys.get(reader.kinds[best]):
            apart = key.strict or key.id.startswith(_PART_PREFIXES)
            if not apart and key.policy is Policy.FILL:
                chance = round(0.9 * float(chances[best]), 3)
                asked[i] = replace(ask, key=key.id, via="meaning", confidence=chance)
        else:
            asked[i] = replace(ask, key=None, via="meaning")


def _is_worded(ask: Asked) -> bool:
    said = len(words(ask.question))
    if any(m.key == ask.key and m.exact and m.end - m.start == said for m in matches(ask.question)):
        return False  # the phrase is the whole label
    closed = ask.key is not None and vocabulary().keys[ask.key].policy is Policy.NEVER
    return ask.via in ("", "words") and not closed and 1 <= len(words(ask.question)) <= 8
