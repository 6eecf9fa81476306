"""Erasure inside the one transaction of ``MemoryGraph.erase``.

Invariants: the rows, journal texts, relations, orphaned entities, full text, vectors, source spans
and chat turns of a memory go together or not at all; the lines of the journal stay as id, time,
kind and actor; ``verify()`` is empty before and after. The bytes on disk are ``secure_delete``'s.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from store.database.connection import Connection
from store.erasure.fingerprints import Fingerprints, codes, occurrences, stream, windows
from store.erasure.learned import erase_learned, erase_personas
from store.journal import Change, Entry, payload_from_changes
from store.row_codecs import dumps, iso, public_id, row_id
from store.sync.forgetting import drop_names, tell_forgotten
from store.tables.memory_tables import MemoryTables
from store.tables.sources import BLANK, blanked, steps_of
from store.types import EditKind, Memory, Source, Span

GONE = "[forgotten]"
"""Stands for a reply that was made of a forgotten memory."""


@dataclass(frozen=True, slots=True)
class ErasePlan:
    """What would go. It holds the texts in clear: show it, never store it."""

    memories: tuple[Memory, ...]
    """Those asked for, and those that say the very same."""
    entries: tuple[Entry, ...]
    sources: tuple[Source, ...]
    texts: tuple[str, ...]
    """Everything that the memories ever said, and the raw text they were read from."""
    stays: tuple[Memory, ...]
    """What they replaced or were replaced by; it is not asked for, so it stays."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.memories)


@dataclass(frozen=True, slots=True)
class Erased:
    """What went, and what has to be looked for in the files now."""

    plan: ErasePlan
    entry: Entry
    turns: tuple[str, ...]
    windows: tuple[str, ...]
    """Stretches of the texts that nothing else in the database says."""
    still_in: tuple[str, ...]
    """Ids or places of the database that say one of the texts on their own account."""


def plan_erase(tables: MemoryTables, ids: Iterable[str], *, alike: bool = True) -> ErasePlan:
    """What forgetting these memories takes. Reads only.

    Without ``alike`` those that say the very same stay.

    :raises UnknownId: if one does not exist (any more).
    """
    wanted = {memory.id: memory for memory in map(tables.memories.get, dict.fromkeys(ids))}
    for text in [memory.text for memory in wanted.values() if alike]:
        wanted.update((memory.id, memory) for memory in tables.memories.saying(text))
    chosen = tuple(sorted(wanted.values(), key=lambda memory: row_id("m", memory.id, "memory")))
    entries = {entry.id: entry for key in wanted for entry in tables.journal.of_memory(key)}
    versions = [
        version
        for entry in entries.values()
        for change in entry.changes
        if change.memory in wanted
        for version in (change.before, change.after)
        if version is not None
    ]
    sources = {key: tables.sources.get(key) for v in versions if (key := v.source) is not None}
    spans = [v.span.of(sources[v.source].text) for v in versions if v.span and v.source]
    texts = dict.fromkeys([*(v.text for v in versions), *spans])
    kin = {m.replaced_by for m in chosen} | {m.id for m in tables.memories.replaced_by(wanted)}
    return ErasePlan(
        chosen,
        tuple(sorted(entries.values(), key=lambda entry: row_id("e", entry.id, "edit"))),
        tuple(sources.values()),
        tuple(text for text in texts if text.strip(BLANK + " \n")),
        tuple(tables.memories.get(key) for key in sorted(filter(None, kin)) if key not in wanted),
    )


def erase(
    tables: MemoryTables,
    plan: ErasePlan,
    *,
    at: datetime,
    actor: str,
    marker: Fingerprints | None,
    elsewhere: bool = False,
) -> Erased:
    """Carry out a plan, inside the caller's transaction. With ``marker`` a proof is kept.

    ``elsewhere``: another home forgot it (docs/sync.md), which the others know already.
    """
    rows = tables.rows
    if elsewhere:
        drop_names(rows, plan.ids)
    else:
        tell_forgotten(rows, plan.memories, plan.entries, str(iso(at)), proof=marker is not None)
    rows.execute("INSERT INTO redacting VALUES (?)", [iso(at)])
    replaced = {memory.id for memory in tables.memories.replaced_by(plan.ids)}
    _redact_journal(tables, plan, replaced, at)
    restated = _redact_histories(tables, plan, at)
    for key in replaced - plan.ids:
        rows.execute("UPDATE memories SET replaced_by = NULL WHERE id = ?", [_m(key)])
    for memory in plan.memories:
        rows.execute("UPDATE memories SET replaced_by = NULL WHERE id = ?", [_m(memory.id)])
    for memory in plan.memories:
        tables.memories.set(Change(memory.id, memory, None))
    # A 'delete' leaves the words in older segments of the index; a rebuild does not.
    rows.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
    turns = tuple(_blank_turns(rows, plan, _blank_sources(tables, plan)))
    ends = (end for m in plan.memories for t in m.triples for end in (t.head, t.tail))
    said = (*plan.texts, *ends)
    erase_learned(rows, plan.ids, said, turns)
    erase_personas(rows, plan.ids, said)
    entry = tables.journal.append(
        EditKind.ERASE,
        (*restated, *(Change(memory.id, None, None, redacted=True) for memory in plan.memories)),
        at=at,
        actor=actor,
        source=None,
    )
    wanted, still_in = _search(rows, plan)
    _keep_proof(rows, entry, wanted, at, marker)
    rows.execute("DELETE FROM redacting")
    return Erased(plan, entry, turns, wanted, still_in)


