"""Thresholds on memory's use: known ones are found."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.rums.memory_need import fit_need, youden


def test_youden_finds_the_known_threshold():
    found = youden([0.4, 0.5, 0.6, 0.1], [0.0, 0.1, 0.2, 0.45])
    assert (found.recall, found.specificity) == (0.75, 0.75)
    assert 0.2 < found.value < 0.4
    assert found.j == pytest.approx(0.5)
    apart = youden([1.0, 2.0], [0.0])
    assert (apart.value, apart.j) == (0.5, 1.0)
    assert apart.on([0.4], [0.6]).j == -1


def test_youden_needs_both_kinds():
    with pytest.raises(ValueError, match="both kinds"):
        youden([], [0.1])


def test_need_uses_the_entropy_without_memory_where_the_utility_says_little():
    rng = np.random.default_rng(0)
    needing = [(float(rng.normal(0.1)), float(rng.normal(3))) for _ in range(60)]
    others = [(float(rng.normal(0.0)), float(rng.normal(0))) for _ in range(60)]
    need = fit_need(needing, others)
    assert need.none > abs(need.utility)
    said = youden([need.likely(*n) for n in needing], [need.likely(*o) for o in others])
    assert said.recall > 0.85
    assert said.specificity > 0.85
    assert said.value == pytest.approx(need.threshold)
