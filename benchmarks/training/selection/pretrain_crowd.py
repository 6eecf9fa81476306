"""What the shipped policies learn from about a home with very many memories.

Written by us and by chance; no row of a data set, and other wordings than ``many_memories`` has. In
a year of notes hundreds of lines are alike in everything but a name, a day or a number, and most
of them lie far closer to a question than anything does in a small home. A policy learns there that
a line which lacks one of the question's names is none that it asks for, however alike.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.training.selection.pretrain_people import Fact, Query

_SLOTS: dict[str, tuple[str, ...]] = {
    "given": tuple(
        "Alma Arthur Bettina Bo Clara Cosmo Daria Denis Edda Enzo Flora Franz Gala Gero Hilda"
        " Imre Ida Jens Juno Kaspar Lena Luca Maia Mattis Nora Noel Olive Oskar Paula Pit Runa"
        " Rolf Sofia Silas Thea Timo Una Ugo Vesna Vito Wilma Willem Xenia Yann Zelda".split()
    ),
    "family": tuple(
        "Adler Berg Cook Drake Ernst Falk Gold Hahn Irwin Jung Kern Lang Moss Noll Ott Pohl Quinn"
        " Reed Stein Trost Ulm Voss Wolf Yates Zorn Abbot Bruun Craig Daly Eklund".split()
    ),
    "town": tuple(
        "Aachen Bilbao Cadiz Delft Essen Faro Genoa Hull Innsbruck Jena Kiel Lodz Mainz Nice Odense"
        " Pilsen Reims Siena Trier Umea Verona Worms York Zadar".split()
    ),
    "shop": ("Finch & Co", "the Corner Press", "Bluebell", "Maple House", "Nordlicht", "Old Mill",
             "Pepper Lane", "Sun Hall", "Tin Roof", "Willow Bar", "Zebra Club"),
    "ware": ("a lamp", "boots", "a scarf", "a mixer", "a drill", "a globe", "headphones", "a vase",
             "a blanket", "a stove", "a chess set", "gloves", "a mirror", "a clock"),
    "colour": ("pink", "grey", "beige", "violet", "turquoise", "golden", "navy", "cream"),
    "project": ("Falcon", "Lotus", "Meridian", "Nimbus", "Otter", "Quartz", "Raven", "Sequoia",
                "Topaz", "Umbra", "Vega", "Walrus"),
    "task": ("the contract", "the floor plan", "the invoices", "the slides", "the survey",
             "the translation", "the brochure", "the test report", "the price list"),
    "month": tuple("January February March April May June July August September October November"
                   " December".split()),
}  # fmt: skip
_RANGES = {"day": (1, 28), "hour": (6, 21), "year": (1998, 2023), "sum": (12, 990),
           "code": (1000, 9999)}  # fmt: skip
SIZES = (150, 400, 1000, 2500)
"""Lines of a crowd; one of these by chance."""
ASKED = 60
"""Lines that are asked for, at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """Lines of one kind: ``about`` says which one it is, ``tail`` what it tells of ``head``."""

    about: str
    tell: tuple[str, ...]
    ask: tuple[str, ...]
    head: str
    relation: str
    tail: str
    subclass: str


_WHO = "{given} {family}"
ROWS: tuple[Row, ...] = (
    Row(_WHO, ("{given} {family} was born in {town}.", "{given} {family} comes from {town}."),
        ("Where was {given} {family} born?", "Which town does {given} {family} come from?"),
        _WHO, "born in", "{town}", "relationship.colleague_friends"),
    Row(_WHO, ("{given} {family} married in {year}.", "The wedding of {given} {family} was in"
               " {year}."),
        ("In which year did {given} {family} marry?", "When was {given} {family}'s wedding?"),
        _WHO, "married in", "{year}", "relationship.colleague_friends"),
    Row(f"{_WHO} {{project}}",
        ("{given} {family} takes care of {task} for {project}.",
         "For {project}, {task} is with {given} {family}."),
        ("What does {given} {family} take care of for {project}?",
         "What is {given} {family} doing for project {project}?"),
        _WHO, "works on", "{task}", "relationship.colleague_friends"),
    Row("{shop} {town} {ware} {colour}",
        ("{ware}, {colour}, costs {sum} crowns at {shop} in {town}.",
         "At {shop} in {town} I saw {ware} in {colour} for {sum} crowns."),
        ("What does {ware} in {colour} cost at {shop} in {town}?",
         "How much is {ware} ({colour}) at {shop} in {town}?"),
        "{shop}", "sells at", "{sum}", "attribute.belongings"),
    Row("{project} {day} {month}",
        ("The review of {project} on {day} {month} begins at {hour} o'clock.",
         "{day} {month}: {project} review, {hour} o'clock."),
        ("When does the {project} review on {day} {month} begin?",
         "At what time is {project} reviewed on {day} {month}?"),
        "{project}", "reviewed at", "{hour}", "event.arrangement"),
    Row(f"{_WHO} {{ware}}",
        ("{given} {family} gave me {ware} in {month} {year}.",
         "I got {ware} from {given} {family} in {month} {year}."),
        ("When did {given} {family} give me {ware}?", "When did I get {ware} from {given}"
         " {family}?"),
        _WHO, "gave", "{ware}", "event.life"),
    Row("{code}", ("Parcel {code} goes to {given} {family} in {town}.",
                   "I sent parcel {code} to {town}, to {given} {family}."),
        ("Who gets parcel {code}?", "Where did I send parcel {code}?"),
        "parcel {code}", "goes to", "{town}", "event.arrangement"),
    Row("{shop} {town}", ("The door code of {shop} in {town} is {code}.",
                          "To get into {shop} in {town} one types {code}."),
        ("What is the door code of {shop} in {town}?", "How do I get into {shop} in {town}?"),
        "{shop}", "door code", "{code}", "attribute.belongings"),
)  # fmt: skip


def write_crowd(rng: random.Random) -> tuple[list[Fact], list[Query]]:
    """Many lines of a few kinds, no two about the same, and questions about single ones."""
    size, rows = rng.choice(SIZES), rng.sample(ROWS, rng.randint(2, 5))
    facts: list[Fact] = []
    queries: list[Query] = []
    taken: set[str] = set()
    for _ in range(2 * size):  # some kinds run out of things to be about
        row, drawn = rng.choice(rows), _drawn(rng)
        about = f"{row.relation} {row.about.format(**drawn)}"
        if about in taken or len(facts) == size:
            continue
        taken.add(about)
        text = rng.choice(row.tell).format(**drawn)
        head, tail = row.head.format(**drawn), row.tail.format(**drawn)
        if rng.random() < ASKED / size:
            asked = rng.choice(row.ask).format(**drawn)
            queries.append(Query(asked, frozenset({len(facts)}), "simple", tail))
        edge = (head, row.relation, tail)
        facts.append(Fact(text[0].upper() + text[1:], row.subclass, edge))
    return facts, queries


def _drawn(rng: random.Random) -> dict[str, str]:
    drawn = {name: rng.choice(values) for name, values in _SLOTS.items()}
    return drawn | {name: str(rng.randint(*ends)) for name, ends in _RANGES.items()}
