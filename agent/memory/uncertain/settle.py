"""Messages that only decide something: answers to an open question, and corrections."""

from __future__ import annotations

from datetime import datetime

from agent.memory.editing.conflicts import Holds, answer_in, yes_or_no
from agent.memory.editing.corrections import RECENT, correction_in, plan_correction
from agent.memory.entities.merge_split import decide
from agent.memory.home import Models
from agent.memory.passages import WHILE
from agent.memory.uncertain.pending_questions import decision_on, open_in, settle_pair, suggested_in
from agent.results import Remembered
from store.errors import UnknownId
from store.graph import MemoryGraph
from store.types import Source, SourceStatus


def settle(source: Source, graph: MemoryGraph, models: Models, now: datetime) -> Remembered | None:
    """Take a message that only decides something: an answer to an open question, or a correction.

    None where it is neither; nothing is written then.
    """
    return (
        _answered(source, graph, now)
        or _decided(source, graph, models, now)
        or _corrected(source, graph, models, now)
    )


def _answered(source: Source, graph: MemoryGraph, now: datetime) -> Remembered | None:
    """The open question of the last turn, closed by what the message says."""
    turns = graph.turns.last(1)
    for pair in open_in(turns[-1].trace) if turns else ():
        try:
            old, new = graph.memories.of(pair)
        except UnknownId:
            continue  # forgotten for good since
        if not (old.holds_at(now) and new.holds_at(now)):
            continue
        holds = answer_in(source.text, old.text, new.text)
        if holds is None:
            continue
        with graph.writing():
            entries = settle_pair(graph, pair, holds, now, source.id)
            graph.sources.mark(source.id, SourceStatus.EXTRACTED)
        note = f"Both are kept ({old.id}, {new.id})." if holds is Holds.BOTH else ""
        kept = () if note else (old.id if holds is Holds.OLD else new.id,)
        return Remembered(graph.sources.get(source.id), entries, kept, note=note)
    return None


def _decided(
    source: Source, graph: MemoryGraph, models: Models, now: datetime
) -> Remembered | None:
    """The suggestion of the last turn, as the message decides it."""
    turns = graph.turns.last(1)
    said = yes_or_no(source.text)
    asked = suggested_in(turns[-1].trace) if turns else None
    if asked is None or said is None:
        return None
    plan = decision_on(*asked, said, graph, models.embedder.identity, now)
    if plan is None:
        return None
    with graph.writing():
        entries = decide(plan, graph, now)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    return Remembered(graph.sources.get(source.id), entries, ())


def _corrected(
    source: Source, graph: MemoryGraph, models: Models, now: datetime
) -> Remembered | None:
    """The last edits' memory that the message corrects, amended.

    'The 4th, not the 14th' names what is wrong, wherever it was told lately. 'Sorry, the 4th' names
    nothing, and is only of what the same conversation told.
    """
    correction = correction_in(source.text)
    if correction is None:
        return None
    touched = [
        entry.memory
        for entry in reversed(graph.journal.list(RECENT))
        if not entry.redacted and (correction.wrong or entry.at >= source.captured - WHILE)
    ]
    recent = [graph.memories.get(memory) for memory in dict.fromkeys(touched)]
    plan = plan_correction(correction, [m for m in recent if m.holds_at(now)], source.captured)
    if plan is None or plan.text is None:
        return None
    vectors = {plan.text: models.embedder.encode([plan.text])[0]}
    with graph.writing():
        entries = graph.apply(
            [plan], at=now, source=source.id, model=models.embedder.identity, vectors=vectors
        )
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    return Remembered(graph.sources.get(source.id), entries, ())