def _m(memory: str) -> int:
    return row_id("m", memory, "memory")


# ---- the journal --------------------------------------------------------------------------


def _redact_journal(
    tables: MemoryTables, plan: ErasePlan, replaced: set[str], at: datetime
) -> None:
    touched = {entry.id: entry for entry in plan.entries}
    for key in replaced:  # their lines name the erased memory as what took their place
        touched.update((entry.id, entry) for entry in tables.journal.of_memory(key))
    for entry in touched.values():
        payload = payload_from_changes(
            Change(change.memory, None, None, redacted=True)
            if change.memory in plan.ids
            else change
            for change in entry.changes
        )
        for row in payload:
            for version in (row.get("before"), row.get("after")):
                if version and version["replaced_by"] in plan.ids:
                    version["replaced_by"] = None
        changed = dumps(payload)
        if changed != dumps(payload_from_changes(entry.changes)):
            tables.rows.execute(
                "UPDATE journal SET changes = ?, redacted = ? WHERE id = ?",
                (changed, iso(at), row_id("e", entry.id, "edit")),
            )


def _redact_histories(tables: MemoryTables, plan: ErasePlan, at: datetime) -> list[Change]:
    """Redact the past of other memories that once said the very same.

    Returns what stands of them, which the line of this forgetting states anew. One that still says
    the same is left as it is, and reported.
    """
    found: dict[str, Memory | None] = {}
    for text in plan.texts:
        for row in tables.rows.query(
            "SELECT id FROM journal WHERE instr(changes, ?) ORDER BY id", [dumps(text)]
        ):
            for change in tables.journal.get(public_id("e", row["id"])).changes:
                versions = (change.before, change.after)
                if any(version and version.text == text for version in versions):
                    found[change.memory] = None
    for memory in found.keys() - plan.ids:
        found[memory] = tables.journal.standing(memory)
    told = {key: m for key, m in found.items() if key not in plan.ids}
    told = {key: m for key, m in told.items() if m is None or m.text not in plan.texts}
    for entry in {e.id: e for key in told for e in tables.journal.of_memory(key)}.values():
        changes = [
            Change(change.memory, None, None, redacted=True) if change.memory in told else change
            for change in entry.changes
        ]
        tables.rows.execute(
            "UPDATE journal SET changes = ?, redacted = ? WHERE id = ?",
            (dumps(payload_from_changes(changes)), iso(at), row_id("e", entry.id, "edit")),
        )
    return [Change(memory.id, memory, memory) for memory in told.values() if memory is not None]


# ---- raw text -----------------------------------------------------------------------------


def _blank_sources(tables: MemoryTables, plan: ErasePlan) -> dict[str, str]:
    """Blank the raw texts; returns what became of each that changed."""
    rows = tables.rows
    own = {source.id for source in plan.sources}
    became: dict[str, str] = {}
    for row in rows.query("SELECT id, locator, text FROM sources"):
        key, text = public_id("s", row["id"]), row["text"]
        spans = [span for needle in _needles(plan.texts) for span in occurrences(needle, text)]
        if key in own:
            spans += _own_spans(tables, key, text, plan)
        after = blanked(text, spans)
        if after == text:
            continue
        became[text] = after
        rows.execute("UPDATE sources SET text = ?, error = NULL WHERE id = ?", (after, row["id"]))
        if row["locator"] is None:
            # The hash of a short text gives it away; that of a file tells that it is unchanged.
            rows.execute("UPDATE sources SET content_hash = 'forgotten' WHERE id = ?", [row["id"]])
    return became


def _own_spans(tables: MemoryTables, source: str, text: str, plan: ErasePlan) -> list[Span]:
    """What to blank in a source that an erased memory was read from."""
    others = tables.memories.made_from(source)  # the erased ones are gone already
    spans = {
        version.span
        for entry in plan.entries
        for change in entry.changes
        if change.memory in plan.ids
        for version in (change.before, change.after)
        if version is not None and version.source == source
    }
    if not others or None in spans:
        # It alone carried the memory; or nobody knows where in it the memory stood.
        return [Span(0, len(text))]
    kept = {code for other in others for code in codes(other.text)}
    secrets = {code for said in plan.texts for code in codes(said)} - kept
    found = [span for span in spans if span is not None]
    return found + [span for code in secrets for span in occurrences(code, text)]


