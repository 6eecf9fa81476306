"""Validation of records before they are written."""

from __future__ import annotations

from agent.io.transfer.records import Row, Value
from store.errors import MemlaneError
from store.journal import Entry
from store.row_codecs import row_id
from store.tables.sources import Turn
from store.types import Memory, Source, Status, Subclass


def check(value: Value | Row) -> None:
    """:raises ValueError: saying what stands against taking the record in."""
    try:
        match value:
            case Subclass():
                if not value.id.strip() or not value.type.strip():
                    raise ValueError("its id or type is empty")
            case Source():
                row_id("s", value.id, "source")
            case Turn():
                row_id("t", value.id, "turn")
            case Entry():
                _check_entry(value)
            case Memory():
                check_memory(value)
    except MemlaneError as error:
        raise ValueError(str(error)) from None


def _check_entry(entry: Entry) -> None:
    row_id("e", entry.id, "edit")
    _refer(entry.source, entry.undoes)
    if not entry.changes:
        raise ValueError("an edit without changes")
    for change in entry.changes:
        row_id("m", change.memory, "memory")
        for memory in (change.before, change.after):
            if memory is None:
                continue
            if memory.id != change.memory:
                raise ValueError(f"a change of {change.memory} holds {memory.id}")
            # What was erased for good has no text any more, and that is right.
            check_memory(memory, may_be_empty=True)


def check_memory(memory: Memory, *, may_be_empty: bool = False) -> None:
    """:raises ValueError: if its id, text, references or times cannot be."""
    row_id("m", memory.id, "memory")
    _refer(memory.source, None)
    if memory.replaced_by is not None:
        row_id("m", memory.replaced_by, "memory")
    if not memory.text.strip() and not may_be_empty and memory.status is not Status.FORGOTTEN:
        raise ValueError("its text is empty")
    start, end = memory.valid_from, memory.valid_until
    if start is not None and end is not None and end < start:
        raise ValueError("it ends before it begins")


def _refer(source: str | None, undoes: str | None) -> None:
    if source is not None:
        row_id("s", source, "source")
    if undoes is not None:
        row_id("e", undoes, "edit")
