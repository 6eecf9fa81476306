"""Edit types and the append-only journal.

An *edit* is planned (frozen, nothing written). Applying it makes one *entry* of the journal, whose
changes hold each touched memory whole, before and after. So an undo is the same entry backwards,
provenance is a look-up, and the present rows are a fold over all entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar

from store.errors import EditConflict, InvalidInput, UnknownId
from store.row_codecs import (
    Table,
    dumps,
    iso,
    memory_from_payload,
    memory_payload,
    moment,
    of_a_row,
    public_id,
    row_id,
)
from store.types import Draft, EditKind, Memory, Triple


@dataclass(frozen=True, slots=True)
class Insert:
    """A new memory. With an end (``draft.valid_until``) it is EMG-RAG's time-bound edit: expire."""

    draft: Draft

    @property
    def kind(self) -> EditKind:
        return EditKind.INSERT if self.draft.valid_until is None else EditKind.EXPIRE


@dataclass(frozen=True, slots=True)
class Replace:
    """``draft`` takes the place of ``memory``, which stays as history."""

    memory: str
    draft: Draft

    kind: ClassVar[EditKind] = EditKind.REPLACE


@dataclass(frozen=True, slots=True)
class Expire:
    """``memory`` holds no longer from ``until`` on."""

    memory: str
    until: datetime

    kind: ClassVar[EditKind] = EditKind.EXPIRE


@dataclass(frozen=True, slots=True)
class Amend:
    """Fields of ``memory`` corrected in place; a field left None stays as it is.

    ``clear`` names those of place, valid_from and valid_until that shall be empty.
    """

    memory: str
    text: str | None = None
    subclass: str | None = None
    place: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    triples: tuple[Triple, ...] | None = None
    pinned: bool | None = None
    clear: tuple[str, ...] = ()

    kind: ClassVar[EditKind] = EditKind.AMEND

    def given(self) -> dict[str, Any]:
        """The fields to change, with their new values."""
        given = {
            field.name: value
            for field in fields(self)
            if field.name not in ("memory", "clear")
            and (value := getattr(self, field.name)) is not None
        }
        return given | dict.fromkeys(self.clear)


@dataclass(frozen=True, slots=True)
class Forget:
    """``memory`` is taken out of answers; it stays undoable."""

    memory: str

    kind: ClassVar[EditKind] = EditKind.FORGET


Edit = Insert | Replace | Expire | Amend | Forget


@dataclass(frozen=True, slots=True)
class Change:
    """One memory before and after an entry; None where it did not exist."""

    memory: str
    before: Memory | None
    after: Memory | None
    redacted: bool = False
    """The memory was forgotten for good: what it said before and after is not kept."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal: an edit as it was applied."""

    id: str
    batch: int
    at: datetime
    kind: EditKind
    actor: str
    """``auto`` for what memlane decided, ``user`` for what the person did by hand."""
    source: str | None
    undoes: str | None
    changes: tuple[Change, ...]
    redacted: datetime | None = None
    """When a memory of this line was forgotten for good; what it said is gone from here."""

    @property
    def memory(self) -> str:
        """The memory the edit is about: the last one it touched (for replace, the new one)."""
        return self.changes[-1].memory

    @property
    def before(self) -> str | None:
        """The text that stood before, for people."""
        first = self.changes[0].before
        return None if first is None else first.text

    @property
    def after(self) -> str | None:
        """The text that stands now; None when nothing current is left."""
        last = self.changes[-1].after
        return None if last is None or last.status == "forgotten" else last.text


