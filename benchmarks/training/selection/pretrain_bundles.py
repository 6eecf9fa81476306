"""What the shipped policies learn about things that were told bit by bit from.

Written by us and by chance; no row of a data set. A trip, a parcel or somebody's dentist is told of
in memories that only hang together: one says whose it is, one what it is called, one when it opens.
A question names one end and asks for the other, so it needs every link between; others ask for one
of them. Several of a kind stand beside one another, of other people and under other names.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.training.selection.pretrain_people import Fact, Query


@dataclass(frozen=True, slots=True)
class Link:
    """A sentence between two of a story's slots, in several wordings; ``relation`` leads on."""

    tell: tuple[str, ...]
    head: str
    relation: str
    tail: str
    subclass: str = "event.arrangement"


@dataclass(frozen=True, slots=True)
class Story:
    """A thing told link by link. Slots in braces: ``p`` is a person, the others are drawn."""

    slots: dict[str, tuple[str, ...]]
    links: tuple[Link, ...]
    ask: tuple[tuple[str, tuple[int, ...]], ...]
    """Questions, each with the links that it needs; the last one leads to the answer."""


_PEOPLE = (
    "my mother", "my father", "my brother", "my sister", "my manager", "my colleague Ruth",
    "my neighbour", "my cousin", "my aunt", "my uncle", "my friend Basil", "my flatmate",
    "my teacher", "my nephew", "my wife", "my daughter", "Zoe", "Rashid", "Mrs Lund",
)  # fmt: skip
_PLACES = ("Bonn", "Leeds", "Porto", "Ghent", "Basel", "Malmo", "Zagreb", "Tours", "Pisa", "Brno")
_TIMES = ("6:15", "07:40", "9:05 am", "11:50", "13:25", "16:10", "5:30 pm", "19:45", "22:20")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "2 March", "14 June", "30 August")
_NUMBERS = ("4", "7", "9", "12", "15", "18", "21", "26", "33", "48")
_WORKS = "relationship.colleague_friends"

