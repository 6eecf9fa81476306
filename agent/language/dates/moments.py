"""Single days and times of day that words tell of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.language.dates import TimeSpan, find_times

HALF_DAY = timedelta(hours=12)
CLOCK = frozenset({"second", "minute", "hour"})
"""Grains of a time of day."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day that words tell of."""

    start: datetime
    clock: bool
    """Whether it has a time of day."""
    dated: bool
    either_half: bool
    """Whether the words leave open which half of the day is meant."""


def moments(words: str, said: datetime) -> list[tuple[TimeSpan, Moment]]:
    """The days and times of day that words tell of, but for "now"."""
    told = [span for span in find_times(words, said) if not is_now(span, said)]
    return [(span, moment) for span in told if (moment := moment_of(span))]


def is_now(span: TimeSpan, said: datetime) -> bool:
    """Whether it is "now", and no time of day at which it was said by chance."""
    return span.grain == "second" and said in (span.start, span.end)


def moment_of(span: TimeSpan) -> Moment | None:
    """When a span is; of one that is open at its front ("until Friday"), its last day."""
    start = span.start
    if start is None and span.end is not None:
        start = span.end - timedelta(days=1) if span.bound == "until" else span.end
    clock = span.grain in CLOCK
    if start is None or not (clock or span.grain == "day"):
        return None
    halves = [other for other, _ in span.alternatives if other and abs(other - start) == HALF_DAY]
    return Moment(start, clock, span.dated, bool(halves))
