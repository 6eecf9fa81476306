"""Complete erasure: clean the home, erase rows, sweep bytes, verify.

A soft forget is an ordinary edit (``journal.Forget``) that undo takes back. One that the person
made is made good after ``KEPT`` days; one that memlane made, because a newer version of a note no
longer says it, stays history.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from store.erasure.fingerprints import Fingerprints
from store.erasure.plan import Erased, ErasePlan, erase, plan_erase
from store.erasure.secure_delete import (
    SearchedFiles,
    clean_edits,
    clean_lines,
    clear_caches,
    clear_readings,
    key_of,
    search_for,
    sweep,
)
from store.journal import Entry, JournalTable
from store.tables.memory_tables import MemoryTables
from store.types import EditKind

KEPT = timedelta(days=30)
"""How long undo brings back what the person softly forgot."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten for good, and what the search for it found."""

    erased: Erased
    swept: bool
    """False while another process holds the database; its old bytes go when it is next opened."""
    searched: SearchedFiles
    cleaned: tuple[str, ...]
    """Logs that lines were taken out of, and files of the editor that were deleted."""

    @property
    def plan(self) -> ErasePlan:
        return self.erased.plan

    @property
    def verified(self) -> bool:
        """Nothing of it was found in any byte of the home."""
        return self.swept and not self.searched.found and not self.erased.still_in


def forget_for_good(
    tables: MemoryTables,
    ids: Iterable[str],
    *,
    at: datetime,
    actor: str,
    proof: bool,
    elsewhere: bool = False,
) -> Forgotten:
    """See ``MemoryGraph.erase``."""
    ids = tuple(ids)
    rows = tables.rows
    home = rows.path.parent
    plan = plan_erase(tables, ids, alike=not elsewhere)
    # Caches and logs first: a crash after this loses nothing that matters, a crash after the
    # transaction would leave texts in them that nobody knows any more.
    clear_caches(home)
    cleaned = (*clean_lines(home, plan.texts), *clean_edits(home, plan.ids, plan.texts))
    key = key_of(home, create=True) if proof else None
    rows.db.conn.execute("PRAGMA secure_delete = ON")
    with rows.writing():
        # Anew: another process may have written meanwhile.
        plan = plan_erase(tables, ids, alike=not elsewhere)
        marker = Fingerprints(key) if key else None
        erased = erase(tables, plan, at=at, actor=actor, marker=marker, elsewhere=elsewhere)
    swept = sweep(rows)
    searched = search_for(home, erased.windows, plan.texts, erased.still_in)
    clear_readings()  # last: looking for texts reads them
    return Forgotten(erased, swept, searched, cleaned)


@dataclass(frozen=True, slots=True)
class SoftForgotten:
    """A memory that the person softly forgot, and until when undo brings it back."""

    memory: str
    until: datetime


def softly_forgotten(journal: JournalTable) -> tuple[SoftForgotten, ...]:
    """What the person forgot softly and has not taken back."""
    found: list[SoftForgotten] = []
    for memory in journal.forgotten_by_person():
        last = journal.of_memory(memory)[-1]
        first = _first(journal, last)
        if first.kind is EditKind.FORGET and first.actor == "user":
            found.append(SoftForgotten(memory, last.at + KEPT))
    return tuple(found)


def _first(journal: JournalTable, entry: Entry) -> Entry:
    """The edit that an undo of an undo does again."""
    while entry.undoes is not None:
        entry = journal.get(entry.undoes)
    return entry


def due(journal: JournalTable, now: datetime) -> tuple[str, ...]:
    """Memories whose soft forgetting is older than ``KEPT`` at ``now``."""
    return tuple(waiting.memory for waiting in softly_forgotten(journal) if waiting.until <= now)
