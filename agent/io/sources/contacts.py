"""Contacts: vCard files (2.1, 3.0, 4.0). Each fact on a card is a memory, read without a model.

Content lines are read by icalendar's parser (the two formats share them). The person's own card is
told in the first person.
"""

from __future__ import annotations

import quopri
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from agent.errors import UnreadableSource
from agent.extraction.triples.read import ME
from agent.io.sources.structured import Entries, SourceEntry, text_of
from agent.language.relation_names import attribute_name
from store.row_codecs import entity_key
from store.types import Draft, Source, Span, Triple

if TYPE_CHECKING:
    from icalendar.parser import Contentline

SUFFIXES = frozenset({".vcf", ".vcard"})

_CARD = re.compile(r"^BEGIN:VCARD\s*$.*?^END:VCARD\s*$", re.M | re.S | re.I)
_SPLIT = re.compile(r"(?<!\\)((?:\\\\)*);")
_LABELS = {"CELL": "mobile", "HOME": "home", "WORK": "work", "FAX": "fax"}
_RELATED = {
    "spouse": "relationship.spouse",
    "child": "relationship.parents_children",
    "parent": "relationship.parents_children",
    "sibling": "relationship.relatives",
    "kin": "relationship.relatives",
}


@dataclass(frozen=True, slots=True)
class _Field:
    """One content line of a card."""

    name: str
    types: frozenset[str]
    value: str
    """Unescaped; parts of a structured value are still parted by ';'."""
    group: str


def read_contacts(source: Source, me: frozenset[str] = frozenset()) -> Entries:
    """The facts on every card; a card that cannot be read is named and the others are read.

    :raises UnreadableSource: if the text holds no card.
    """
    where = source.locator or source.id
    text = source.text
    if not re.search(r"^[ \t]*BEGIN:VCARD", text, re.I | re.M):
        raise UnreadableSource(f"{where} is not a contact card: it has no BEGIN:VCARD.")
    items: list[SourceEntry] = []
    problems: list[str] = []
    cards = list(_CARD.finditer(text))
    begun = len(re.findall(r"^BEGIN:VCARD\s*$", text, re.I | re.M))
    if begun > len(cards):
        problems.append(f"{where} is truncated: {begun - len(cards)} of its cards have no end.")
    for number, card in enumerate(cards, 1):
        try:
            items += _facts(_fields(card.group()), source, Span(*card.span()), me)
        except (ValueError, KeyError, IndexError) as error:
            line = text.count("\n", 0, card.start()) + 1
            reason = " ".join(str(error).split())[:160]
            problems.append(f"{where}, line {line}, card {number}: {reason}")
    return Entries(tuple(items), tuple(problems))


def _fields(card: str) -> list[_Field]:
    from icalendar.parser import Contentlines

    # vCard 2.1: a soft line break of quoted-printable, and types without 'TYPE='.
    card = re.sub(r"=\r?\n(?!\r?\n)", "", card) if "QUOTED-PRINTABLE" in card.upper() else card
    found = []
    card = card.replace("\r\n", "\n").replace("\n", "\r\n")
    lines: list[Contentline] = Contentlines.from_ical(card)  # type: ignore[no-untyped-call]  # icalendar left it untyped
    for line in lines:
        if not line:
            continue
        head, colon, raw = str(line).partition(":")
        if not colon:
            raise ValueError(f"no value in {str(line)[:60]!r}")
        names = head.split(";")
        group, _, name = names[0].rpartition(".")
        parameters = [part.partition("=") for part in names[1:]]
        types = {
            word.strip('"').upper()
            for key, equals, value in parameters
            for word in (value if equals else key).split(",")
            if not equals or key.upper() == "TYPE"
        }
        if '"' in head:
            # A quoted parameter may hold ':' and ';': the careful parser knows.
            name, types, raw = _careful(line)
            group, _, name = name.rpartition(".")
        if any("QUOTED-PRINTABLE" in part[0].upper() + part[2].upper() for part in parameters):
            raw = quopri.decodestring(raw.encode()).decode("utf-8", "replace")
        found.append(_Field(name.upper(), frozenset(types), raw, group))
    return found


def _careful(line: Contentline) -> tuple[str, set[str], str]:
    """Name, types and value of a line, read by icalendar's own parser."""
    name, params, value = line.parts()
    given = params.get("TYPE", [])
    listed = given if isinstance(given, list) else [given]
    types = {word.upper() for item in listed for word in str(item).split(",")}
    return str(name), types, str(value)


def _parts(value: str) -> list[str]:
    """The parts of a structured value, unescaped."""
    return [_plain(part) for part in _SPLIT.sub("\\1\x1f", value).split("\x1f")]


def _plain(value: str) -> str:
    value = re.sub(r"\\([nN])", " ", value)
    return text_of(re.sub(r"\\(.)", r"\1", value))


