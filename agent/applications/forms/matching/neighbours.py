"""Neighbour rules: log-ins, dates in parts, boxes for digits, cards.

Each step changes only fields whose own words leave them open or are known to mislead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.matching.label_words import fold, nearest_words, words
from agent.applications.forms.matching.vocabulary import vocabulary

_CREDENTIALS = frozenset({"current-password", "new-password"})
_IDENTITY_TYPES = frozenset({"text", "email", "tel", ""})
_PROFILE_KEYS = frozenset(
    "name given-name family-name additional-name email tel username nickname street-address"
    " address-line1 postal-code address-level2 country bday bday-day bday-month bday-year"
    " organization display-name".split()
)
_NO_IDENTITY = frozenset(
    {"username", "one-time-code", "captcha", "search", "organization", "pin", "cc-csc", "cc-number"}
)
_SIGN_UP_WORDS = frozenset({"register", "registration", "signup", "registrieren", "join"})
_ACCOUNT_WORDS = frozenset({"username", "login", "userid", "signin", "logonid", "loginid"})


def settle_by_neighbours(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """Correct ``asked`` in place, field by field, by what stands around each."""
    _settle_digit_boxes(fields, asked)
    _settle_date_parts(fields, asked)
    _settle_cards(fields, asked)
    _settle_log_ins(fields, asked)


def _settle_digit_boxes(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """A row of boxes for one character each takes a code, whatever it is called."""
    single = [f.max_length == 1 and not f.options for f in fields]
    for i, one in enumerate(single):
        beside = (i > 0 and single[i - 1]) or (i + 1 < len(single) and single[i + 1])
        if one and beside:
            asked[i] = replace(asked[i], key="one-time-code", via="shape", confidence=0.9)


_OF_CARDS = frozenset({"card-detail", "cc-exp", "cc-exp-month", "cc-exp-year"})
_CARD_WORDS = frozenset({"card", "cc", "credit", "debit"})
# 'Valid from' on a card is not its expiry.
_START_WORDS = frozenset({"start", "issue", "from", "issued", "begin"})
_PART_WORDS = {
    "day": frozenset({"day", "dd", "tt", "jj", "tag", "jour", "dia", "giorno"}),
    "month": frozenset({"month", "mm", "monat", "mois", "mes", "mese", "mo"}),
    "year": frozenset({"year", "yyyy", "yy", "jjjj", "aaaa", "jahr", "annee", "ano", "anno", "yr"}),
}


def _settle_date_parts(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """'MM' beside a card number is the card's month; one of three selects is a part of a date."""
    for i, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        if ask.key not in (None, "bday", "cc-exp"):
            continue
        part = _date_part(field)
        named = {*words(field.name), *words(field.id), *words(field.label)}
        if part is None or _START_WORDS & named:
            continue
        whole = ask.key or _date_before(asked[max(0, i - 3) : i]) or _three_selects(fields, i)
        key = f"{whole}-{part}"
        if key in vocabulary().keys:
            asked[i] = replace(ask, key=key, via="shape", confidence=max(ask.confidence, 0.8))


def _date_before(earlier: Sequence[Asked]) -> str:
    for ask in reversed(earlier):
        if ask.key and ask.key.startswith("bday"):
            return "bday"
        if ask.key and ask.key.startswith("cc-"):
            return "cc-exp"
    return ""


def _three_selects(fields: Sequence[FormField], i: int) -> str:
    """Day, month and year to choose side by side, and no word of what: a date of birth."""
    for start in range(max(0, i - 2), i + 1):
        trio = fields[start : start + 3]
        if all(f.options for f in trio) and {_date_part(f) for f in trio} == set(_PART_WORDS):
            return "bday"
    return ""


