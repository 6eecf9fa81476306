"""Questions about two memories, and possible changes between them, as homes tell them.

What two homes know of a pair is joined: decided or dismissed anywhere is decided everywhere.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from store.graph import MemoryGraph
from store.sync.operations import SharedPair, Value
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.tables.side_tables.pending_questions import QuestionKind

EDGE = "edge"


def joined(one: Value, other: Value) -> Value:
    """What both tell of one pair; the order does not matter."""
    newest = max((one, other), key=_rank)
    return newest | {
        name: min(filter(None, (one[name], other[name])), key=_moment, default=None)
        for name in ("raised", "decided", "dismissed")
        if name in newest
    }


def _rank(value: Value) -> tuple[Any, ...]:
    return (
        (_moment(value["made"]), value["probability"], value["change"]) if "made" in value else ()
    )


def _moment(text: str) -> tuple[float, str]:
    # One moment may be written with two offsets.
    return datetime.fromisoformat(text).timestamp(), text


def capture_pairs(graph: MemoryGraph) -> None:
    """Note what this home knows of pairs that the others do not, in the caller's transaction."""
    for pair in graph.sync.pairs_here():
        kept = graph.sync.pair(pair.kind, pair.first, pair.second)
        after = pair.value if kept is None else joined(kept, pair.value)
        # One of them may be forgotten elsewhere, and still be here for a moment.
        if after != kept and not _is_forgotten(graph, pair):
            new = SharedPair(pair.kind, pair.first, pair.second, after)
            graph.sync.put_pair(new, None, dirty=False)


def _is_forgotten(graph: MemoryGraph, pair: SharedPair) -> bool:
    return graph.sync.forgotten(pair.first) or graph.sync.forgotten(pair.second)


def record_pair(graph: MemoryGraph, pair: SharedPair, segment: str) -> None:
    """Take a pair of another home in."""
    if _is_forgotten(graph, pair):
        return
    kept = graph.sync.pair(pair.kind, pair.first, pair.second)
    after = pair.value if kept is None else joined(kept, pair.value)
    new = SharedPair(pair.kind, pair.first, pair.second, after)
    if after != kept:
        graph.sync.put_pair(new, segment if after == pair.value else None, dirty=True)
    elif after == pair.value:
        graph.sync.tell_pair(new, segment)


def apply_pairs(graph: MemoryGraph) -> None:
    """Make the pairs of this home what is recorded, in the caller's transaction."""
    for pair in graph.sync.dirty_pairs():
        first, second = map(graph.sync.memory_here, (pair.first, pair.second))
        if first is None or second is None:
            continue  # one of them was taken back; it may come again
        value = pair.value
        if pair.kind == EDGE:
            edge = ChangeEdge(first, second, ChangeKind(value["change"]), value["probability"])
            graph.change_edges.put([edge], datetime.fromisoformat(value["made"]))
            if value["dismissed"]:
                graph.change_edges.dismiss(
                    first, second, datetime.fromisoformat(value["dismissed"])
                )
        else:
            both = (first, second)
            graph.questions.put(QuestionKind.HOLDS, both, datetime.fromisoformat(value["raised"]))
            if value["decided"]:
                graph.questions.decide(
                    QuestionKind.HOLDS, both, datetime.fromisoformat(value["decided"])
                )
        graph.sync.settle_pair(pair)
