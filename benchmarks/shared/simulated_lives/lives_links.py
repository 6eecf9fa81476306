"""A bank of lives whose questions need two to four memories: links between facts told apart.

Four kinds: *people* (who somebody's somebody is, up to four steps), *event* (what, where and when
were told in different messages), *count* (all that fit have to be found) and *comparison*. Beside
what a question needs, facts of the same wording about others are told, so that one similar memory
is not enough. Names are drawn without repetition within a life.

Never learned from: the shipped weights were made before this bank and from other templates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from benchmarks.shared.simulated_lives.lives_bank import Link
from benchmarks.shared.simulated_lives.lives_test import BANK as TEST

Values = Mapping[str, str]

POOLS: Mapping[str, tuple[str, ...]] = {
    "name": (
        "Amara", "Bastian", "Celine", "Dario", "Edda", "Farid", "Greta", "Hideo", "Ines", "Jonas",
        "Kalina", "Lamin", "Mirela", "Noor", "Olek", "Paloma", "Quentin", "Runa", "Stellan",
        "Tamsin", "Ulla", "Vikram", "Wanda", "Ximena", "Yannis", "Zofia", "Aurel", "Briony",
        "Cosmo", "Delphine", "Emeka", "Freya", "Gustavo", "Halina", "Ilse", "Joaquin", "Katrin",
        "Leander", "Maeve", "Niko", "Ottilie", "Piers", "Rosalind", "Sunniva", "Tariq", "Ursel",
    ),
    "city": ("Ghent", "Porto", "Turku", "Graz", "Bilbao", "Aarhus", "Lublin", "Verona", "Nantes",
             "Split", "Cork", "Plovdiv"),
    "job": ("carpenter", "dietician", "surveyor", "upholsterer", "pharmacist"),
    "street": ("Alder Way", "Quarry Lane", "Harbour Row", "Weaver Street", "Orchard Rise",
               "Mason Court"),
    "place": ("the Rowing Club", "Studio Nine", "the Old Forge", "Lido East"),
    "school": ("Rosebank School", "Linden School"),
    "band": ("Copper Fjord", "Night Weavers"),
    "venue": ("the Corn Exchange", "the Tin Hall"),
    "car": ("Volvo", "Fiat", "Skoda"),
    "fuel": ("diesel", "petrol", "electricity"),
    "book": ("The Salt Road", "Winter Bees", "A Map of Rain", "The Ninth Pier", "Paper Foxes",
             "Slow Trains"),
    "topic": ("pottery", "first aid", "beekeeping"),
    "train": ("RE 7712", "IC 2043"),
    "code": ("linen suits", "bright colours"),
    "phone": ("555 2214", "555 9036", "555 4471"),
    "time": ("19:10", "20:25", "18:35"),
    "day": ("3 August 2024", "17 August 2024", "9 September 2024", "21 September 2024"),
    "number": ("31", "44", "52", "67", "28", "39", "73", "58"),
    "year": ("1961", "1987", "1974", "1995"),
    "sum": ("35", "60", "80", "120", "45", "150"),
    "rent": ("710", "840", "925", "1060"),
    "row": ("F", "K"),
}  # fmt: skip
"""What slots are drawn from; a slot is called by its pool, with a number behind it."""


def less(first: str, second: str, said: tuple[str, str]) -> Callable[[Values], str]:
    """The one of two whose number is smaller."""
    return lambda v: v[said[0]] if float(v[first]) < float(v[second]) else v[said[1]]


def more(first: str, second: str, said: tuple[str, str]) -> Callable[[Values], str]:
    """The one of two whose number is larger."""
    return less(second, first, said)


def slot(name: str) -> Callable[[Values], str]:
    """The value of a slot."""
    return lambda v: v[name]


def literally(value: str) -> Callable[[Values], str]:
    """The same in every life."""
    return lambda _: value


_R = "relationship.relatives"
_O = "relationship.colleague_friends"
_E = "event.arrangement"
_C = "attribute.contact"
_A = "attribute.address"
_F = "relationship.colleague_friends"

LINKS: tuple[Link, ...] = (
    Link(
        "boss's sister", "people",
        (("My boss is {name1}.", _O, ("me", "boss", "{name1}")),
         ("{name2} is the sister of {name1}.", _R, ("{name1}", "sister", "{name2}")),
         ("{name2} lives in {city1}.", _A, ("{name2}", "lives_in", "{city1}"))),
        (("{name3} is the sister of {name4}.", _R, ("{name4}", "sister", "{name3}")),
         ("{name3} lives in {city2}.", _A, ("{name3}", "lives_in", "{city2}"))),
        ("Where does my boss's sister live?", "In which city does the sister of my boss live?"),
        slot("city1"),
    ),
    Link(
        "neighbour's job", "people",
        (("{name1} is my neighbour.", _F, ("me", "neighbour", "{name1}")),
         ("{name1} works as a {job1}.", _F, ("{name1}", "works_as", "{job1}"))),
        (("{name2} works as a {job2}.", _F, ("{name2}", "works_as", "{job2}")),),
        ("What does my neighbour do for a living?", "What is my neighbour's job?"),
        slot("job1"),
    ),
    Link(
        "landlord's assistant", "people",
        (("My landlord is {name1}.", _F, ("me", "landlord", "{name1}")),
         ("{name1} has an assistant called {name2}.", _F, ("{name1}", "assistant", "{name2}")),
         ("The number of {name2} is {phone1}.", _C, ("{name2}", "phone", "{phone1}"))),
        (("The number of {name3} is {phone2}.", _C, ("{name3}", "phone", "{phone2}")),),
        ("What is the number of my landlord's assistant?",
         "How do I reach the assistant of my landlord?"),
        slot("phone1"),
    ),
    Link(
        "godchild's school", "people",
        (("My godchild is {name1}.", _R, ("me", "godchild", "{name1}")),
         ("{name1} goes to {school1}.", _R, ("{name1}", "goes_to", "{school1}")),
         ("{school1} is on {street1}.", _A, ("{school1}", "is_on", "{street1}"))),
        (("{name2} goes to {school2}.", _R, ("{name2}", "goes_to", "{school2}")),
         ("{school2} is on {street2}.", _A, ("{school2}", "is_on", "{street2}"))),
        ("On which street is my godchild's school?", "Where is the school of my godchild?"),
        slot("street1"),
    ),
    Link(
        "coach's place", "people",
        (("{name1} coaches me on Mondays.", _F, ("{name1}", "coaches", "me")),
         ("{name1} can be found at {place1}.", _F, ("{name1}", "found_at", "{place1}"))),
        (("{name2} can be found at {place2}.", _F, ("{name2}", "found_at", "{place2}")),),
        ("Where can my coach be found?", "At which place do I find my coach?"),
        slot("place1"),
    ),
    Link(
        "friend's mother-in-law", "people",
        (("My oldest friend is {name1}.", _F, ("me", "oldest_friend", "{name1}")),
         ("{name1} is married to {name2}.", _R, ("{name1}", "married_to", "{name2}")),
         ("{name3} is the mother of {name2}.", _R, ("{name2}", "mother", "{name3}")),
         ("{name3} was born in {city1}.", _A, ("{name3}", "born_in", "{city1}"))),
        (("{name4} is married to {name5}.", _R, ("{name4}", "married_to", "{name5}")),
         ("{name5} was born in {city2}.", _A, ("{name5}", "born_in", "{city2}"))),
        ("Where was the mother of my oldest friend's spouse born?",),
        slot("city1"),
    ),
    Link(
        "office mate's car", "people",
        (("{name1} shares my office.", _O, ("{name1}", "shares_office_with", "me")),
         ("{name1} drives a {car1}.", _O, ("{name1}", "drives", "{car1}")),
         ("The {car1} runs on {fuel1}.", _O, ("{car1}", "runs_on", "{fuel1}"))),
        (("{name2} drives a {car2}.", _F, ("{name2}", "drives", "{car2}")),
         ("The {car2} runs on {fuel2}.", _F, ("{car2}", "runs_on", "{fuel2}"))),
        ("What does the car of my office mate run on?",
         "Which fuel does the person who shares my office need?"),
        slot("fuel1"),
    ),
    Link(
        "housewarming", "event",
        (("{name1}'s housewarming is on {day1}.", _E, ("{name1}'s housewarming", "on", "{day1}")),
         ("The address for {name1}'s housewarming is {street1} 14.", _E,
          ("{name1}'s housewarming", "address", "{street1} 14"))),
        (("{name2}'s farewell party is on {day2}.", _E,
          ("{name2}'s farewell party", "on", "{day2}")),),
        ("When and where is {name1}'s housewarming?",
         "What are the date and the address of {name1}'s housewarming?"),
        slot("day1"),
    ),
    Link(
        "concert", "event",
        (("{band1} plays at {venue1}.", _E, ("{band1}", "plays_at", "{venue1}")),
         ("The {band1} concert starts at {time1}.", _E,
          ("{band1} concert", "starts_at", "{time1}")),
         ("Our seats for {band1} are in row {row1}.", _E, ("{band1}", "seats", "row {row1}"))),
        (("{band2} plays at {venue2}.", _E, ("{band2}", "plays_at", "{venue2}")),
         ("The {band2} concert starts at {time2}.", _E,
          ("{band2} concert", "starts_at", "{time2}"))),
        ("Where and when does {band1} play, and where do we sit?",),
        slot("venue1"),
    ),
    Link(
        "niece's train", "event",
        (("I booked a train to {city1} for my niece.", _E, ("my niece", "train_to", "{city1}")),
         ("The train to {city1} is {train1}.", _E, ("train to {city1}", "is", "{train1}")),
         ("{train1} leaves from platform {number1}.", _E,
          ("{train1}", "platform", "{number1}"))),
        (("The train to {city2} is {train2}.", _E, ("train to {city2}", "is", "{train2}")),
         ("{train2} leaves from platform {number2}.", _E, ("{train2}", "platform", "{number2}"))),
        ("From which platform does my niece's train leave?",),
        slot("number1"),
    ),
    Link(
        "workshop", "event",
        (("The {topic1} workshop is given by {name1}.", _E,
          ("{topic1} workshop", "given_by", "{name1}")),
         ("The {topic1} workshop is in {place1}.", _E, ("{topic1} workshop", "is_in", "{place1}"))),
        (("The {topic2} workshop is given by {name2}.", _E,
          ("{topic2} workshop", "given_by", "{name2}")),),
        ("Who gives the {topic1} workshop, and where is it?",),
        slot("name1"),
    ),
    Link(
        "wedding", "event",
        (("The wedding of {name1} and {name2} is on {day1}.", _E,
          ("wedding of {name1} and {name2}", "on", "{day1}")),
         ("{name1} and {name2} marry in {city1}.", _E,
          ("wedding of {name1} and {name2}", "is_in", "{city1}")),
         ("Guests of {name1} and {name2} wear {code1}.", _E,
          ("wedding of {name1} and {name2}", "guests_wear", "{code1}"))),
        (("The christening at {name3}'s is on {day2}.", _E,
          ("christening at {name3}'s", "on", "{day2}")),),
        ("Where and when do {name1} and {name2} marry, and what should I wear?",),
        slot("city1"),
    ),
    Link(
        "library books", "count",
        tuple((f"I borrowed {{book{n}}} from the library.", "attribute.belongings",
               ("me", "borrowed", f"{{book{n}}}")) for n in (1, 2, 3, 4)),
        (("I bought {book5} second-hand.", "attribute.belongings", ("me", "bought", "{book5}")),),
        ("How many books did I borrow from the library?",),
        literally("4"),
    ),
    Link(
        "business trips", "count",
        tuple((f"I went to {{city{n}}} on business.", "event.life",
               ("me", "business_trip_to", f"{{city{n}}}")) for n in (1, 2, 3)),
        (("I went to {city4} on holiday.", "event.life", ("me", "holiday_in", "{city4}")),),
        ("How many cities did I go to on business?", "To how many cities did business take me?"),
        literally("3"),
    ),
    Link(
        "nut allergies", "count",
        tuple((f"{{name{n}}} can't eat nuts.", _F, (f"{{name{n}}}", "cannot_eat", "nuts"))
              for n in (1, 2)),
        (("{name3} can't eat shellfish.", _F, ("{name3}", "cannot_eat", "shellfish")),),
        ("How many people do I know who can't eat nuts?",),
        literally("2"),
    ),
    Link(
        "debts", "count",
        tuple((f"{{name{n}}} owes me {{sum{n}}} euros.", "attribute.belongings",
               (f"{{name{n}}}", "owes_me", f"{{sum{n}}} euros")) for n in (1, 2, 3)),
        (("I owe {name4} {sum4} euros.", "attribute.belongings",
          ("me", "owe", "{name4}")),),
        ("How much do people owe me altogether?", "What do others owe me in total?"),
        lambda v: str(sum(int(v[f"sum{n}"]) for n in (1, 2, 3))),
    ),
    Link(
        "older", "comparison",
        (("{name1} is {number1} years old.", _F, ("{name1}", "age", "{number1}")),
         ("{name2} is {number2} years old.", _F, ("{name2}", "age", "{number2}"))),
        (("{name3} is {number3} years old.", _F, ("{name3}", "age", "{number3}")),),
        ("Who is older, {name1} or {name2}?",),
        more("number1", "number2", ("name1", "name2")),
    ),
    Link(
        "cheaper flat", "comparison",
        (("The flat on {street1} costs {rent1} a month.", _A,
          ("flat on {street1}", "costs", "{rent1}")),
         ("The flat on {street2} costs {rent2} a month.", _A,
          ("flat on {street2}", "costs", "{rent2}"))),
        (("The flat on {street3} costs {rent3} a month.", _A,
          ("flat on {street3}", "costs", "{rent3}")),),
        ("Which flat is cheaper, the one on {street1} or the one on {street2}?",),
        less("rent1", "rent2", ("street1", "street2")),
    ),
    Link(
        "younger relative", "comparison",
        (("My stepbrother is {name1}.", _R, ("me", "stepbrother", "{name1}")),
         ("My godfather is {name2}.", _R, ("me", "godfather", "{name2}")),
         ("{name1}'s year of birth is {year1}.", _R, ("{name1}", "year_of_birth", "{year1}")),
         ("{name2}'s year of birth is {year2}.", _R, ("{name2}", "year_of_birth", "{year2}"))),
        (("{name3}'s year of birth is {year3}.", _R, ("{name3}", "year_of_birth", "{year3}")),),
        ("Who is younger, my stepbrother or my godfather?",),
        more("year1", "year2", ("name1", "name2")),
    ),
    Link(
        "half marathon", "comparison",
        (("{name1} ran the half marathon in {number1} minutes over an hour.", "event.life",
          ("{name1}", "ran_half_marathon_in", "{number1}")),
         ("{name2} ran the half marathon in {number2} minutes over an hour.", "event.life",
          ("{name2}", "ran_half_marathon_in", "{number2}"))),
        (("{name3} ran ten kilometres in {number3} minutes.", "event.life",
          ("{name3}", "ran_ten_kilometres_in", "{number3}")),),
        ("Who ran the half marathon faster, {name1} or {name2}?",),
        less("number1", "number2", ("name1", "name2")),
    ),
)  # fmt: skip

BANK = replace(
    TEST, name="linked", topics=TEST.topics[:2], tastes=(), chains=(), links=LINKS, pools=POOLS
)
"""Fewer single facts than ``test``, so that most questions are over several memories."""
