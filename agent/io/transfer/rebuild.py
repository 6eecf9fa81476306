"""Rebuild of an empty home from an export, with the same ids and history.

The journal is done again line by line. What its lines do not tell, because one is broken or the
file is Markdown, is taken from the memories themselves and told by a new line, so that rows and
journal agree in the end. All of it is one transaction: an import that breaks off leaves the home
as empty as it was.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from agent.codec import BYTES
from agent.io.transfer.read import Manifest
from agent.io.transfer.records import NAMES, Record, Rejected, Row, Value
from agent.io.transfer.report import Tally
from agent.io.transfer.spool import Spool
from agent.io.transfer.validate import check
from store.database.driver import errors
from store.errors import CorruptStore, EditConflict, MemlaneError, StoreError
from store.journal import Change, Entry
from store.maintenance.backup import Rebuild
from store.row_codecs import public_id, row_id
from store.tables.sources import Turn
from store.tables.taxonomy_edits import put_subclass
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
            for alike in _batches(items):
                work.put_all(alike)
            work.finish(manifest)
        if work.lines > PROVED_UP_TO:
            # The proof holds the whole journal in memory; what was written is one transaction of
            # checked lines either way.
            tally.warnings.append("too large to verify during the import; run: memlane doctor")
        elif problems := target.graph.verify():
            raise CorruptStore(f"The file is inconsistent: {problems[0]}.")


PROVED_UP_TO = 100_000
"""Lines up to which the rebuilt home is proved to agree with itself before it is kept."""


BATCH = 1000
"""Most records that are written together."""


def _batches(items: Iterable[Record | Rejected]) -> Iterator[list[Record | Rejected]]:
    """The items in their order, records in a row that can be written together in one list."""
    batch: list[Record | Rejected] = []
    for item in items:
        if batch and (
            len(batch) == BATCH or _alike(item) is None or _alike(item) != _alike(batch[0])
        ):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _alike(item: Record | Rejected) -> str | None:
    """What a record can be written together with; None where it goes alone."""
    match item:
        case Record(value=Memory()):
            return "memories"
        case Record(value=Entry(undoes=None, changes=changes)) if changes and all(
            change.before is None and change.after is not None for change in changes
        ):
            return "inserts"
    return None


class _Work:
    def __init__(self, target: Rebuild, tally: Tally, at: datetime, late: Spool) -> None:
        self.target = target
        self.tally = tally
        self.at = at
        self.subclasses = self._known_subclasses()
        self.sources: set[str] = set()
        """Those that are known to be there, as others name them."""
        self.memories: set[int] = set()
        self.lines = 0
        self.late = late
        """Memories that the journal does not tell, until all of it has been read."""

    def put_all(self, items: Sequence[Record | Rejected]) -> None:
        """Write records that are alike: together, or each alone where one of them cannot be."""
        if len(items) > 1 and self._put_together([i for i in items if isinstance(i, Record)]):
            return
        for item in items:
            if isinstance(item, Rejected):
                self.tally.reject(item)
            else:
                self.put(item)

    def _put_together(self, records: Sequence[Record]) -> bool:
        late: list[Record] = []
        try:
            for record in records:
                check(record.value)
            # One savepoint for all: each makes the full text write what it has gathered.
            with self.target.graph.writing():
                if isinstance(records[0].value, Entry):
                    entries = [record.value for record in records]
                    self.target.put_inserts(
                        [self._whole(e) for e in entries if isinstance(e, Entry)]
                    )
                else:
                    late = self._look(records)
        except _refused() as error:
            _raise_of_home(error)
            self._forget_known()
            return False
        for record in late:
            self.late.add(record)
        self._count(NAMES[type(records[0].value)], len(records) - len(late))
        return True

    def _look(self, records: Sequence[Record]) -> list[Record]:
        """Compare memories with what the journal told; those that differ have to wait."""
        memories = [
            self._mended(record.value) for record in records if isinstance(record.value, Memory)
        ]
        standing = self.target.graph.memories.found([m.id for m in memories if m])
        late = []
        found = []
        for record, memory in zip(records, memories, strict=True):
            assert memory is not None
            if _same(standing.get(_id(memory)), memory):
                found.append(row_id("m", memory.id, "memory"))
            else:
                late.append(record)
        self.memories.update(found)
        return late

    def put(self, record: Record, *, late: bool = False) -> None:
        """Write one record, or reject it."""
        try:
            check(record.value)
            # A savepoint: what one record did before it failed is taken back, the others stay.
            with self.target.graph.writing():
                if not self._write(record.value, late):
                    self.late.add(record)
                    return
        except _refused() as error:
            _raise_of_home(error)
            self._forget_known()
            self.tally.reject(Rejected(record.line, str(error), record.raw))
            return
        self._count(NAMES[type(record.value)], 1)

    def _count(self, name: str, number: int) -> None:
        self.tally.new[name] += number
        self.lines += number

    def _forget_known(self) -> None:
        """What was taken back is not there."""
        self.subclasses = self._known_subclasses()
        self.sources.clear()

    def _known_subclasses(self) -> set[str]:
        return {subclass.id for subclass in self.target.graph.subclasses(everything=True)}

    def _write(self, value: Value | Row, late: bool) -> bool:
        """Write one value; False for a memory that has to wait for the rest of the journal."""
        match value:
            case Subclass():
                if value.examples or value.id not in self.subclasses:
                    put_subclass(self.target.connection, value)
                self.subclasses.add(value.id)
            case Source():
                self.target.put_source(value)
            case Entry():
                self.target.put_entry(self._whole(value))
            case Memory():
                mended = self._mended(value)
                assert mended is not None
                standing = self.target.graph.memories.found([value.id]).get(_id(value))
                if not _same(standing, mended):
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

    def _whole(self, entry: Entry) -> Entry:
        """The line without references to what did not arrive."""
        changes = tuple(
            replace(c, before=self._mended(c.before), after=self._mended(c.after))
            for c in entry.changes
        )
        undoes = entry.undoes if self.target.holds("journal", entry.undoes) else None
        return replace(entry, changes=changes, source=self._source(entry.source), undoes=undoes)

    def _source(self, source: str | None) -> str | None:
        if source is None or source in self.sources:
            return source
        if not self.target.holds("sources", source):
            return None
        self.sources.add(source)
        return source

    def _mended(self, memory: Memory | None) -> Memory | None:
        """The memory without references to what did not arrive, its subclass made if need be."""
        if memory is None:
            return None
        if memory.subclass not in self.subclasses:
            name = memory.subclass.rpartition(".")[2]
            made = Subclass(memory.subclass, memory.type, name, False)
            put_subclass(self.target.connection, made)
            self.subclasses.add(memory.subclass)
        if memory.source is not None and self._source(memory.source) is None:
            return replace(memory, source=None)
        return memory

    def _tell(self, kind: EditKind, change: Change) -> None:
        """Write a memory that the journal does not tell, with a new line that tells it."""
        graph = self.target.graph
        graph.memories.set(change)
        graph.journal.append(kind, (change,), at=self.at, actor="user", source=None)

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


def _same(standing: Memory | None, told: Memory) -> bool:
    return standing is not None and (standing == told or canonical(standing) == canonical(told))


def _id(memory: Memory) -> str:
    """Its id as the rows spell it."""
    return public_id("m", row_id("m", memory.id, "memory"))


def _refused() -> tuple[type[Exception], ...]:
    return (ValueError, MemlaneError, *errors("IntegrityError"))


def _raise_of_home(error: Exception) -> None:
    """:raises StoreError: if the disk is full or the home cannot be written: no line's fault."""
    if isinstance(error, StoreError) and type(error) is not StoreError:
        raise error


def _bytes(value: object) -> object:
    if isinstance(value, dict) and set(value) == {BYTES}:
        return base64.b64decode(value[BYTES])
    return value
