"""Rebuild of an empty home from an export, with the same ids and history.

The journal is done again line by line. What its lines do not tell, because one is broken or the
file is Markdown, is taken from the memories themselves and told by a new line, so that rows and
journal agree in the end. All of it is one transaction: an import that breaks off leaves the home
as empty as it was.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from agent.codec import BYTES
from agent.io.transfer.read import Manifest
from agent.io.transfer.records import Record, Rejected, Row, Value
from agent.io.transfer.report import Tally
from agent.io.transfer.spool import Spool
from agent.io.transfer.validate import check
from store.driver import errors
from store.errors import CorruptStore, EditConflict, MemlaneError, StoreError
from store.journal import Change, Entry
from store.maintenance.backup import Rebuild, all_subclasses
from store.row_codecs import public_id, row_id
from store.tables.sources import Turn
from store.tables.verify import canonical
from store.types import EditKind, Memory, Source, Subclass


def rebuild(
    target: Rebuild,
    items: Iterable[Record | Rejected],
    manifest: Manifest,
    tally: Tally,
    at: datetime,
) -> None:
    """Write everything into an empty home, or nothing.

    :raises EditConflict: if the home is not empty any more.
    :raises CorruptStore: if what came out does not agree with itself; nothing is written then.
    """
    with target.graph.writing():
        if not target.is_empty():
            raise EditConflict("Another process began to write here. Run the import again.")
        with closing(Spool(target.graph.path.parent)) as late:
            work = _Work(target, tally, at, late)
            for item in items:
                if isinstance(item, Rejected):
                    tally.reject(item)
                else:
                    work.put(item)
            work.finish(manifest)
        if work.lines > PROVED_UP_TO:
            # The proof holds the whole journal in memory; what was written is one transaction of
            # checked lines either way.
            tally.warnings.append("too large to verify during the import; run: memlane doctor")
        elif problems := target.graph.verify():
            raise CorruptStore(f"The file is inconsistent: {problems[0]}.")


PROVED_UP_TO = 100_000
"""Lines up to which the rebuilt home is proved to agree with itself before it is kept."""


class _Work:
    def __init__(self, target: Rebuild, tally: Tally, at: datetime, late: Spool) -> None:
        self.target = target
        self.tally = tally
        self.at = at
        self.subclasses = self._known_subclasses()
        self.memories: set[int] = set()
        self.lines = 0
        self.late = late
        """Memories that the journal does not tell, until all of it has been read."""

    def put(self, record: Record, *, late: bool = False) -> None:
        name = type(record.value).__name__.lower()
        name = "edit" if name == "entry" else name
        refused: tuple[type[Exception], ...] = (
            ValueError, MemlaneError, *errors("IntegrityError")
        )  # fmt: skip
        try:
            check(record.value)
            # A savepoint: what one record did before it failed is taken back, the others stay.
            with self.target.graph.writing():
                if not self._write(record.value, late):
                    self.late.add(record)
                    return
        except refused as error:
            if isinstance(error, StoreError) and type(error) is not StoreError:
                raise  # the disk is full, the home cannot be written: not the line's fault
            self.subclasses = self._known_subclasses()
            self.tally.reject(Rejected(record.line, str(error), record.raw))
            return
        self.tally.new[name] += 1
        self.lines += 1

    def _known_subclasses(self) -> set[str]:
        return {subclass.id for subclass in all_subclasses(self.target.connection)}

    def _write(self, value: Value | Row, late: bool) -> bool:
        """Write one value; False for a memory that has to wait for the rest of the journal."""
        match value:
            case Subclass():
                if value.examples or value.id not in self.subclasses:
                    self.target.put_subclass(value)
                self.subclasses.add(value.id)
            case Source():
                self.target.put_source(value)
            case Entry():
                changes = tuple(
                    replace(c, before=self._mended(c.before), after=self._mended(c.after))
                    for c in value.changes
                )
                undoes = value.undoes if self.target.holds("journal", value.undoes) else None
                self.target.put_entry(
                    replace(
                        value, changes=changes, source=self._source(value.source), undoes=undoes
                    )
                )
            case Memory():
                mended = self._mended(value)
                assert mended is not None
                standing = self.target.standing(value.id)
                if standing is None or canonical(standing) != canonical(mended):
                    if not late:
                        return False
                    kind = EditKind.INSERT if standing is None else EditKind.AMEND
                    self._tell(kind, Change(value.id, standing, mended))
                self.memories.add(row_id("m", value.id, "memory"))
            case Turn():
                self.target.put_turn(value)
            case Row():
                self.target.put_row(value.table, {k: _bytes(v) for k, v in value.values.items()})
        return True

    def _source(self, source: str | None) -> str | None:
        return source if self.target.holds("sources", source) else None

    def _mended(self, memory: Memory | None) -> Memory | None:
        """The memory without references to what did not arrive, its subclass made if need be."""
        if memory is None:
            return None
        if memory.subclass not in self.subclasses:
            name = memory.subclass.rpartition(".")[2]
            self.target.put_subclass(Subclass(memory.subclass, memory.type, name, False))
            self.subclasses.add(memory.subclass)
        if memory.source is not None and self._source(memory.source) is None:
            return replace(memory, source=None)
        return memory

    def _tell(self, kind: EditKind, change: Change) -> None:
        self.target.put_memory(change, Entry("", 0, self.at, kind, "user", None, None, (change,)))

    def finish(self, manifest: Manifest) -> None:
        """What can only be known at the end."""
        graph = self.target.graph
        # Before any new line is written: none may get the id of one that did not arrive.
        self.target.keep_ids(manifest.last_ids)
        for record in self.late.drain():
            self.put(record, late=True)
        if self.tally.new["edit"] and len(self.memories) == manifest.counts.get("memory"):
            # Every memory arrived, so one that only the journal tells was taken back by a line
            # of the journal that did not.
            for row in self.target.connection.query("SELECT id FROM memories ORDER BY id"):
                if row["id"] not in self.memories:
                    memory = graph.memories.get(public_id("m", row["id"]))
                    self._tell(EditKind.FORGET, Change(memory.id, memory, None))
        rows = self.target.connection.query(
            """SELECT id FROM memories WHERE replaced_by IS NOT NULL
               AND replaced_by NOT IN (SELECT id FROM memories)"""
        )
        for row in rows:
            memory = graph.memories.get(public_id("m", row["id"]))
            self.tally.warnings.append(
                f"{memory.id} was replaced by {memory.replaced_by}, which is not in the file"
            )
            self._tell(EditKind.AMEND, Change(memory.id, memory, replace(memory, replaced_by=None)))


def _bytes(value: object) -> object:
    if isinstance(value, dict) and set(value) == {BYTES}:
        return base64.b64decode(value[BYTES])
    return value
