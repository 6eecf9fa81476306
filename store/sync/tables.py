"""The tables of synchronisation: names, operations, forgettings, and which segment holds what.

Invariants: an operation has a body only while no other took its place, and a text in it only while
that is not forgotten; whatever is recorded twice, or in another order, leaves the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from store.row_codecs import dumps, public_id, row_id
from store.sync.names import READ_TO
from store.sync.operations import Operation, SharedPair, Value, to_document
from store.sync.told import Told, operation_from
from store.tables.taxonomy_edits import put_subclass
from store.types import Subclass


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a memory beside its operations."""

    gid: str
    memory: str | None
    """Its id here; None where it never was here, or is forgotten."""
    copy_of: str | None
    """The memory whose other version it is."""
    digests: dict[str, str | None]
    """Of each register as it stands here: what differs from it was changed since."""


class SyncTables(Told):
    """The tables of one home. Writing methods are called inside ``writing``."""

    # ---- memories by name ------------------------------------------------------------------

    def by_name(self, gid: str) -> Known | None:
        return next(self._known("gid = ?", gid), None)

    def by_memory(self, memory: str) -> Known | None:
        return next(self._known("memory = ?", row_id("m", memory, "memory")), None)

    def copies_of(self, gid: str) -> tuple[Known, ...]:
        return tuple(self._known("copy_of = ?", gid))

    def dirty(self) -> tuple[Known, ...]:
        """Memories that may have to be changed here."""
        return tuple(self._known("dirty = 1"))

    def untold(self) -> tuple[Known, ...]:
        """Copies that have become memories of their own, which nobody may have told yet."""
        return tuple(self._known("untold = 1"))

    def set_told(self, gid: str) -> None:
        self._rows.execute("UPDATE sync_memories SET untold = 0 WHERE gid = ?", [gid])

    def _known(self, where: str, *values: object) -> Iterator[Known]:
        rows = self._rows.query(f"SELECT * FROM sync_memories WHERE {where} ORDER BY gid", values)
        for row in rows:
            memory = row["memory"]
            yield Known(
                row["gid"],
                None if memory is None else public_id("m", memory),
                row["copy_of"],
                {name: row[name] for name in ("what", "ends", "pinned")},
            )

    def put(
        self,
        gid: str,
        memory: str | None,
        digests: dict[str, str],
        says: str | None,
        copy_of: str | None = None,
    ) -> None:
        """Note that a memory stands here with these registers, told and merged."""
        self._rows.execute(
            """INSERT INTO sync_memories (gid, memory, copy_of, says, what, ends, pinned, dirty)
               VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT(gid) DO UPDATE SET
               memory = excluded.memory, copy_of = coalesce(excluded.copy_of, copy_of),
               says = excluded.says, what = excluded.what, ends = excluded.ends,
               pinned = excluded.pinned""",
            (
                gid,
                memory and row_id("m", memory, "memory"),
                copy_of,
                says,
                *(digests.get(name) for name in ("what", "ends", "pinned")),
            ),
        )

    def name(self, gid: str, memory: str) -> None:
        """Note the id of a memory here."""
        self._rows.execute(
            """INSERT INTO sync_memories (gid, memory, dirty) VALUES (?, ?, 1)
               ON CONFLICT(gid) DO UPDATE SET memory = excluded.memory""",
            (gid, row_id("m", memory, "memory")),
        )

    def set_dirty(self, gid: str, dirty: bool) -> None:
        self._rows.execute(
            """INSERT INTO sync_memories (gid, dirty) VALUES (?, ?)
               ON CONFLICT(gid) DO UPDATE SET dirty = excluded.dirty""",
            (gid, dirty),
        )

    def copy(self, gid: str, of: str) -> None:
        """Note that a memory is the other version of ``of``, unless it is known already."""
        self._rows.execute(
            "INSERT OR IGNORE INTO sync_memories (gid, copy_of, dirty) VALUES (?, ?, 1)", (gid, of)
        )

    def memory_name(self, memory: str | None) -> str | None:
        known = self.by_memory(memory) if memory else None
        return None if known is None else known.gid

    def memory_here(self, gid: str | None) -> str | None:
        """The id of a memory that has a row here."""
        rows = self._rows.query(
            "SELECT memory FROM sync_memories JOIN memories ON id = memory WHERE gid = ?", [gid]
        )
        return public_id("m", rows[0]["memory"]) if rows else None

    def next_memory(self) -> str:
        return public_id("m", self._rows.next_id("memories"))

    def touched(self) -> tuple[str, ...]:
        """Memories that lines of the journal touched since it was last read."""
        rows = self._rows.query(
            "SELECT DISTINCT memory FROM journal_memories WHERE entry > ? ORDER BY memory",
            [int(self.state(READ_TO) or 0)],
        )
        return tuple(public_id("m", row["memory"]) for row in rows)

    def read_journal(self) -> None:
        """Note that all of the journal is told."""
        (last,) = self._rows.query("SELECT coalesce(max(id), 0) AS n FROM journal")
        self.set_state(READ_TO, str(last["n"]))

    def ensure_subclass(self, subclass: str, type_: str) -> None:
        """A place of layer 2 that another home made, by its id alone."""
        if not self._rows.query("SELECT 1 FROM subclasses WHERE id = ?", [subclass]):
            name = subclass.rpartition(".")[2]
            put_subclass(self._rows, Subclass(subclass, type_, name, single=False))

    # ---- operations ------------------------------------------------------------------------

    def heads(self, gid: str) -> tuple[Operation, ...]:
        """The operations on a memory that no other took the place of, and that say something."""
        rows = self._rows.query(
            "SELECT body FROM sync_operations WHERE gid = ? AND body IS NOT NULL ORDER BY id", [gid]
        )
        return tuple(found for found in map(operation_from, rows) if found.value is not None)

    def ids(self, gid: str) -> dict[str, list[str]]:
        """The ids of all operations on a memory, by register."""
        found: dict[str, list[str]] = {}
        for row in self._rows.query(
            "SELECT id, register FROM sync_operations WHERE gid = ? ORDER BY id", [gid]
        ):
            found.setdefault(row["register"], []).append(row["id"])
        return found

    def forgotten(self, gid: str) -> bool:
        return bool(self._rows.query("SELECT 1 FROM sync_forgotten WHERE gid = ?", [gid]))

    def forgettings_of(self, says: str | None) -> tuple[str, ...]:
        """Ids of the forgettings of this text."""
        rows = self._rows.query("SELECT id FROM sync_forgotten WHERE says = ? ORDER BY id", [says])
        return tuple(row["id"] for row in rows)

    def record(self, operation: Operation, segment: str | None) -> None:
        """Take an operation in; one that is known only learns its segment."""
        rows = self._rows.query("SELECT body FROM sync_operations WHERE id = ?", [operation.id])
        if rows and segment is not None:
            self._rows.execute(
                "UPDATE sync_operations SET segment = ? WHERE id = ?", (segment, operation.id)
            )
        if rows:
            return
        if set(self.forgettings_of(operation.says)) - set(operation.despite):
            operation = silenced(operation)
        told = None if self.forgotten(operation.memory) else dumps(to_document(operation))
        self._rows.execute(
            "INSERT INTO sync_operations VALUES (?, ?, ?, ?, ?, ?)",
            (
                operation.id,
                operation.memory,
                operation.register,
                told and operation.says,
                told,
                segment,
            ),
        )
        for past in operation.past:
            self._rows.execute(
                """INSERT INTO sync_operations (id, gid, register) VALUES (?, ?, ?)
                   ON CONFLICT(id) DO UPDATE SET body = NULL, says = NULL""",
                (past, operation.memory, operation.register),
            )

    # ---- pairs -----------------------------------------------------------------------------

    def pair(self, kind: str, first: str, second: str) -> Value | None:
        rows = self._rows.query(
            "SELECT body FROM sync_pairs WHERE kind = ? AND first = ? AND second = ?",
            [kind, first, second],
        )
        return json.loads(rows[0]["body"]) if rows else None

    def pairs_here(self) -> Iterator[SharedPair]:
        """The questions and possible changes of this home, between memories with names."""
        named = """JOIN sync_memories AS one ON one.memory = {} JOIN sync_memories AS other
                   ON other.memory = {}"""
        for row in self._rows.query(
            f"""SELECT one.gid AS older, other.gid AS newer, raised, decided FROM questions
                {named.format("first", "second")} WHERE ask = 'holds'"""
        ):
            value = {name: row[name] for name in ("raised", "decided")}
            yield SharedPair("holds", row["older"], row["newer"], value)
        for row in self._rows.query(
            f"""SELECT one.gid AS first, other.gid AS second, change, probability, made, dismissed
                FROM change_edges {named.format("older", "newer")}"""
        ):
            names = ("change", "probability", "made", "dismissed")
            yield SharedPair(
                "edge", row["first"], row["second"], {name: row[name] for name in names}
            )

    def is_new_question(self, first: str, second: str) -> bool:
        """Whether two memories are current and were never asked about."""
        keys = (row_id("m", first, "memory"), row_id("m", second, "memory"))
        return not self._rows.query(
            """SELECT 1 FROM questions WHERE ask = 'holds' AND first = ? AND second = ?
               UNION SELECT 1 FROM memories WHERE id IN (?, ?) AND status <> 'current'""",
            [*keys, *keys],
        )

    def put_pair(self, pair: SharedPair, segment: str | None, dirty: bool) -> None:
        self._rows.execute(
            "INSERT OR REPLACE INTO sync_pairs VALUES (?, ?, ?, ?, ?, ?)",
            (pair.kind, pair.first, pair.second, dumps(pair.value), segment, dirty),
        )

    def tell_pair(self, pair: SharedPair, segment: str) -> None:
        """Note where the others are told of a pair."""
        self._rows.execute(
            "UPDATE sync_pairs SET segment = ? WHERE kind = ? AND first = ? AND second = ?",
            (segment, pair.kind, pair.first, pair.second),
        )

    def settle_pair(self, pair: SharedPair) -> None:
        """Note that this home is what a pair says."""
        self._rows.execute(
            "UPDATE sync_pairs SET dirty = 0 WHERE kind = ? AND first = ? AND second = ?",
            (pair.kind, pair.first, pair.second),
        )

    def dirty_pairs(self) -> Iterator[SharedPair]:
        """Pairs that may have to be changed here, whose memories are both here."""
        rows = self._rows.query(
            """SELECT kind, first, second, body FROM sync_pairs
               JOIN sync_memories AS one ON one.gid = first AND one.memory IS NOT NULL
               JOIN sync_memories AS other ON other.gid = second AND other.memory IS NOT NULL
               WHERE sync_pairs.dirty = 1"""
        )
        for row in rows:
            yield SharedPair(row["kind"], row["first"], row["second"], json.loads(row["body"]))


def silenced(operation: Operation) -> Operation:
    """An operation whose text is forgotten: what it took the place of stays away."""
    return replace(operation, value=None, says=None, until=None)
