"""What a message tells, by the statement reader: its units that are to be remembered.

The reader decides what is told; extraction says it better where it can. A unit that no draft was
read from is kept in its own words, so nothing told is lost by a clumsy extraction.

It tells habits, too. 'Swim class Tuesday at five' may be one lesson or all of them, and as one it
would be over after a week. What holds ("state") has its weekday every week; what happens or is
planned is on one day.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.language.dates.english.lexicon import names_weekday
from agent.language.sentences import words
from agent.language.units import Unit, units
from agent.ports import KINDS, StatementReader
from store.types import Draft

TOLD = ("state", "preference", "event", "plan")
SURE = 0.5
"""Probability from which a unit tells something."""
FEWEST = 4
"""Words below which a text tells nothing by itself: 'The new one.' answers something."""
HABIT = 0.8
"""Probability of a state from which its weekdays are those of every week
(``python -m benchmarks.habits``)."""
SHARED = 0.5
"""Part of a unit that a draft must have been read from to stand for it."""


def told_units(text: str, reader: StatementReader) -> list[tuple[Unit, float]]:
    """The units of a text, each with the probability that it tells something to remember."""
    found = units(text)
    chances = reader.kinds([unit.text for unit in found])
    rows = [KINDS.index(name) for name in TOLD]
    return [(unit, float(row[rows].sum())) for unit, row in zip(found, chances, strict=True)]


def tells(text: str, reader: StatementReader) -> float:
    """Probability that a text tells something to remember, and is no question as a whole.

    That of its likeliest unit; none where the text as one piece reads as a question or an order.
    """
    if len(words(text)) < FEWEST:
        return 0.0
    whole = reader.kinds([text])[0]
    if whole[[KINDS.index(name) for name in ("question", "command")]].sum() >= SURE:
        return 0.0
    return max((chance for _, chance in told_units(text, reader)), default=0.0)


def left_out(text: str, drafts: Sequence[Draft], reader: StatementReader) -> list[str]:
    """The units that tell something and that none of the drafts was read from."""
    spans = [draft.span for draft in drafts if draft.span is not None]
    if len(spans) < len(drafts):
        # A draft that was read from no known place may stand for any unit.
        return []
    return [
        unit.text
        for unit, chance in told_units(text, reader)
        if chance >= SURE and sum(_shared(unit, span.start, span.end) for span in spans) < SHARED
    ]


def tell_habits(sentences: Sequence[str], reader: StatementReader | None) -> list[bool]:
    """Of each sentence whether its weekdays are those of every week; without a reader none is."""
    dated = {
        sentence: [unit.text for unit in units(sentence) if names_weekday(unit.text)]
        for sentence in sentences
    }
    named = list(dict.fromkeys(text for texts in dated.values() for text in texts))
    if reader is None or not named:
        return [False] * len(sentences)
    states = reader.kinds(named)[:, KINDS.index("state")]
    lasting = {text for text, chance in zip(named, states, strict=True) if chance >= HABIT}
    return [bool(dated[said]) and lasting.issuperset(dated[said]) for said in sentences]


def _shared(unit: Unit, start: int, end: int) -> float:
    return max(0, min(unit.end, end) - max(unit.start, start)) / (unit.end - unit.start)
