"""Spaces made and removed, and memories carried from one to another (docs/spaces.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.memory.changes import Judgements, possible_changes
from agent.memory.home import Models
from agent.memory.vectors.waiting import ensure_vectors
from store.database.connection import DATABASE_NAME, ensure_home
from store.database.encryption.envelope import envelope_of, write_envelope
from store.database.encryption.keys import key_of
from store.erasure.plan import GONE
from store.errors import EditConflict, HomeUnavailable, InvalidInput
from store.graph import MemoryGraph
from store.journal import Entry, Insert
from store.maintenance.left_overs import scratch_folder
from store.spaces import FOLDER, MAIN, Space, as_seen, forget_rules, home_of
from store.tables.sources import BLANK
from store.types import Draft, Memory, Source, SourceKind, SourceStatus, Span, Status, trust_of_kind


def add_space(root: Path, name: str) -> Space:
    """Make an empty space, encrypted where the home is.

    :raises InvalidInput: if it is there already, or cannot be called so.
    :raises HomeLocked: if the home is encrypted and nobody has its key.
    """
    home = home_of(root, name)
    if name == MAIN or home.is_dir():
        raise InvalidInput(f"The space {name} is there already.")
    ensure_home(root)
    ensure_home(root / FOLDER)
    forget_rules(root, name)  # of one that was called the same
    if envelope := envelope_of(root / DATABASE_NAME):
        key_of(root / DATABASE_NAME)  # without it nothing is made
        ensure_home(home)
        write_envelope(home / DATABASE_NAME, envelope)
    MemoryGraph.open(home).close()
    return Space(name, home)


def remove_space(root: Path, name: str) -> None:
    """Delete a space with everything in it; killed on the way, the rest goes at the next try.

    :raises HomeUnavailable: if its files cannot be deleted.
    """
    forget_rules(root, name)
    folder = root / FOLDER
    try:
        with scratch_folder(folder) as scratch:  # gone from the list at once, whole
            home_of(root, name).rename(scratch / name)
    except OSError as error:
        raise HomeUnavailable(
            f"Cannot remove the space {name}: {error.strerror or error}."
        ) from error


# ---- carrying -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of a memory in the space that it was brought to."""

    memory: Memory
    """As it stands in its own space."""
    there: str
    """Its id in the other space."""
    entry: Entry | None
    """The edit that stored it there; None where it was there already."""


def carry(
    ids: Sequence[str],
    space: Space,
    graph: MemoryGraph,
    target: MemoryGraph,
    models: Models,
    now: datetime,
) -> tuple[Carried, ...]:
    """Copy memories of ``space`` into another, with their dates and the words they were read from.

    Only these words come along, never the rest of a message or file. In one transaction; what was
    copied before and stands there is not copied again, so a killed move can be repeated.

    :raises UnknownId: if there is no such memory.
    :raises EditConflict: if one no longer holds; nothing is copied.
    :raises InvalidInput: if the other space lacks a subclass; nothing is copied.
    """
    memories = graph.memories.of(tuple(dict.fromkeys(ids)))
    known = {subclass.id for subclass in target.subclasses()}
    for memory in memories:
        if memory.status is not Status.CURRENT:
            raise EditConflict(f"{memory.id} is {memory.status}: only current memories are copied.")
        if memory.subclass not in known:
            raise InvalidInput(
                f"The other space has no subclass {memory.subclass!r}, which {memory.id} is of. "
                "Add it there (memlane types add), or give the memory another: memlane memories "
                "edit"
            )
    there = {memory.id: _standing(memory, target) for memory in memories}
    with target.writing():
        new = [memory for memory in memories if not there[memory.id]]
        edits = [Insert(_draft(memory, space, graph, target)) for memory in new]
        made = target.apply(edits, at=now, actor="user")
    entries = dict(zip((memory.id for memory in new), made, strict=True))
    ensure_vectors(target, models.embedder)
    stored = target.memories.of([entry.memory for entry in made])
    changes = possible_changes(stored, (), target, models, now, Judgements())
    with target.writing():
        target.change_edges.put(changes, now)
    return tuple(
        Carried(memory, there[memory.id] or entries[memory.id].memory, entries.get(memory.id))
        for memory in memories
    )


def _standing(memory: Memory, target: MemoryGraph) -> str:
    """The id of a copy that was made before and still stands; empty where there is none."""
    for other in target.memories.saying(memory.text):
        if other.status is Status.CURRENT and other.created == memory.created:
            return other.id
    return ""


def _draft(memory: Memory, space: Space, graph: MemoryGraph, target: MemoryGraph) -> Draft:
    """The memory as the other space stores it, with a source of its own words there."""
    source = graph.sources.get(memory.source) if memory.source else None
    words = _own_words(memory, source, graph)
    kind = SourceKind.MANUAL if source is None else source.kind
    path = source.locator if source else None
    if path is not None and target.sources.latest_from(path) is not None:
        path = None  # there it would pass for the newest version of the whole file
    new = target.sources.add(
        kind,
        words,
        memory.created if source is None else source.captured,
        locator=path,
        place=source.place if source else None,
    )
    target.sources.mark(new.id, SourceStatus.EXTRACTED)
    return Draft(
        memory.text,
        memory.subclass,
        memory.created,
        triples=memory.triples,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        place=memory.place,
        source=new.id,
        span=Span(0, len(new.text)),
        trust=as_seen(memory, space).trust or trust_of_kind(kind),
        pinned=memory.pinned,
    )


def _own_words(memory: Memory, source: Source | None, graph: MemoryGraph) -> str:
    """What this memory alone was read from; its own sentence where that is not known."""
    span = memory.span
    if source is None or span is None:
        return memory.text
    words = span.of(source.text)
    others = (m.span for m in graph.memories.made_from(source.id) if m.id != memory.id and m.span)
    shared = any(other.start < span.end and span.start < other.end for other in others)
    if shared or memory.text in words or not words.strip() or BLANK in words or GONE in words:
        return memory.text
    return words
