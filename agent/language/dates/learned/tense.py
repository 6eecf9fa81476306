"""Tense: whether a date that has two readings lies in the past or ahead.

'On Friday' and 'the 12th' are the last or the coming one. Which of the two is meant follows from
the words around them ('the van pulled out on Thursday', 'they bumped me to the 12th') and from how
far away the two are. A logistic regression over both decides; ``benchmarks.tense_train`` makes its
weights from labelled messages.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

from agent.language.dates.values import When
from agent.language.relation_names import IRREGULAR_PASTS

WEIGHTS = Path(__file__).parent / "weights"
"""The folder of the weights: of each sign, by the name of what was learned."""
BEFORE, AFTER = 120, 80
"""Characters of the text around an expression that are looked at."""
WORDS_BEFORE, WORDS_AFTER, NEAREST = 10, 8, 4
"""Most words of its sentence before and after it, and of these the nearest ones before it."""
_ENDING = 2
"""Letters of an ending: it tells something of words that were never seen."""
_SHORT = 4
"""Letters up to which a word has no ending of its own."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[.!?;\n,:—-]")
_SENTENCE_ENDS = frozenset(".!?\n")
_FARTHEST = 4
"""Most by which the two distances are told apart, as a logarithm."""
_UNKNOWN = 30.0
"""Days to a reading that is not there."""


def tells_past(text: str, start: int, end: int) -> bool:
    """Whether the words around ``start:end`` tell of the past, whatever time stands there."""
    return chance("tense", signs_around(text, start, end)) > 0.5


def lies_back(text: str, start: int, end: int, when: When, wall: datetime) -> bool:
    """Whether the expression ``when`` at ``start:end`` means a time before ``wall``."""
    signs = (*signs_around(text, start, end), *signs_of(when, wall))
    return chance("tense", signs) > 0.5


def chance(learned: str, signs: Iterable[str]) -> float:
    """The probability that the weights of ``learned`` give ("tense": that of the past).

    Signs without a weight say nothing, repeated ones count once.
    """
    weights = _weights(learned)
    score = sum(weights.get(sign, 0.0) for sign in dict.fromkeys(("", *signs)))
    return 1 / (1 + math.exp(-score))


def signs_around(text: str, start: int, end: int) -> Iterator[str]:
    """The words of the sentence around ``start:end``, their endings, and which are next to it."""
    before = _within_sentence(_words(text[max(0, start - BEFORE) : start])[::-1])
    after = _within_sentence(_words(text[end : end + AFTER]))
    yield f"before {before[0] if before else '^'}"
    yield f"behind {after[0] if after else '$'}"
    for place, word in enumerate(before[:WORDS_BEFORE]):
        if word[0].isalpha():
            yield from _signs_of_word(word, "to the left")
            if place < NEAREST:
                yield from _signs_of_word(word, "near")
    for word in after[:WORDS_AFTER]:
        yield from _signs_of_word(word, "to the right")


def signs_of(when: When, wall: datetime) -> tuple[str, ...]:
    """The kind of expression, and how far back its past reading lies against the coming one."""
    back, ahead = (_days_to(when, wall, ahead=ahead) for ahead in (False, True))
    farther = round(math.log((back + 0.5) / (ahead + 0.5)))
    farther = max(-_FARTHEST, min(_FARTHEST, farther))
    return f"a {when.kind} of a {when.grain}", f"farther back by {farther}"


def _days_to(when: When, wall: datetime, *, ahead: bool) -> float:
    """To the nearest reading in the past, or to the nearest one ahead."""
    starts = (one.start or one.end or wall for one in when.readings if one.ahead(wall) is ahead)
    return min((abs((start - wall).total_seconds()) / 86_400 for start in starts), default=_UNKNOWN)


def _words(text: str) -> list[str]:
    words: list[str] = _TOKEN.findall(text.lower().replace("’", "'"))
    return words


def _within_sentence(words: Sequence[str]) -> Sequence[str]:
    """The words up to the end of the sentence, from the expression outwards."""
    ends = (at for at, word in enumerate(words) if word in _SENTENCE_ENDS)
    return words[: next(ends, len(words))]


def _signs_of_word(word: str, where: str) -> Iterator[str]:
    yield f"{word} {where}"
    long = len(word) > _SHORT
    if long:
        yield f"-{word[-_ENDING:]} {where}"
    if word in IRREGULAR_PASTS or (long and word.endswith("ed")):
        yield f"a past form {where}"


@cache
def _weights(learned: str) -> Mapping[str, float]:
    weights: dict[str, float] = json.loads((WEIGHTS / f"{learned}.json").read_text("utf-8"))
    return weights
