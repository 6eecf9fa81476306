"""Undecided contradictions, put to the user as questions.

What was asked stands in the trace of the turn that asked, and the next message is read for an
answer (``agent.memory.uncertain.pending_questions`` keeps what waits to be asked). Pure functions
over text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agent.language.sentences import is_chinese
from agent.memory.editing.judges.wording_features import common, folded


@dataclass(frozen=True, slots=True)
class ConflictQuestion:
    """An old memory, by id, and the text that now stands beside it."""

    memory: str
    text: str


class Holds(StrEnum):
    """What the person answers."""

    OLD = "old"
    NEW = "new"
    BOTH = "both"


_LONGEST = 12
"""Words of an answer; a longer message tells something of its own."""
FEW = 3
"""Characters of Chinese beside what is answered, which has no spaces to tell its words by."""
_BOTH = re.compile(r"\bboth\b|\beither\b|两个都|都(?:是|对)", re.IGNORECASE)
_NEW = re.compile(
    r"\b(?:new(?:er)?|second|latter|latest|last|now|changed|update it|replace)\b|新|第二|后",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"\b(?:old(?:er)?|first|former|earlier|previous|original|still|unchanged)\b|旧|第一|以前",
    re.IGNORECASE,
)
_ASKED = frozenset(
    folded("which one ones holds hold keep true right correct it is are that the yes please thanks")
)
"""Words of the question, and with which it is answered; they tell nothing."""


def ask(old: str, new: str) -> str:
    """The question in words."""
    return (
        f"You told me: {old} Now: {new} I keep both. "
        "Which holds: the old one, the new one, or both?"
    )


def answer_in(message: str, old: str, new: str) -> Holds | None:
    """Which of two memories the message says holds; None where it is no answer.

    A short message that names what only one of them says is an answer too ('the aisle').
    """
    if len(message.split()) > _LONGEST or message.rstrip().endswith(("?", "？")):
        return None
    own_old, own_new = set(common(folded(old))), set(common(folded(new)))
    rest = message
    for answer in (_BOTH, _NEW, _OLD):
        rest = answer.sub(" ", rest)
    named = set(common(folded(rest)))
    if is_chinese(message) and len(rest.strip(" 。！")) <= FEW:
        named = set()
    # Whatever else it says must stand in one of the two, or it is a message of its own: 'Bo is my
    # landlord now' answers nothing about two others, and must not be lost as an answer.
    if not named <= own_old | own_new | _ASKED:
        return None
    if _BOTH.search(message):
        return Holds.BOTH
    said = [bool(_OLD.search(message)), bool(_NEW.search(message))]
    if said[0] != said[1]:
        return Holds.OLD if said[0] else Holds.NEW
    for_old, for_new = named & (own_old - own_new), named & (own_new - own_old)
    if bool(for_old) != bool(for_new):
        return Holds.OLD if for_old else Holds.NEW
    return None


_YES = r"(?:yes|yeah|yep|yup|sure|right|correct|exactly|indeed|true|是的?|对)"
_NO = r"(?:no|nope|nah|wrong|不是?)"
_TAIL = (
    r"(?:[\s,.!]+(?:please|they are(?: not|n['’]t)?|he is(?: not|n['’]t)?|she is(?: not|n['’]t)?"
    r"|(?:it|that)(?: is|['’]s)?(?: not)?(?: right| true| correct)?|of course|(?:not )?the same"
    r"(?: person| people)?|(?:just )?one(?: person)?|(?:and the same)|two(?: (?:different )?people"
    r"|different ones)?|different(?: people| ones)?|don['’]t|do))*[\s.!]*"
)
_PLAIN = re.compile(rf"(?:(?P<yes>{_YES})|(?P<no>{_NO})){_TAIL}", re.IGNORECASE)


def yes_or_no(message: str) -> bool | None:
    """Whether a message says yes or no and nothing else; None where it is no such answer."""
    found = _PLAIN.fullmatch(message.strip())
    return None if found is None else found["yes"] is not None
