"""Everything that is stored, as text a person can read and keep elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from store.graph import MemoryGraph
from store.journal import payload_from_changes
from store.records import iso, memory_payload
from store.types import Status


def as_jsonl(graph: MemoryGraph, now: datetime) -> Iterator[str]:
    """One JSON object a line: a head, then subclasses, sources, memories, journal and turns."""

    def line(kind: str, **fields: object) -> str:
        return json.dumps({"kind": kind, **fields}, ensure_ascii=False)

    yield line("memlane", version=1, exported=iso(now))
    for subclass in graph.subclasses():
        yield line("subclass", id=subclass.id, type=subclass.type, name=subclass.name)
    for source in graph.sources.list():
        yield line(
            "source",
            id=source.id,
            source_kind=source.kind.value,
            locator=source.locator,
            content_hash=source.content_hash,
            captured=iso(source.captured),
            place=source.place,
            status=source.status.value,
            error=source.error,
            text=source.text,
        )
    for memory in graph.memories.list():
        yield line("memory", **memory_payload(memory))
    for entry in graph.journal.list():
        yield line(
            "edit",
            id=entry.id,
            batch=entry.batch,
            at=iso(entry.at),
            edit_kind=entry.kind.value,
            actor=entry.actor,
            source=entry.source,
            undoes=entry.undoes,
            changes=payload_from_changes(entry.changes),
        )
    for turn in graph.turns.last(limit=-1):
        yield line(
            "turn",
            id=turn.id,
            at=iso(turn.at),
            text=turn.text,
            route=turn.route,
            reply=turn.reply,
            trace=turn.trace,
        )


def as_markdown(graph: MemoryGraph, now: datetime) -> Iterator[str]:
    """What holds now, under the headings of the first two layers."""
    yield f"# Memories on {now:%Y-%m-%d}"
    holding = [m for m in graph.memories.list(Status.CURRENT) if m.holds_at(now)]
    for subclass in graph.subclasses():
        members = [memory for memory in holding if memory.subclass == subclass.id]
        if not members:
            continue
        yield ""
        yield f"## {subclass.type}: {subclass.name}"
        yield ""
        for memory in members:
            until = f" (until {memory.valid_until:%Y-%m-%d %H:%M})" if memory.valid_until else ""
            yield f"- {memory.text}{until} <!-- {memory.id} -->"
