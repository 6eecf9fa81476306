"""Countries, states and name parts for splitting values.

Pure text handling over the tables of ``places.toml``. A part that cannot be told apart is
left out rather than guessed.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from agent.applications.forms.matching.label_words import fold, is_unspaced
from agent.language.patterns import bounded


@dataclass(frozen=True, slots=True)
class Country:
    code: str
    calling: str
    adjectives: tuple[str, ...]
    names: tuple[str, ...]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(
        files("agent.applications.forms.values").joinpath("places.toml").read_text("utf-8")
    )


@cache
def _countries() -> dict[str, Country]:
    """By folded name, adjective and code."""
    found: dict[str, Country] = {}
    for code, (calling, adjectives, *names) in _table()["countries"].items():
        country = Country(code, calling, tuple(adjectives.split("|")), tuple(names))
        for word in (*names, *country.adjectives, code):
            found.setdefault(fold(word).replace(".", ""), country)
    return found


def country_named(text: str) -> Country | None:
    """The country of a name, adjective or code standing alone."""
    return _countries().get(fold(text).strip(" .").removeprefix("the ").replace(".", ""))


@lru_cache(maxsize=1024)
def state_forms(text: str, country: str = "") -> tuple[str, ...]:
    """A state's abbreviation and name, where the text is either."""
    wanted = fold(text).strip(" .")
    for code, states in _table()["states"].items():
        if country and code != country:
            continue
        for short, name in states.items():
            if wanted in (fold(short), fold(name)):
                return (short, name)
    return ()


# --- names ---


@dataclass(frozen=True, slots=True)
class PersonName:
    given: str
    family: str
    middle: str = ""
    title: str = ""
    sure: bool = True
    """False where the order of the parts is an assumption."""


_PARTICLES = frozenset(
    {"van", "von", "de", "der", "den", "da", "di", "del", "la", "le", "ter", "bin", "al"}
)


def split_name(full: str) -> PersonName | None:
    """Given and family name apart; None for a single word."""
    names = _table()["names"]
    if is_unspaced(full) and " " not in full.strip():
        name = full.strip()
        if not 2 <= len(name) <= 4:
            return None
        cut = 2 if name[:2] in names["double"].split("|") else 1
        return PersonName(given=name[cut:], family=name[:cut]) if name[cut:] else None
    parts = full.replace(",", " ,").split()
    title = ""
    while len(parts) > 1 and fold(parts[0]).strip(".") in names["titles"].split():
        title = f"{title} {parts.pop(0)}".strip()
    if len(parts) >= 3 and "," in parts[1:-1]:
        cut = parts.index(",")
        return PersonName(" ".join(parts[cut + 1 :]), " ".join(parts[:cut]), title=title)
    if len(parts) < 2:
        return None
    surnames = names["family_first"].split()
    first, last = fold(parts[0]), fold(parts[-1])
    if len(parts) == 2 and first in surnames and last not in surnames:
        return PersonName(given=parts[1], family=parts[0], title=title)
    cut = len(parts) - 1
    while cut > 1 and fold(parts[cut - 1]) in _PARTICLES:
        cut -= 1
    sure = len(parts) == 2 or cut < len(parts) - 1
    both = len(parts) == 2 and first in surnames and last in surnames
    return PersonName(
        parts[0], " ".join(parts[cut:]), " ".join(parts[1:cut]), title, sure=sure and not both
    )


# --- addresses ---

_UNIT = re.compile(
    r"^(?:apt|apartment|suite|ste|unit|flat|floor|room|building|bldg|block|tower|top floor|#)\b\.?"
    r"|^#|\b\d+(?:st|nd|rd|th) floor$",
    re.IGNORECASE,
)
_US_TAIL = bounded(r"^(?P<state>[A-Za-z. ]+?)\s+(?P<postal>\d{5}(?:-\d{4})?)$")
_CA_TAIL = bounded(r"^(?P<state>[A-Za-z ]+?)\s+(?P<postal>[A-Z]\d[A-Z] ?\d[A-Z]\d)$")
_AU_TAIL = bounded(r"^(?P<city>.+?)\s+(?P<state>[A-Z]{2,3})\s+(?P<postal>\d{4})$")
_POSTAL_FIRST = re.compile(
    r"^(?P<postal>(?:[A-Z]{1,2}-)?\d{3,6}(?: ?\d{2})?(?: ?[A-Z]{2})?)\s+(?P<city>\D.+)$"
)
_POSTAL_LAST = bounded(
    r"^(?P<city>\D*?)\s*"
    r"(?P<postal>[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{3,6}(?:-\d{3,4})?|\d{3} \d{2,3})$"
)
_STREET = re.compile(r"\d")
_CN = re.compile(
    r"^(?:中国)?(?P<state>[^省市区]{2,7}(?:省|自治区))?(?P<city>[^省市区县]{2,7}市)?"
    r"(?P<district>[^省市]{1,7}?[区县])?(?P<street>.*\d+.*|.+)$"
)


