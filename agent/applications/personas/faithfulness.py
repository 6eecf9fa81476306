"""Faithfulness checks of persona lines against their evidence.

A line is dropped that invents a name or number, turns a dislike into a liking, gives orders, or
lies far from the memories it was made of. What is left of its evidence is what it is near to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from agent.answering.grounding import invented, terms
from agent.language.injection import steers
from agent.memory.editing.judges.wording_features import averse, counts
from agent.ports import Vectors
from store.types import Memory

LONGEST = 24
"""Words of a line."""
ABOUT = 0.4
"""Cosine similarity with the middle of its evidence that a distilled line needs."""
GUESSED = 0.25
"""The same of an induced line, which is more general than what it rests on."""
SUPPORTS = 0.25
"""From which one memory counts as evidence of a line."""
FEWEST = 2
"""Memories that support a line; what one of them says alone is no refinement."""
_SUBJECT = re.compile(r"(?:I|My|We|Our)\b(?:['’]\w+)?", re.IGNORECASE)


def well_formed(text: str) -> bool:
    """Whether it is one short statement about the person, and gives nobody orders."""
    return (
        bool(_SUBJECT.match(text))
        and not text.endswith("?")
        and 3 <= len(text.split()) <= LONGEST
        and not steers(text)
    )


def supporters(
    text: str,
    vector: Vectors,
    evidence: Sequence[Memory],
    vectors: Vectors,
    now: datetime,
    *,
    general: bool = False,
) -> tuple[int, ...]:
    """Positions of the memories that the line rests on; empty where it is to be dropped.

    ``vectors`` are those of ``evidence``, shape (n, dimension). A ``general`` line is an induced
    one: further from its evidence, and 'I value order' may well rest on dislikes.
    """
    if not well_formed(text) or invented(text, "", evidence, [now]):
        return ()
    middle = vectors.mean(0)
    about = GUESSED if general else ABOUT
    if float(middle @ vector) < about * float(np.linalg.norm(middle)):
        return ()
    near = vectors @ vector
    said = terms(text)
    found = tuple(
        position
        for position, memory in enumerate(evidence)
        if near[position] >= SUPPORTS or said & terms(memory.text)
    )
    turned = not general and negates(text) != _mostly_negate([evidence[i] for i in found])
    return () if turned or len(found) < FEWEST else found


def negates(text: str) -> bool:
    """Whether a sentence says what somebody does not do, have or like."""
    return counts(text)[0] > 0 or averse(text) > 0


def _mostly_negate(memories: Sequence[Memory]) -> bool:
    return 2 * sum(negates(memory.text) for memory in memories) > len(memories)