def _facts(
    fields: list[_Field], source: Source, span: Span, me: frozenset[str]
) -> Iterator[SourceEntry]:
    name = _name(fields)
    own = entity_key(name) in me
    uid = next((_plain(f.value) for f in fields if f.name == "UID"), name)
    whose, head = ("My", ME) if own else (f"{name}'s", name)
    labels = {f.group: _plain(f.value) for f in fields if f.name == "X-ABLABEL" and f.group}
    count: Counter[str] = Counter()
    told: list[tuple[str, str, str, Triple]] = []  # what, subclass, sentence, relation

    if not own:
        told.append(
            ("contact", "relationship.colleague_friends", f"{name} is in my contacts.",
             Triple(ME, "knows", name))
        )  # fmt: skip
    for field in fields:
        told += _fact(field, name, own, whose, head, labels)
    for what, subclass, sentence, triple in told:
        if not triple.tail.strip():
            continue
        count[what] += 1
        draft = Draft(
            text=text_of(sentence),
            subclass=subclass,
            created=source.captured,
            triples=(triple,),
            source=source.id,
            span=span,
        )
        yield SourceEntry(f"{uid}/{what}/{count[what]}", draft, draft.text)


def _name(fields: list[_Field]) -> str:
    for field in fields:
        if field.name == "FN" and _plain(field.value):
            return _plain(field.value)
    for field in fields:
        if field.name == "N":
            family, given, *rest = [*_parts(field.value), "", ""]
            if name := " ".join(part for part in (given, rest[0], family) if part):
                return name
    for field in fields:
        if field.name in ("ORG", "NICKNAME", "EMAIL") and _plain(field.value):
            return _plain(field.value.split(";")[0])
    raise ValueError("a card without a name")


def _fact(
    field: _Field, name: str, own: bool, whose: str, head: str, labels: dict[str, str]
) -> list[tuple[str, str, str, Triple]]:
    value = _plain(field.value)
    label = next((_LABELS[t] for t in ("CELL", "WORK", "HOME", "FAX") if t in field.types), "")
    verb = "I work" if own else f"{name} works"
    match field.name:
        case "TEL":
            value = value.removeprefix("tel:")
            what = f"{label} number" if label in ("mobile", "fax") else f"{label} phone number"
            return [_said(whose, head, what.strip(), value, "attribute.contact")]
        case "EMAIL":
            what = f"{label} email address" if label == "work" else "email address"
            return [_said(whose, head, what, value, "attribute.contact")]
        case "ADR":
            joined = ", ".join(part for part in _parts(field.value) if part)
            what = f"{label or 'home'} address"
            return [_said(whose, head, what, joined, "attribute.address")]
        case "BDAY":
            return [_said(whose, head, "birthday", _date(value), "attribute.birthday")]
        case "ANNIVERSARY" | "X-ANNIVERSARY":
            return [_said(whose, head, "anniversary", _date(value), "event.anniversary")]
        case "NICKNAME":
            return [_said(whose, head, "nickname", value, "attribute.name")]
        case "URL":
            return [_said(whose, head, "website", value, "attribute.contact")]
        case "GENDER":
            word = {"M": "male", "F": "female"}.get(_parts(field.value)[0].upper(), "")
            return [_said(whose, head, "gender", word, "attribute.gender")]
        case "ORG":
            company = ", ".join(part for part in _parts(field.value) if part)
            if company == name:
                return []
            at = Triple(head, "works_at", company)
            return [("ORG", "attribute.occupation", f"{verb} at {company}.", at)]
        case "TITLE" | "ROLE":
            job = Triple(head, "works_as", value)
            return [(field.name, "attribute.occupation", f"{verb} as {value}.", job)]
        case "RELATED" | "X-ABRELATEDNAMES" | "X-SPOUSE":
            kind = labels.get(field.group, "").strip("_$!<>").lower()
            kind = kind or next((t.lower() for t in field.types if t.lower() in _RELATED), "")
            kind = kind or ("spouse" if field.name == "X-SPOUSE" else "relative")
            if value.startswith(("urn:", "http:", "https:")):
                return []  # another card, not a name
            place = _RELATED.get(kind, "relationship.relatives")
            return [_said(whose, head, kind, value, place)]
        case "NOTE" if value:
            on = "About me" if own else f"About {name}"
            noted = Triple(head, "noted", value)
            place = "attribute.identity" if own else "relationship.colleague_friends"
            return [("NOTE", place, f"{on}: {value}", noted)]
        case _:
            return []


def _said(
    whose: str, head: str, what: str, value: str, subclass: str
) -> tuple[str, str, str, Triple]:
    return what, subclass, f"{whose} {what} is {value}.", Triple(head, attribute_name(what), value)


def _date(value: str) -> str:
    """'19900304' -> '1990-03-04', '--0304' -> '4 March'; what is neither stays as it is."""
    value = re.split(r"[T ]", value)[0]
    if match := re.fullmatch(r"(\d{4})-?(\d\d)-?(\d\d)", value):
        year, month, day = (int(part) for part in match.groups())
        # 1604 is how Apple writes 'no year'.
        if year != 1604:
            return date(year, month, day).isoformat()
        value = f"--{month:02}{day:02}"
    if match := re.fullmatch(r"--(\d\d)-?(\d\d)", value):
        moment = date(2000, int(match[1]), int(match[2]))
        return f"{moment.day} {moment:%B}"
    return value
