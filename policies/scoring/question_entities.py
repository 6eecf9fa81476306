"""Entity and relation of a question, with name vectors.

EMG-RAG (section 4.3) takes the entity and the relation out of the question with its language
model. Here it is done by rule, so that selection needs none: the longest phrases of the question
that are entities of the graph, else its names; the words that are left are the relation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from store.derived.tokenize import folded
from store.derived.view import SELF, GraphView

Vectors = NDArray[np.float32]
NameVectors = Callable[[Sequence[str]], Vectors]
"""Short names -> unit vectors, one row each; microseconds a name."""

LONGEST = 4
"""Words of an entity's name that are looked for in a question."""
LONGEST_RUN = 8
"""Characters of one, in scripts without spaces."""
SAMPLE = 32
"""Memories whose mean stands for a name where there is no encoder of names."""
KEPT = 20_000
"""Vectors of names that are kept."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_PIECE = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])[^\W_])(?:(?![{_CJK}])[\w@:&.+-])*")
_POSSESSIVE = re.compile(r"['’]s\b")
_PERSON = frozenset("i me my mine myself we us our ours 我 我们".split())
_EMPTY = frozenset(
    """a an and any are as at be been being but by can could did do does for from had has have he
    her hers him his how if in is it its just of on or shall she should so some than that the their
    them then there these they this those to use used was we were what when where which who whom
    whose why will with would you your""".split()
)
"""Words of English that name neither an entity nor a relation."""


@dataclass(frozen=True, slots=True)
class QuestionEntities:
    """What a question names; both are phrases as written."""

    entities: tuple[str, ...]
    relation: str


def named_in(question: str, view: GraphView) -> QuestionEntities:
    """The entities of the view, else the names, that a question holds, and the words left over."""
    pieces = _PIECE.findall(_POSSESSIVE.sub("", question))
    entities: list[str] = []
    left: list[str] = []
    place = 0
    while place < len(pieces):
        size = _longest(pieces, place, view)
        if size:
            entities.append(" ".join(pieces[place : place + size]))
        elif _is_run(pieces[place]):
            found, rest = _of_run(pieces[place], view)
            entities += found
            left += rest
        elif folded(pieces[place]) not in _EMPTY | _PERSON:
            left.append(pieces[place])
        place += size or 1
    if not entities:
        first = pieces[0] if pieces else ""
        entities = [
            piece for piece in left if piece != first and (piece[0].isupper() or piece[0].isdigit())
        ]
        left = [piece for piece in left if piece not in entities]
    if not entities and any(folded(piece) in _PERSON for piece in pieces):
        entities = [SELF]
    return QuestionEntities(tuple(entities), " ".join(left) or question)


def _longest(pieces: Sequence[str], place: int, view: GraphView) -> int:
    """How many pieces from here on are the longest entity; 0 for none."""
    for size in range(min(LONGEST, len(pieces) - place), 0, -1):
        phrase = folded(" ".join(pieces[place : place + size]))
        if phrase not in _EMPTY and phrase not in _PERSON and view.knows(phrase):
            return size
    return 0


def _is_run(piece: str) -> bool:
    return re.match(f"[{_CJK}]", piece) is not None


def _of_run(run: str, view: GraphView) -> tuple[list[str], list[str]]:
    """The entities in a run of characters without spaces, longest first, and what is between."""
    found: list[str] = []
    left = [""]
    place = 0
    while place < len(run):
        sizes = range(min(LONGEST_RUN, len(run) - place), 0, -1)
        size = next((n for n in sizes if view.knows(run[place : place + n])), 0)
        if size:
            found.append(run[place : place + size])
            left.append("")
        else:
            left[-1] += run[place]
        place += size or 1
    return found, [one for one in left if one and one not in _PERSON]


class NameIndex:
    """Vectors of names, by the encoder that is given, else from the memories that hold them."""

    def __init__(self, encode: NameVectors | None) -> None:
        self._encode = encode
        self._known: dict[str, Vectors] = {}

    def entity(self, names: Sequence[str], view: GraphView) -> Vectors:
        """One unit vector for the names together: their mean; zeros where nothing is known."""
        if self._encode is not None:
            return (
                unit(self._of(names).sum(axis=0)) if names else np.zeros_like(self._of([SELF])[0])
            )
        rows = [row for name in names for row in view.about(name)[:SAMPLE].tolist()]
        return unit(view.vectors[rows].sum(axis=0))

    def entities(self, names: Sequence[str], view: GraphView) -> Vectors:
        """One unit vector each."""
        if self._encode is not None:
            return self._of(names)
        return np.array([self.entity([name], view) for name in names], np.float32)

    def relation(self, words: str, question: Vectors) -> Vectors:
        """The vector of a question's relation; without an encoder the question's own."""
        return question if self._encode is None else self._of([words])[0]

    def relations(self, names: Sequence[str], view: GraphView, rows: Sequence[int]) -> Vectors:
        """Of each relation of the memory in its row; without an encoder that memory's own."""
        if self._encode is not None:
            return self._of([name.replace("_", " ") for name in names])
        return view.vectors[list(rows)]

    def _of(self, names: Sequence[str]) -> Vectors:
        assert self._encode is not None
        new = [name for name in dict.fromkeys(names) if name not in self._known]
        if new:
            if len(self._known) + len(new) > KEPT:
                self._known.clear()
                new = list(dict.fromkeys(names))
            self._known.update(zip(new, self._encode(new), strict=True))
        return np.concatenate([self._known[name] for name in names]).reshape(len(names), -1)


def named_fit(
    question: Question, view: GraphView, names: NameIndex
) -> Callable[[Sequence[int]], NDArray[np.float64]]:
    """What gives of rows of the view, shape (rows, 2), how well entity and relation fit.

    They are the first two cosines of EMG-RAG's equation 1. Of several relations of a memory the one
    counts that fits best with the closer of its ends; a memory without relations has zeros.
    """
    named = named_in(question.text, view)
    entity = names.entity(named.entities, view)
    relation = names.relation(named.relation, question.vector)

    near: dict[str, float] = {}  # of the ends so far; a person's memories repeat them

    def fit(rows: Sequence[int]) -> NDArray[np.float64]:
        fits = np.zeros((len(rows), 2))
        triples = [(at, row, t) for at, row in enumerate(rows) for t in view.memories[row].triples]
        if not triples:
            return fits
        ends = dict.fromkeys(end for _, _, t in triples for end in (t.head, t.tail))
        if new := [end for end in ends if end not in near]:
            near.update(zip(new, (names.entities(new, view) @ entity).tolist(), strict=True))
        relations = names.relations(
            [t.relation for _, _, t in triples], view, [row for _, row, _ in triples]
        )
        best: dict[int, float] = {}
        for (at, _, t), meant in zip(triples, (relations @ relation).tolist(), strict=True):
            closest = max(near[t.head], near[t.tail])
            if at not in best or closest + meant > best[at]:
                best[at] = closest + meant
                fits[at] = closest, meant
        return fits

    return fit


def unit(vector: Vectors) -> Vectors:
    """Of length 1; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-9 else vector
