"""Whether a message tells something, asks something, or both.

The router and the statement reader each see what the other misses. A miss costs more than a try,
so either is enough, but for one sentence that may ask: most of what only one of them takes for
told is then a question (docs/decisions/0003-routing.md).

A message of nothing but clean sentences whose relations can be read exactly costs no model to try,
so it is tried on less than the usual chance (``LEAST``). The router judges by likeness to what
people tell and ask, and takes 'The gate of the flight is C12' for small talk.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.answering.routing import Router
from agent.extraction.own_words import clean_sentence, is_clean
from agent.extraction.told import asked_beside, surely_tells, telling_parts
from agent.extraction.triples.patterns import shape_triples
from agent.language.identify import is_english
from agent.language.sentences import declarative, sentences
from agent.ports import StatementReader
from agent.results import Route

CHANCE = 0.25
"""Probability from which a route is worth trying, because a miss costs more than the try."""
LEAST = 0.1
"""Probability of an update from which a plain statement is tried."""
RATHER = 0.5
"""Probability of an update from which a part of a question tells something beside it."""


def tells_something(
    message: str, likely: Mapping[Route, float], router: Router, reader: StatementReader | None
) -> bool:
    """Whether it is worth trying to remember a message, of which the router says what is likely.

    One sentence that may ask has to tell by both the router and the reader, as a whole or in a
    part: "mum's moving to leeds in may, what is she thinking".
    """
    by_router = may_tell(message, likely[Route.UPDATE])
    if reader is None:
        return by_router
    by_reader = surely_tells(message, reader)
    if likely[Route.RETRIEVE] < CHANCE or len(sentences(message)) > 1:
        return by_router or by_reader
    parts = () if by_router and by_reader else telling_parts(message, reader)
    return (by_router and by_reader) or any(
        router.detect(part).probabilities[Route.UPDATE] >= RATHER for part in parts
    )


def question_beside(
    message: str, likely: Mapping[Route, float], router: Router, reader: StatementReader | None
) -> str:
    """What a message that tells something asks of memory, too: a part of it, or all; may be empty.

    Without the reader nothing is known of its parts, and it is taken to tell alone.
    """
    if reader is None:
        return ""
    question = asked_beside(message, reader) or message
    if question == message:
        return message if likely[Route.RETRIEVE] >= CHANCE else ""
    if not is_english(message):  # the question mark told; a short question alone is in no language
        return question
    return question if router.detect(question).probabilities[Route.RETRIEVE] >= CHANCE else ""


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
