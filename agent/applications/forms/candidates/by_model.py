"""Fields filled by the language model: it copies the value from the notes nearest to the field.

It serves the fields that no pattern and no reader filled. What it writes counts only as whole words
of a note. A value of which it is not sure is offered, not filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log

from agent.applications.forms.candidates.by_meaning import (
    Heard,
    Nearest,
    as_written,
    hear,
    is_open,
    without_label,
)
from agent.applications.forms.candidates.from_facts import sources_of
from agent.applications.forms.candidates.written import MOST_ALTERNATIVES
from agent.applications.forms.facts.read import DATES, Fact
from agent.applications.forms.fields import ME, Asked, FormField, worded
from agent.applications.forms.matching.label_words import fold, is_unspaced, words
from agent.applications.forms.values.fit import dates_in, day_of
from agent.language.injection import as_data, steers
from agent.models.closed_question import chance_of_yes, worked
from agent.models.fixed_turns import fixed
from agent.models.readers.form_reader import form_reader
from agent.ports import ChatTurn, Embedder, LanguageModel
from agent.results import Alternative, FilledField
from store.types import Memory, Trust

LIKELIEST, NEAREST = 4, 4
"""Memories that the model reads for a field: by the form reader, and by the sentence encoder."""
MOST = 30
"""Fields of a form that the model is asked about; each takes it a second or more."""
MAX_TOKENS = 24
SURE, LESS_SURE = -0.65, -1.0
"""Log-probability (nats) of copied words from which they are filled in; the lower one where the
form reader found the same with a chance of ``SEEN``. Set on ``benchmarks.forms_told``."""
BOTH = -1.15
"""The same with the logarithm of the chance that the checked value is right."""
EVEN = 0.5
SEEN, DENIED = 0.25, 0.5
"""Chances of the form reader: from the first it agrees; from the second another value is likelier
than what the model copied, which is then only offered."""
CODE = 4
"""Digits from which two fields of one form do not share a value."""

SYSTEM = (
    "You fill in a form for the user from the user's notes. I and my in the notes are the user. "
    "Copy the exact words of the value from one note. Later notes win. If no note gives the value, "
    "or gives it of another person, write NONE."
)
EXAMPLES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
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
_BEGIN = fixed(
    SYSTEM,
    (
        # Notes stand before the first of their fields.
        (f"Notes:\n{notes}\nField: {asked}" if place == 0 else f"Field: {asked}", value)
        for notes, answers in EXAMPLES
        for place, (asked, value) in enumerate(answers)
    ),
)


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
_SHAPES = {
    "date": " (a date)",
    "datetime-local": " (a date)",
    "month": " (a month)",
    "tel": " (a phone number)",
    "number": " (a number)",
    "integer": " (a number)",
}
"""What the model is told of a field's type."""

SLOTS = {
    "name": "Full name",
    "bday": "Date of birth",
    "tel": "Mobile number",
    "street-address": "Home address",
}
"""Facts that other fields are parts of: asked for by themselves where no pattern found them."""

PARTS_OF_NAME = frozenset(("given-name", "family-name", "additional-name", "honorific-prefix"))


@dataclass(frozen=True, slots=True)
class Copy:
    """Words of a memory that the model copied for a field."""

    heard: Heard
    score: float
    """Their log-probability, in nats; ``-inf`` where the model does not tell it."""

    def is_sure(self, label: str, heard: Sequence[Heard], llm: LanguageModel) -> bool:
        """Whether they are filled in, given what the form reader found for the field.

        What is likely enough is checked by the model: the closed question finds other mistakes than
        the open one.
        """
        best = max(heard, key=lambda one: one.chance, default=None)
        agrees = best is not None and best.chance >= SEEN and _same(best.value, self.heard.value)
        against = best is not None and best.chance >= DENIED and not agrees
        if against or self.score < (LESS_SURE if agrees else SURE):
            return False
        note = as_data(self.heard.memory.text)
        right = chance_of_yes(CHECK, check(note, as_data(label), self.heard.value), llm)
        if not right:
            return False
        return right >= EVEN if agrees else self.score + log(right) >= BOTH


def facts_by_model(
    asked: Sequence[Asked],
    facts: Sequence[Fact],
    close: Nearest,
    llm: LanguageModel,
    embedder: Embedder,
) -> tuple[Fact, ...]:
    """What the person told of the ``SLOTS`` that fields of the form are, or are parts of.

    ``heard`` and ``copied`` work on the label of the slot as on that of a field.
    """
    known = {fact.key for fact in facts if fact.subject == ME}
    wanted = {source for ask in asked if ask.subject == ME for source in sources_of(ask.key or "")}
    keys = [key for key in SLOTS if key in wanted and key not in known]
    if not keys:
        return ()
    labels = [SLOTS[key] for key in keys]
    reader = form_reader(embedder)
    heard = hear(labels, close, reader) if reader else [[] for _ in labels]
    found = []
    for key, label, near, nearest in zip(keys, labels, heard, close(labels, NEAREST), strict=True):
        shape = _SHAPES.get("date" if key in DATES else key, "")
        copy = copied(f"{label}{shape}", _notes(near, nearest), llm)
        if copy is None or not copy.is_sure(label, near, llm):
            continue
        days = day_of(copy.heard.value) or list(dates_in(copy.heard.value))
        if key in DATES and not days:
            continue
        value = days[0][0] if key in DATES else copy.heard.value
        memory = copy.heard.memory
        said = frozenset(words(memory.text))
        found.append(Fact(key, value, memory, ME, round(copy.heard.chance, 3), said))
    return tuple(found)


