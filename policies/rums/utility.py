"""RUMS utility: entropy reduction by a subset of memories.

``U(S) = H(answer | question) - H(answer | question, S)`` in nats a token (equation 2), from
entropies that arrive as a callable: this module never meets the model. ``search`` finds the best
subset of at most ``CANDIDATES`` memories (Algorithm 1): all subsets of few, and of more greedily
with the interaction gap of appendix A.4 as the bound on what is worth asking for. ``MemoryNeed``
tells when nothing is to be chosen (F.5), by a second signal too: the entropy without any memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.base import Question
from policies.baselines.fusion import activate
from store.derived.view import GraphView

CANDIDATES = 10
"""Memories that the coarse filter leaves at most (section 4.1)."""
MOST = 5
"""Memories of a subset at most (F.1)."""
EXACT = 4
"""Candidates up to which every subset is asked for; of 5 there are 31, of 10 there are 637."""
WIDTH = 3
"""Extensions of a greedy subset that are asked for at once."""

Subset = tuple[int, ...]
"""Candidates by their place, rising; () is no memory."""
Entropies = Callable[[Sequence[Subset]], Sequence[Sequence[float]]]
"""Entropies (nats a token) of the answers sampled with each subset, a number a sample.

Sample number i of every subset is drawn by the same chance, so subsets are compared sample by
sample. Many are asked for at once, so that whoever computes them can share their work.
"""


def coarse(question: Question, view: GraphView, most: int = CANDIDATES) -> list[int]:
    """Rows of the memories that may matter, best first: the coarse filter.

    The paper has a language model do this; here meaning and words do (``baselines.fusion``).
    """
    return [candidate.row for candidate in activate(question, view, most)]


@dataclass(frozen=True, slots=True)
class Utility:
    """How much surer a subset makes the model."""

    subset: Subset
    mean: float
    """Nats a token."""


@dataclass(frozen=True, slots=True)
class FoundSubset:
    """What a search found out."""

    best: Utility
    """The worthiest subset that is not empty; the empty one, worth 0, where nothing was offered."""
    none: float
    """Entropy of the answer without memory."""
    singles: tuple[Utility, ...]
    """Of each candidate alone."""
    path: tuple[Utility, ...]
    """Prefixes of ``best`` in the order they grew; of an exact search, in the order of worth."""


@dataclass(slots=True)
class _Asking:
    """Utilities that were asked for; none is asked for twice."""

    entropies: Entropies
    _samples: dict[Subset, NDArray[np.float64]] = field(default_factory=dict)

    def of(self, subsets: Iterable[Subset]) -> list[Utility]:
        wanted = list(subsets)
        new = [s for s in dict.fromkeys([(), *wanted]) if s not in self._samples]
        if new:
            for subset, found in zip(new, self.entropies(new), strict=True):
                self._samples[subset] = np.asarray(found, np.float64)
        none = self._samples[()]
        return [utility(none, self._samples[subset], subset) for subset in wanted]

    @property
    def none(self) -> float:
        return float(self._samples[()].mean())


def utility(none: ArrayLike, with_subset: ArrayLike, subset: Subset = ()) -> Utility:
    """From entropies without and with a subset, sample by sample (equation 3)."""
    gains = np.asarray(none, np.float64) - np.asarray(with_subset, np.float64)
    return Utility(subset, float(gains.mean()))


def search(
    entropies: Entropies, count: int, *, most: int = MOST, exact: int = EXACT, price: float = 0.0
) -> FoundSubset:
    """The worthiest subset of ``count`` candidates, of at most ``most`` of them.

    A subset that is larger by one has to be worth more by ``price``. Up to ``exact`` candidates all
    subsets are asked for. Beyond, the best one grows: an extension by i is expected to be worth
    ``U(S) + U({i})`` and at most the largest interaction gap seen so far more; those that cannot be
    worth having by that are not asked for.
    """
    asking = _Asking(entropies)
    singles = asking.of((i,) for i in range(count))
    if not singles:
        asking.of([()])
        return FoundSubset(Utility((), 0.0), asking.none, (), ())

    def net(one: Utility) -> float:
        return one.mean - price * len(one.subset)

    if count <= exact:
        sizes = range(1, min(most, count) + 1)
        everything = asking.of(s for size in sizes for s in combinations(range(count), size))
        # Of equals the smaller: max keeps the first, and sizes rise.
        best = max(everything, key=net)
        order = sorted(best.subset, key=lambda i: -singles[i].mean)
        path = asking.of(tuple(sorted(order[:n])) for n in range(1, len(order) + 1))
        return FoundSubset(best, asking.none, tuple(singles), tuple(path))

    path = [max(singles, key=net)]
    largest_gap = 0.0
    while len(path) < most:
        held = path[-1]
        left = [i for i in range(count) if i not in held.subset]
        left.sort(key=lambda i: -singles[i].mean)
        # Before any gap was seen the most promising are asked for, whatever they promise.
        hopeful = [i for i in left if len(path) == 1 or singles[i].mean + largest_gap > price]
        grown = asking.of(tuple(sorted((*held.subset, i))) for i in hopeful[:WIDTH])
        for i, one in zip(hopeful, grown, strict=False):
            largest_gap = max(largest_gap, one.mean - held.mean - singles[i].mean)
        found = max(grown, key=net, default=held)
        if net(found) <= net(held):
            break
        path.append(found)
    return FoundSubset(path[-1], asking.none, tuple(singles), tuple(path))


# ---- when nothing helps -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Whether memory helps, by two signals: the best utility and the entropy without memory.

    ``bias + utility * U + none * H`` is the logit of a logistic function; with ``none`` 0 it is the
    paper's threshold on the utility alone.
    """

    bias: float
    utility: float
    none: float
    threshold: float = 0.5
    """Probability from which memory is used."""

    def likely(self, utility: float, none: float) -> float:
        """Probability in [0, 1] that memory helps."""
        total = self.bias + self.utility * utility + self.none * none
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))
