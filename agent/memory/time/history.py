"""History of each fact, from telling to undo. Pure, except for reads.

A fact is a memory with all that took its place and all that it took the place of, so 'where do I
live' has one life however often it changed. Expiry leaves no journal line, because nothing has to
run for it; it is shown all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.language.relation_names import is_single
from store.errors import UnknownId
from store.graph import MemoryGraph
from store.journal import Change, Entry
from store.row_codecs import entity_key, row_id
from store.tables.side_tables.change_edges import ChangeKind
from store.types import EditKind, Memory, Source, Status

_FIELDS = ("text", "subclass", "place", "valid_from", "valid_until", "triples", "pinned")
_DONE = {
    EditKind.INSERT: "inserted",
    EditKind.EXPIRE: "inserted",
    EditKind.REPLACE: "replaced",
    EditKind.AMEND: "amended",
    EditKind.FORGET: "forgotten",
    EditKind.ERASE: "erased",
}


@dataclass(frozen=True, slots=True)
class FactEvent:
    """One thing that happened to a fact."""

    at: datetime
    what: str
    """inserted, replaced, amended, forgotten, erased, undone, redone, expired or (in the future)
    expires"""
    memory: str
    detail: str
    entry: str | None = None
    """The journal line; None for expiry, which has none."""
    actor: str | None = None
    """``user`` for what the person did, ``auto`` for what memlane decided."""
    source: Source | None = None
    undone_by: str | None = None
    """The journal line that took it back."""
    why: str = ""
    """Why memlane replaced one memory by another, as far as it is known."""


@dataclass(frozen=True, slots=True)
class Life:
    """All that happened to one fact, oldest first."""

    memories: tuple[str, ...]
    """The ids it had, oldest first."""
    now: Memory | None
    """What stands of it; None if it was undone altogether."""
    events: tuple[FactEvent, ...]


def lives(graph: MemoryGraph, memories: Iterable[str], now: datetime) -> tuple[Life, ...]:
    """The lives of the facts that these memories belong to, each once.

    :raises UnknownId: if no memory ever had one of the ids.
    """
    found: list[Life] = []
    seen: set[str] = set()
    sources: dict[str, Source] = {}
    for memory in memories:
        if memory in seen:
            continue
        members, entries = _fact(graph, memory)
        seen |= members
        found.append(_life(graph, members, entries, now, sources))
    return tuple(found)


def _fact(graph: MemoryGraph, memory: str) -> tuple[set[str], list[Entry]]:
    """The memories that are one fact with ``memory``, and every entry on them."""
    members, todo = set[str](), [memory]
    entries: dict[str, Entry] = {}
    while todo:
        key = todo.pop()
        if key in members:
            continue
        members.add(key)
        for entry in graph.journal.of_memory(key):
            entries[entry.id] = entry
            todo += _same_fact(entry.changes)
    return members, sorted(entries.values(), key=lambda entry: row_id("e", entry.id, "edit"))


def _same_fact(changes: Sequence[Change]) -> list[str]:
    """Memories of one entry that a replacement ties together."""
    return [
        end
        for change in changes
        for state in (change.before, change.after)
        if state is not None and state.replaced_by is not None
        for end in (state.id, state.replaced_by)
    ]


def _life(
    graph: MemoryGraph,
    members: set[str],
    entries: Sequence[Entry],
    now: datetime,
    sources: dict[str, Source],
) -> Life:
    undone = {entry.undoes: entry.id for entry in entries if entry.undoes}
    kinds = {entry.id: entry.kind for entry in entries}
    events: list[FactEvent] = []
    standing: dict[str, Memory | None] = {}
    for entry in entries:
        own = [change for change in entry.changes if change.memory in members]
        for change in own:
            standing[change.memory] = change.after
        if not own:
            continue
        what = _DONE.get(entry.kind, entry.kind.value)
        if entry.undoes is not None:
            back = kinds.get(entry.undoes) or graph.journal.get(entry.undoes).kind
            what = "redone" if back is EditKind.UNDO else "undone"
        events.append(
            FactEvent(
                entry.at,
                what,
                own[-1].memory,
                _detail(entry, own, what),
                entry.id,
                entry.actor,
                source_of(graph, entry.source, sources),
                undone.get(entry.id),
                why(graph, entry, own),
            )
        )
    ordered = sorted(members, key=lambda memory: row_id("m", memory, "memory"))
    last = [state for memory in ordered if (state := standing.get(memory)) is not None]
    present = next((m for m in reversed(last) if m.status is Status.CURRENT), None)
    present = present or (last[-1] if last else None)
    ending = [m for m in last if m.status is Status.CURRENT and m.valid_until is not None]
    events += [_expiry(memory, now) for memory in ending]
    # Edits keep their order, whatever the clock said; an expiry goes where its time is.
    dated = sorted(events, key=lambda event: event.at) if _in_order(events) else events
    return Life(tuple(ordered), present, tuple(dated))


def _in_order(events: Sequence[FactEvent]) -> bool:
    edits = [event.at for event in events if event.entry is not None]
    return edits == sorted(edits)


def _expiry(memory: Memory, now: datetime) -> FactEvent:
    assert memory.valid_until is not None
    what = "expired" if memory.valid_until <= now else "expires"
    return FactEvent(memory.valid_until, what, memory.id, memory.text)


def source_of(graph: MemoryGraph, source: str | None, known: dict[str, Source]) -> Source | None:
    """What an edit was made from; ``known`` keeps those that were read."""
    if source is None:
        return None
    if source not in known:
        try:
            known[source] = graph.sources.get(source)
        except UnknownId:  # forgotten for good since
            return None
    return known[source]


def why(graph: MemoryGraph, entry: Entry, own: Sequence[Change]) -> str:
    """What spoke for a replacement that memlane made: one place for two values, and the reader."""
    old, new = own[0].before, own[-1].after
    if entry.kind is not EditKind.REPLACE or entry.actor == "user" or old is None or new is None:
        return ""
    places = {(entity_key(t.head), t.relation) for t in old.triples if is_single(t.relation)}
    shared = [t for t in new.triples if (entity_key(t.head), t.relation) in places]
    reasons = [f"both say '{t.relation.replace('_', ' ')}' of {t.head}" for t in shared[:1]]
    for edge in graph.change_edges.of([old.id]):
        if edge.newer == new.id and edge.change is not ChangeKind.ADDS:
            reasons.append(f"judged {edge.probability:.0%} likely to change it")
    return ", ".join(reasons)


def _detail(entry: Entry, own: Sequence[Change], what: str) -> str:
    first, last = own[0], own[-1]
    if any(change.redacted for change in own):
        return "(forgotten for good)"
    if what in ("undone", "redone"):
        return f"{entry.undoes}: " + "; ".join(_became(change) for change in own)
    if entry.kind is EditKind.REPLACE and len(own) > 1:
        before = first.before.text if first.before else ""
        return f"{before} -> {last.memory} {last.after.text if last.after else ''}"
    if last.before is not None and last.after is not None and entry.kind is not EditKind.FORGET:
        return field_changes(last.before, last.after)
    state = last.after or last.before
    return state.text if state else ""


def field_changes(before: Memory, after: Memory) -> str:
    """What differs between two states of a memory, for people: 'place: (none) -> Office'."""
    return "; ".join(
        f"{'relations' if name == 'triples' else name}: "
        f"{shown(getattr(before, name))} -> {shown(getattr(after, name))}"
        for name in _FIELDS
        if getattr(before, name) != getattr(after, name)
    )


def _became(change: Change) -> str:
    if change.after is None:
        return f"{change.memory} removed"
    if change.before is None:
        return f"{change.memory} is back: {change.after.text}"
    return f"{change.memory} is {change.after.status.value}: {change.after.text}"


def shown(value: object) -> str:
    """A field of a memory, for people."""
    if value is None or value == ():
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, tuple):
        return "; ".join(f"{t.head} -{t.relation}-> {t.tail}" for t in value)
    return str(value)
