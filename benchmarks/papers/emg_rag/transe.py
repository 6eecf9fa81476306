r"""TransE: entities and relations as vectors, a relation as a step from head to tail.

Bordes, Usunier, Garcia-Duran, Weston, Yakhnenko: Translating Embeddings for Modeling
Multi-relational Data (NIPS 2013). For the true triples :math:`S` and corrupted ones :math:`S'`

.. math:: L = \sum_{(h,l,t) \in S} \sum_{(h',l,t') \in S'}
          [\gamma + d(h + l, t) - d(h' + l, t')]_+

with :math:`d` the L1 or L2 distance, :math:`\|h\| = \|t\| = 1`, and :math:`S'` the triple with head
or tail put in for another entity. EMG-RAG (section 4.2) places entities in subclasses by it. Knows
names and arrays; derived from rows, never stored: the same triples and seed give the same vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Rows = NDArray[np.intp]
Named = tuple[str, str, str]
"""Head, relation, tail."""


@dataclass(frozen=True, slots=True)
class TransEConfig:
    """Hyperparameters, chosen by how well the triples it learned from come back.

    A person's graph is small and nearly a star around ``me``: the paper's own settings (margin 1,
    L1, one negative) do not get it right even there.
    """

    dimension: int = 32
    """Numbers in a vector. The paper's 20 to 50 for graphs a hundred times as large."""
    margin: float = 0.5
    """How much farther than a true triple a corrupted one has to be (gamma)."""
    norm: Literal[1, 2] = 2
    """The distance: L1, or L2."""
    rate: float = 0.05
    """Step of the stochastic gradient descent. Small graphs see few batches an epoch."""
    epochs: int = 400
    batch: int = 128
    negatives: int = 8
    """Corrupted triples for each true one; the paper has 1."""
    seed: int = 0


class TransE:
    """Trained vectors; make it with ``TransE.train``.

    >>> model = TransE.train([("me", "lives_in", "Oslo"), ("Oslo", "is_a", "city")])
    >>> model.distances("me", "lives_in", ["Oslo", "city"]).argmin()
    0
    """

    def __init__(
        self,
        config: TransEConfig,
        entities: dict[str, int],
        relations: dict[str, int],
        entity_vectors: Array,
        relation_vectors: Array,
        losses: tuple[float, ...],
    ) -> None:
        self.config = config
        self.entities = entities
        """Row of each entity in ``entity_vectors``; so for ``relations``."""
        self.relations = relations
        self.entity_vectors = entity_vectors  # (entities, dimension), of unit length
        self.relation_vectors = relation_vectors  # (relations, dimension)
        self.losses = losses
        """The mean loss of a triple in each epoch."""

    @classmethod
    def train(cls, triples: Iterable[Named], config: TransEConfig | None = None) -> TransE:
        """Learn from true triples. Seconds for ten thousand of them; nothing at all is no error."""
        config = config or TransEConfig()
        told = list(dict.fromkeys(triples))
        entities = _numbered(name for head, _, tail in told for name in (head, tail))
        relations = _numbered(relation for _, relation, _ in told)
        true = np.array(
            [(entities[h], relations[r], entities[t]) for h, r, t in told], dtype=np.intp
        ).reshape(len(told), 3)
        run = _Run(true, len(entities), len(relations), config)
        losses = tuple(run.epoch() for _ in range(config.epochs if told else 0))
        run.normalise()
        return cls(config, entities, relations, run.entities, run.relations, losses)

    def distances(self, head: str, relation: str, tails: Sequence[str]) -> Array:
        """d(head + relation, tail) for each tail, smaller is likelier.

        :raises KeyError: if a name was in no triple.
        """
        start = self.entity_vectors[self.entities[head]]
        step = self.relation_vectors[self.relations[relation]]
        ends = self.entity_vectors[[self.entities[tail] for tail in tails]]
        return distance(start + step - ends, self.config.norm)


def distance(difference: Array, norm: int) -> Array:
    """L1 or L2 length along the last axis."""
    if norm == 1:
        return np.asarray(np.abs(difference).sum(axis=-1), dtype=np.float32)
    return np.asarray(np.sqrt((difference**2).sum(axis=-1)), dtype=np.float32)


class _Run:
    """The state of one training."""

    def __init__(self, true: Rows, entities: int, relations: int, config: TransEConfig) -> None:
        self._true, self._config = true, config
        self._rng = np.random.default_rng(config.seed)
        bound = 6 / np.sqrt(config.dimension)
        self.entities = self._uniform(bound, entities)
        self.relations = _unit(self._uniform(bound, relations))
        self._sizes = (entities, relations)
        self._known = np.sort(self._code(true))

    def _uniform(self, bound: float, rows: int) -> Array:
        drawn = self._rng.uniform(-bound, bound, (rows, self._config.dimension))
        return drawn.astype(np.float32)

    def _code(self, triples: Rows) -> NDArray[np.int64]:
        """One number for each triple, so that true ones are found by bisection."""
        entities, relations = self._sizes
        head, relation, tail = triples.T.astype(np.int64)
        found: NDArray[np.int64] = (head * relations + relation) * entities + tail
        return found

    def normalise(self) -> None:
        self.entities = _unit(self.entities)

    def epoch(self) -> float:
        """Every true triple once, in batches; returns the mean loss."""
        order = self._rng.permutation(len(self._true))
        total = 0.0
        for start in range(0, len(order), self._config.batch):
            self.normalise()
            total += self._step(self._true[order[start : start + self._config.batch]])
        return total / len(order)

    def _step(self, batch: Rows) -> float:
        true = np.repeat(batch, self._config.negatives, axis=0)  # (B * negatives, 3)
        false, valid = self._corrupted(true)
        good, bad = self._difference(true), self._difference(false)
        norm = self._config.norm
        loss = self._config.margin + distance(good, norm) - distance(bad, norm)
        active = valid & (loss > 0)
        rate = self._config.rate / self._config.negatives
        for triples, difference, sign in ((true, good, 1.0), (false, bad, -1.0)):
            step = (-sign * rate * _gradient(difference[active], norm)).astype(np.float32)
            heads, relations, tails = triples[active].T
            np.add.at(self.entities, heads, step)
            np.add.at(self.relations, relations, step)
            np.add.at(self.entities, tails, -step)
        return float(loss[active].sum()) / self._config.negatives

    def _difference(self, triples: Rows) -> Array:
        heads, relations, tails = triples.T
        found: Array = self.entities[heads] + self.relations[relations] - self.entities[tails]
        return found

    def _corrupted(self, true: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Each triple with another head or tail, and which of them are not true after all."""
        false = true.copy()
        ends = np.where(self._rng.random(len(true)) < 0.5, 0, 2)
        open_ = np.arange(len(true))
        for _ in range(10):
            false[open_, ends[open_]] = self._rng.integers(self._sizes[0], size=len(open_))
            open_ = open_[self._is_true(false[open_])]
            if not len(open_):
                break
        # Where nearly every entity would be true, none is found: that one is left out.
        valid = np.ones(len(true), dtype=np.bool_)
        valid[open_] = False
        return false, valid

    def _is_true(self, triples: Rows) -> NDArray[np.bool_]:
        codes = self._code(triples)
        places = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
        found: NDArray[np.bool_] = self._known[places] == codes
        return found


def _gradient(difference: Array, norm: int) -> Array:
    if norm == 1:
        return np.sign(difference)
    length = np.maximum(np.linalg.norm(difference, axis=1, keepdims=True), 1e-9)
    return np.asarray(difference / length, dtype=np.float32)


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: row for row, name in enumerate(dict.fromkeys(names))}