def payload_from_changes(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [
        {"memory": change.memory, "redacted": True}
        if change.redacted
        else {
            "memory": change.memory,
            "before": None if change.before is None else memory_payload(change.before),
            "after": None if change.after is None else memory_payload(change.after),
        }
        for change in changes
    ]


def changes_from_payload(payload: Iterable[Mapping[str, Any]]) -> tuple[Change, ...]:
    return tuple(
        Change(row["memory"], None, None, redacted=True)
        if row.get("redacted")
        else Change(
            memory=row["memory"],
            before=None if row["before"] is None else memory_from_payload(row["before"]),
            after=None if row["after"] is None else memory_from_payload(row["after"]),
        )
        for row in payload
    )


def reversed_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that take back ``changes``, in the order that keeps references whole."""
    return tuple(Change(c.memory, c.after, c.before) for c in reversed(tuple(changes)))


def refuse_erased(entry: Entry) -> None:
    """:raises EditConflict: if what the entry would bring back is forgotten for good."""
    gone = ", ".join(change.memory for change in entry.changes if change.redacted)
    if gone:
        when = f" on {entry.redacted:%Y-%m-%d}" if entry.redacted else ""
        raise EditConflict(
            f"{entry.id} cannot be undone: {gone} was forgotten for good{when} and none of its "
            "text is kept. To undo other edits, use their ids: memlane memories history"
        )


def fold(entries: Iterable[Entry]) -> dict[str, Memory]:
    """The memories that stand after all entries, by id."""
    standing: dict[str, Memory] = {}
    for entry in entries:
        for change in entry.changes:
            if change.after is None:
                standing.pop(change.memory, None)
            else:
                standing[change.memory] = change.after
    return standing


def checked_text(text: str) -> str:
    """A memory's text, trimmed to one paragraph.

    :raises InvalidInput: if nothing is left of it.
    """
    clean = " ".join(text.replace("\x00", " ").split())
    if not clean:
        raise InvalidInput("The text is empty: there is nothing to remember.")
    return clean


def check_interval(memory: Memory) -> None:
    """:raises InvalidInput: if a memory ends before it begins."""
    start, end = memory.valid_from, memory.valid_until
    if start is not None and end is not None and end < start:
        raise InvalidInput(
            f"A memory cannot end ({end:%Y-%m-%d %H:%M}) before it begins ({start:%Y-%m-%d %H:%M})."
        )


class JournalTable(Table):
    """The append-only journal of one home.

    Triggers refuse any change of a written line, but for the redaction of what is erased.
    """

    def append(
        self,
        kind: EditKind,
        changes: tuple[Change, ...],
        *,
        at: datetime,
        actor: str,
        source: str | None,
        batch: int | None = None,
        undoes: str | None = None,
    ) -> Entry:
        """Write one line; ``batch`` is the number of the first line written with it."""
        number = self._rows.next_id("journal")
        entry = Entry(
            public_id("e", number), batch or number, at, kind, actor, source, undoes, changes
        )
        self.write([entry])
        return entry

    def write(self, entries: Sequence[Entry]) -> None:
        """Write lines under the ids that they have."""
        numbers = [row_id("e", entry.id, "edit") for entry in entries]
        self._rows.execute_many(
            """INSERT INTO journal (id, batch, at, kind, actor, source, undoes, changes, redacted)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            [
                (
                    number,
                    entry.batch,
                    iso(entry.at),
                    entry.kind,
                    entry.actor,
                    entry.source and row_id("s", entry.source, "source"),
                    entry.undoes and row_id("e", entry.undoes, "edit"),
                    dumps(payload_from_changes(entry.changes)),
                    iso(entry.redacted),
                )
                for number, entry in zip(numbers, entries, strict=True)
            ],
        )
        self._rows.execute_many(
            "INSERT INTO journal_memories VALUES (?, ?)",
            [
                (number, row_id("m", memory, "memory"))
                for number, entry in zip(numbers, entries, strict=True)
                for memory in {change.memory for change in entry.changes}
            ],
        )

    def get(self, entry: str) -> Entry:
        """:raises UnknownId: if there is none with this id."""
        for found in self._read("WHERE id = ?", [row_id("e", entry, "edit")]):
            return found
        raise UnknownId(f"There is no edit {entry}. `memlane memories history` lists them.")

    def list(self, limit: int | None = None) -> tuple[Entry, ...]:
        """The journal, oldest first; with ``limit`` only its last lines."""
        if limit is None:
            return tuple(self._read("ORDER BY id"))
        return tuple(self._read("ORDER BY id DESC LIMIT ?", [limit]))[::-1]

    def of_source(self, source: str) -> tuple[Entry, ...]:
        """Every entry that was made from a source, oldest first."""
        return tuple(self._read("WHERE source = ? ORDER BY id", [row_id("s", source, "source")]))

    def of_batch(self, batch: int) -> tuple[Entry, ...]:
        """Every entry that was written with the entry of this number, oldest first."""
        return tuple(self._read("WHERE batch = ? ORDER BY id", [batch]))

    def newest(self, count: int, before: int | None = None) -> tuple[Entry, ...]:
        """The last ``count`` entries, newest first; with ``before`` those of lower numbers."""
        return tuple(
            self._read("WHERE id < ? ORDER BY id DESC LIMIT ?", [before or (1 << 62), count])
        )

    def since(self, at: datetime) -> tuple[Entry, ...]:
        """Every entry written at or after a moment, oldest first."""
        # Stored times carry offsets, which text does not sort by: julianday() reads them.
        return tuple(
            self._read("WHERE julianday(at) >= julianday(?) - 1e-9 ORDER BY id", [iso(at)])
        )

    def of_memory(self, memory: str) -> tuple[Entry, ...]:
        """Every entry that touched a memory, oldest first.

        :raises UnknownId: if no memory ever had this id.
        """
        found = tuple(
            self._read(
                "WHERE id IN (SELECT entry FROM journal_memories WHERE memory = ?) ORDER BY id",
                [row_id("m", memory, "memory")],
            )
        )
        if not found:
            raise UnknownId(f"There is no memory {memory}. `memlane memories list` shows them.")
        return found

    def standing(self, memory: str) -> Memory | None:
        """A memory as its last line left it. :raises UnknownId: if none ever had this id."""
        last = self.of_memory(memory)[-1]
        return [change.after for change in last.changes if change.memory == memory][-1]

    def refuse_undo(self, target: Entry) -> None:
        """:raises EditConflict: if an entry is undone, erased, or later ones changed the same."""
        refuse_erased(target)
        if earlier := self.undo_of(target.id):
            raise EditConflict(
                f"{target.id} is already undone, by {earlier.id}. "
                f"To redo it: memlane memories undo {earlier.id}"
            )
        for change in target.changes:
            if self.standing(change.memory) != change.after:
                later = self.of_memory(change.memory)[-1]
                raise EditConflict(
                    f"{target.id} cannot be undone alone: {later.id} changed {change.memory} "
                    f"after it. Undo {later.id} first."
                )

    def forgotten_by_person(self) -> tuple[str, ...]:
        """Memories that are softly forgotten and that the person once forgot, by id."""
        rows = self._rows.query(
            """SELECT id FROM memories WHERE status = 'forgotten' AND EXISTS
               (SELECT 1 FROM journal_memories JOIN journal ON journal.id = entry
                WHERE memory = memories.id AND kind = 'forget' AND actor = 'user') ORDER BY id"""
        )
        return tuple(public_id("m", row["id"]) for row in rows)

    def undo_of(self, entry: str) -> Entry | None:
        """The entry that took ``entry`` back."""
        return next(self._read("WHERE undoes = ?", [row_id("e", entry, "edit")]), None)

    def last_standing(self) -> Entry:
        """The last edit that is neither an undo nor undone.

        :raises UnknownId: if there is none.
        """
        found = self._read(
            """WHERE kind <> 'undo' AND (redacted IS NULL OR kind = 'erase')
               AND NOT (kind = 'erase' AND actor = 'auto') AND NOT EXISTS
               (SELECT 1 FROM journal AS later WHERE later.undoes = journal.id)
               ORDER BY id DESC LIMIT 1"""
        )
        for entry in found:
            return entry
        raise UnknownId("There is nothing to undo.")

    def _read(self, rest: str, parameters: Iterable[object] = ()) -> Iterator[Entry]:
        for row in self._rows.query(f"SELECT * FROM journal {rest}", tuple(parameters)):
            yield _entry_from_row(row)


@of_a_row
def _entry_from_row(row: Mapping[str, Any]) -> Entry:
    return Entry(
        id=public_id("e", row["id"]),
        batch=row["batch"],
        at=datetime.fromisoformat(row["at"]),
        kind=EditKind(row["kind"]),
        actor=row["actor"],
        source=None if row["source"] is None else public_id("s", row["source"]),
        undoes=None if row["undoes"] is None else public_id("e", row["undoes"]),
        changes=changes_from_payload(json.loads(row["changes"])),
        redacted=moment(row["redacted"]),
    )
