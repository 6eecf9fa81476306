"""Query decomposition (Keqing; Wang et al., 2023).

Each part gives candidate entities: those that it names, and those that the memories of the part
before lead to. The memories along their relations are its candidates. Keqing lets a language model
take questions apart; here ``split`` may, and without it a question is parted at its conjunctions
and possessives, which needs none. Answers to the parts, which Keqing joins into one, are the
answerer's work: the policy only gathers what they rest on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.baselines.bm25 import lexical
from policies.scoring.ranking import SHOWN, best, selection, similar
from policies.selection import Selection
from store.derived.tokenize import folded
from store.derived.view import SELF, GraphView

Split = Callable[[str], Sequence[str]]
"""From a question to simpler ones, in the order in which they have to be answered."""

LONGEST = 5
"""Words of an entity's name, or twice as many characters where no spaces part words."""
_AND = re.compile(
    r"(?:(?<!\s)\s+)?(?:[,;]\s*and|[,;]|\band\b|[，；、]|以及|并且|而且)\s*", re.IGNORECASE
)
_OF = re.compile(r"['’]s\b\s*|(?<=\w)的")
_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our)\b|我", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def parted(question: str) -> tuple[str, ...]:
    """A question's parts: each conjunct, and within it each owner before what is owned.

    >>> parted("Where does my boss's wife work and live?")
    ('Where does my boss', "Where does my boss's wife work", 'live?')
    """
    found: list[str] = []
    for part in _AND.split(question):
        found += (part[: match.start()] for match in _OF.finditer(part))
        found.append(part)
    return tuple(dict.fromkeys(part.strip() for part in found if part.strip()))


@dataclass(frozen=True, slots=True)
class Decomposed:
    """``k`` memories, in turn the best for each part of the question."""

    k: int = 5
    split: Split | None = None
    name: str = "decomposed"

    def select(self, question: Question, view: GraphView) -> Selection:
        if not view.memories:
            return Selection(self.name, (), ())
        parts = tuple(self.split(question.text)) if self.split else parted(question.text)
        nearness = similar(question, view)
        reached: frozenset[str] = frozenset()
        ranked: list[list[int]] = []
        for part in parts or (question.text,):
            named = mentioned(part, view)
            rows = candidates(named | reached, view)
            if not len(rows):  # it names nobody: the whole memory is searched, as Keqing's texts
                rows = np.arange(len(view.memories))
            words = lexical(part, view)[rows]
            scores = nearness[rows] + words / max(float(words.max()), 1e-9)
            ranked.append(rows[best(scores, self.k + SHOWN)].tolist())
            reached = _ends(ranked[-1][: self.k], view) - named
        order = list(dict.fromkeys(row for turn in _turns(ranked) for row in turn))
        return selection(
            self.name,
            question,
            view,
            order[: self.k],
            order[self.k : self.k + SHOWN],
            "along the relations of an entity asked about",
            f"beyond the first {self.k}",
        )


def mentioned(text: str, view: GraphView) -> frozenset[str]:
    """Entities of the view that a text names; the person by 'I' and 'my'."""
    plain = folded(text)
    found = {SELF} if _PERSON.search(text) else set()
    words = [word.group() for word in _WORD.finditer(re.sub(r"['’]s\b", "", plain))]
    phrases = {
        " ".join(words[at : at + size])
        for size in range(1, LONGEST + 1)
        for at in range(len(words) - size + 1)
    }
    if not plain.isascii():
        bare = "".join(words)
        sizes = range(2, 2 * LONGEST + 1)
        phrases |= {bare[at : at + size] for size in sizes for at in range(len(bare) - size + 1)}
    return frozenset(found | {phrase for phrase in phrases if view.knows(phrase)})


def candidates(entities: frozenset[str], view: GraphView) -> NDArray[np.intp]:
    """Rows along the relations of these; of the person's own only where nobody else is named."""
    others = entities - {SELF} or entities
    rows = [view.about(entity) for entity in sorted(others)]
    return np.unique(np.concatenate(rows)).astype(np.intp) if rows else np.zeros(0, np.intp)


def _ends(rows: Sequence[int], view: GraphView) -> frozenset[str]:
    return frozenset(key for row in rows for key in view.entities(row)) - {SELF}


def _turns(ranked: Sequence[Sequence[int]]) -> list[list[int]]:
    """The first of each list, then the second of each, and so on."""
    longest = max(map(len, ranked), default=0)
    return [[rows[at] for rows in ranked if at < len(rows)] for at in range(longest)]