STORIES: tuple[Story, ...] = (
    Story(
        {
            "k": ("train", "night train", "coach", "ferry"), "a": _PLACES, "v": _TIMES,
            "n": ("ICE 512", "TGV 6607", "RJ 63", "NJ 294", "FX 818", "EC 117", "B 4021"),
            "s": ("12C", "4A", "61", "18F", "77B", "2D"),
        },
        (
            Link(("I booked a {k} to {a} for {p}.", "{p} takes a {k} to {a}; I bought the ticket.",
                  "There is a ticket for the {k} to {a} that I got for {p}."),
                  "p", "travels to", "a"),
            Link(("The {k} to {a} is the {n}.", "I took the {n} {k} to {a}.",
                  "{n} is the {k} that goes to {a}."), "a", "reached by", "n"),
            Link(("{n} leaves at {v}.", "The {n} departs at {v}.", "Departure of {n}: {v}."),
                 "n", "departs at", "v"),
            Link(("The seat on {n} is {s}.", "Seat {s} is reserved on the {n}."), "n", "seat", "s"),
        ),
        (
            ("When does the {k} of {p} leave?", (0, 1, 2)),
            ("At what time does {p} depart for {a}?", (0, 1, 2)),
            ("Which seat does {p} have on the {k} to {a}?", (0, 1, 3)),
            ("Where does {p} travel to?", (0,)),
            ("Which {k} goes to {a}?", (1,)),
            ("When does {n} leave?", (2,)),
        ),
    ),
    Story(
        {
            "k": ("parcel", "package", "letter", "box of books"), "v": _DAYS,
            "n": ("Q7781", "LX 204 NO", "ZR-5590", "JD0042", "H-3317", "PK 68"),
            "a": ("the kiosk", "the post office", "the petrol station", "the locker at the bakery"),
        },
        (
            Link(("I sent a {k} to {p}.", "There is a {k} on its way to {p}."),
                 "p", "was sent", "k"),
            Link(("The {k} to {p} has the number {n}.",
                  "{n} is the tracking number of the {k} for {p}."),
                 "k", "number", "n"),
            Link(("{n} will be delivered on {v}.", "{n} should arrive on {v}."),
                 "n", "arrives", "v"),
            Link(("{n} waits at {a}.", "{n} can be picked up at {a}."), "n", "is at", "a"),
        ),
        (
            ("When will the {k} for {p} arrive?", (1, 2)),
            ("Where can {p} pick up the {k}?", (1, 3)),
            ("What is the number of the {k} that I sent to {p}?", (1,)),
            ("What did I send to {p}?", (0,)),
        ),
    ),
    Story(
        {
            "k": ("dentist", "doctor", "physiotherapist", "eye doctor", "lawyer"),
            "d": ("Dr Sahin", "Dr Moreau", "Dr Vasquez", "Dr Engel", "Dr Tamm", "Dr Okoye"),
            "a": ("the Linden practice", "the Harbour practice", "the Old Mill practice",
                  "the practice on Fern Street", "the Station practice"),
            "v": _TIMES, "f": ("0228 7714", "0161 5590", "555 8123", "0711 4402"),
        },
        (
            Link(("The {k} of {p} is {d}.", "{p} goes to {d}, a {k}.",
                  "{d} is the {k} that {p} has."),
                 "p", "has", "d", _WORKS),
            Link(("{d} works at {a}.", "{d} has moved to {a}.", "You find {d} at {a}."),
                 "d", "works at", "a", _WORKS),
            Link(("{a} opens at {v}.", "From {v} on there is somebody at {a}."),
                 "a", "opens at", "v"),
            Link(("{a} has the number {f}.", "Ring {a} on {f}."), "a", "phone", "f",
                 "attribute.contact"),
        ),
        (
            ("When does the {k} of {p} open?", (0, 1, 2)),
            ("What number do I ring to reach the {k} of {p}?", (0, 1, 3)),
            ("Where does the {k} of {p} work?", (0, 1)),
            ("Who is the {k} of {p}?", (0,)),
            ("Where do I find {d}?", (1,)),
        ),
    ),
    Story(
        {
            "b": ("the Paper Kites", "Dead Lemons", "the Brass Owls", "Nora Quist", "Low Tide"),
            "a": ("the Kulturhof", "the Town Hall", "Barn 7", "the Odeon", "the Glass House"),
            "v": _TIMES, "r": _NUMBERS,
        },
        (
            Link(("I got a ticket for the concert of {b} for {p}.",
                  "{p} wants to see {b}; I have a ticket.",
                  "A ticket for {b} is my present for {p}."), "p", "ticket for", "b",
                 "preference.entertainment"),
            Link(("{b} play at {a}.", "The concert of {b} is at {a}."), "b", "plays at", "a"),
            Link(("{a} lets people in from {v}.", "The doors of {a} open at {v}."),
                 "a", "opens at", "v"),
            Link(("The ticket for {b} is for row {r}.", "Row {r} is where the {b} ticket is for."),
                 "b", "row", "r"),
        ),
        (
            ("When do the doors open at the concert that I take {p} to?", (0, 1, 2)),
            ("Where is the concert for which {p} has a ticket?", (0, 1)),
            ("Which row is the concert ticket of {p} for?", (0, 3)),
            ("Whom does {p} want to see?", (0,)),
            ("Where do {b} play?", (1,)),
        ),
    ),
    Story(
        {
            "k": ("flat", "house", "allotment", "garage"), "a": ("12 Rook Lane", "5 Quay Road",
            "31 Abbey Hill", "8 Tanner Row", "70 Mill Street"),
            "l": ("Mr Haldane", "Ms Fiore", "the Baltic company", "Mr Osei", "the Korn family"),
            "v": ("640 euros", "815 euros", "1,120 euros", "390 euros", "955 euros"),
        },
        (
            Link(("The {k} that {p} rents is at {a}.", "{p} rents a {k} at {a}."),
                 "p", "rents", "a",
                 "attribute.address"),
            Link(("{a} belongs to {l}.", "{l} is the landlord of {a}."), "a", "belongs to", "l",
                 "attribute.address"),
            Link(("The rent of {a} is {v}.", "{a} costs {v} a month."), "a", "costs", "v",
                 "attribute.address"),
            Link(("{l} wants the rent on {w}.", "The rent goes to {l} on {w}."),
                 "l", "paid on", "w"),
        ),
        (
            ("How much does the {k} of {p} cost?", (0, 2)),
            ("Who is the landlord of {p}?", (0, 1)),
            ("On which day does {p} pay for the {k}?", (0, 1, 3)),
            ("At what address is the {k} of {p}?", (0,)),
            ("What is the rent of {a}?", (2,)),
        ),
    ),
    Story(
        {
            "k": ("dog", "cat", "parrot", "rabbit"), "n": ("Biscuit", "Pepper", "Ziggy",
            "Mocha", "Otto"),
            "d": ("Anders Holm", "Ms Petrova", "Lucas Brandt", "Ms Adeyemi"),
            "v": _TIMES, "w": _DAYS,
        },
        (
            Link(("The {k} of {p} is called {n}.", "{p} has a {k}, {n}."), "p", "has", "n",
                 "attribute.belongings"),
            Link(("{d} looks after {n}.", "{n} is treated by {d}.", "The vet of {n} is {d}."),
                 "n", "vet", "d"),
            Link(("{d} sees animals on {w}.", "{d} works on {w} only."), "d", "works on", "w"),
            Link(("{n} gets food at {v}.", "At {v} it is time to feed {n}."), "n", "fed at", "v"),
        ),
        (
            ("On which day can the {k} of {p} be treated?", (0, 1, 2)),
            ("Who looks after the {k} of {p}?", (0, 1)),
            ("When must I feed the {k} of {p}?", (0, 3)),
            ("What is the {k} of {p} called?", (0,)),
        ),
    ),
    Story(
        {
            "k": ("course", "evening class", "workshop"), "t": ("pottery", "Finnish", "welding",
            "bookbinding", "tango", "first aid"),
            "d": ("Ilse Marek", "Tunde Bello", "Pia Lindqvist", "Hamid Rahimi"),
            "r": ("room 4", "the gym", "the annex", "room 212", "the cellar"), "v": _TIMES,
        },
        (
            Link(("{p} goes to the {t} {k}.", "I put {p} down for the {t} {k}."),
                 "p", "attends", "t",
                 "attribute.education"),
            Link(("The {t} {k} is given by {d}.", "{d} teaches {t}."), "t", "taught by", "d",
                 "relationship.teacher_student"),
            Link(("{d} teaches in {r}.", "{r} is where {d} has all lessons."),
                 "d", "teaches in", "r",
                 "relationship.teacher_student"),
            Link(("The {t} {k} begins at {v}.", "{t} starts at {v}."), "t", "begins at", "v"),
        ),
        (
            ("In which room does {p} have the {k}?", (0, 1, 2)),
            ("Who teaches {p}?", (0, 1)),
            ("When does the {k} of {p} begin?", (0, 3)),
            ("Which {k} does {p} go to?", (0,)),
            ("Who gives the {t} {k}?", (1,)),
        ),
    ),
    Story(
        {
            "k": ("Skoda", "Volvo", "camper van", "scooter", "Fiat"), "n": ("KX 71 ZBR", "B-MR 904",
            "AE 552 TT", "W 38017", "LN 20 OPE"),
            "g": ("Castell insurance", "the Norden group", "Helvetic", "Aurora insurance"),
            "v": _DAYS, "f": ("0800 117", "0900 42 42", "555 6060", "0330 918"),
        },
        (
            Link(("{p} drives the {k}.", "The {k} belongs to {p}."),
                 "p", "drives", "k", "preference.car"),
            Link(("The plate of the {k} is {n}.", "{n} is on the plate of the {k}."),
                 "k", "plate", "n",
                 "preference.car"),
            Link(("{n} is insured with {g}.", "{g} insures the {n}."), "n", "insured with", "g"),
            Link(("{g} can be reached on {f}.", "The hotline of {g} is {f}."), "g", "phone", "f",
                 "attribute.contact"),
        ),
        (
            ("Who insures the vehicle of {p}?", (0, 1, 2)),
            ("What number should {p} ring after an accident?", (0, 1, 2, 3)),
            ("What is the plate of the vehicle that {p} drives?", (0, 1)),
            ("What does {p} drive?", (0,)),
            ("With whom is the {k} insured?", (1, 2)),
        ),
    ),
    Story(
        {
            "h": ("the Hotel Meridian", "the Anker", "Pension Rosa", "the Blue Heron",
            "the Villa Elm"),
            "a": _PLACES, "n": ("R-2207", "KM 9914", "88-0413", "TZ5508"), "v": _TIMES, "w": _DAYS,
        },
        (
            Link(("{p} stays at {h} in {a}.", "I reserved {h} in {a} for {p}."),
                 "p", "stays at", "h"),
            Link(("The booking of {h} is {n}.", "{n} is the reservation at {h}."),
                 "h", "booking", "n"),
            Link(("{n} can be cancelled until {w}.", "Until {w} I may cancel {n}."),
                 "n", "until", "w"),
            Link(("Check-in at {h} is from {v}.", "{h} gives out the keys from {v}."),
                 "h", "check-in", "v"),
        ),
        (
            ("Until when can I cancel the room in {a} of {p}?", (0, 1, 2)),
            ("What is the booking number of the hotel of {p} in {a}?", (0, 1)),
            ("From when on can {p} get into the room in {a}?", (0, 3)),
            ("Where does {p} sleep in {a}?", (0,)),
            ("What is the reservation number at {h}?", (1,)),
        ),
    ),
)  # fmt: skip


