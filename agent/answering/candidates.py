"""Passages that a question may need: selected ones, near ones, and what may have changed these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.answering.retrieve import Retrieved
from agent.memory.gloss import Glosses, in_english
from agent.memory.home import Home
from agent.memory.passages import Passage, passage_of, sources_of
from policies.base import Question
from policies.baselines.fusion import activate
from policies.scoring.ranking import best, similar
from store.side_tables.change_edges import ChangeEdge, ChangeKind
from store.types import Memory, Status, may_replace

LIKELIEST, NEAREST, ENDED = 12, 6, 4
"""Memories that are looked at beside the selection: by meaning and words, by meaning alone, and of
those that have ended."""
BOTH_HOLD = (ChangeKind.ADDS, ChangeKind.REFINES)
"""Edges that bring the newer note along and leave the older one true."""
HOPS = 2
"""Steps along change edges from what was selected."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories by their ids, with their passages and the change edges between them."""

    memories: dict[str, Memory]
    passages: dict[str, Passage]
    edges: tuple[ChangeEdge, ...]
    """The older end of each is the one that may be changed."""
    selected: Mapping[str, float | None]
    """What the policy that selected a memory gave it."""
    over: frozenset[str]
    """Those that have ended by themselves, and were not selected as what the question asks for."""


def candidates(
    question: str, found: Retrieved, home: Home, glosses: Glosses, *, past: bool, ended: bool
) -> Candidates:
    """What is looked at for a question, with ``ended`` also what has ended by itself.

    Of one about the ``past`` a note may have changed since: its edges say nothing of it.
    """
    known = _near(question, found, home, past=past, ended=ended)
    edges: dict[tuple[str, str], ChangeEdge] = {}
    for _ in range(0 if past else HOPS):
        for edge in home.graph.change_edges.of(known):
            edges[edge.older, edge.newer] = edge
        ends = {name for pair in edges for name in pair} - known.keys()
        known |= {memory.id: memory for memory in home.graph.memories.of(sorted(ends))}
    selected = {choice.memory.id: choice.score for choice in found.selection.chosen}
    now = home.config.now()
    # What was selected may be over, where the question is about that; what an edge brought may not.
    replaced = {edge.older for edge in edges.values()}
    memories = {
        name: memory
        for name, memory in known.items()
        if past
        or (memory.status is Status.CURRENT and (ended or name in selected or memory.holds_at(now)))
        or (memory.status is Status.REPLACED and name in replaced)
    }
    over = (
        name
        for name, memory in memories.items()
        if ended
        and name not in selected
        and memory.status is Status.CURRENT
        and not memory.holds_at(now)
    )
    sources = sources_of(list(memories.values()), home.graph)
    return Candidates(
        memories,
        {
            name: _readable(passage_of(memory, sources), glosses)
            for name, memory in memories.items()
        },
        tuple(
            _by_trust(edge, memories)
            for edge in edges.values()
            if edge.older in memories and edge.newer in memories
        ),
        selected,
        frozenset(over),
    )


def _near(
    question: str, found: Retrieved, home: Home, *, past: bool, ended: bool
) -> dict[str, Memory]:
    """What was selected, and what is nearest to the question."""
    near = {choice.memory.id: choice.memory for choice in found.selection.chosen}
    now = home.config.now()
    put = Question(question, home.embedder.encode([question])[0], now)
    view = home.graph.view(now, home.embedder.identity, history=past)
    if view.memories:
        rows = [candidate.row for candidate in activate(put, view, LIKELIEST)]
        rows += best(similar(put, view), NEAREST).tolist()
        for row in rows:
            near.setdefault(view.memories[row].id, view.memories[row])
    if ended:
        index = home.graph.index(home.embedder.identity, now)
        over = [match.memory for match in index.nearest_over(put.vector, count=LIKELIEST)]
        over = [memory for memory in over if memory.status is Status.CURRENT][:ENDED]
        near = {memory.id: memory for memory in over} | near
    return near


def _by_trust(edge: ChangeEdge, memories: Mapping[str, Memory]) -> ChangeEdge:
    """The edge; turned round where the newer memory is not trusted enough to change the older."""
    older, newer = memories[edge.older], memories[edge.newer]
    if edge.change in BOTH_HOLD or may_replace(newer.trust, older.trust):
        return edge
    return replace(edge, older=edge.newer, newer=edge.older)


def _readable(passage: Passage, glosses: Glosses) -> Passage:
    """The passage as the reader reads it: in English, or empty where that cannot be had."""
    return replace(passage, read=in_english(passage, glosses) or "")
