"""Raw source -> drafts -> edits: the way of everything that is told to memlane.

Invariant: the source is stored before this begins, and its end (memories and the mark EXTRACTED)
is one transaction. Whatever happens between, the raw text stays and can be taken up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agent.dates import resolve_text, validity
from agent.editing import EditPlan, leftovers, plan_edits, slot
from agent.extraction import extract
from agent.placing import Placer
from agent.ports import Embedder, LanguageModel, TextReader, Vectors
from agent.retrieval import ensure_vectors, people
from agent.triples import triples_for
from store.errors import EditConflict, MemlaneError
from store.graph import MemoryGraph
from store.journal import Entry, Forget
from store.partitions import Match, PartitionIndex
from store.types import Draft, Source, SourceStatus, Status

PROBES = 3
"""How many nearest partitions are searched for the memory that a draft is about."""
CANDIDATES = 5
"""How many memories of those partitions are compared with the draft."""
ATTEMPTS = 3
"""How often a plan is made anew when another process changed the memories meanwhile."""


class Models(Protocol):
    """The models of a session."""

    @property
    def llm(self) -> LanguageModel: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def reader(self) -> TextReader: ...
    @property
    def placer(self) -> Placer: ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a source."""

    source: Source
    entries: tuple[Entry, ...]
    unchanged: tuple[str, ...]
    """Ids of memories that already said it."""


def draft_memories(source: Source, graph: MemoryGraph, models: Models) -> tuple[Draft, ...]:
    """Read the memories out of a source's text; its dates resolve against its own time."""
    known = people(graph.memories.list(Status.CURRENT))
    said = extract(source.text, kind=source.kind, now=source.captured, people=known, llm=models.llm)
    return make_drafts(said, models.placer.place(said), source, llm=models.llm)


def make_drafts(
    sentences: Sequence[str],
    subclasses: Sequence[str],
    source: Source,
    *,
    llm: LanguageModel | None,
) -> tuple[Draft, ...]:
    """Placed sentences -> drafts with absolute dates, relations and validity.

    With ``llm`` None relations come from exact patterns alone.
    """
    texts = [resolve_text(sentence, source.captured) for sentence in sentences]
    spans = [validity(sentence, source.captured) for sentence in sentences]
    return tuple(
        Draft(
            text=text,
            subclass=subclass,
            created=source.captured,
            triples=triples,
            valid_from=span.valid_from,
            valid_until=span.valid_until,
            place=source.place,
            source=source.id,
        )
        for text, subclass, triples, span in zip(
            texts, subclasses, triples_for(texts, llm), spans, strict=True
        )
    )


def remember_source(
    source: Source, graph: MemoryGraph, models: Models, now: datetime
) -> Remembered:
    """Take a stored source all the way; on failure it is marked FAILED and kept.

    :raises MemlaneError: what stood in the way, after the mark.
    """
    try:
        drafts = draft_memories(source, graph, models)
        return store_drafts(drafts, source, graph, models, now)
    except MemlaneError as error:
        graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
        raise


def store_drafts(
    drafts: Sequence[Draft],
    source: Source,
    graph: MemoryGraph,
    models: Models,
    now: datetime,
    *,
    actor: str = "auto",
) -> Remembered:
    """Plan and apply the drafts of a source, and mark it EXTRACTED, in one transaction.

    :raises EditConflict: if other processes change the same memories again and again.
    """
    embedder = models.embedder
    vectors = dict(
        zip((d.text for d in drafts), embedder.encode([d.text for d in drafts]), strict=True)
    )
    for attempt in range(1, ATTEMPTS + 1):
        plan = plan_against(drafts, vectors, graph, models, now)
        try:
            return _apply(plan, source, graph, embedder.identity, vectors, now, actor)
        except EditConflict:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def plan_against(
    drafts: Sequence[Draft],
    vectors: dict[str, Vectors],
    graph: MemoryGraph,
    models: Models,
    now: datetime,
) -> EditPlan:
    """Plan drafts against what holds now, looking into the partitions nearest to each."""
    ensure_vectors(graph, models.embedder)
    view = graph.view(now, models.embedder.identity)
    index = PartitionIndex(view)
    by_slot: dict[tuple[str, str], list[int]] = {}
    for row, memory in enumerate(view.memories):
        for triple in memory.triples:
            by_slot.setdefault(slot(triple), []).append(row)

    def near(draft: Draft) -> Sequence[Match]:
        vector = vectors[draft.text]
        found = index.nearest(vector, probes=PROBES, count=CANDIDATES, also=(draft.subclass,))
        # 'I live in Bedok' need not be near 'My home is in Jurong West' to speak of the same.
        rows = dict.fromkeys(r for t in draft.triples for r in by_slot.get(slot(t), ()))
        slots = [Match(view.memories[r], float(view.vectors[r] @ vector)) for r in rows]
        known = {match.memory.id for match in found}
        found += [match for match in slots if match.memory.id not in known]
        return sorted(found, key=lambda match: -match.score)

    return plan_edits(drafts, near, {s.id: s for s in graph.subclasses()})


def _apply(
    plan: EditPlan,
    source: Source,
    graph: MemoryGraph,
    model: str,
    vectors: dict[str, Vectors],
    now: datetime,
    actor: str,
) -> Remembered:
    with graph.writing():
        if graph.sources.get(source.id).status is SourceStatus.EXTRACTED:
            # Another process finished this very source while we were extracting it.
            return Remembered(graph.sources.get(source.id), (), ())
        gone = [
            memory
            for old in _older_versions(source, graph)
            for memory in leftovers(
                plan, [m for m in graph.memories.made_from(old.id) if m.status is Status.CURRENT]
            )
        ]
        entries = graph.apply(
            (*plan.edits, *(Forget(memory) for memory in gone)),
            at=now,
            actor=actor,
            source=source.id,
            model=model,
            vectors=vectors,
        )
        for old in _older_versions(source, graph):
            graph.sources.mark(old.id, SourceStatus.SUPERSEDED)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    return Remembered(
        graph.sources.get(source.id), entries, tuple(same.memory for same in plan.unchanged)
    )


def _older_versions(source: Source, graph: MemoryGraph) -> tuple[Source, ...]:
    """What the same file gave before it changed."""
    if source.locator is None:
        return ()
    return tuple(
        old
        for old in graph.sources.list(
            SourceStatus.EXTRACTED, SourceStatus.FAILED, SourceStatus.PENDING
        )
        if old.locator == source.locator and old.id != source.id
    )
