"""Forgotten texts, taken out of what homes tell each other, and never taken in again."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from store.database.connection import Connection
from store.journal import Entry
from store.row_codecs import Table, dumps, row_id
from store.sync.names import KEY
from store.sync.operations import Forgetting, to_document
from store.sync.tables import SyncTables, silenced
from store.sync.told import operation_from
from store.types import Memory


def tell_forgotten(
    rows: Connection, memories: Iterable[Memory], entries: Iterable[Entry], at: str, *, proof: bool
) -> None:
    """Note that the person forgot these memories, inside the erasing transaction.

    Without ``proof`` no digest of a text is kept: then only these memories are forgotten
    elsewhere, not others that say the same. A home that is not paired keeps nothing.
    """
    tables = SyncTables(rows)
    if tables.state(KEY) is None:
        return
    said: dict[str, set[str]] = {}
    for change in (change for entry in entries for change in entry.changes):
        for version in (change.before, change.after):
            if version is not None:
                said.setdefault(change.memory, set()).add(tables.says(version.text))
    for memory in memories:
        known = tables.by_memory(memory.id)
        says = tables.says(memory.text)
        if known is None and not proof:
            continue
        # Of another version of a memory, its text alone tells which operation made it.
        kept = proof or (known is not None and known.copy_of is not None)
        forgetting = Forgetting(
            secrets.token_hex(8),
            None if known is None else known.gid,
            says if kept else None,
            tuple(sorted(said.get(memory.id, set()) - {says})) if kept else (),
            at,
        )
        Forgettings(rows).record(forgetting, None)
    drop_names(rows, (memory.id for memory in memories))


def drop_names(rows: Connection, memories: Iterable[str]) -> None:
    """These memories have no rows here any more: keep their names and nothing of what they said."""
    for memory in memories:
        rows.execute(
            """UPDATE sync_memories SET memory = NULL, says = NULL, what = NULL, ends = NULL,
               pinned = NULL, untold = 0 WHERE memory = ?""",
            [row_id("m", memory, "memory")],
        )


class Forgettings(Table):
    """What any of the homes forgot for good."""

    def record(self, forgetting: Forgetting, segment: str | None) -> None:
        """Take a forgetting in: of this home (``segment`` is None) or of another."""
        known = "SELECT 1 FROM sync_forgotten WHERE id = ?"
        if self._rows.query(known, [forgetting.id]):
            update = "UPDATE sync_forgotten SET segment = ? WHERE id = ?"
            self._rows.execute(update, (segment, forgetting.id))
            return
        self._rows.execute(
            "INSERT INTO sync_forgotten VALUES (?, ?, ?, ?, ?, ?)",
            (
                forgetting.id,
                forgetting.memory,
                forgetting.says,
                dumps(forgetting.said),
                forgetting.at,
                segment,
            ),
        )
        if forgetting.memory is not None:
            self._forget_memory(forgetting.memory, (forgetting.says, *forgetting.said))
        self._silence(forgetting)
        if segment is not None:
            SyncTables(self._rows).unsweep()

    def _forget_memory(self, gid: str, said: Sequence[str | None]) -> None:
        self._rows.execute(
            "UPDATE sync_operations SET body = NULL, says = NULL WHERE gid = ?", [gid]
        )
        self._rows.execute("DELETE FROM sync_pairs WHERE first = ? OR second = ?", (gid, gid))
        SyncTables(self._rows).set_dirty(gid, True)
        # Another version of it is a memory of its own from now on, unless it is what was forgotten.
        self._rows.execute(
            f"""UPDATE sync_memories SET copy_of = NULL, untold = 1 WHERE copy_of = ? AND memory
                IS NOT NULL AND coalesce(says, '') NOT IN ({", ".join("?" * len(said))})""",
            (gid, *(says or "" for says in said)),
        )
        self._rows.execute("UPDATE sync_memories SET dirty = 1 WHERE copy_of = ?", [gid])

    def _silence(self, forgetting: Forgetting) -> None:
        """Other operations that say the same say nothing any more."""
        rows = self._rows.query(
            "SELECT id, gid, body FROM sync_operations WHERE says = ? AND body IS NOT NULL",
            [forgetting.says],
        )
        for row in rows:
            operation = operation_from(row)
            if forgetting.id not in operation.despite:
                self._rows.execute(
                    "UPDATE sync_operations SET body = ?, says = NULL, segment = NULL WHERE id = ?",
                    (dumps(to_document(silenced(operation))), row["id"]),
                )
                SyncTables(self._rows).set_dirty(row["gid"], True)
