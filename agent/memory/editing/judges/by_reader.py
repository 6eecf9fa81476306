"""What a newer passage does to an older one, by the statement reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.ports import RELATIONS, Probabilities, StatementReader
from store.tables.side_tables.change_edges import ChangeKind

CHANGES: Mapping[str, ChangeKind] = {
    "supersedes": ChangeKind.SUPERSEDES,
    "corrects": ChangeKind.CORRECTS,
    "ends": ChangeKind.ENDS,
    "refines": ChangeKind.REFINES,
}
"""Relations of the reader that change the older passage."""
_ENDING = ("supersedes", "corrects", "ends")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a newer passage does to an older one, by the reader."""

    change: ChangeKind
    """The likeliest kind of change."""
    changed: float
    """Probability that it changes the older one in any way."""
    added: float
    """Probability that both hold, side by side."""
    same: float


def judged(reader: StatementReader, pairs: Sequence[tuple[str, str]]) -> list[Judged]:
    """Judge (older, newer) pairs of passages."""
    return [judged_as(row) for row in reader.relations(pairs)]


def judged_as(row: Probabilities) -> Judged:
    """The judgement that the probabilities of ``RELATIONS`` come to.

    It is refined where that is likelier than that it holds no longer, in whatever way.
    """
    chance = dict(zip(RELATIONS, map(float, row), strict=True))
    likeliest = max(_ENDING, key=lambda name: chance[name])
    refined = chance["refines"] > sum(chance[name] for name in _ENDING)
    return Judged(
        ChangeKind.REFINES if refined else CHANGES[likeliest],
        sum(chance[name] for name in CHANGES),
        chance["adds"],
        chance["same"],
    )
