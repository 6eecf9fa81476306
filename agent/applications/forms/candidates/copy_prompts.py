"""Prompts by which the language model copies a value for a field and checks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.language.injection import as_data
from agent.models.closed_question import worked
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn
from store.types import Memory

Examples = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Notes, each with fields and what is copied into them."""

SYSTEM = (
    "You fill in a form for the user from the user's notes. I and my in the notes are the user. "
    "Copy the exact words of the value from one note. Later notes win. If no note gives the value, "
    "or gives it of another person, write NONE."
)
EXAMPLES: Examples = (
    (
        "- I'm Petra Lindqvist and I live at 14 Elm Row, Leeds.\n"
        "- my bro Nils is a plumber, ring him on 0113 496 0022\n"
        "- Nils was born on 3 May 1990.",
        (
            ("Full name", "Petra Lindqvist"),
            ("Occupation", "NONE"),
            ("Date of birth (a date)", "NONE"),
            ("City", "Leeds"),
            ("Brother's phone", "0113 496 0022"),
        ),
    ),
    (
        "- new job!! barista at Cafe Noor since 4 march, was at Tesco before\n"
        "- train to York on the 9th of June, booking code ZX81QP\n"
        "- bring a towel for the pool",
        (
            ("Employer", "Cafe Noor"),
            ("Previous employer", "Tesco"),
            ("Booking reference", "ZX81QP"),
            ("Passport number", "NONE"),
            ("Start of employment (a date)", "4 march"),
            ("Job title", "barista"),
        ),
    ),
)
SECOND_EXAMPLES: Examples = (
    (
        "- so i'm Rosa Whitlow n the kids are Theo (born 2 june 2017) and baby Nell, theo's at St "
        "Anne's Infants\n"
        "- theo can't have milk, nell's fine. our gp's Dr Osei at Marsh Lane Surgery\n"
        "- pick-up on fridays is my mum, Carol Whitlow, 0113 496 0177\n"
        "- new phone!! 07700 900441, old one drowned",
        (
            ("Name of pupil", "Theo"),
            ("Date of birth, Pupil (a date)", "2 june 2017"),
            ("What must the pupil not eat?", "milk"),
            ("Your own allergies", "NONE"),
            ("Parent's mobile (a phone number)", "07700 900441"),
            ("Other person who may collect", "Carol Whitlow"),
            ("Their number (a phone number)", "0113 496 0177"),
            ("Family doctor", "Dr Osei"),
            ("Practice", "Marsh Lane Surgery"),
            ("Pupil's health number", "NONE"),
        ),
    ),
    (
        "- We shall be in Bergen from 3 May 2027 until 10 May 2027, at the Hotel Fjordblikk; the "
        "purpose is my niece's christening.\n"
        "- My husband's passport is 7719 2204, mine is 5508 3141 and runs until 1 March 2033.\n"
        "- I taught maths at Holt Primary until 2015 and am retired now.",
        (
            ("Arriving on, Your stay (a date)", "3 May 2027"),
            ("Leaving on, Your stay (a date)", "10 May 2027"),
            ("Accommodation, Your stay", "Hotel Fjordblikk"),
            ("Why are you travelling?", "my niece's christening"),
            ("Passport number", "5508 3141"),
            ("Valid until (a date)", "1 March 2033"),
            ("Number of your visa", "NONE"),
            ("Last employer", "Holt Primary"),
            ("Employer's phone (a phone number)", "NONE"),
        ),
    ),
    (
        "- started at Vale Motors on 6 jan 2026 as a fitter, boss is Dag Holm\n"
        "- before that 4 yrs at Brook & Co as a driver, left 20 dec 2025\n"
        "- the cat's called Mog, a tabby, chip 9810 0042",
        (
            ("Company you work for", "Vale Motors"),
            ("Position", "fitter"),
            ("In this job since (a date)", "6 jan 2026"),
            ("Former company", "Brook & Co"),
            ("What did you do there?", "driver"),
            ("Employed there until (a date)", "20 dec 2025"),
            ("Line manager", "Dag Holm"),
            ("Line manager's e-mail", "NONE"),
            ("Kind of animal", "cat"),
            ("Pet's name", "Mog"),
            ("Breed", "tabby"),
            ("Microchip number", "9810 0042"),
        ),
    ),
)
"""What the second prompt has besides: another prompt makes other mistakes."""


def _turns(examples: Examples) -> Iterator[tuple[str, str]]:
    for notes, answers in examples:
        for place, (asked, value) in enumerate(answers):
            # Notes stand before the first of their fields.
            yield f"Notes:\n{notes}\nField: {asked}" if place == 0 else f"Field: {asked}", value


FIRST = fixed(SYSTEM, _turns(EXAMPLES))
SECOND = fixed(SYSTEM, _turns(EXAMPLES + SECOND_EXAMPLES))
"""How each of the two prompts begins."""


def check(note: str, field: str, value: str) -> str:
    """The closed question about a value, beside the one note that it comes from."""
    return f"Note: {note}\nField: {field}\nValue: {value}"


CHECK = worked(
    "Check a form that was filled in from one note of the user. Is the value what the field asks "
    "for, and of the right person? Answer yes or no.",
    (
        (
            check(
                "my bro Nils is a plumber, ring him on 0113 496 0022",
                "Mobile number",
                "0113 496 0022",
            ),
            False,
        ),
        (check("I'm Petra Lindqvist and I live at 14 Elm Row, Leeds.", "City", "Leeds"), True),
        (check("I pay everything with my Monzo card", "Card number", "Monzo"), False),
        (
            check(
                "new job!! barista at Cafe Noor since 4 march, was at Tesco before",
                "Start of employment",
                "4 march",
            ),
            True,
        ),
        (check("our kid Ines goes to Hill Primary", "Child's school", "Hill Primary"), True),
        (check("the library card is 88120", "Passport number", "88120"), False),
        (check("Nils writes from nils@box.example", "Your e-mail", "nils@box.example"), False),
        (check("Dr Amin looks after my teeth", "Dentist", "Dr Amin"), True),
        (
            check(
                "I'm Petra Lindqvist and I live at 14 Elm Row, Leeds.",
                "Child's name",
                "Petra Lindqvist",
            ),
            False,
        ),
        (
            check(
                "ring my husband Jon in an emergency, 0113 496 0101",
                "Emergency contact number",
                "0113 496 0101",
            ),
            True,
        ),
    ),
)
SHAPES = {
    "date": " (a date)",
    "datetime-local": " (a date)",
    "month": " (a month)",
    "tel": " (a phone number)",
    "number": " (a number)",
    "integer": " (a number)",
}
"""What the model is told of a field's type."""


def build_turns(
    field: str, notes: Iterable[Memory], begin: tuple[ChatTurn, ...] = FIRST
) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    lines = "\n".join(f"- {as_data(memory.text)}" for memory in notes)
    return (*begin, ChatTurn("user", f"Notes:\n{lines}\nField: {as_data(field)}"))
