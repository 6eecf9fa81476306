"""Whether a question asks for the part of a note that a newer one changed.

People tell several facts in a line: "I work at gate 2, my car is an old Skoda". News about the gate
changes that line, and says nothing of the car.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.language.clauses import joined_parts
from agent.ports import Embedder

ASKED, CHANGED = 10.0, 5.0
"""How sharply nearness tells which part is asked for, and which was changed: chosen on homes for
development (docs/decisions/0023-reading-adapter.md)."""


def chances_of_changed_part(
    question: str, pairs: Sequence[tuple[str, str]], embedder: Embedder
) -> list[float]:
    """Of each (older, newer) pair, how likely the question asks for what the newer text changes.

    Of each part of the older text how near the question is to it, against the other parts, and how
    near the newer text is to it, against the part that this is nearest to. 1 for a single part.
    """
    parts = [[part for part in joined_parts(older) if part] for older, _ in pairs]
    newer = [new for (_, new), own in zip(pairs, parts, strict=True) if len(own) > 1]
    if not newer:
        return [1.0] * len(pairs)
    texts = list(dict.fromkeys([question, *newer, *(part for own in parts for part in own)]))
    vectors = dict(zip(texts, embedder.encode(texts), strict=True))
    chances = []
    for (_, new), own in zip(pairs, parts, strict=True):
        if len(own) < 2:
            chances.append(1.0)
            continue
        near = np.stack([vectors[part] for part in own])
        of_question = np.exp(ASKED * (near @ vectors[question]))
        of_newer = np.exp(CHANGED * (near @ vectors[new]))
        chances.append(float(of_question @ of_newer / of_question.sum() / of_newer.max()))
    return chances