def write_bundles(rng: random.Random) -> tuple[list[Fact], list[Query]]:
    """Some things of some people, told link by link in any order, with their questions."""
    facts: list[Fact] = []
    queries: list[Query] = []
    for story in rng.sample(STORIES, rng.randint(2, 4)):
        owners = rng.sample(_PEOPLE, rng.randint(1, 3))
        drawn = {
            # Each owner's own: a name that two share would not lead anywhere.
            slot: rng.sample(values, len(owners)) if slot != "k" else [rng.choice(values)] * 3
            for slot, values in (("w", _DAYS), *story.slots.items())
        }
        for place, owner in enumerate(owners):
            filled = {"p": owner} | {slot: values[place] for slot, values in drawn.items()}
            first = len(facts)
            for link in story.links:
                text = rng.choice(link.tell).format(**filled)
                edge = (filled[link.head], link.relation, filled[link.tail])
                facts.append(Fact(text[0].upper() + text[1:], link.subclass, edge))
            for text, needs in story.ask:
                gold = frozenset(first + link for link in needs)
                kind = "chain" if len(gold) > 1 else "simple"
                answer = filled[story.links[needs[-1]].tail]
                queries.append(Query(text.format(**filled), gold, kind, answer))
    rng.shuffle(queries)
    return facts, queries
