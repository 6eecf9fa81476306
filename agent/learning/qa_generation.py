"""Generation and checking of question-answer pairs by the local model (A.4).

One task a call, with worked examples: a small model writes one question and its short answer for
one association (Table 11 asks for all at once, of a large one). What comes back is checked by rules
first and then by answering: with the memories the product's own answer must agree with the
reference; with the nearest other memories in their place it must not; and each memory must be
missed when it alone is left out, or it is not required.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import combinations

from agent.answering.answer import answer, note
from agent.answering.grounding import invented, names, terms
from agent.learning.answer_agreement import agrees
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel
from policies.selection import Choice
from store.types import Memory

MAX_TOKENS = 80
LONGEST_QUESTION = 30
LONGEST_ANSWER = 20
"""Words."""

SYSTEM = """You write one question that I could ask my assistant, and its short answer. I and my \
mean me, as in the notes. The answer stands in the notes and needs every note. The question says \
who or what it is about, and does not give the answer away."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "Notes:\n1. My dentist is Dr. Osei on Hill Street.",
        "Question: Who is my dentist?\nAnswer: Dr. Osei",
    ),
    (
        "Notes:\n"
        "1. My sister Mia moved to Porto.\n"
        "2. Mia's bakery is called Forno.\n"
        "3. Forno opens at 06:30 on weekdays.\n"
        "Do not say in the question: Forno, Mia",
        "Question: When does my sister's bakery open?\nAnswer: At 06:30 on weekdays",
    ),
    (
        "Notes:\n1. I booked flight TK54 for my boss.\n2. TK54 leaves at 13:20 on 2024-03-02.\n"
        "Do not say in the question: TK54",
        "Question: When does my boss's flight leave?\nAnswer: At 13:20 on 2024-03-02",
    ),
    (
        "Notes:\n1. My girlfriend loves durian.\n2. Durian is on offer at Baiguoyuan next week.",
        "Question: Where can I get something that my girlfriend loves for less?\n"
        "Answer: Durian at Baiguoyuan",
    ),
)
"""The last one is the paper's own (Table 11), shortened."""
_BEGIN = fixed(SYSTEM, EXAMPLES)

GRAMMAR = r"""
root ::= "Question: " [^\n?]+ "?\nAnswer: " [^\n]+ "\n"?
"""

_PAIR = re.compile(r"Question:\s*(?P<question>[^\n]+?\?)\s*\n\s*Answer:\s*(?P<answer>[^\n]+)")


class Failure(StrEnum):
    """Why a pair was dropped."""

    UNREADABLE = "no question and answer in what the model wrote"
    UNSUPPORTED = "names or numbers that the memories do not have"
    GIVEN_AWAY = "the question gives the answer away, or is about nothing in the memories"
    NOT_ANSWERED = "not answered alike from its memories"
    NOT_NEEDED = "answered alike without its memories"


@dataclass(frozen=True, slots=True)
class Written:
    """A pair that holds, and the memories that it cannot do without."""

    question: str
    answer: str
    required: tuple[Memory, ...]


Others = Callable[[str, Sequence[Memory]], Sequence[Memory]]
"""The memories nearest to a question but for some."""


def write_pair(
    memories: Sequence[Memory], others: Others, *, llm: LanguageModel, now: datetime
) -> Written | Failure:
    """One pair from an association: three model calls, and one more a memory if there are several.

    Answers are the product's (``agent.answering.answer.answer``), its abstentions included.
    """
    said = llm.chat(writing_turns(memories, now), max_tokens=MAX_TOKENS, grammar=GRAMMAR)
    match = _PAIR.search(said.strip())
    if match is None:
        return Failure.UNREADABLE
    question = " ".join(match["question"].split())
    reference = " ".join(match["answer"].split()).rstrip(".")
    if failure := unfit(question, reference, memories, now):
        return failure

    def right(chosen: Sequence[Memory]) -> bool:
        told = answer(question, [Choice(m, 1.0) for m in chosen], now=now, llm=llm)
        return not told.abstained and agrees(told.text, reference)

    if not right(memories):
        return Failure.NOT_ANSWERED
    if right(others(question, memories)):
        return Failure.NOT_NEEDED
    required = list(memories)
    for memory in memories if len(memories) > 1 else ():
        without = [m for m in required if m is not memory]
        if without and right(without):
            required = without
    return Written(question, reference, tuple(required))


def writing_turns(memories: Sequence[Memory], now: datetime) -> tuple[ChatTurn, ...]:
    """The prompt: instructions and examples first, since they are the same in every call."""
    notes = "\n".join(f"{n}. {note(memory, now)}" for n, memory in enumerate(memories, 1))
    shared = ", ".join(bridges(memories))
    only = f"\nDo not say in the question: {shared}" if shared else ""
    return (*_BEGIN, ChatTurn("user", f"Notes:\n{notes}{only}"))


def bridges(memories: Sequence[Memory]) -> tuple[str, ...]:
    """Names and numbers that two of the memories share, as they are written.

    A question that does not say them has to go over them: a small model told only to need every
    note asks about one of them.
    """
    folded = [names(memory.text) for memory in memories]
    shared = {name for one, other in combinations(folded, 2) for name in one & other}
    written = {word.strip(".,:;!?'’\"()") for m in memories for word in m.text.split()}
    return tuple(sorted(w for w in written if w[:1] and names(w) & shared))


def unfit(
    question: str, reference: str, memories: Sequence[Memory], now: datetime
) -> Failure | None:
    """What rules find wrong with a pair before any answer is asked for."""
    words, length = len(question.split()), len(reference.split())
    if not 3 <= words <= LONGEST_QUESTION or not 1 <= length <= LONGEST_ANSWER:
        return Failure.UNREADABLE
    # A short answer is one phrase: what follows a full stop ('Dr. Osei') begins no sentence.
    phrase = reference.replace(". ", " ")
    if invented(phrase, "", memories, [now]) or invented(question, "", memories, [now]):
        return Failure.UNSUPPORTED
    asked, told = terms(question), terms(reference)
    known = terms(" ".join(memory.text for memory in memories))
    if not told or told <= asked or not asked & known:
        return Failure.GIVEN_AWAY
    return None