def _date_part(field: FormField) -> str | None:
    """Which part of a date the field takes, when it takes just one."""
    near = nearest_words(field.text_before) if field.options else ()
    for text in (field.name, field.id, field.hint, field.placeholder, field.label, *near):
        named = [part for part, known in _PART_WORDS.items() if known & set(words(text))]
        if len(named) == 1:
            return named[0]
        if len(named) > 1 and not field.options:
            return None
    texts = [o.text.strip() for o in field.options if o.text.strip()]
    if not texts:
        return None
    first = [part for part, known in _PART_WORDS.items() if known & set(words(texts[0]))]
    if len(first) == 1:
        return first[0]
    years = sum(t.isdigit() and len(t) == 4 for t in texts)
    return "year" if years * 2 > len(texts) else None


def _settle_cards(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """What a card has beside its number is meant only in a form that asks for the number.

    'Valid until' below a passport number, or 'Start date' below an employer, is no card's.
    """
    cards = {
        field.form
        for field, ask in zip(fields, asked, strict=True)
        if ask.key in ("cc-number", "cc-csc")
    }
    for i, (field, ask) in enumerate(zip(fields, asked, strict=True)):
        if field.form in cards or ask.key not in _OF_CARDS or ask.via == "autocomplete":
            continue
        if not _CARD_WORDS & {*words(field.name), *words(field.id), *words(field.label)}:
            asked[i] = replace(ask, key=None, via="", confidence=0.0)


def _settle_log_ins(fields: Sequence[FormField], asked: list[Asked]) -> None:
    """The field before a lone password is the account's name, be it called e-mail or ID.

    The HTML standard wants ``username`` there. Several details before it, or a second password
    after it, make it a registration, where the e-mail address is just that.
    """
    shown = [
        i for i, f in enumerate(fields) if not f.hidden and f.type not in ("checkbox", "radio")
    ]
    for place, i in enumerate(shown):
        beside = [asked[n].key for n in shown[max(0, place - 2) : place + 3] if n != i]
        named = _ACCOUNT_WORDS & {fold(fields[i].id), fold(fields[i].name)}
        secrets = sum(asked[n].key in _CREDENTIALS for n in shown[place + 1 : place + 3])
        if secrets == 2:
            continue  # a password and its repetition: a registration
        if asked[i].key == "email" and named and not _PROFILE_KEYS.intersection(beside):
            asked[i] = replace(asked[i], key="username", via="log-in", instead=("email",))
    for place, i in enumerate(shown):
        if asked[i].key not in _CREDENTIALS or place == 0:
            continue
        j = shown[place - 1]
        if fields[j].form != fields[i].form or fields[j].type not in _IDENTITY_TYPES:
            continue
        ask = asked[j]
        before = shown[place - 2] if place >= 2 else None
        after = shown[place + 1] if place + 1 < len(shown) else None
        if _registers(fields, asked, i, j, before, after):
            continue
        if {"full", "name"} <= {*words(fields[j].label), *words(fields[j].name)}:
            continue  # nobody logs in with a full name
        if ask.key not in _NO_IDENTITY and (
            ask.via != "autocomplete" or ask.key in ("email", "tel")
        ):
            instead = tuple(k for k in (ask.key, *ask.instead) if k in ("email", "tel"))
            asked[j] = replace(
                ask,
                key="username",
                via="log-in",
                confidence=max(0.75, ask.confidence - 0.05),
                instead=instead,
            )


def _registers(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    password: int,
    identity: int,
    before: int | None,
    after: int | None,
) -> bool:
    if asked[password].key == "new-password":
        return True
    own = {*words(fields[identity].name), *words(fields[identity].id), *words(fields[password].id)}
    own |= {*words(fields[identity].form_words)}
    if own & _SIGN_UP_WORDS or {"sign", "up"} <= own:
        return True
    if after is not None and fields[after].form == fields[password].form:
        if asked[after].key in _CREDENTIALS and fields[after].type == "password":
            return asked[after].key == "new-password" or after == password + 1
        if asked[after].key in ("name", "given-name", "family-name", "street-address"):
            return True
    if before is None or fields[before].form != fields[identity].form:
        return False
    return asked[before].key in _PROFILE_KEYS
