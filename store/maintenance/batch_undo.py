"""Batch undo: selection, conflict check and execution.

``plan_undo`` looks, ``undo_all`` does: all of it in one transaction or nothing. An edit whose undo
was itself undone stands again, so what has to be taken back is the end of that chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from store.errors import EditConflict, UnknownId
from store.journal import Entry, JournalTable, refuse_erased
from store.row_codecs import row_id
from store.types import EditKind, Memory

if TYPE_CHECKING:
    from store.graph import MemoryGraph

_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Conflict:
    """A later edit that stands in the way of taking ``entry`` back."""

    entry: str
    memory: str
    later: str


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What would be taken back, newest first, and what stands in the way."""

    entries: tuple[Entry, ...]
    conflicts: tuple[Conflict, ...]
    already: tuple[Entry, ...]
    """Asked for, but taken back before."""
    erased: tuple[Entry, ...] = ()
    """Asked for, but what they would bring back is forgotten for good."""


def tip(journal: JournalTable, entry: Entry) -> Entry | None:
    """The entry whose undo takes the effect of ``entry`` back; None if that has been done.

    An edit is its own tip; after undo and redo it is the redo. What is forgotten for good has
    nothing left to take back; only the person's own forgetting is kept as one that is refused.
    """
    person_erased = entry.kind is EditKind.ERASE and entry.actor == "user"
    if all(change.redacted for change in entry.changes) and not person_erased:
        return None
    stands, last = True, entry
    while (later := journal.undo_of(last.id)) is not None:
        stands, last = not stands, later
    return last if stands else None


def last_edits(journal: JournalTable, count: int) -> tuple[Entry, ...]:
    """The last ``count`` edits that stand, newest first; undos and what they undid do not count.

    :raises UnknownId: if no edit stands.
    """
    found: list[Entry] = []
    before: int | None = None
    while len(found) < count and (chunk := journal.newest(_CHUNK, before)):
        for entry in chunk:
            if _counts(entry) and tip(journal, entry) is not None:
                found.append(entry)
        before = row_id("e", chunk[-1].id, "edit")
    if not found:
        raise UnknownId("There is nothing to undo.")
    return tuple(found[:count])


def _counts(entry: Entry) -> bool:
    """Whether an entry is one of 'the last edits': undos, and what was erased, are not."""
    if entry.kind is EditKind.ERASE:
        return entry.actor == "user"  # so that a plain undo right after says why it cannot be
    return entry.kind is not EditKind.UNDO and not _erased(entry)


def _erased(entry: Entry) -> bool:
    return any(change.redacted for change in entry.changes)


def from_sources(journal: JournalTable, sources: Iterable[str]) -> tuple[Entry, ...]:
    """Every edit that was made from these sources; undos are not edits."""
    return tuple(
        entry
        for source in dict.fromkeys(sources)
        for entry in journal.of_source(source)
        if entry.kind is not EditKind.UNDO
    )


def taken_back(journal: JournalTable, source: str) -> Entry | None:
    """The undo that took back all that a source gave; None where something of it stands."""
    made = from_sources(journal, [source])
    if not made or any(_erased(entry) or tip(journal, entry) is not None for entry in made):
        return None
    last = made[-1]
    while (later := journal.undo_of(last.id)) is not None:
        last = later
    return last


def plan_undo(journal: JournalTable, asked: Sequence[Entry]) -> UndoPlan:
    """Find what has to be taken back, and every later edit outside of it that stands in the way."""
    tips: dict[str, Entry] = {}
    already: list[Entry] = []
    erased: list[Entry] = []
    for entry in asked:
        end = tip(journal, entry)
        if _erased(end or entry):
            erased.append(end or entry)
        elif end is None:
            already.append(entry)
        else:
            tips[end.id] = end
    ordered = sorted(tips.values(), key=lambda entry: -row_id("e", entry.id, "edit"))

    standing: dict[str, Memory | None] = {}
    conflicts: list[Conflict] = []
    for entry in ordered:
        for change in reversed(entry.changes):
            if change.memory not in standing:
                standing[change.memory] = journal.standing(change.memory)
            if standing[change.memory] != change.after:
                later = _in_the_way(journal, entry, change.memory, tips)
                conflicts.append(Conflict(entry.id, change.memory, later))
            # Go on as if it were solved, so that one look names every conflict.
            standing[change.memory] = change.before
    return UndoPlan(tuple(ordered), tuple(conflicts), tuple(already), tuple(erased))


def _in_the_way(journal: JournalTable, entry: Entry, memory: str, planned: dict[str, Entry]) -> str:
    number = row_id("e", entry.id, "edit")
    for other in reversed(journal.of_memory(memory)):
        later = row_id("e", other.id, "edit") > number
        if later and other.id not in planned and tip(journal, other) is other:
            return other.id
    return journal.of_memory(memory)[-1].id


def undo_all(
    graph: MemoryGraph, asked: Sequence[Entry], *, at: datetime, actor: str = "user"
) -> tuple[Entry, ...]:
    """Take back these edits, newest first, as one batch; all of them or none.

    :raises EditConflict: if later edits stand in the way, or all are taken back already.
    """
    done: list[Entry] = []
    with graph.writing():
        plan = plan_undo(graph.journal, asked)  # anew: others may have written since the preview
        refuse(plan)
        for entry in plan.entries:
            batch = done[0].batch if done else None
            done.append(graph.undo(entry.id, at=at, actor=actor, batch=batch))
    return tuple(done)


def refuse(plan: UndoPlan) -> None:
    """:raises EditConflict: if the plan cannot be carried out, naming what to do first."""
    if not plan.entries:
        if plan.erased:
            refuse_erased(plan.erased[0])
        ids = ", ".join(entry.id for entry in plan.already[:5])
        raise EditConflict(
            f"Already undone: {ids}. To redo it, undo the undo that "
            "`memlane memories history` shows."
            if plan.already
            else "There is nothing to undo there."
        )
    if plan.conflicts:
        first = plan.conflicts[0]
        count = len(plan.conflicts)
        more = f" ({count} such conflicts)" if count > 1 else ""
        raise EditConflict(
            f"{first.entry} cannot be undone alone: {first.later} changed {first.memory} after "
            f"it{more}. Undo {first.later} first, or both: memlane memories undo "
            + " ".join(dict.fromkeys(c.later for c in plan.conflicts[:5]))
            + f" {first.entry}"
        )
