"""Second opinion of the language model on a possible change: a closed question, warm and short.

The statement reader is quick and often right; where it is unsure the language model is asked
whether a new message makes an old note untrue. What counts is its probability of "yes" against
"no", not what it would write.
"""

from __future__ import annotations

from agent.language.injection import as_data
from agent.ports import ChatTurn, Weigher

SYSTEM = """A person tells an assistant things over time. You see an old note and a new message of \
the same person. Does the new message mean that the old note is no longer true? Answer yes or no."""

EXAMPLES: tuple[tuple[str, str, str], ...] = (
    (
        "I drive a grey Skoda Fabia.",
        "Sold the Fabia to my cousin. The Leaf charges overnight in the yard.",
        "yes",
    ),
    ("Choir practice is on Mondays at 19:00.", "My brother's choir moved to Tuesdays.", "no"),
    ("I'm allergic to peanuts.", "The test says shellfish is out as well.", "no"),
    (
        "We live on Harbour Street.",
        "the stairs at mill lane are killing me, 40 boxes n counting",
        "yes",
    ),
    (
        "My flight to Lyon leaves at 9:10.",
        "Lyon it is! Finally packed, and the cat is at Vera's.",
        "no",
    ),
    (
        "Dr Adler looks after my teeth.",
        "First checkup at the practice in Weststrasse went ok",
        "yes",
    ),
    ("Piano lesson every Thursday with Mr Ode.", "Mr Ode waved us off for good today.", "yes"),
    ("My sister Ana works at the zoo.", "I nearly took that job at the zoo, glad I didn't", "no"),
)


def build_turns(old: str, new: str) -> tuple[ChatTurn, ...]:
    """The prompt for one pair; all but the last turn are the same in every call."""
    turns = [ChatTurn("system", SYSTEM)]
    for before, after, answer in EXAMPLES:
        turns += [ChatTurn("user", _pair(before, after)), ChatTurn("assistant", answer)]
    turns.append(ChatTurn("user", _pair(as_data(old), as_data(new))))
    return tuple(turns)


def chance_of_change(llm: Weigher, old: str, new: str) -> float:
    """The language model's probability that the new message makes the old note untrue."""
    return llm.weigh(build_turns(old, new), ("yes", "no"))[0]


def _pair(old: str, new: str) -> str:
    return f"Old note: {old}\nNew message: {new}"
