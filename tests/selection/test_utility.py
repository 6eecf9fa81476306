"""The utility of subsets: the search finds what it should, and says when nothing helps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from policies.rums.utility import MOST, MemoryNeed, Subset, search


class Table:
    """Entropies by rule, and what was asked for."""

    def __init__(self, gains: dict[Subset, float], bare: float = 3.0, samples: int = 2) -> None:
        self.gains, self.bare, self.samples = gains, bare, samples
        self.asked: list[Subset] = []
        self.calls = 0

    def worth(self, subset: Subset) -> float:
        return self.gains.get(subset, sum(self.gains.get((i,), 0.0) for i in subset))

    def __call__(self, subsets: Sequence[Subset]) -> list[tuple[float, ...]]:
        self.asked += subsets
        self.calls += 1
        return [(self.bare - self.worth(s),) * self.samples for s in subsets]


def brute_force(table: Table, count: int, most: int) -> Subset:
    every = (s for size in range(1, most + 1) for s in combinations(range(count), size))
    return max(every, key=table.worth)


@pytest.mark.parametrize("seed", range(5))
def test_an_exact_search_finds_what_brute_force_finds(seed: int):
    rng = np.random.default_rng(seed)
    every = [s for size in range(1, 5) for s in combinations(range(4), size)]
    table = Table({s: float(rng.normal()) for s in every})
    found = search(table, 4)
    assert found.best.subset == brute_force(table, 4, 4)
    assert len(table.asked) == len(set(table.asked)) == 16


def test_few_members_are_kept_to_in_an_exact_search_too():
    table = Table({(0,): 1.0, (1,): 1.0, (2,): 1.0})
    assert len(search(table, 3, most=2).best.subset) == 2


@pytest.mark.parametrize("seed", range(5))
def test_greedy_finds_the_best_where_memories_add_up(seed: int):
    rng = np.random.default_rng(seed)
    table = Table({(i,): float(rng.normal()) for i in range(10)})
    found = search(table, 10)
    assert found.best.subset == brute_force(table, 10, MOST)
    assert len(table.asked) < 40
    assert table.calls <= 1 + MOST


def test_greedy_looks_for_a_pair_that_is_worth_more_than_its_parts():
    gains: dict[Subset, float] = {(i,): 0.1 - 0.01 * i for i in range(8)}
    table = Table(gains | {(0, 2): 1.0})
    found = search(table, 8)
    assert {0, 2} <= set(found.best.subset)


def test_a_price_keeps_out_what_adds_next_to_nothing():
    table = Table({(0,): 1.0, **{(i,): 0.001 for i in range(1, 8)}})
    assert search(table, 8, price=0.01).best.subset == (0,)
    assert len(search(table, 8).best.subset) > 1


def test_no_candidates_are_worth_nothing():
    found = search(Table({}), 0)
    assert (found.best.subset, found.best.mean, found.none) == ((), 0.0, 3.0)


def test_a_need_of_the_utility_alone_is_a_threshold_on_it():
    need = MemoryNeed(-0.29 * 10, 10.0, 0.0)
    assert need.likely(0.30, 99) > 0.5 > need.likely(0.28, 99)
