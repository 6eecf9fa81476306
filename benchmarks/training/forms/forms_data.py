"""Material of the form reader: wordings of fields, statements with their values marked.

``samples/forms_slots.toml`` says what fields ask for, ``samples/forms_statements.txt`` how people
tell it. Values are drawn here. Nothing of the forms that are measured with is in it.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.shared.common import SAMPLES

OWNERS = {
    "spouse": ("wife", "husband", "partner", "spouse"),
    "child": ("son", "daughter"),
    "mother": ("mother", "mum"),
    "father": ("father", "dad"),
    "brother": ("brother",),
    "sister": ("sister",),
    "boss": ("boss", "manager"),
    "friend": ("friend", "best friend"),
    "neighbour": ("neighbour",),
    "landlord": ("landlord",),
    "colleague": ("colleague",),
    "dentist": ("dentist",),
}
SAME = {
    "spouse": "spouse:name", "spouse-tel": "spouse:tel", "spouse-bday": "spouse:bday",
    "spouse-job": "spouse:organization-title", "mother": "mother:name", "father": "father:name",
    "mother-birthplace": "mother:birthplace", "child": "child:name", "child-bday": "child:bday",
    "child-school": "child:school", "boss": "boss:name", "boss-email": "boss:email",
    "landlord": "landlord:name", "landlord-tel": "landlord:tel", "dentist": "dentist:name",
    "neighbour": "neighbour:name", "colleague": "colleague:name",
    "city": "address-level2", "diet": "dietary-needs", "website": "url",
}  # fmt: skip
"""Slots under two names: somebody's detail and what asks for it, or a key of the vocabulary."""
ALIKE = (
    {"departure-date", "arrival-date", "check-in"}, {"return-date", "check-out"},
    {"tel", "work-tel"}, {"hobbies", "instrument"}, {"salary", "salary-wish"},
    {"name", "given-name", "family-name", "nickname"}, {"mother-tongue", "languages"},
    {"organization-title", "department"}, {"birthplace", "birth-country"},
    {"gym", "club"}, {"nationality", "second-nationality"}, {"address-level2", "street-address"},
    {"available-from", "start-date"}, {"destination", "hotel"}, {"practice", "doctor"},
)  # fmt: skip
"""Slots of which one may stand in for the other: not counted as wrong where it is asked."""
_SLOT = re.compile(r"\{([\w:-]+)\}")
_MONTHS = "January February March April May June July August September October November December"


@dataclass(frozen=True, slots=True)
class Statement:
    """A text and the values in it: where they stand, of which slot ('' asks for nothing)."""

    text: str
    values: tuple[tuple[str, int, int], ...]
    held: bool = False
    """Whether its wording is kept from training."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A field as a form words it; ``slot`` is empty where nothing remembered belongs there."""

    text: str
    slot: str
    held: bool = False


@cache
def table() -> dict[str, Any]:
    """The slots as they are written down."""
    return tomllib.loads((SAMPLES / "forms_slots.toml").read_text("utf-8"))


