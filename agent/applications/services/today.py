"""The digest of a day: what comes, what changed, what is in doubt, what could be forgotten.

It only reads. Each thing that needs a decision comes with the commands that decide it, so that
nothing is changed, hidden or deleted unless the person says so. No model is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.applications.services.reminders import Reminder, coming
from agent.applications.services.upcoming import occasion
from agent.language.dates.values import midnight
from agent.memory.time.decay import Faded, faded
from agent.memory.time.history import source_of, why
from agent.memory.uncertain.pending_questions import undecided
from store.erasure.run import SoftForgotten, softly_forgotten
from store.graph import MemoryGraph
from store.journal import Entry
from store.tables.side_tables.change_edges import ChangeEdge
from store.types import Memory, Source, Status

DAYS = 7
"""How many days ahead are looked at, today included."""
NOTHING = "nothing new"
LIKELY = 0.5
"""Probability of a possible change from which it is listed: it is calibrated, so more likely than
not. Below that a home of some hundred memories has more than anybody decides in a day."""
MOST = 200
"""Edits that are told with their reason; a folder that was ingested makes thousands."""


@dataclass(frozen=True, slots=True)
class JournalEdit:
    """An edit of the journal, with what it was made from and why."""

    entry: Entry
    source: Source | None
    why: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two memories of which the newer may have changed the older, until the person decides."""

    older: Memory
    newer: Memory
    edge: ChangeEdge | None
    """How likely; None for a contradiction that was found by rule."""
    question: str | None
    """As the chat asks it, where both cannot be true."""

    @property
    def probability(self) -> float | None:
        return None if self.edge is None else self.edge.probability

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        """Each way to decide it, with its command."""
        older, newer = self.older.id, self.newer.id
        return (
            (f"{older} is over", f"memlane memories edit {older} --expires now"),
            (f"{newer} is wrong", f"memlane forget --soft {newer}"),
            ("both are true", f"memlane memories unlink {older} {newer}"),
        )


@dataclass(frozen=True, slots=True)
class Hidden:
    """A memory that the person forgot softly: it is erased soon."""

    waiting: SoftForgotten
    keep: str
    """The command that brings it back."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What there is to know and to decide on a day."""

    now: datetime
    since: datetime
    days: int
    coming: tuple[Reminder, ...]
    changed: tuple[JournalEdit, ...]
    """The latest edits, oldest first."""
    earlier: int
    """How many edits since then are left out of ``changed``."""
    ended: tuple[Memory, ...]
    """Memories whose time ran out since then without an edit."""
    doubts: tuple[Doubt, ...]
    """Contradictions first, then possible changes, the likeliest first."""
    unlikely: int
    """How many possible changes are left out, as less likely."""
    faded: tuple[Faded, ...]
    hidden: tuple[Hidden, ...]

    @property
    def summary(self) -> str:
        """The counts in one line, without a word of any memory: others may see the screen."""
        changed = len(self.changed) + self.earlier + len(self.ended)
        to_forget = len(self.faded) + len(self.hidden)
        counts = (
            (len(self.coming), "coming"),
            (changed, "changed"),
            (len(self.doubts), "in doubt"),
            (to_forget, "to forget or keep"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count) or NOTHING


def yesterday(now: datetime) -> datetime:
    """The first moment of the day before."""
    return midnight(now) - timedelta(days=1)


def digest(
    graph: MemoryGraph,
    now: datetime,
    days: int = DAYS,
    since: datetime | None = None,
    least: float = LIKELY,
) -> Digest:
    """The digest at ``now``; changes are those since ``since``, by default since yesterday.

    Of possible changes those of at least the probability ``least`` are listed.
    """
    since = since or yesterday(now)
    memories = graph.memories.list(Status.CURRENT, Status.REPLACED)
    entries = graph.journal.since(since)
    unsure = tuple(doubts(graph, now))
    likely = tuple(one for one in unsure if one.question or (one.probability or 0) >= least)
    touched = {change.memory for entry in entries for change in entry.changes}
    wall = now.replace(tzinfo=None)
    return Digest(
        now,
        since,
        days,
        coming(graph, now, days),
        tuple(_changed(graph, entries[-MOST:])),
        max(len(entries) - MOST, 0),
        tuple(m for m in memories if m.id not in touched and _ended(m, since, now)),
        likely,
        len(unsure) - len(likely),
        # What comes back every year is never past its time.
        tuple(
            one
            for one in faded(memories, graph.turns.last_used(), now)
            if occasion(one.memory, wall) is None
        ),
        tuple(
            Hidden(one, f"memlane undo {graph.journal.of_memory(one.memory)[-1].id}")
            for one in softly_forgotten(graph.journal)
        ),
    )


def _changed(graph: MemoryGraph, entries: Sequence[Entry]) -> Iterator[JournalEdit]:
    known: dict[str, Source] = {}
    for entry in entries:
        source = source_of(graph, entry.source, known)
        yield JournalEdit(entry, source, why(graph, entry, entry.changes))


def _ended(memory: Memory, since: datetime, now: datetime) -> bool:
    end = memory.valid_until
    return memory.status is Status.CURRENT and end is not None and since <= end <= now


def doubts(graph: MemoryGraph, now: datetime) -> Iterator[Doubt]:
    """What waits for a decision: contradictions, then possible changes, the likeliest first."""
    edges = {(edge.older, edge.newer): edge for edge in graph.change_edges.open()}
    for asked in undecided(graph, now):
        older, newer = graph.memories.of(asked.pair)
        yield Doubt(older, newer, edges.pop(asked.pair, None), asked.text)
    for pair, edge in edges.items():
        older, newer = graph.memories.of(pair)
        if older.holds_at(now) and newer.holds_at(now):
            yield Doubt(older, newer, edge, None)
