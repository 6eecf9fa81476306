"""What a message tells, by the statement reader: its units that are to be remembered.

The reader decides what is told; extraction says it better where it can. A unit that no draft was
read from is kept in its own words, so nothing told is lost by a clumsy extraction.

It tells habits, too. 'Swim class Tuesday at five' may be one lesson or all of them, and as one it
would be over after a week. What holds ("state") has its weekday every week; what happens or is
planned is on one day.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.language.clauses import joined_parts
from agent.language.dates.english.lexicon import names_weekday
from agent.language.identify import is_english, is_foreign
from agent.language.sentences import has_question_mark, sentences, words
from agent.language.units import Unit, units
from agent.ports import KINDS, Probabilities, StatementReader
from store.types import Draft

TOLD = ("state", "preference", "event", "plan")
SURE = 0.5
"""Probability from which a unit tells something."""
SURELY = 0.7
"""The same of a message, or of a whole sentence beside a question."""
ASIDE = 0.9
"""The same of a part of a sentence, by itself: 'mum moves to leeds in may, what is she thinking'"""
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
    chances = _telling(reader.kinds([unit.text for unit in found]))
    return list(zip(found, map(float, chances), strict=True))


def tells(text: str, reader: StatementReader) -> float:
    """Probability that a text tells something to remember, and does not only ask.

    That of its likeliest unit, or of a part that surely tells something by itself; none where the
    text as one piece reads as a question or an order, unless a whole sentence beside it tells.
    The reader knows English alone; in other languages the mark tells which sentences ask.
    """
    if not is_english(text) and len({has_question_mark(part) for part in sentences(text)}) > 1:
        return 1.0
    if is_foreign(text) or len(words(text)) < FEWEST:
        return 0.0
    apart = sentences(text)
    if len(apart) > 1 and (sentence := _surely(apart, reader, SURELY)):
        return sentence
    if _asking([text], reader) >= SURE:
        return 0.0
    likeliest = max((chance for _, chance in told_units(text, reader)), default=0.0)
    return max(likeliest, _surely(joined_parts(text), reader, ASIDE))


def surely_tells(text: str, reader: StatementReader) -> bool:
    """Whether a text tells something surely enough to be remembered."""
    return tells(text, reader) >= SURELY


def telling_parts(text: str, reader: StatementReader) -> list[str]:
    """The parts of a sentence that surely tell something by themselves; none of one part alone."""
    parts = joined_parts(text)
    if len(parts) < 2:
        return []
    chances = _telling(reader.kinds(parts))
    return [part for part, chance in zip(parts, chances, strict=True) if chance >= ASIDE]


def asked_beside(text: str, reader: StatementReader) -> str:
    """What a text asks that tells something: its last sentence, or all of it; may be empty.

    All of it where a part asks that is no sentence: 'Suze is coming, how does she take her tea?'
    The reader knows English alone; in other languages the mark tells.
    """
    *others, last = sentences(text) or [""]
    if not is_english(text):
        return last if others and has_question_mark(last) else ""
    if others and _asking([last], reader) >= SURE:
        return last
    return text if _asking(joined_parts(text), reader) >= ASIDE else ""


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


def _telling(kinds: Probabilities) -> Probabilities:
    """Of rows of ``KINDS``, the probability that a text tells something."""
    return np.asarray(kinds[:, [KINDS.index(name) for name in TOLD]].sum(axis=1))


def _asking(parts: Sequence[str], reader: StatementReader) -> float:
    """Probability that the likeliest part asks or orders something."""
    rows = [KINDS.index(name) for name in ("question", "command")]
    return float(reader.kinds(parts)[:, rows].sum(axis=1).max())


def _surely(parts: Sequence[str], reader: StatementReader, least: float) -> float:
    """Probability that the likeliest part tells something by itself; 0 below ``least``."""
    parts = [part for part in parts if len(words(part)) >= FEWEST]
    likeliest = float(_telling(reader.kinds(parts)).max()) if parts else 0.0
    return likeliest if likeliest >= least else 0.0


def _shared(unit: Unit, start: int, end: int) -> float:
    return max(0, min(unit.end, end) - max(unit.start, start)) / (unit.end - unit.start)