def _needles(texts: Iterable[str]) -> list[str]:
    """Texts long enough to be looked for where nothing else points at them."""
    return [text for text in texts if len(stream(text)) >= 8]


def _blank_turns(rows: Connection, plan: ErasePlan, became: Mapping[str, str]) -> Iterator[str]:
    needles = _needles(plan.texts)
    entries = {entry.id for entry in plan.entries}
    for row in rows.query("SELECT id, text, reply, trace FROM turns"):
        trace: dict[str, Any] = json.loads(row["trace"])
        text, reply = (
            blanked(row[name], [s for needle in needles for s in occurrences(needle, row[name])])
            for name in ("text", "reply")
        )
        used = bool(plan.ids & set(trace.get("memories", ())))
        made = bool(entries & set(trace.get("edits", ())))
        if used or made or reply != row["reply"]:
            reply = GONE
        # A chat message is a source too, and what was blanked there is blanked here.
        text = became.get(row["text"], GONE if made and text == row["text"] else text)
        looked = any(step["memory"] in plan.ids for step in steps_of(trace))
        changed = used or made or text != row["text"] or reply != row["reply"]
        if changed or looked:
            after = _pruned(trace, plan.ids) if changed else _without_steps(trace, plan.ids)
            rows.execute(
                "UPDATE turns SET text = ?, reply = ?, trace = ? WHERE id = ?",
                (text, reply, dumps(after), row["id"]),
            )
        if changed:
            yield public_id("t", row["id"])


def _pruned(trace: dict[str, Any], ids: Collection[str]) -> dict[str, Any]:
    """A trace as ids alone, without the erased ones: reasons may quote."""
    kept = [memory for memory in trace.get("memories", ()) if memory not in ids]
    return {"memories": kept, "edits": trace.get("edits", []), "redacted": True}


def _without_steps(trace: dict[str, Any], ids: Collection[str]) -> dict[str, Any]:
    """A trace in which the erased memories were merely looked at, without what was seen there."""
    steps = [
        {"memory": step["memory"], "forgotten": True} if step["memory"] in ids else step
        for step in steps_of(trace)
    ]
    return {**trace, "steps": steps}


# ---- what is left, and the proof ----------------------------------------------------------


def texts_of(rows: Connection) -> Iterator[tuple[str, int, str]]:
    """Every text of every table, with its table and row; derived and proof tables left aside."""
    tables = rows.query(
        """SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
           AND name NOT LIKE 'memories_fts%' AND name NOT LIKE 'forgotten%' AND name <> 'vectors'"""
    )
    for table in (row["name"] for row in tables):
        for number, row in enumerate(rows.query(f'SELECT * FROM "{table}"'), 1):
            for value in row.values():
                if isinstance(value, str) and value:
                    yield table, int(row["id"]) if isinstance(row.get("id"), int) else number, value


def _search(rows: Connection, plan: ErasePlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The windows that nothing else says, and where one of the texts is still said."""
    ends = [end for m in plan.memories for t in m.triples for end in (t.head, t.tail)]
    wanted = dict.fromkeys(w for text in (*plan.texts, *ends) for w in windows(text))
    whole = {stream(text) for text in _needles(plan.texts)}
    places: dict[str, None] = {}
    for table, key, text in texts_of(rows):
        folded = stream(text)
        for window in [window for window in wanted if window in folded]:
            del wanted[window]
        if any(said in folded for said in whole):
            places[_place(table, key)] = None
    return tuple(wanted), tuple(places)


_PREFIXES = {
    "memories": "m", "sources": "s", "turns": "t", "journal": "e", "persona_lines": "p",
}  # fmt: skip


def _place(table: str, key: int) -> str:
    prefix = _PREFIXES.get(table)
    return public_id(prefix, key) if prefix else f"{table} {key}"


def _keep_proof(
    rows: Connection, entry: Entry, wanted: Iterable[str], at: datetime, marker: Fingerprints | None
) -> None:
    last = {
        table: rows.next_id(table) - 1 for table in ("sources", "turns", "journal")
    }  # what is told after this may say the same again
    key = rows.execute(
        """INSERT INTO forgotten (at, entry, swept, last_source, last_turn, last_entry)
           VALUES (?, ?, 0, ?, ?, ?)""",
        (
            iso(at),
            row_id("e", entry.id, "edit"),
            last["sources"],
            last["turns"],
            last["journal"],
        ),
    )
    for mark in {marker.mark(window) for window in wanted} if marker else ():
        rows.execute(
            "INSERT OR IGNORE INTO forgotten_marks VALUES (?, ?, ?, ?)",
            (key, mark.digest, mark.length, mark.sieve),
        )
