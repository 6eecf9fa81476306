"""What is told where: the segments of the shared folder, and what no segment tells yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from store.row_codecs import dumps
from store.sync.names import Names
from store.sync.operations import (
    Forgetting,
    Operation,
    Shared,
    SharedPair,
    SharedSource,
    from_document,
)


class Told(Names):
    """The segments of one home, and its untold records."""

    def segments(self) -> frozenset[str]:
        """Names of the segments that were read or written."""
        return frozenset(row["name"] for row in self._rows.query("SELECT name FROM sync_segments"))

    def hold(self, segment: str, shared: Iterable[Shared]) -> None:
        """Note that a segment was read or written, and which texts are in it."""
        self._rows.execute("INSERT OR IGNORE INTO sync_segments VALUES (?)", [segment])
        for item in shared:
            if isinstance(item, Operation) and item.value is not None:
                about = [item.memory] + ([item.says] if item.says and not item.despite else [])
                held: list[tuple[str, str, str | None]] = [(segment, one, None) for one in about]
            elif isinstance(item, SharedSource) and item.row is not None:
                held = [(segment, item.id, dumps(item.blanks))]
            else:
                continue
            self._rows.execute_many("INSERT OR REPLACE INTO sync_holds VALUES (?, ?, ?)", held)

    def to_purge(self) -> frozenset[str]:
        """Segments, there or not, that hold a text which is forgotten."""
        rows = self._rows.query(
            """SELECT sync_holds.segment FROM sync_holds JOIN sync_forgotten ON about IN (gid, says)
               UNION SELECT sync_holds.segment FROM sync_holds JOIN sync_sources ON about = gid
               WHERE sync_holds.blanks <> sync_sources.blanks"""
        )
        return frozenset(row["segment"] for row in rows)

    def untell_lost(self, there: Sequence[str]) -> None:
        """What was in segments that are not there any more has to be told again."""
        marks = json.dumps(list(there))
        for table in ("sync_operations", "sync_forgotten", "sync_sources", "sync_pairs"):
            self._rows.execute(
                f"""UPDATE {table} SET segment = NULL WHERE segment IS NOT NULL
                    AND segment NOT IN (SELECT value FROM json_each(?))""",
                [marks],
            )

    def untold_operations(self) -> Iterator[Operation]:
        """Operations that hold, or may, and that the others have to be told of."""
        for row in self._rows.query(
            """SELECT body FROM sync_operations WHERE body IS NOT NULL AND segment IS NULL
               ORDER BY id"""
        ):
            yield operation_from(row)

    def untold_forgettings(self) -> Iterator[Forgetting]:
        for row in self._rows.query(
            "SELECT id, gid, says, said, at FROM sync_forgotten WHERE segment IS NULL ORDER BY id"
        ):
            said = tuple(json.loads(row["said"]))
            yield Forgetting(row["id"], row["gid"], row["says"], said, row["at"])

    def untold_pairs(self) -> Iterator[SharedPair]:
        for row in self._rows.query(
            """SELECT kind, first, second, body FROM sync_pairs WHERE segment IS NULL
               ORDER BY kind, first, second"""
        ):
            yield SharedPair(row["kind"], row["first"], row["second"], json.loads(row["body"]))


def operation_from(row: Mapping[str, Any]) -> Operation:
    """The operation of a row that has a body."""
    found = from_document(json.loads(row["body"]))
    assert isinstance(found, Operation)
    return found
