"""What the shipped policies learn from about many memories that are nearly the same.

Written by us and by chance; no row of a data set. A diary of what was paid, read or lent has dozens
of lines in one wording, and every word of a question stands in many of them: only the line that has
all of them is asked for. A policy learns there to tell lines apart and to stop after one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.training.selection.pretrain_people import Fact, Query

_PEOPLE = ("Anouk", "Bela", "Cheng", "Dora", "Emre", "Fatou", "Goran", "Heidi", "Ivan", "Jana")
_DAYS = tuple(f"{day} {month}" for day in (3, 11, 19, 27) for month in ("January", "April", "July"))
_NUMBERS = tuple(str(number) for number in (6, 8, 13, 17, 24, 29, 35, 41, 58, 73, 96, 120))
MOST_LISTED = 4
"""Lines that a question may ask for together."""


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of one wording; ``{a}`` and ``{b}`` together say which, ``{v}`` is what they tell."""

    tell: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    v: tuple[str, ...]
    ask: tuple[str, ...]
    list: str
    """Asks for all lines of ``{a}``."""
    relation: str
    subclass: str = "event.life"


PAGES: tuple[Page, ...] = (
    Page(("I paid {v} euros for {a} at {b}.", "{a} at {b}: {v} euros."),
         ("coffee beans", "a bus pass", "printer ink", "cat food", "light bulbs", "flour"),
         ("Miller's", "the market", "Konsum", "the corner shop", "Halle 9"), _NUMBERS,
         ("How much did I pay for {a} at {b}?", "What did {a} cost at {b}?"),
         "Where did I buy {a}?", "paid for", "event.life"),
    Page(("I met {a} about {b} in {v}.", "{a} and I talked about {b} in {v}."),
         _PEOPLE, ("the budget", "the new roof", "the choir", "the fence", "the reunion"),
         ("Room 2", "the canteen", "the park", "Cafe Linse", "her garden", "the library"),
         ("Where did I meet {a} about {b}?", "Where did {a} and I talk about {b}?"),
         "What did I talk about with {a}?", "met", "relationship.colleague_friends"),
    Page(("I ran {v} kilometres with {a} on {b}.", "On {b} {a} and I ran {v} kilometres."),
         _PEOPLE, _DAYS, _NUMBERS,
         ("How far did I run with {a} on {b}?", "How many kilometres did {a} and I run on {b}?"),
         "On which days did I run with {a}?", "ran with", "preference.sports"),
    Page(("I lent {a} to {v} on {b}.", "{v} borrowed {a} on {b}."),
         ("my drill", "the ladder", "the tent", "my atlas", "the trailer", "the wok"),
         _DAYS, _PEOPLE,
         ("To whom did I lend {a} on {b}?", "Who borrowed {a} on {b}?"),
         "Who has borrowed {a} from me?", "lent", "attribute.belongings"),
    Page(("I watched {a} with {b} at {v}.", "{b} and I saw {a} at {v}."),
         ("Metropolis", "The Red Shoes", "Solaris", "Ikiru", "Paterson", "Brazil"), _PEOPLE,
         ("the Odeon", "the open-air cinema", "home", "the film club", "the Capitol"),
         ("Where did I watch {a} with {b}?", "Where did {b} and I see {a}?"),
         "With whom did I watch {a}?", "watched", "preference.entertainment"),
    Page(("The {a} meter read {v} on {b}.", "On {b}: {a} meter {v}."),
         ("water", "gas", "power", "heating"), _DAYS,
         ("4,310", "4,377", "5,021", "88,104", "88,960", "90,233", "1,207", "1,290"),
         ("What did the {a} meter read on {b}?", "How high was the {a} meter on {b}?"),
         "When was the {a} meter read?", "meter", "event.life"),
    Page(("{a} had an appointment with {b} on {v}.", "On {v} {a} went to see {b}."),
         ("my son", "my wife", "my grandfather", "our dog"),
         ("Dr Klein", "the optician", "the surgeon", "the dentist", "Ms Abara"), _DAYS,
         ("When did {a} go to see {b}?", "On what day was the appointment of {a} with {b}?"),
         "Whom did {a} have appointments with?", "appointment", "event.arrangement"),
)  # fmt: skip


def write_ledger(rng: random.Random) -> tuple[list[Fact], list[Query]]:
    """One or two pages of lines, and questions about single ones and about all of one kind."""
    facts: list[Fact] = []
    queries: list[Query] = []
    for page in rng.sample(PAGES, rng.randint(1, 2)):
        pairs = [(a, b) for a in page.a for b in page.b]
        lines: dict[str, list[int]] = {}
        for a, b in rng.sample(pairs, rng.randint(len(pairs) // 3, 2 * len(pairs) // 3)):
            value = rng.choice(page.v)
            text = rng.choice(page.tell).format(a=a, b=b, v=value)
            lines.setdefault(a, []).append(len(facts))
            if rng.random() < 0.5:
                asked = rng.choice(page.ask).format(a=a, b=b)
                queries.append(Query(asked, frozenset({len(facts)}), "simple", value))
            facts.append(Fact(text[0].upper() + text[1:], page.subclass, (a, page.relation, value)))
        for a, numbers in lines.items():
            if len(numbers) <= MOST_LISTED and rng.random() < 0.5:
                queries.append(Query(page.list.format(a=a), frozenset(numbers), "aggregative"))
    rng.shuffle(queries)
    return facts, queries