def kinds() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Slot -> kind of its value, wordings."""
    found = {}
    for slot, line in table()["asks"].items():
        kind, _, asks = line.partition(": ")
        found[slot] = kind, tuple(asks.split("|"))
    return found


def wordings() -> list[Wording]:
    """Every field; of a slot with several wordings every fourth is held out."""
    found = [
        Wording(text, SAME.get(slot, slot), held=n % 4 == 3)
        for slot, (_, asks) in kinds().items()
        for n, text in enumerate(asks)
    ]
    empty = table()["empty"]["asks"].split("|")
    found += [Wording(text, "", held=n % 4 == 3) for n, text in enumerate(empty)]
    named = ("tel", "bday", "name", "email", "street-address", "organization-title", "allergies")
    for owner, words in OWNERS.items():
        for n, word in enumerate(words):
            for slot in named:
                asks = kinds()[slot][1]
                text = f"{word.capitalize()}'s {asks[n % len(asks)].lower()}"
                found.append(Wording(text, f"{owner}:{slot}", held=n % 4 == 3))
                text = f"{asks[(n + 1) % len(asks)]}, {word.capitalize()}"
                found.append(Wording(text, f"{owner}:{slot}", held=n % 4 == 3))
    return found


def statements(seed: int, rounds: int) -> list[Statement]:
    """Each written statement ``rounds`` times with other values, and as many from frames."""
    chance = random.Random(seed)
    lines = [
        line
        for line in (SAMPLES / "forms_statements.txt").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    found = []
    for _ in range(rounds):
        for n, line in enumerate(lines):
            found.append(_filled(line, chance, held=n % 5 == 4))
        for n, line in enumerate(_framed(chance)):
            found.append(_filled(line, chance, held=n % 5 == 4))
    return found


_FRAMES = (
    "My {ask} is [v].", "My {ask} is [v].", "{Ask}: [v]", "{ask} [v]", "[v] is my {ask}.",
    "The {ask} is [v] now.", "my {ask} changed, it's [v]", "{Ask} = [v]",
)  # fmt: skip
_OTHERS = ("My {who}'s {ask} is [o].", "{ask} of my {who}: [o]", "[o] is my {who}'s {ask}.")


def _framed(chance: random.Random) -> list[str]:
    lines = []
    for slot, (_, asks) in kinds().items():
        nouns = [a for n, a in enumerate(asks) if n % 4 != 3 and "?" not in a and len(a) < 32]
        if not nouns:
            continue
        ask = chance.choice(nouns)
        if ", " in ask:
            continue
        frame = chance.choice(_FRAMES)
        said = frame.replace("{ask}", ask.lower()).replace("{Ask}", ask)
        lines.append(said.replace("[v]", f"{{{slot}}}"))
        owner = chance.choice(list(OWNERS))
        who = chance.choice(OWNERS[owner])
        said = chance.choice(_OTHERS).replace("{ask}", ask.lower()).replace("{who}", who)
        lines.append(said.replace("[o]", f"{{{owner}:{slot}}}"))
    return lines


def _filled(line: str, chance: random.Random, *, held: bool) -> Statement:
    text, values, at = "", [], 0
    for found in _SLOT.finditer(line):
        text += line[at : found.start()]
        name = found[1]
        slot = name.rpartition(":")[2].removeprefix("-")
        value = value_of(slot, chance)
        told = "" if name.startswith("-") else SAME.get(name, name)
        values.append((told, len(text), len(text) + len(value)))
        text += value
        at = found.end()
    text += line[at:]
    if chance.random() < 0.15:
        text = text.rstrip(".")
    return Statement(text, tuple(values), held)


def value_of(slot: str, chance: random.Random) -> str:
    """A value of the slot's kind."""
    kind = kinds()[slot][0]
    if kind.islower():
        return chance.choice(table()["values"][kind].split("|"))
    return _DRAWN[kind](chance)


# --- values ---

