"""Whether a question asks for the part of a note that a newer one changed.

People tell several facts in a line: "I work at gate 2, my car is an old Skoda". News about the gate
changes that line, and says nothing of the car.
"""

from __future__ import annotations

import numpy as np

from agent.language.clauses import joined_parts
from agent.ports import Embedder

ASKED, CHANGED = 10.0, 5.0
"""How sharply nearness tells which part is asked for, and which was changed; of 5, 10, 15 and 20
those that tell both apart best (``python -m benchmarks.changed_parts``)."""


def chance_of_changed_part(question: str, older: str, newer: str, embedder: Embedder) -> float:
    """How likely what ``newer`` changes of ``older`` is what is asked for; 1 for a single part.

    Of each part how near the question is to it, against the other parts, and how near ``newer`` is
    to it, against the part that this is nearest to.
    """
    parts = [part for part in joined_parts(older) if part]
    if len(parts) < 2:
        return 1.0
    asked, changing, *vectors = embedder.encode([question, newer, *parts])
    own = np.stack(vectors)
    of_question = np.exp(ASKED * (own @ asked))
    of_newer = np.exp(CHANGED * (own @ changing))
    return float(of_question @ of_newer / of_question.sum() / of_newer.max())
