"""What the tools answer with: the shapes that clients see as output schemas, and their makers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NotRequired

from typing_extensions import TypedDict

from agent.server.mcp.fence import shown, told
from store.journal import Entry
from store.tables.paging import Neighbour
from store.tables.side_tables.change_edges import ChangeEdge
from store.types import Memory, Source

Told = TypedDict(
    "Told",
    {
        "id": str,
        "text": str,
        "origin": NotRequired[str],
        "standing": NotRequired[str],
        "from": NotRequired[str | None],
        "until": NotRequired[str | None],
    },
)
"""A memory: its sentence, where it is from (told, noted, recorded, seen, relayed) and its time."""


class Found(TypedDict):
    """The memories for a question."""

    notice: str
    turn: str | None
    memories: list[Told]


class Decision(TypedDict):
    """A memory that was looked at for a question."""

    memory: str
    text: str | None
    score: float
    chosen: bool
    reason: str


class Reasons(TypedDict):
    """How the memories of a search were chosen."""

    notice: str
    turn: str
    words: str
    policy: str | None
    steps: list[Decision]


class Opened(TypedDict):
    """One memory with what belongs to it."""

    notice: str
    memory: Told
    relations: list[list[str]]
    source: str | None
    possible_changes: list[dict[str, Any]]


class Beside(TypedDict):
    """Somebody or something beside an entity."""

    entity: str
    relations: list[str]
    memories: int


class Around(TypedDict):
    """An entity: its memories, and what lies beside it."""

    notice: str
    entity: str
    memories: list[Told]
    neighbours: list[Beside]
    total: int


class Activity(TypedDict):
    """One change, and the memory as it is now."""

    edit: str
    kind: str
    at: str
    by: str
    memory: Told


class Recent(TypedDict):
    """The last changes, newest first."""

    notice: str
    activity: list[Activity]


class Edited(TypedDict):
    """A line of the journal."""

    id: str
    kind: str
    memory: str


class Stored(TypedDict):
    """What was stored of a fact."""

    notice: str
    memories: list[Told]
    edits: list[Edited]
    known_already: list[str]
    contradicts: list[str]


class Changed(TypedDict):
    """What a change did."""

    notice: str
    edits: list[Edited]


def edits(entries: Iterable[Entry]) -> list[Edited]:
    """Ids alone: the texts are the client's own, or were shown before."""
    return [{"id": one.id, "kind": one.kind.value, "memory": one.memory} for one in entries]


def opened(memory: Memory, source: Source | None, edges: Iterable[ChangeEdge]) -> dict[str, object]:
    """One memory; of its source only what kind it is, as a path is nobody else's."""
    return {
        "memory": _lasting(memory),
        "relations": [[shown(t.head), t.relation, shown(t.tail)] for t in memory.triples],
        "source": None if source is None else source.kind.value,
        "possible_changes": [
            {
                "older": edge.older,
                "newer": edge.newer,
                "change": edge.change.value,
                "probability": round(edge.probability, 3),
            }
            for edge in edges
        ],
    }


def around(
    name: str, memories: Iterable[Memory], beside: Iterable[Neighbour], total: int
) -> dict[str, object]:
    """An entity with its memories and neighbours."""
    return {
        "entity": shown(name),
        "memories": [_lasting(memory) for memory in memories],
        "neighbours": [
            {
                "entity": shown(one.name),
                "relations": list(one.relations),
                "memories": one.memories,
            }
            for one in beside
        ],
        "total": total,
    }


def recent(changes: Iterable[tuple[Entry, Memory]]) -> dict[str, object]:
    """Changes with the memories as they are now."""
    return {
        "activity": [
            {
                "edit": entry.id,
                "kind": entry.kind.value,
                "at": entry.at.isoformat(),
                "by": entry.actor,
                "memory": _lasting(memory),
            }
            for entry, memory in changes
        ]
    }


def stored(
    memories: Iterable[Memory],
    entries: Iterable[Entry],
    known: Iterable[str],
    contradicts: Iterable[str],
) -> dict[str, object]:
    """What became of a fact, in the words that were stored."""
    return {
        "memories": [_lasting(memory) for memory in memories],
        "edits": edits(entries),
        "known_already": list(known),
        "contradicts": list(contradicts),
    }


def _lasting(memory: Memory) -> dict[str, Any]:
    """A memory with the time that it was given."""
    return {
        **told(memory),
        "from": memory.valid_from and memory.valid_from.isoformat(),
        "until": memory.valid_until and memory.valid_until.isoformat(),
    }