_GIVEN = (
    "Amara Bertil Chiara Dariusz Esme Farid Greta Hamish Ingrid Jamal Keiko Lorenzo Maeve Nikhil"
    " Odile Pavel Rosa Sanjay Tilda Umar Vera Wendell Xenia Yusuf Zofia Alice Ben Clara David"
    " Elena Frank Hannah Ian Julia Karl Linda Martin Nora Oliver Paula Simon Theresa"
).split()
_FAMILY = (
    "Abbott Bergstrom Castellano Dubois Eriksen Fitzgerald Grabowski Haddad Ivanova Jankowski"
    " Kowalczyk Lindqvist Moreau Nakamura Okonkwo Petrov Quinn Rossi Sandoval Thorne Ueda Vasquez"
    " Whitfield Yamada Zimmermann Novak Silva O'Brien Becker Chen Patel Larsen Murray"
).split()
_PLACES = (
    "Utrecht|Porto|Leeds|Bergen|Graz|Nairobi|Lyon|Gdansk|San Diego|Osaka|Galway|Montevideo|"
    "Tallinn|Bristol|Ghent|Kolkata|Hamburg|Seville|New Orleans|Accra|Zagreb|Perth|Cork|Basel|"
    "Antwerp|Malmo|Tucson|Busan|Izmir|Bologna|Cape Town|St. Louis"
).split("|")
_COUNTRIES = (
    "Denmark|Kenya|Brazil|Ireland|Vietnam|Canada|Italy|Peru|Poland|Morocco|South Korea|Portugal|"
    "India|the Netherlands|New Zealand|Ghana|Chile|Sweden"
).split("|")
_STREETS = (
    "Harbour Road|Elm Street|Kastanienallee|Rue des Lilas|Mill Lane|Via Garibaldi|Oak Avenue|"
    "Birkenweg|Prinsengracht|Station Road|Calle Mayor|St Mary's Close|Gartenstrasse|Hill View"
).split("|")
_FIRMS = (
    "Norvik Shipping|Tellus GmbH|Bluefin Analytics|Hartmann & Co|Kestrel Foods|Lumen|Oakwood|"
    "St Anne's Hospital|Pagoda Systems Ltd|the city council|Vantage Robotics|Miller Bakery|Arborea|"
    "Delft Water|Quanta|Sunrise Travel|Greenfield Dairy|Ostrava Steel|the university library|IKEA"
).split("|")
_SCHOOLS = (
    "Uppsala University|the University of Porto|Trinity College Dublin|TU Graz|Hill Street Primary|"
    "ETH|Kyoto University|the Open University|Lycee Pasteur|Northgate High School|UCLA|"
    "Utrecht University|St. Olaf College|Leeds Beckett"
).split("|")
_PRACTICES = "Willow Street Surgery|the Linden Clinic|Praxis am Markt|Harbour Medical Centre".split(
    "|"
)
_INSURERS = "Helvia|Norwich Mutual|TK|Barmer|Vitality|Blue Shield|Allianz|E.ON|Telia|Octopus".split(
    "|"
)
_HOTELS = "Hotel Bellevue|the Grand Plaza|Ibis Centrum|Casa Azul|The Fern Inn|Hotel Astoria".split(
    "|"
)
_CLUBS = (
    "FC Lindau|Riverside Rowing Club|FitBox|the Alpine Club|Puregym|SV Blau-Weiss|Celtic".split("|")
)
_BANKS = "Nordea|Barclays|Sparkasse|ING|Monzo|Credit Agricole".split("|")
_PETS = "Biscuit Luna Rex Pepper Momo Otto Figaro Hazel Bruno Mochi".split()


def _date(chance: random.Random) -> str:
    year, month, day = chance.randint(1951, 2029), chance.randint(1, 12), chance.randint(1, 28)
    name = _MONTHS.split()[month - 1]
    return chance.choice(
        (
            f"{day} {name} {year}", f"{day} {name} {year}", f"{name} {day}, {year}",
            f"{year}-{month:02d}-{day:02d}", f"{year}-{month:02d}-{day:02d}", f"{name} {year}",
            f"{day:02d}.{month:02d}.{year}", f"{day} {name[:3]} {year}", f"the {day}th of {name}",
        )
    )  # fmt: skip


def _code(chance: random.Random) -> str:
    digits = "".join(chance.choice("0123456789") for _ in range(chance.randint(5, 10)))
    letters = "".join(chance.choice("ABCDEFGHJKLMNPRSTUVXZ") for _ in range(2))
    return chance.choice(
        (digits, letters + digits, digits[:6] + letters, f"{letters}-{digits[:3]}-{digits[3:]}",
         letters + digits[:2] + letters[::-1] + digits[2:4], f"{letters} {digits[:4]} {digits[4:]}")
    )  # fmt: skip


