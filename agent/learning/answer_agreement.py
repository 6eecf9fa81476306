"""Answer agreement: token F1, with exact names and numbers."""

from __future__ import annotations

import re
from collections import Counter

from agent.answering.grounding import names, terms

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+", re.IGNORECASE)
_ARTICLES = frozenset(("a", "an", "the"))
CLOSE = 0.5
"""Token F1 from which two answers agree if their names and numbers do."""
COVERED = 0.75
"""Share of the reference's content words that a longer answer has to say."""


def tokens(text: str) -> list[str]:
    """Words and numbers of a text, folded, without articles; one token a Chinese character."""
    return [t for t in _TOKEN.findall(text.casefold()) if t not in _ARTICLES]


def token_f1(said: str, reference: str) -> float:
    """Harmonic mean of precision and recall over tokens, in [0, 1]; 1 where neither has any."""
    ours, theirs = Counter(tokens(said)), Counter(tokens(reference))
    if not ours or not theirs:
        return float(ours == theirs)
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total())


def agrees(said: str, reference: str) -> bool:
    """Whether an answer, often a whole sentence, says what a short reference says.

    Names and numbers of the reference must stand in it as they are; of the rest, most.
    """
    words = set(tokens(said)) | names(said)
    if not all(name in words or set(tokens(name)) <= words for name in names(reference)):
        return False
    wanted = terms(reference)
    covered = len(wanted & terms(said)) / len(wanted) if wanted else 0.0
    return token_f1(said, reference) >= CLOSE or covered >= COVERED
