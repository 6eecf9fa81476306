"""The memory tables as one value.

``MemoryGraph`` is built on it, and so is forgetting for good, which must not import the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from store.database.connection import Connection
from store.journal import JournalTable
from store.tables.memories import MemoryTable
from store.tables.sources import SourceTable


@dataclass(frozen=True, slots=True)
class MemoryTables:
    """One connection and the tables on it that forgetting for good reads and writes."""

    rows: Connection
    memories: MemoryTable
    journal: JournalTable
    sources: SourceTable

    @classmethod
    def of(cls, rows: Connection) -> Self:
        return cls(rows, MemoryTable(rows), JournalTable(rows), SourceTable(rows))
