"""Edits applied: what each makes of what stands, written to the rows and the journal.

Invariant: rows and journal are written together, inside one transaction of the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from store.errors import EditConflict, UnknownId
from store.journal import (
    Amend,
    Change,
    Edit,
    Entry,
    Expire,
    Forget,
    Insert,
    Replace,
    check_interval,
    checked_text,
)
from store.row_codecs import public_id
from store.tables.memory_tables import MemoryTables
from store.tables.taxonomy_edits import SHOWN
from store.types import Draft, Memory, Status, Trust, trust_of_kind


class EditWriter:
    """Applies planned edits to the tables of one home."""

    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    def apply(
        self, edits: Iterable[Edit], *, at: datetime, actor: str, source: str | None
    ) -> tuple[Entry, ...]:
        """The lines of the journal, in the order of the edits; errors as of ``MemoryGraph``."""
        journal, memories = self._tables.journal, self._tables.memories
        said_by = Trust.TOLD if actor == "user" else source and self._trust_of(source)
        entries: list[Entry] = []
        for plain, some in groupby(edits, lambda edit: isinstance(edit, Insert)):
            batch = entries[0].batch if entries else None
            if plain:  # together: an import or a large note inserts very many in a row
                inserts = [edit for edit in some if isinstance(edit, Insert)]
                entries += self._inserted(inserts, at, actor, source, batch)
                continue
            for edit in some:
                assert not isinstance(edit, Insert)
                changes = self._changes(edit, said_by or None)
                for change in changes:
                    memories.set(change)
                entries.append(
                    journal.append(
                        edit.kind, changes, at=at, actor=actor, source=source, batch=batch
                    )
                )
                batch = entries[0].batch
        return tuple(entries)

    def _inserted(
        self,
        inserts: Sequence[Insert],
        at: datetime,
        actor: str,
        source: str | None,
        batch: int | None,
    ) -> list[Entry]:
        made = self._new_memories([edit.draft for edit in inserts])
        self._tables.memories.add(made)
        first = self._tables.rows.next_id("journal")
        entries = [
            Entry(
                public_id("e", number),
                batch or first,
                at,
                edit.kind,
                actor,
                source,
                None,
                (Change(memory.id, None, memory),),
            )
            for number, (edit, memory) in enumerate(zip(inserts, made, strict=True), first)
        ]
        self._tables.journal.write(entries)
        return entries

    def _changes(
        self, edit: Replace | Expire | Amend | Forget, said_by: Trust | None
    ) -> tuple[Change, ...]:
        match edit:
            case Replace(memory_id, draft):
                old = self._current(memory_id)
                # The pin is of the fact: it stays with what holds now.
                (new,) = self._new_memories([replace(draft, pinned=draft.pinned or old.pinned)])
                since = draft.valid_from or draft.created
                history = replace(
                    old,
                    status=Status.REPLACED,
                    replaced_by=new.id,
                    valid_until=max(since, old.valid_from or since),
                )
                return (Change(old.id, old, history), Change(new.id, None, new))
            case Expire(memory_id, until):
                old = self._current(memory_id)
                return (self._checked(old, replace(old, valid_until=until)),)
            case Amend(memory_id):
                old = self._current(memory_id)
                given = edit.given()
                if "text" in given:
                    given["text"] = checked_text(given["text"])
                    trust = old.trust or self._trust_of(old.source)
                    if said_by is not None and said_by.rank > trust.rank:
                        given["trust"] = said_by  # a screenshot that the person corrected is theirs
                if "subclass" in given:
                    given["type"] = self._type_of(given["subclass"])
                return (self._checked(old, replace(old, **given)),)
            case Forget(memory_id):
                old = self._current(memory_id)
                return (Change(old.id, old, replace(old, status=Status.FORGOTTEN)),)

    def _new_memories(self, drafts: Sequence[Draft]) -> list[Memory]:
        """The memories of drafts, under ids never given before; nothing is written."""
        first = self._tables.rows.next_id("memories")
        # Asked once each: very many drafts share a few subclasses and sources.
        types = {name: self._type_of(name) for name in {draft.subclass for draft in drafts}}
        sources = {draft.source for draft in drafts if not draft.trust}
        trusted = {source: self._trust_of(source) for source in sources}
        made = []
        for number, draft in enumerate(drafts, first):
            memory = Memory(
                id=public_id("m", number),
                text=checked_text(draft.text),
                type=types[draft.subclass],
                subclass=draft.subclass,
                created=draft.created,
                triples=draft.triples,
                valid_from=draft.valid_from,
                valid_until=draft.valid_until,
                place=draft.place,
                source=draft.source,
                span=draft.span,
                trust=draft.trust or trusted[draft.source],
                pinned=draft.pinned,
            )
            check_interval(memory)
            made.append(memory)
        return made

    @staticmethod
    def _checked(before: Memory, after: Memory) -> Change:
        check_interval(after)
        return Change(before.id, before, after)

    def _type_of(self, subclass: str) -> str:
        rows = self._tables.rows.query(
            f"SELECT type FROM subclasses WHERE id = ? AND {SHOWN}", [subclass]
        )
        if not rows:
            raise UnknownId(f"There is no subclass {subclass!r}. `memlane types list` shows them.")
        return str(rows[0]["type"])

    def _trust_of(self, source: str | None) -> Trust:
        return trust_of_kind(None if source is None else self._tables.sources.kind(source))

    def _current(self, memory: str) -> Memory:
        """The memory as the journal last left it, which must be current."""
        found = self._tables.journal.standing(memory)
        if found is None or found.status is not Status.CURRENT:
            state = "gone" if found is None else found.status.value
            by = f" by {found.replaced_by}" if found and found.replaced_by else ""
            raise EditConflict(
                f"{memory} is {state}{by}: only current memories can be edited. "
                f"`memlane memories history {memory}` shows the edit to undo first."
            )
        return found
