"""BM25 over the memories of a view (Robertson and Zaragoza, 2009), updated incrementally.

The words of each memory are read once (``store.derived.cache``); how often a word occurs among the
memories of a view is counted for that view, so a narrowed view weighs words as if nothing else were
stored.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.scoring.ranking import top
from policies.selection import Selection
from store.derived.cache import Postings, rarity
from store.derived.tokenize import words
from store.derived.view import GraphView
from store.types import Memory

SATURATION = 1.2
"""k1: how much a second occurrence of a word adds."""
LENGTH = 0.4
"""b: how much a long memory is held against it. Memories are sentences, so less than for pages."""


class Lexicon:
    """The words of memories by number; kept in a cache."""

    def __init__(self) -> None:
        self.postings = Postings()
        self.lengths = array("i")

    def catch_up(self, memories: Sequence[Memory]) -> None:
        for number in range(len(self.lengths), len(memories)):
            found = words(memories[number].text)
            self.lengths.append(len(found))
            self.postings.add(number, Counter(found))


@dataclass(frozen=True, slots=True, eq=False)
class WordRows:
    """A word of a question, and the rows of a view that hold it."""

    word: str
    times: int
    """How often the question has it."""
    rarity: float
    rows: NDArray[np.intp]
    counts: NDArray[np.float32]
    """How often each row has it."""


def held(text: str, view: GraphView) -> list[WordRows]:
    """The words of a text that memories of the view hold, each once."""
    postings = view.index(Lexicon).postings
    found = []
    for word, times in Counter(words(text)).items():
        numbers, counts = postings.of(word)
        rows = view.rows_of(numbers)
        inside = rows >= 0
        if not inside.all():
            rows, counts = rows[inside], counts[inside]
        if len(rows):
            known = len(rows) if view.whole is None else view.whole.count_of(word)
            rare = rarity(max(known, len(rows)), view.size)
            found.append(WordRows(word, times, rare, rows, counts))
    return found


def lexical(text: str, view: GraphView) -> NDArray[np.float32]:
    """The BM25 score of every row for a text."""
    return scored(held(text, view), view)


def scored(asked: Sequence[WordRows], view: GraphView) -> NDArray[np.float32]:
    """The BM25 score of every row for words looked up before."""
    scores = np.zeros(len(view.memories), np.float32)
    for word in asked:
        weight = word.times * word.rarity * (SATURATION + 1)
        scores[word.rows] += weight * word.counts / (word.counts + view.once(_penalty)[word.rows])
    return scores


def _penalty(view: GraphView) -> NDArray[np.float32]:
    lengths = np.array(view.index(Lexicon).lengths, np.float32)[view.numbers]
    mean = float(np.average(lengths, weights=view.weights))
    return SATURATION * (1 - LENGTH + LENGTH * lengths / max(mean, 1.0))


@dataclass(frozen=True, slots=True)
class Bm25:
    """The ``k`` memories that share most of the question's rare words; none that shares none."""

    k: int = 5
    name: str = "bm25"

    def select(self, question: Question, view: GraphView) -> Selection:
        scores = lexical(question.text, view)
        return top(self.name, question, view, scores, self.k, "shares rare words", above=0.0)