def _phone(chance: random.Random) -> str:
    d = "".join(chance.choice("0123456789") for _ in range(8))
    return chance.choice(
        (f"+{chance.choice((49, 31, 351, 44, 91))} {d[:3]} {d[3:]}", f"0{d[:4]} {d[4:]}{d[:2]}",
         f"({d[:3]}) 555-{d[3:7]}", f"555-{d[:4]}", f"07{d[:3]} {d[2:8]}", f"0{d[:3]}-{d[3:]}")
    )  # fmt: skip


def _person(chance: random.Random) -> str:
    return f"{chance.choice(_GIVEN)} {chance.choice(_FAMILY)}"


def _doctor(chance: random.Random) -> str:
    title = chance.choice(("Dr ", "Dr. ", "Doctor ", ""))
    return title + (chance.choice(_FAMILY) if title else _person(chance))


def _mail(chance: random.Random) -> str:
    given, family = chance.choice(_GIVEN).lower(), chance.choice(_FAMILY).lower().replace("'", "")
    host = chance.choice(("post", "mail", "box"))
    return f"{given}{chance.choice(('.', '_', ''))}{family}@{host}.example"


def _address(chance: random.Random) -> str:
    street, number, place = chance.choice(_STREETS), chance.randint(1, 240), chance.choice(_PLACES)
    line = chance.choice((f"{number} {street}", f"{street} {number}"))
    code = chance.choice(
        (str(chance.randint(10000, 99999)), f"{chance.randint(1000, 9999)} AB", "")
    )
    return chance.choice((f"{line}, {code} {place}".replace("  ", " "), f"{line}, {place}", line))


def _choice(options: Sequence[str]) -> Callable[[random.Random], str]:
    return lambda chance: chance.choice(options)


def _web(chance: random.Random) -> str:
    name = f"{chance.choice(_GIVEN)}{chance.choice(_FAMILY)}".lower().replace("'", "")
    return chance.choice((f"https://{name}.example", f"linkedin.com/in/{name}", f"www.{name}.net"))


def _flight(chance: random.Random) -> str:
    pair = chance.choice(("LH", "BA", "KL", "TP", "SK", "QF", "U2", "FR"))
    return f"{pair}{chance.choice(('', ' '))}{chance.randint(11, 9400)}"


def _train(chance: random.Random) -> str:
    return f"{chance.choice(('ICE', 'IC', 'RE', 'TGV'))} {chance.randint(2, 9800)}"


def _plate(chance: random.Random) -> str:
    place = chance.choice(("HH", "KX", "B", "LN"))
    return f"{place}-{chance.choice(('AB', 'TZ'))} {chance.randint(11, 999)}"


_DRAWN: dict[str, Callable[[random.Random], str]] = {
    "DATE": _date,
    "CODE": _code,
    "PHONE": _phone,
    "PERSON": _person,
    "GIVEN": _choice(_GIVEN),
    "FAMILY": _choice(_FAMILY),
    "DOCTOR": _doctor,
    "EMAIL": _mail,
    "ADDRESS": _address,
    "PLACE": _choice(_PLACES),
    "COUNTRY": _choice(_COUNTRIES),
    "FIRM": _choice(_FIRMS),
    "UNIVERSITY": _choice(_SCHOOLS),
    "PRACTICE": _choice(_PRACTICES),
    "INSURER": _choice(_INSURERS),
    "HOTEL": _choice(_HOTELS),
    "CLUB": _choice(_CLUBS),
    "BANK": _choice(_BANKS),
    "PETNAME": _choice(_PETS),
    "URL": _web,
    "FLIGHT": _flight,
    "TRAIN": _train,
    "YEARS": lambda chance: str(chance.randint(1978, 2025)),
    "TIME": lambda chance: f"{chance.randint(5, 22)}:{chance.choice(('00', '15', '35', '50'))}",
    "PLATE": _plate,
}
