"""Writes to layers 1 and 2: what memlane comes with, and subclasses added and removed by the user.

A removed subclass keeps its row, because replaced memories and the journal still name it. When an
undo brings a memory back to it, it is shown again by itself.
"""

from __future__ import annotations

from store.database.connection import Connection
from store.errors import EditConflict, InvalidInput, UnknownId
from store.row_codecs import dumps, public_id
from store.tables.taxonomy import SUBCLASSES, TYPES
from store.types import Subclass

SHOWN = """(subclasses.id NOT IN (SELECT id FROM removed_subclasses)
    OR EXISTS (SELECT 1 FROM memories
               WHERE memories.subclass = subclasses.id AND memories.status = 'current'))"""
"""SQL that holds for a row of ``subclasses`` that is in use."""
_PUT = """INSERT INTO subclasses (id, type, name, single, examples, position)
    VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(position), 0) + 1 FROM subclasses))
    ON CONFLICT(id) DO UPDATE SET name = excluded.name, single = excluded.single,
        examples = excluded.examples"""


def seed(rows: Connection) -> None:
    """Store the types, and the subclasses of memlane that the home does not have yet."""
    stored = {row["id"] for row in rows.query("SELECT id FROM subclasses")}
    if all(subclass.id in stored for subclass in SUBCLASSES):
        return
    with rows.writing():
        for position, name in enumerate(TYPES):
            rows.execute("INSERT OR IGNORE INTO types VALUES (?, ?)", (name, position))
        for position, subclass in enumerate(SUBCLASSES):
            rows.execute(
                "INSERT OR IGNORE INTO subclasses VALUES (?, ?, ?, ?, ?, ?)",
                (*_values(subclass), position),
            )


def _values(subclass: Subclass) -> tuple[object, ...]:
    examples = dumps(list(subclass.examples))
    return subclass.id, subclass.type, subclass.name, int(subclass.single), examples


def add_subclass(rows: Connection, subclass: Subclass) -> None:
    """Add a subclass; one that was removed comes back with the new name and examples.

    :raises InvalidInput: if there is such a subclass already, or it has no example.
    """
    if not subclass.examples:
        raise InvalidInput("A subclass needs at least one example sentence.")
    with rows.writing():
        types = [row["name"] for row in rows.query("SELECT name FROM types ORDER BY position")]
        if subclass.type not in types:
            raise InvalidInput(f"There is no type {subclass.type!r}. Types: {', '.join(types)}.")
        taken = rows.query(f"SELECT id, type, name FROM subclasses WHERE {SHOWN}")
        for row in taken:
            same_name = row["type"] == subclass.type and (
                row["name"].casefold() == subclass.name.casefold()
            )
            if row["id"] == subclass.id or same_name:
                raise InvalidInput(
                    f"There is already a subclass {row['name']!r}: {row['id']}. "
                    "Choose another name."
                )
        rows.execute(_PUT, _values(subclass))
        rows.execute("DELETE FROM removed_subclasses WHERE id = ?", [subclass.id])


def put_subclass(rows: Connection, subclass: Subclass) -> None:
    """Add a subclass behind the others, or make the stored one what this says.

    Nothing is checked: it comes from an export or from another home.
    """
    rows.execute(
        "INSERT OR IGNORE INTO types SELECT ?, coalesce(max(position), 0) + 1 FROM types",
        [subclass.type],
    )
    rows.execute(f"{_PUT}, type = excluded.type", _values(subclass))


def remove_subclass(rows: Connection, subclass: str) -> None:
    """Take a subclass out of use.

    :raises UnknownId: if there is none of this id.
    :raises EditConflict: if current memories live in it.
    """
    with rows.writing():
        if not rows.query(f"SELECT 1 FROM subclasses WHERE id = ? AND {SHOWN}", [subclass]):
            raise UnknownId(f"There is no subclass {subclass!r}. `memlane types list` shows them.")
        living = rows.query(
            "SELECT id FROM memories WHERE subclass = ? AND status = 'current' ORDER BY id",
            [subclass],
        )
        if living:
            first = ", ".join(public_id("m", row["id"]) for row in living[:3])
            more = ", ..." if len(living) > 3 else ""
            raise EditConflict(
                f"{len(living)} memories are in {subclass} ({first}{more}). "
                "Move them with --move-to SUBCLASS."
            )
        rows.execute("INSERT OR IGNORE INTO removed_subclasses VALUES (?)", [subclass])
