"""Consistency check of all derived data against the journal."""

from __future__ import annotations

from dataclasses import replace

from store.database.connection import Connection
from store.errors import StoreError
from store.journal import JournalTable, fold
from store.row_codecs import entity_key
from store.tables.memories import MemoryTable
from store.tables.vectors import VectorTable
from store.types import Memory, Triple


def problems(
    rows: Connection,
    memories: MemoryTable,
    journal: JournalTable,
    vectors: VectorTable,
    model: str | None,
) -> tuple[str, ...]:
    """Every disagreement as one line; see ``MemoryGraph.verify``."""
    problems_found = [
        f"SQLite: {row['integrity_check']}"
        for row in rows.query("PRAGMA integrity_check")
        if row["integrity_check"] != "ok"
    ]
    if problems_found:
        return tuple(problems_found)  # a damaged file makes everything below it meaningless
    problems_found += [
        f"foreign key: a row of {row['table']} points to a missing row in {row['parent']}"
        for row in rows.query("PRAGMA foreign_key_check")
    ]

    journalled = {key: canonical(memory) for key, memory in fold(journal.list()).items()}
    stored = {memory.id: canonical(memory) for memory in memories.list()}
    problems_found += [
        f"{key}: in the journal, but without a row" for key in journalled.keys() - stored.keys()
    ]
    problems_found += [
        f"{key}: a row that is not in the journal" for key in stored.keys() - journalled.keys()
    ]
    problems_found += [
        f"{key}: row and journal differ"
        for key in journalled.keys() & stored.keys()
        if journalled[key] != _as_told(stored[key], journalled[key])
    ]
    problems_found += [
        f"entity {row['name']!r}: no relation names it"
        for row in rows.query(
            """SELECT name FROM entities WHERE NOT EXISTS
               (SELECT 1 FROM relations WHERE head = entities.id OR tail = entities.id)"""
        )
    ]
    problems_found += _full_text_problems(rows)
    problems_found += vectors.problems()
    if model is not None:
        problems_found += [f"{key}: no vector of {model}" for key in vectors.missing(model)]
    return tuple(sorted(problems_found))


def _full_text_problems(rows: Connection) -> list[str]:
    try:
        with rows.writing():
            # rank 1 compares the index with the content table too, not only with itself.
            rows.execute(
                "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)"
            )
    except StoreError as error:
        return [f"full text: differs from the memories ({error})"]
    return []


def canonical(memory: Memory) -> Memory:
    """The memory with its entities by key, to compare rows with the journal.

    Entities are stored once, under the first spelling; the journal keeps each as it was told.
    """
    return replace(
        memory,
        triples=tuple(
            Triple(entity_key(t.head), t.relation, entity_key(t.tail)) for t in memory.triples
        ),
    )


def _as_told(stored: Memory, journalled: Memory) -> Memory:
    # Rows fill in the trust of memories that are older than trust; their journal lines say none.
    return replace(stored, trust=None) if journalled.trust is None else stored
