"""Table of where the time of a command went."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from agent.results import PARTS


def show_timing(timings: Iterable[Mapping[str, float] | None], began: float, out: TextIO) -> None:
    """Print the stages of one request or of several; ``began`` is when the command was given."""
    whole = 1000 * (time.monotonic() - began)
    out.writelines(f"{line}\n" for line in table(summed(timings), whole))


def summed(timings: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    """The stages of several requests together."""
    total: dict[str, float] = {}
    for timing in timings:
        for name, took in (timing or {}).items():
            total[name] = total.get(name, 0.0) + took
    return total


def table(timing: Mapping[str, float], whole: float) -> Iterator[str]:
    """Its lines: stages that make up the ``whole`` milliseconds, then what was at work in them."""
    stages = {name: took for name, took in timing.items() if name not in (*PARTS, "total")}
    asked = timing.get("total", 0.0)
    rows = {
        "starting and showing": whole - asked,
        **stages,
        "between": asked - sum(stages.values()),
    }
    parts = {name: timing[name] for name in PARTS if name in timing}
    yield f"{'stage':<22}{'ms':>9}{'share':>7}"
    yield from (_row(name, took, whole) for name, took in rows.items())
    yield _row("total", whole, whole)
    if parts:
        yield "of which"
        yield from (_row(f"  {name}", took, whole) for name, took in parts.items())


def _row(name: str, took: float, whole: float) -> str:
    return f"{name:<22}{max(0.0, took):>9.1f}{max(0.0, took) / whole:>7.0%}"
