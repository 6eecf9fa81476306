"""What simulated lives lack for the services: birthdays, habits, deadlines, and where people are.

``{n}`` is a name, ``{d}`` a day, ``{t}`` a time of day, ``{w}`` a weekday, ``{a}`` an address. The
bank ``train`` is what memlane is developed on; ``test`` was written before the first run, shares no
wording or value with it and is never used to mend a rule.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Yearly:
    """A day that comes back each year."""

    names: tuple[str, ...]
    """What a reminder of it must name."""
    tell: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weekly:
    """A habit on ``{w}`` at ``{t}``."""

    name: str
    tell: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """Something to be done or attended on ``{d}``."""

    name: str
    tell: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """Somebody or something with an address; ``moved`` tells another one later."""

    asked: str
    """How the destination is asked for."""
    subject: str
    tell: tuple[str, ...]
    moved: tuple[str, ...] = ()
    first: str = ""
    """Told before: what leads from ``asked`` to ``subject``."""
    relation: tuple[str, str, str] = ("", "", "")


@dataclass(frozen=True, slots=True)
class ServiceBank:
    """All templates of one kind of life."""

    name: str
    yearly: tuple[Yearly, ...]
    weekly: tuple[Weekly, ...]
    once: tuple[Once, ...]
    where: tuple[Where, ...]
    addresses: tuple[str, ...]
    unknown: tuple[str, ...]
    """Destinations that nobody ever told of."""


TRAIN = ServiceBank(
    name="train",
    yearly=(
        Yearly(("mother",), ("My mother's birthday is on {d}.", "My mother was born on {d}.")),
        Yearly(("Nina",), ("Nina's birthday is {d}.", "Nina's birthday is on {d}.")),
        Yearly(("anniversary",), ("Our wedding anniversary is on {d}.", "We got married on {y}.")),
    ),
    weekly=(
        Weekly("tennis", ("I play tennis every {w} at {t}.", "I play tennis on {w}s at {t}.")),
        Weekly("choir", ("I go to choir every {w} at {t}.", "Choir practice is every {w} at {t}.")),
    ),
    once=(
        Once("report", ("I need to hand in the report by {d}.", "The report is due on {d}.")),
        Once("concert", ("I have tickets for a concert on {d} at {t}.",
                         "The concert is on {d} at {t}.")),
        Once("passport", ("My passport expires on {d}.", "My passport is valid until {d}.")),
    ),
    where=(
        Where("my sister", "my sister", ("My sister lives at {a}.", "My sister's address is {a}."),
              ("My sister moved to {a}.", "My sister lives at {a} now."),
              relation=("my sister", "lives_in", "{a}")),
        Where("the Hillside Clinic", "Hillside Clinic",
              ("The Hillside Clinic is at {a}.", "The address of the Hillside Clinic is {a}.")),
        Where("my swimming pool", "Tide Baths",
              ("Tide Baths is at {a}.", "Tide Baths is located at {a}."),
              first="My swimming pool is Tide Baths.",
              relation=("me", "swimming_pool", "Tide Baths")),
        Where("Granny", "Rosa Weber", ("Rosa Weber lives at {a}.", "Rosa Weber's address is {a}."),
              first="Granny and Rosa Weber are the same person.",
              relation=("Granny", "same_as", "Rosa Weber")),
    ),
    addresses=("12 Mill Road, Leeds", "5 Elm Street, York", "Rua Nova 8, Porto",
               "27 Harbour Lane, Bath", "3 Station Square, Ghent", "Lindenweg 14, Bern"),
    unknown=("Bunny", "the Blue Heron", "my cousin's flat"),
)  # fmt: skip

TEST = ServiceBank(
    name="test",
    yearly=(
        Yearly(("father",), ("My father has his birthday on {d}.", "My father's birthday falls on "
                             "{d}.")),
        Yearly(("Oskar",), ("Oskar was born on {d}.", "The birthday of Oskar is on {d}.")),
        Yearly(("anniversary",), ("My parents' wedding anniversary is {d}.",
                                  "The anniversary of our first date is {d}.")),
    ),
    weekly=(
        Weekly("pottery", ("Every {w} at {t} I take a pottery class.",
                           "I have pottery each {w} at {t}.")),
        Weekly("Spanish", ("My Spanish lesson is on {w}s at {t}.",
                           "I learn Spanish every {w} at {t}.")),
    ),
    once=(
        Once("tax", ("My tax return has to be filed by {d}.", "The tax return is due by {d}.")),
        Once("wedding", ("Lena's wedding takes place on {d} at {t}.",
                         "We are invited to a wedding on {d} at {t}.")),
        Once("licence", ("My fishing licence runs out on {d}.",
                         "My fishing licence is good until {d}.")),
    ),
    where=(
        Where("my brother", "my brother", ("My brother resides at {a}.", "My brother's flat is at "
                                           "{a}."),
              ("My brother has moved to {a}.", "My brother now lives at {a}."),
              relation=("my brother", "lives_in", "{a}")),
        Where("the Maple Bakery", "Maple Bakery",
              ("The Maple Bakery can be found at {a}.", "You find the Maple Bakery at {a}.")),
        Where("my barber", "Salon Zoe", ("Salon Zoe is on {a}.", "Salon Zoe's address is {a}."),
              first="My barber is Salon Zoe.", relation=("me", "barber", "Salon Zoe")),
        Where("Nonno", "Carlo Bini", ("Carlo Bini's house is at {a}.", "Carlo Bini lives on {a}."),
              first="Nonno and Carlo Bini are one and the same.",
              relation=("Nonno", "same_as", "Carlo Bini")),
    ),
    addresses=("40 Quarry Hill, Derby", "Via Pergola 6, Lucca", "18 Kelp Close, Hull",
               "Torggata 11, Oslo", "9 Orchard Row, Cork", "Am Ring 2, Graz"),
    unknown=("Pumpkin", "the Silver Oak", "my neighbour's cabin"),
)  # fmt: skip
BANKS = {"train": TRAIN, "test": TEST}
