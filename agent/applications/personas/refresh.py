"""Refresh of persona lines that are due (Persona-DB 2.1).

``due`` is cheap and pure: what a line would be made of against what it was made of. A line is made
outside of any transaction and stored in one of its own, so that a refresh may end after any line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from agent.applications.personas.cache_layer import cache_lines
from agent.applications.personas.faithfulness import supporters, well_formed
from agent.applications.personas.groups import Group, batches, digest, groups
from agent.applications.personas.prompts import INDUCED, distil, induce, is_likely
from agent.errors import ModelError
from agent.memory.home import Home
from agent.memory.vectors.waiting import ensure_vectors
from agent.ports import Embedder, LanguageModel
from store.derived.view import GraphView
from store.graph import MemoryGraph
from store.tables.side_tables.personas import LineStatus, NewLine, PersonaLayer, PersonaLine
from store.types import Memory


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be made anew, and the slots that are still there."""

    groups: tuple[Group, ...]
    batches: tuple[tuple[PersonaLine, ...], ...]
    slots: frozenset[tuple[PersonaLayer, str]]

    def __len__(self) -> int:
        return len(self.groups) + len(self.batches)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did."""

    made: tuple[str, ...]
    """Lines that were made or remade."""
    unsupported: int
    """Groups and batches of which nothing could be said that their evidence supports."""
    removed: int
    waiting: int
    """Groups and batches that are still due."""
    reason: str = ""
    """Why they wait, where that is not the limit alone."""


def due(graph: MemoryGraph, view: GraphView, now: datetime) -> Due:
    """What differs from what the stored lines were made of."""
    known = graph.personas.bases()
    all_groups = view.once(groups)
    standing = [
        line
        for line in graph.personas.lines(now, PersonaLayer.DISTILLED)
        if line.standing is LineStatus.FRESH
    ]
    all_batches = batches(standing)
    slots = {(PersonaLayer.DISTILLED, group.slot) for group in all_groups}
    slots |= {
        (PersonaLayer.INDUCED, _slot(batch, n)) for batch in all_batches for n in range(INDUCED)
    }
    return Due(
        tuple(g for g in all_groups if known.get((PersonaLayer.DISTILLED, g.slot)) != g.basis),
        tuple(
            b for b in all_batches if known.get((PersonaLayer.INDUCED, _slot(b, 0))) != _basis(b)
        ),
        frozenset(slots),
    )


def _slot(batch: tuple[PersonaLine, ...], number: int) -> str:
    return f"{batch[0].id}.{number}"


def _basis(batch: tuple[PersonaLine, ...]) -> str:
    return digest([f"{line.id} {line.text}" for line in batch])


def refresh(
    home: Home, *, limit: int | None = None, on_line: Callable[[int, int], None] | None = None
) -> Refreshed:
    """Make at most ``limit`` lines that are due, and the cache; remove what has no evidence left.

    Without a language model the cache alone is made, and the result says what waits and why.
    """
    graph, embedder, now = home.graph, home.embedder, home.config.now()
    ensure_vectors(graph, embedder)
    _embed(graph, embedder)
    made: list[str] = []
    unsupported, reason = 0, ""
    view = graph.view(now, embedder.identity)
    for number in count():
        waiting = due(graph, view, now)
        if not len(waiting) or (limit is not None and number >= limit):
            break
        if on_line:
            on_line(number, number + len(waiting))
        try:
            lines = _make(waiting, view, graph, home.llm, embedder, now)
        except ModelError as error:
            reason = str(error)
            break
        ids = graph.personas.put(lines, at=now, model=embedder.identity)
        new = [key for key, line in zip(ids, lines, strict=True) if line.text]
        made += new
        unsupported += not new
    cache = cache_lines(view, embedder)
    known = graph.personas.bases()
    changed = [line for line in cache if known.get((line.layer, line.slot)) != line.basis]
    made += graph.personas.put(changed, at=now, model=embedder.identity)
    waiting = due(graph, view, now)
    removed = graph.personas.prune(waiting.slots | {(c.layer, c.slot) for c in cache}, now)
    return Refreshed(tuple(made), unsupported, removed, len(waiting), reason)


def _embed(graph: MemoryGraph, embedder: Embedder) -> None:
    """Vectors for lines that another encoder made theirs of."""
    lacking = graph.personas.without_vector(embedder.identity)
    if lacking:
        vectors = embedder.encode(list(lacking.values()))
        found = dict(zip(lacking, vectors, strict=True))
        graph.personas.embed(embedder.identity, found)


def _make(
    waiting: Due,
    view: GraphView,
    graph: MemoryGraph,
    llm: LanguageModel,
    embedder: Embedder,
    now: datetime,
) -> list[NewLine]:
    """The next thing that is due: a distilled line, else the induced lines of a batch."""
    if waiting.groups:
        return [_distilled(waiting.groups[0], view, llm, embedder, now)]
    return _induced(waiting.batches[0], view, graph, llm, embedder, now)


def _distilled(
    group: Group, view: GraphView, llm: LanguageModel, embedder: Embedder, now: datetime
) -> NewLine:
    text = distil([memory.text for memory in group.memories], llm)
    evidence: tuple[Memory, ...] = ()
    vector = None
    if text is not None:
        vector = embedder.encode([text])[0]
        vectors = view.vectors[list(group.rows)]
        evidence = tuple(
            group.memories[i] for i in supporters(text, vector, group.memories, vectors, now)
        )
    said = text if text is not None and evidence else ""
    category = group.memories[0].subclass
    return NewLine(
        PersonaLayer.DISTILLED, group.slot, group.basis, category, said, evidence, llm.identity,
        vector if said else None,
    )  # fmt: skip


def _induced(
    batch: tuple[PersonaLine, ...],
    view: GraphView,
    graph: MemoryGraph,
    llm: LanguageModel,
    embedder: Embedder,
    now: datetime,
) -> list[NewLine]:
    """Every slot of the batch, those without a line with empty words."""
    texts = [line.text for line in batch]
    memories = [
        memory
        for memory in graph.memories.of(tuple({key for line in batch for key in line.evidence}))
        if memory.id in view.row
    ]
    lines: list[NewLine] = []
    said = [text for text in induce(texts, llm) if well_formed(text)] if memories else []
    vectors = view.vectors[[view.row[memory.id] for memory in memories]]
    for text in said:
        vector = embedder.encode([text])[0]
        rests_on = supporters(text, vector, memories, vectors, now, general=True)
        if rests_on and text not in texts and is_likely(text, texts, llm):
            lines.append(
                NewLine(
                    PersonaLayer.INDUCED, _slot(batch, len(lines)), _basis(batch), "", text,
                    tuple(memories[i] for i in rests_on), llm.identity, vector,
                )
            )  # fmt: skip
    for number in range(len(lines), INDUCED):
        lines.append(
            NewLine(
                PersonaLayer.INDUCED, _slot(batch, number), _basis(batch), "", "", (), llm.identity
            )
        )
    return lines