def split_address(text: str) -> dict[str, str]:
    """The parts of a postal address by their autocomplete keys; only the parts that show."""
    text = " ".join(text.split()).strip(" .,;")
    if is_unspaced(text):
        return _split_chinese(text)
    pieces = [p.strip() for p in text.split(",") if p.strip()]
    parts: dict[str, str] = {}
    country = country_named(pieces[-1]) if pieces else None
    if country is not None and not (
        len(pieces) > 1 and len(pieces[-1]) == 2 and state_forms(pieces[-1])
    ):
        parts["country"] = pieces.pop()
    code = country.code if country and "country" in parts else ""
    if pieces:
        _read_tail(pieces, parts, code)
    streets = [p for p in pieces if not _UNIT.search(p)]
    units = [p for p in pieces if _UNIT.search(p)]
    if streets and (
        "address-level2" in parts or len(streets) == 1 or not _STREET.search(streets[-1])
    ):
        if "address-level2" not in parts and (len(streets) > 1 or not _STREET.search(streets[0])):
            parts["address-level2"] = streets.pop()
        if (streets and _STREET.search(streets[0])) or len(streets) > 1:
            parts["address-line1"] = streets[0]
            units = [*streets[1:], *units] if len(streets) > 1 else units
    elif streets:
        parts["address-line1"] = streets[0]
    if units and "address-line1" in parts:
        parts["address-line2"] = ", ".join(units)
    if "address-line1" in parts:
        parts["street-address"] = text
    return parts


_NUMBER = r"\d+ ?[A-Za-z]?(?:[-/]\d+[A-Za-z]?)?"
_NUMBER_FIRST = re.compile(rf"^(?P<number>{_NUMBER}) (?P<street>[^\d\W].*)$")
_NUMBER_LAST = re.compile(rf"^(?P<street>.*[^\d\W]\.?) (?P<number>{_NUMBER})$")


def split_street(line: str) -> tuple[str, str] | None:
    """The street and the house number of an address line; None where they do not show."""
    found = _NUMBER_FIRST.match(line) or _NUMBER_LAST.match(line)
    return (found["street"], found["number"]) if found else None


def _read_tail(pieces: list[str], parts: dict[str, str], code: str) -> None:
    """Take postal code, state and city off the end of the pieces."""
    last = pieces[-1]
    for pattern in (_US_TAIL, _CA_TAIL):
        found = pattern.match(last)
        if found and state_forms(found["state"]):
            parts["address-level1"] = state_forms(found["state"])[
                0 if len(found["state"]) <= 3 else 1
            ]
            parts["postal-code"] = found["postal"]
            pieces.pop()
            _take_city(pieces, parts)
            return
    found = _AU_TAIL.match(last)
    if found and state_forms(found["state"]):
        parts["address-level1"], parts["postal-code"] = found["state"], found["postal"]
        parts["address-level2"] = found["city"]
        pieces.pop()
        return
    found = _POSTAL_FIRST.match(last)
    # '221 Baker Street' is a house number and a street, not a postal code and a town.
    if found and (len(pieces) > 1 or len(re.sub(r"\D", "", found["postal"])) >= 4):
        parts["postal-code"], parts["address-level2"] = found["postal"], found["city"]
        pieces.pop()
        return
    found = _POSTAL_LAST.match(last)
    if found and (len(pieces) > 1 or found["city"]):
        parts["postal-code"] = found["postal"]
        pieces.pop()
        if found["city"]:
            parts["address-level2"] = found["city"]
        else:
            _take_city(pieces, parts)
        return
    if len(pieces) > 1 and state_forms(last, code):
        parts["address-level1"] = last
        pieces.pop()
        _take_city(pieces, parts)


def _take_city(pieces: list[str], parts: dict[str, str]) -> None:
    if pieces and not _UNIT.search(pieces[-1]) and not _STREET.match(pieces[-1]):
        parts["address-level2"] = pieces.pop()


def _split_chinese(text: str) -> dict[str, str]:
    found = _CN.match(text)
    if found is None:
        return {}
    parts = {}
    if text.startswith("中国"):
        parts["country"] = "中国"
    named = {
        "address-level1": found["state"],
        "address-level2": found["city"],
        "address-level3": found["district"],
    }
    parts.update({key: value for key, value in named.items() if value})
    if found["street"] and re.search(r"\d|[路街道巷弄]", found["street"]):
        parts["address-line1"] = found["street"]
        parts["street-address"] = text
    return parts
