"""MemoryGraph: the three layers over SQLite (EMG-RAG section 4.2), with all edits.

Invariants: whatever changes a memory goes through ``apply`` or ``undo`` and leaves one journal
entry in the same transaction; no model is called in here, so no transaction waits for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from store.database.connection import Connection
from store.derived.cache import DerivedCache
from store.derived.large.index import LargeIndex, is_large
from store.derived.large.part import Parts, Sought
from store.derived.vector_index import MemoryIndex
from store.derived.view import GraphView
from store.erasure.plan import ErasePlan, plan_erase
from store.erasure.run import Forgotten, forget_for_good
from store.erasure.secure_delete import Proof, SearchedFiles, prove, sweep
from store.erasure.words import words_left
from store.errors import EditConflict
from store.journal import Edit, Entry, reversed_changes
from store.row_codecs import subclass_from_row
from store.sync.forgetting import Forgettings
from store.sync.sources import SharedSources
from store.sync.tables import SyncTables
from store.tables.edit_writer import EditWriter
from store.tables.memory_tables import MemoryTables
from store.tables.paging import GraphPager
from store.tables.side_tables.change_edges import ChangeEdgeTable
from store.tables.side_tables.form_consents import FormConsentTable
from store.tables.side_tables.ingest_runs import IngestRunTable
from store.tables.side_tables.pending_questions import PendingQuestionTable
from store.tables.side_tables.personas import PersonaTable
from store.tables.side_tables.programs.mcp_confirmations import ConfirmationTable
from store.tables.side_tables.programs.paired_browsers import PairedBrowserTable
from store.tables.side_tables.sharing_consents import SharingConsentTable
from store.tables.side_tables.shown_reminders import ShownReminderTable
from store.tables.side_tables.training_data import TrainingTable
from store.tables.side_tables.watch_queue import WatchTable
from store.tables.sources import TurnTable
from store.tables.taxonomy_edits import SHOWN, add_subclass, remove_subclass, seed
from store.tables.vectors import Vector, VectorTable
from store.tables.verify import problems
from store.types import EditKind, Subclass


class MemoryGraph:
    """One person's memory: open it with ``MemoryGraph.open(home)``, close it when done.

    The tables are ``memories``, ``journal``, ``sources``, ``turns`` and ``vectors``; read them
    freely, change memories through ``apply`` and ``undo``.
    """

    def __init__(self, connection: Connection) -> None:
        self._rows = connection
        self._tables = tables = MemoryTables.of(connection)
        self._edits = EditWriter(tables)
        self.memories = tables.memories
        self.journal = tables.journal
        self.sources = tables.sources
        self.turns = TurnTable(connection)
        self.vectors = VectorTable(connection)
        self.runs = IngestRunTable(connection)
        self.questions = PendingQuestionTable(connection)
        self.change_edges = ChangeEdgeTable(connection)
        self.learned = TrainingTable(connection)
        self.personas = PersonaTable(connection)
        self.consents = SharingConsentTable(connection)
        self.watched = WatchTable(connection)
        self.notified = ShownReminderTable(connection)
        self.confirmations = ConfirmationTable(connection)
        self.form_consents = FormConsentTable(connection)
        self.browsers = PairedBrowserTable(connection)
        self.browse = GraphPager(connection)
        self.sync = SyncTables(connection)
        self.shared_sources = SharedSources(connection)
        self.forgettings = Forgettings(connection)
        self._index: MemoryIndex | None = None
        self._parts: Parts | None = None
        self._seen: tuple[object, GraphView] | None = None
        self._shelf: tuple[str, DerivedCache] | None = None

    @classmethod
    def open(cls, home: Path) -> Self:
        """Open or create the graph of ``home`` and seed its taxonomy.

        :raises StoreError: one of HomeUnavailable, StoreFull, CorruptStore, NewerStore.
        """
        graph = cls(Connection.open(home))
        try:
            seed(graph._rows)
            sweep(graph._rows, patience=0.2)  # what a crash or another process kept from it
        except BaseException:
            graph.close()
            raise
        return graph

    def close(self) -> None:
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The database file."""
        return self._rows.path

    def writing(self) -> AbstractContextManager[None]:
        """One write transaction over several calls: they stand or fall together."""
        return self._rows.writing()

    # ---- layers 1 and 2 -------------------------------------------------------------------

    def subclasses(self, *, everything: bool = False) -> tuple[Subclass, ...]:
        """Layer 2, in the order of the types and of the taxonomy.

        With ``everything`` also what was taken out of it: history still names that.
        """
        rows = self._rows.query(
            f"""SELECT subclasses.* FROM subclasses JOIN types ON types.name = subclasses.type
                {"" if everything else f"WHERE {SHOWN}"}
                ORDER BY types.position, subclasses.position"""
        )
        return tuple(map(subclass_from_row, rows))

    def add_subclass(self, subclass: Subclass) -> None:
        """A row of layer 2 by the person. :raises InvalidInput: if it exists or has no example."""
        add_subclass(self._rows, subclass)

    def remove_subclass(self, subclass: str) -> None:
        """Take an empty subclass out of layer 2. :raises EditConflict: if memories live there."""
        remove_subclass(self._rows, subclass)

    # ---- edits ----------------------------------------------------------------------------

    def apply(
        self,
        edits: Iterable[Edit],
        *,
        at: datetime,
        actor: str = "auto",
        source: str | None = None,
        model: str | None = None,
        vectors: Mapping[str, Vector] | None = None,
    ) -> tuple[Entry, ...]:
        """Apply planned edits in one transaction and return their journal entries.

        ``vectors`` of ``model``, by memory text, are stored with the memories; what is missing is
        found by ``vectors.missing`` later. ``source`` names what the edits were made from.

        :raises EditConflict: if an edit's memory is no longer current; nothing is applied.
        :raises UnknownId: if an edit names a memory or subclass that does not exist.
        """
        with self.writing():
            entries = self._edits.apply(edits, at=at, actor=actor, source=source)
            if model and vectors:
                encoded: dict[str, Vector] = {}
                for change in (change for entry in entries for change in entry.changes):
                    encoded.pop(change.memory, None)
                    if change.after and change.after.text in vectors:
                        encoded[change.memory] = vectors[change.after.text]
                self.vectors.put(model, encoded)
        return entries

    def undo(
        self,
        entry: str | None = None,
        *,
        at: datetime,
        actor: str = "user",
        batch: int | None = None,
    ) -> Entry:
        """Take back one entry: by default the last edit that still stands.

        ``batch`` is the number of the first entry when several are taken back together.

        An undo can itself be undone, by its id.

        :raises UnknownId: if there is no such entry, or nothing to undo.
        :raises EditConflict: if it is undone already, or later edits touch the same memory.
        """
        with self.writing():
            target = self.journal.get(entry) if entry else self.journal.last_standing()
            self.journal.refuse_undo(target)
            changes = reversed_changes(target.changes)
            gone = [change.memory for change in changes if change.after is None]
            for old in self.memories.replaced_by(gone):
                if old.id not in {change.memory for change in changes}:  # told by other homes
                    later = self.journal.of_memory(old.id)[-1]
                    raise EditConflict(
                        f"{target.id} cannot be undone alone: {old.replaced_by} has taken the "
                        f"place of {old.id}. Undo {later.id} first."
                    )
            for change in changes:
                self.memories.set(change)
            return self.journal.append(
                EditKind.UNDO,
                changes,
                at=at,
                actor=actor,
                source=target.source,
                batch=batch,
                undoes=target.id,
            )

    def plan_erase(self, ids: Iterable[str]) -> ErasePlan:
        """What ``erase`` would take with it. :raises UnknownId: if there is no such memory."""
        return plan_erase(self._tables, ids)

    def erase(
        self,
        ids: Iterable[str],
        *,
        at: datetime,
        actor: str = "user",
        proof: bool = True,
        elsewhere: bool = False,
    ) -> Forgotten:
        """Forget memories for good, in rows, journal, raw text and every byte of the home.

        Nothing brings them back. With ``proof`` keyed hashes stay, by which ``prove_forgotten``
        finds traces later without knowing them. ``elsewhere``: another home forgot these.
        :raises UnknownId: if there is no such memory (any more); nothing is erased.
        """
        self._seen = self._shelf = None  # their words are in there
        return forget_for_good(
            self._tables, ids, at=at, actor=actor, proof=proof, elsewhere=elsewhere
        )

    def sweep(self) -> bool:
        """Rewrite the database if it has to be; False while others use it."""
        return sweep(self._rows)

    def count_forgotten(self) -> int:
        """How often something was erased."""
        return int(self._rows.query("SELECT count(*) AS n FROM forgotten")[0]["n"])

    def prove_forgotten(self) -> Proof:
        """Look through every byte of the home for what was ever erased."""
        sweep(self._rows)
        return prove(self._rows, self.path.parent)

    def words_left(self) -> SearchedFiles:
        """Which files of the home hold words of it; none do where it is encrypted."""
        return words_left(self._rows, self.path.parent)

    # ---- derived --------------------------------------------------------------------------

    def index(self, model: str, now: datetime) -> MemoryIndex:
        """What may be searched at ``now``, read once and kept in step with the journal."""
        if self._index is None or self._index.model != model:
            kind = LargeIndex if is_large(self.vectors, model) else MemoryIndex
            self._index = kind(self._rows, self.memories, self.vectors, model)
            self._parts = None
        return self._index.advance(now)

    def view(
        self, now: datetime, model: str, *, history: bool = False, asked: Sequence[Sought] = ()
    ) -> GraphView:
        """A read-only snapshot of what holds at ``now`` (with ``history``: what ever held).

        Memories without a vector of ``model`` are left out; see ``vectors.missing``. The same view
        is given until something changes, and what was derived from its memories beyond that.

        In a large home it is the part that matters to what is ``asked``; where that is nothing,
        everything, which takes as much memory and time as there is.
        """
        index = self.index(model, now)
        if isinstance(index, LargeIndex):
            if asked:
                self._parts = self._parts or Parts(self._rows, index)
                return self._parts.about(asked, now, history=history)
            index = MemoryIndex(self._rows, self.memories, self.vectors, model).advance(now)
        history = history and index.has_history
        # The version tells time too: it is another one whenever a memory ends in between.
        state = (model, index.version, history)
        if self._seen is None or self._seen[0] != state:
            self._seen = None  # before the next one is made: each is as large as all vectors
            if self._shelf is None or self._shelf[0] != model or self._shelf[1].stale:
                self._shelf = (model, DerivedCache())
            memories, vectors = index.standing(history=history)
            current = frozenset(m.id for m in memories if not history or m.holds_at(now))
            self._seen = (state, GraphView(memories, vectors, current, self._shelf[1]))
        return self._seen[1]

    def verify(self, model: str | None = None) -> tuple[str, ...]:
        """What does not agree between journal, rows, full text and vectors; empty when all does.

        With ``model``, a memory that has no vector of that model is a problem too.
        """
        return problems(self._rows, self.memories, self.journal, self.vectors, model)
