"""Possible changes between memories, each with its probability.

An edge says that the newer memory may have made the older one untrue, or moved a part of it. It
changes neither: both memories stay as they are, and whoever chooses the older one is shown the
newer one too. Edges are by ids alone, so that forgetting has nothing to clean here: an edge counts
only while both of its memories do.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from store.row_codecs import Table, iso, public_id, row_id


class ChangeKind(StrEnum):
    """What the newer memory may do to the older one."""

    SUPERSEDES = "may_supersede"
    CORRECTS = "may_correct"
    ENDS = "may_end"
    REFINES = "may_refine"
    ADDS = "may_add"
    """Both hold, in the same place; shown together, nothing is in doubt."""


@dataclass(frozen=True, slots=True)
class ChangeEdge:
    """The newer memory may change the older one in this way."""

    older: str
    newer: str
    change: ChangeKind
    probability: float
    """That it changes the older one at all (of ``may_add``: that both belong together)."""


class ChangeEdgeTable(Table):
    """The edges of one home."""

    def put(self, edges: Iterable[ChangeEdge], at: datetime) -> None:
        """Keep edges; one that the user has dismissed stays dismissed."""
        for edge in edges:
            self._rows.execute(
                """INSERT INTO change_edges (older, newer, change, probability, made)
                   VALUES (?, ?, ?, ?, ?) ON CONFLICT (older, newer) DO UPDATE SET
                   change = excluded.change, probability = excluded.probability""",
                (*_keys(edge.older, edge.newer), edge.change, edge.probability, iso(at)),
            )

    def dismiss(self, older: str, newer: str, at: datetime) -> bool:
        """Take an edge back: the two belong to different things. Whether there was one."""
        keys = _keys(older, newer)
        found = self._rows.query(
            "SELECT 1 FROM change_edges WHERE older = ? AND newer = ? AND dismissed IS NULL", keys
        )
        with self._rows.writing():
            self._rows.execute(
                "UPDATE change_edges SET dismissed = ? WHERE older = ? AND newer = ?",
                (iso(at), *keys),
            )
        return bool(found)

    def of(self, memories: Collection[str]) -> tuple[ChangeEdge, ...]:
        """The edges at any of these memories whose other end is not forgotten, likeliest first."""
        if not memories:
            return ()
        rows = self._rows.query(
            """SELECT older, newer, change, probability FROM change_edges
               JOIN memories AS old ON old.id = older AND old.status != 'forgotten'
               JOIN memories AS new ON new.id = newer AND new.status != 'forgotten'
               WHERE dismissed IS NULL
               AND (older IN (SELECT value FROM json_each(?))
                    OR newer IN (SELECT value FROM json_each(?)))
               ORDER BY probability DESC, newer""",
            [_json(memories)] * 2,
        )
        return tuple(map(_edge, rows))

    def open(self) -> tuple[ChangeEdge, ...]:
        """Changes that wait for a decision, likeliest first: both memories are still current."""
        rows = self._rows.query(
            """SELECT older, newer, change, probability FROM change_edges
               JOIN memories AS old ON old.id = older AND old.status = 'current'
               JOIN memories AS new ON new.id = newer AND new.status = 'current'
               WHERE dismissed IS NULL AND change != ? ORDER BY probability DESC, newer""",
            [ChangeKind.ADDS],
        )
        return tuple(map(_edge, rows))


def _edge(row: Mapping[str, Any]) -> ChangeEdge:
    return ChangeEdge(
        public_id("m", row["older"]),
        public_id("m", row["newer"]),
        ChangeKind(row["change"]),
        row["probability"],
    )


def _keys(older: str, newer: str) -> tuple[int, int]:
    first, second = (row_id("m", memory, "memory") for memory in (older, newer))
    return first, second


def _json(memories: Collection[str]) -> str:
    return json.dumps(sorted(row_id("m", memory, "memory") for memory in memories))
