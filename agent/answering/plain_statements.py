"""Detector for plain statements, independent of the router.

The router judges by likeness to what people tell and ask, and takes 'The gate of the flight is
C12' for small talk. A message of nothing but clean sentences whose relations can be read exactly
costs no model to try, so it is tried on less than the usual chance (``LEAST``).
"""

from __future__ import annotations

from agent.extraction.own_words import clean_sentence, is_clean
from agent.extraction.triples.patterns import shape_triples
from agent.language.sentences import declarative, sentences

CHANCE = 0.25
"""Probability from which a route is worth trying, because a miss costs more than the try."""
LEAST = 0.1
"""Probability of an update from which a plain statement is tried."""


def may_tell(text: str, chance: float) -> bool:
    """Whether it is worth trying to remember; ``chance`` is what the router gives an update."""
    return chance >= CHANCE or (chance >= LEAST and states_facts(text))


def states_facts(text: str) -> bool:
    """Whether it has no question or request, and each sentence gives a relation exactly."""
    parts = sentences(text)
    stated = [declarative(part) for part in parts]
    told = [part for part in stated if part]
    if not told or "?" in text:
        return False
    return all(is_clean(part) and shape_triples(clean_sentence(part)) for part in told)
