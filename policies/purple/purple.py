"""``purple``: a bandit over ordered sets of memories (PURPLE; Du et al.).

The fused retriever gives ``CANDIDATES`` records; a small encoder reads them together with the
question (``purple_encoder``) and gives each a propensity; the ``k`` highest are the selection, in
that order, which is kept up to the prompt (section 5.3). In training whole profiles are drawn from
the Plackett-Luce model of the propensities (``plackett_luce``) and rewarded by what they do to the
answer (``purple_training``).

No language model takes part in a selection. What it costs is reading the question and those
candidates that were not candidates before: token embeddings are kept in the view's cache, in memory
only, so they go with the view when something is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policies.base import Question
from policies.baselines.fusion import FusedCandidate, activate
from policies.purple.purple_encoder import Propensities, Records
from policies.scoring.ranking import SHOWN, best, selection
from policies.selection import Selection
from store.derived.view import GraphView
from store.errors import InvalidInput
from store.types import Memory

WEIGHTS = Path(__file__).parent.parent / "data" / "purple.npz"
CANDIDATES, CHOSEN = 20, 5
"""The paper's (section 4.1)."""
TOKENS = 48
"""Tokens of a text that are read; the rest is cut."""
KEPT = 4000
"""Memories whose token embeddings are kept, some 20 kB each; the oldest go first."""
SIGN_NAMES = ("fused", "dense", "lexical", "dense_near", "lexical_near")

TokenVectors = Callable[[Sequence[str]], Sequence[NDArray[np.float32]]]
"""The frozen encoder's token embeddings of each text, (tokens, dimension); at least one token."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateList:
    """The candidates of a question: their rows in the view and what the encoder reads of them."""

    rows: tuple[int, ...]
    records: Records


@dataclass(frozen=True, slots=True, eq=False)
class Purple:
    """See this module."""

    network: Propensities
    tokens: TokenVectors | None = None
    k: int = CHOSEN
    candidates: int = CANDIDATES
    name: str = "purple"

    @classmethod
    def shipped(cls, tokens: TokenVectors | None = None, *, k: int = CHOSEN) -> Self:
        """With the weights that memlane comes with.

        :raises InvalidInput: if their file is damaged.
        """
        return cls(_weights(), tokens, k)

    def with_network(self, network: Propensities) -> Self:
        """:raises InvalidInput: if the network is for tokens of another encoder."""
        return replace(self, network=network.for_states(self.network.inputs))

    def select(self, question: Question, view: GraphView) -> Selection:
        """:raises InvalidInput: if there is no encoder of tokens, or it is of another size."""
        if not view.memories:
            return Selection(self.name, (), ())
        listed = self.listed(question, view)
        scores = self.network.scores(listed.records)
        order = [int(place) for place in best(scores, len(scores))]
        rows = [listed.rows[place] for place in order]
        chosen = selection(
            self.name, question, view, rows[: self.k], rows[self.k : self.k + SHOWN],
            "likely to make the answer better", "others serve the answer better",
        )  # fmt: skip
        steps = (
            replace(step, activated=True, probability=float(np.exp(scores[place])),
                    state=tuple(zip(SIGN_NAMES, map(float, listed.records.signs[place]),
                                    strict=True)))
            for step, place in zip(chosen.trace, order, strict=False)
        )  # fmt: skip
        return replace(chosen, trace=tuple(steps))

    def listed(self, question: Question, view: GraphView) -> CandidateList:
        """The retriever's candidates as the encoder reads them."""
        if self.tokens is None:
            raise InvalidInput(
                "The policy 'purple' needs an encoder that tells of single tokens and was given "
                "none. Choose another."
            )
        candidates = activate(question, view, max(self.candidates, self.k))
        rows = [candidate.row for candidate in candidates]
        asked, *told = self._read(question.text, view, rows)
        if asked.shape[1] != self.network.inputs:
            raise InvalidInput(
                f"The weights of 'purple' are for an encoder of {self.network.inputs} numbers, "
                f"this one gives {asked.shape[1]}. Choose another policy or encoder."
            )
        return CandidateList(tuple(rows), records(asked, told, candidates))

    def _read(self, text: str, view: GraphView, rows: Sequence[int]) -> list[NDArray[np.float32]]:
        """Tokens of the question and of each row: what is not known yet, in one call."""
        assert self.tokens is not None
        known = view.index(_Tokens)
        numbers = [int(view.numbers[row]) for row in rows]
        new = [n for n in range(len(rows)) if numbers[n] not in known.of]
        made = self.tokens([text, *(view.memories[rows[n]].text for n in new)])
        # Rounded at the first reading too: the same question gives the same selection.
        fresh = {
            numbers[n]: tokens[:TOKENS].astype(np.float16)
            for n, tokens in zip(new, made[1:], strict=True)
        }
        told = [(fresh[n] if n in fresh else known.of[n]).astype(np.float32) for n in numbers]
        known.keep(fresh)
        return [made[0][:TOKENS], *told]


def records(
    asked: NDArray[np.float32],
    told: Sequence[NDArray[np.float32]],
    found: Sequence[FusedCandidate],
) -> Records:
    """Padded to the longest."""
    longest = max(map(len, told))
    tokens = np.zeros((len(told), longest, asked.shape[1]), np.float32)
    there = np.zeros((len(told), longest), np.float32)
    for row, own in enumerate(told):
        tokens[row, : len(own)] = own
        there[row, : len(own)] = 1.0
    signs = [(c.score, c.dense, c.lexical, c.dense_near, c.lexical_near) for c in found]
    return Records(asked, tokens, there, np.array(signs, np.float32))


class _Tokens:
    """Token embeddings by number, in half precision: they change a score by less than 0.01."""

    def __init__(self) -> None:
        self.of: dict[int, NDArray[np.float16]] = {}

    def catch_up(self, memories: Sequence[Memory]) -> None:
        """Read when they are first candidates: most memories never are."""

    def keep(self, fresh: dict[int, NDArray[np.float16]]) -> None:
        self.of.update(fresh)
        while len(self.of) > KEPT:
            del self.of[next(iter(self.of))]


@cache
def _weights() -> Propensities:
    return Propensities.load(WEIGHTS)