def fill_by_model(
    fields: Sequence[FormField],
    asked: Sequence[Asked],
    results: list[FilledField],
    facts: Sequence[Fact],
    heard: Mapping[int, Sequence[Heard]],
    close: Nearest,
    llm: LanguageModel,
) -> None:
    """Fill, in place, the open fields; of a form's codes each goes to the likeliest field only.

    ``heard`` is what the form reader found for the fields (``by_meaning``).
    """
    open_ones = [n for n in range(len(fields)) if is_open(fields[n], asked[n], results[n])][:MOST]
    if not open_ones:
        return
    labels = [worded(fields[n], asked[n]) for n in open_ones]
    label_of = dict(zip(open_ones, labels, strict=True))
    near = close(labels, NEAREST)
    said: dict[int, Copy] = {}
    for n, label, nearest in zip(open_ones, labels, near, strict=True):
        shape = _SHAPES.get("date" if asked[n].key in DATES else fields[n].type, "")
        if copy := copied(f"{label}{shape}", _notes(heard.get(n, ()), nearest), llm):
            said[n] = copy
    used = {str(result.value) for result in results if result.value is not None}
    best = {copy.heard.value: n for n, copy in sorted(said.items(), key=lambda one: one[1].score)}
    for n, copy in said.items():
        value = as_written(copy.heard, fields[n], asked[n], facts)
        if value is None or value == "":
            continue
        own = not _is_code(copy.heard.value) or (
            best[copy.heard.value] == n
            and str(value) not in used
            and not _of_another(copy.heard.value, asked[n], facts)
        )
        # A part of a name or an address comes from the whole; the model copies the whole.
        whole = asked[n].key not in PARTS_OF_NAME
        offer = Alternative(value, round(copy.heard.chance, 3), (copy.heard.memory.id,))
        sure = own and whole and copy.is_sure(label_of[n], heard.get(n, ()), llm)
        results[n] = _with_value(results[n], offer, sure=sure)


def _notes(heard: Sequence[Heard], nearest: Sequence[Memory]) -> list[Memory]:
    likeliest = sorted(heard, key=lambda one: -one.chance)[:LIKELIEST]
    return list({m.id: m for m in (*(one.memory for one in likeliest), *nearest)}.values())


def copied(field: str, memories: Sequence[Memory], llm: LanguageModel) -> Copy | None:
    """The value that the model copies from a memory; None where it finds none.

    What the person told comes first: other memories are read only where that has no value.
    """
    own = [memory for memory in memories if memory.trust in (None, Trust.TOLD)]
    others = [memory for memory in memories if memory not in own]
    return _copied(field, own, llm) or _copied(field, others, llm)


def _copied(field: str, memories: Sequence[Memory], llm: LanguageModel) -> Copy | None:
    notes = sorted(
        (memory for memory in memories if not steers(memory.text)), key=lambda m: m.created
    )
    if not notes:
        return None
    scores: list[float] = []
    said = llm.chat(
        build_turns(field, notes), max_tokens=MAX_TOKENS, stop=("\n",), on_scores=scores.extend
    )
    value = said.strip().strip("\"'.“”").strip()
    if not value or value.upper() == "NONE" or fold(value) == fold(field):
        return None
    holding = [memory for memory in notes if place_of(value, memory.text)]
    if not holding:
        return None
    memory = max(holding, key=lambda m: m.created)
    start, end = place_of(value, memory.text) or (0, 0)
    score = sum(scores) if scores else -inf
    value = without_label(memory.text[start:end], field.partition(" (")[0])
    return Copy(Heard(value, memory, exp(score)), score)


def build_turns(field: str, notes: Iterable[Memory]) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    lines = "\n".join(f"- {as_data(memory.text)}" for memory in notes)
    return (*_BEGIN, ChatTurn("user", f"Notes:\n{lines}\nField: {as_data(field)}"))


def place_of(value: str, text: str) -> tuple[int, int] | None:
    """Where the value first stands in the text as whole words; None where it does not."""
    said, wanted = text.casefold(), value.casefold()
    if not wanted or len(said) != len(text):
        return None
    start = said.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        beside = text[max(0, start - 1) : start] + text[end : end + 1]
        if is_unspaced(value) or not any(character.isalnum() for character in beside):
            return start, end
        start = said.find(wanted, start + 1)
    return None


def _same(one: str, other: str) -> bool:
    """Whether two values say the same, one perhaps with an article or a title more."""
    return fold(one) in fold(other) or fold(other) in fold(one)


def _is_code(value: str) -> bool:
    return sum(character.isdigit() for character in value) >= CODE


def _of_another(value: str, ask: Asked, facts: Iterable[Fact]) -> bool:
    """Whether a code is known as what another field asks for, or as somebody else's."""
    known = [fact for fact in facts if _same_code(str(fact.value), value)]
    return bool(known) and all((f.key, f.subject) != (ask.key, ask.subject) for f in known)


def _same_code(one: str, other: str) -> bool:
    return "".join(filter(str.isalnum, one)) == "".join(filter(str.isalnum, other))


def _with_value(result: FilledField, offer: Alternative, *, sure: bool) -> FilledField:
    others = tuple(one for one in result.alternatives if one.value != offer.value)
    if not sure:
        offers = tuple(sorted((offer, *others), key=lambda one: -one.confidence))
        return replace(result, alternatives=offers[:MOST_ALTERNATIVES], unmatched=True)
    return replace(
        result,
        value=offer.value,
        confidence=offer.confidence,
        memories=offer.memories,
        alternatives=others[:MOST_ALTERNATIVES],
        unmatched=False,
    )
