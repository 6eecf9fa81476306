"""Where the time of a request goes."""

from __future__ import annotations

import time

import pytest

from agent.models.timing import Stopwatch, measured
from cli.output.timing import summed, table
from store.graph import MemoryGraph


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that have passed, as ``time.perf_counter`` tells them."""
    passed = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: passed[0])
    return passed


def test_a_part_is_counted_without_the_parts_that_work_for_it(clock: list[float]):
    watch = Stopwatch()

    @measured("loading models")
    def load() -> None:
        clock[0] += 2.0

    @measured("encoder")
    def encode() -> None:
        clock[0] += 1.0
        load()
        clock[0] += 1.0

    encode()  # nobody counts it
    with watch.measure("detect"):
        encode()
    with watch.measure("detect"):
        clock[0] += 0.5
    clock[0] += 0.25
    assert watch.total() == {
        "detect": 4500.0,
        "total": 8750.0,
        "encoder": 2000.0,
        "loading models": 2000.0,
    }


def test_what_the_database_does_is_counted_and_not_what_is_done_between(
    clock: list[float], graph: MemoryGraph
):
    watch = Stopwatch()
    with watch.measure("store"), graph.writing():
        clock[0] += 5.0
        graph.count_forgotten()
    assert watch.total()["store"] == 5000.0
    assert watch.total()["database"] == 0.0


def test_the_table_gives_stages_that_make_up_the_whole():
    timing = summed([{"select": 30.0, "total": 40.0, "encoder": 10.0}, None, {"total": 20.0}])
    lines = [line.split() for line in table(timing, 100.0)]
    assert lines == [
        ["stage", "ms", "share"],
        ["starting", "and", "showing", "40.0", "40%"],
        ["select", "30.0", "30%"],
        ["between", "30.0", "30%"],
        ["total", "100.0", "100%"],
        ["of", "which"],
        ["encoder", "10.0", "10%"],
    ]
