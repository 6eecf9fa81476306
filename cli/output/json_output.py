"""JSON output of the commands; a public format for scripts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.answering.trace import Trace
    from agent.results import FileReport, FilledField, Mark, Reply
    from policies.selection import Choice
    from store.erasure.plan import ErasePlan
    from store.erasure.run import Forgotten
    from store.journal import Entry
    from store.tables.side_tables.change_edges import ChangeEdge
    from store.types import Memory, Source


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def edit(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "kind": entry.kind.value,
        "memory": entry.memory,
        "before": entry.before,
        "after": entry.after,
    }


def edits(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [edit(entry) for entry in entries]


def choice(chosen: Choice, mark: Mark | None = None) -> dict[str, Any]:
    """A chosen memory and its time: ``from`` is inferred where nobody told it, null if unknown."""
    return {
        "id": chosen.memory.id,
        "text": chosen.memory.text,
        "score": round(chosen.score, 4),
        "trust": None if chosen.memory.trust is None else chosen.memory.trust.value,
        "standing": None if mark is None else mark.standing.value,
        "from": None if mark is None else iso(mark.since),
        "from_inferred": mark is not None and mark.start is None,
        "until": None if mark is None else iso(mark.end),
    }


def reply(reply: Reply) -> dict[str, Any]:
    return {
        "route": reply.route.value,
        "text": reply.text,
        "memories": [choice(one, reply.marks.get(one.memory.id)) for one in reply.memories],
        "inferred": [
            {"id": line.id, "text": line.text, "evidence": list(line.evidence)}
            for line in reply.inferred
        ],
        "edits": edits(reply.entries),
        "abstained": reply.abstained,
        "likely": None if reply.likely is None else round(reply.likely, 4),
        "timing_ms": reply.timing_ms or {},
        "turn": reply.turn,
        "doubts": doubts(reply),
        "open": [list(pair) for pair in reply.open],
        "questions": list(reply.questions),
        **({"read_as": reply.read_as} if reply.read_as else {}),
        **({"answer": reply.answer} if reply.answer else {}),
    }


def doubts(reply: Reply) -> list[dict[str, Any]]:
    """Pairs among the memories that were read for an answer that cannot both hold."""
    return [
        {
            "memories": [doubt.first.id, doubt.second.id],
            "trust": [(m.trust or "told") for m in (doubt.first, doubt.second)],
        }
        for doubt in reply.doubts
    ]


def trace(trace: Trace) -> dict[str, Any]:
    """How the memories behind an answer were chosen; no text of what is forgotten since."""
    from agent.answering.trace import in_words

    return {
        "turn": trace.turn.id,
        "at": iso(trace.turn.at),
        "question": trace.turn.text,
        "words": in_words(trace),
        "policy": trace.policy,
        "likely": trace.likely,
        "steps": [
            {
                "memory": traced.step.memory,
                "text": None if traced.memory is None else traced.memory.text,
                "score": round(traced.step.score, 4),
                "probability": traced.step.probability,
                "chosen": traced.step.chosen,
                "activated": traced.step.activated,
                "via": traced.step.via,
                "state": dict(traced.step.state),
                "reason": traced.step.reason,
                "used": traced.used,
                **({"where": traced.where} if traced.where else {}),
            }
            for traced in trace.steps
        ],
        "cut": trace.cut,
        "redacted": trace.redacted,
    }


def origin(source: Source | None) -> dict[str, Any] | None:
    """Where a memory came from."""
    if source is None:
        return None
    return {
        "id": source.id,
        "kind": source.kind.value,
        "locator": source.locator,
        "captured": iso(source.captured),
    }


def span(memory: Memory, source: Source | None) -> dict[str, Any] | None:
    """The stretch of the raw text that a memory was read from."""
    if source is None or memory.span is None:
        return None
    from agent.extraction.documents.sections import part_of

    part = part_of(source, memory.span)
    return {
        "start": memory.span.start,
        "end": memory.span.end,
        "text": memory.span.of(source.text),
        **({"part": part} if part else {}),
    }


def forgotten(done: Forgotten) -> dict[str, Any]:
    """What was forgotten for good: ids and counts, never a text."""
    erased, plan = done.erased, done.plan
    return {
        "edits": edits([erased.entry]),
        "memories": [memory.id for memory in plan.memories],
        "redacted": [entry.id for entry in plan.entries],
        "sources": [source.id for source in plan.sources],
        "turns": list(erased.turns),
        "stays": [memory.id for memory in plan.stays],
        "verified": done.verified,
        "swept": done.swept,
        "searched": {"files": done.searched.files, "bytes": done.searched.size},
        "cleaned": list(done.cleaned),
        "found_in": list(done.searched.found),
        "still_in": list(erased.still_in),
        "outside": outside(plan),
    }


def outside(plan: ErasePlan) -> list[str]:
    """The person's own files that a forgotten memory came from: memlane does not touch them."""
    return list(dict.fromkeys(source.locator for source in plan.sources if source.locator))


def memory(memory: Memory, now: datetime) -> dict[str, Any]:
    return {
        "id": memory.id,
        "text": memory.text,
        "type": memory.type,
        "subclass": memory.subclass,
        "status": state(memory, now),
        "created": iso(memory.created),
        "valid_from": iso(memory.valid_from),
        "valid_until": iso(memory.valid_until),
        "place": memory.place,
        "source": memory.source,
        "replaced_by": memory.replaced_by,
        "triples": [[t.head, t.relation, t.tail] for t in memory.triples],
        "trust": None if memory.trust is None else memory.trust.value,
        "pinned": memory.pinned,
    }


def change_edge(edge: ChangeEdge) -> dict[str, Any]:
    return {
        "older": edge.older,
        "newer": edge.newer,
        "change": edge.change.value,
        "probability": round(edge.probability, 3),
    }


def change_in_words(edge: ChangeEdge) -> str:
    """'m7 may supersede m2 (0.83)'."""
    change = edge.change.value.replace("_", " ")
    return f"{edge.newer} {change} {edge.older} ({edge.probability:.2f})"


def state(memory: Memory, now: datetime) -> str:
    """The status as people mean it: a current memory whose time is over is expired."""
    if memory.status == "current" and not memory.holds_at(now):
        return "expired"
    return memory.status.value


def journal_entry(entry: Entry) -> dict[str, Any]:
    return {
        **edit(entry),
        "at": iso(entry.at),
        "actor": entry.actor,
        "source": entry.source,
        "undoes": entry.undoes,
        "memories": [change.memory for change in entry.changes],
        "redacted": iso(entry.redacted),
    }


def file_report(report: FileReport) -> dict[str, Any]:
    return {
        "path": report.path,
        "status": report.status,
        "memories": report.memories,
        "reason": report.reason,
        "source": report.source,
    }


def filled(field: FilledField) -> dict[str, Any]:
    return {
        "name": field.name,
        "label": field.label,
        "value": field.value,
        "confidence": round(field.confidence, 4),
        "memories": list(field.memories),
        "alternatives": [
            {
                "value": other.value,
                "confidence": round(other.confidence, 4),
                "memories": list(other.memories),
            }
            for other in field.alternatives
        ],
        "key": field.key,
        "sensitive": field.sensitive,
        "consent": _consent(field),
    }


def site(host: str) -> str:
    """How the site that a form goes to is named to people."""
    return host or "forms that name no site"


def _consent(field: FilledField) -> str | None:
    """'needed', 'given' or 'refused' where the field is sensitive and memory has a value."""
    if field.consent is None:
        return None
    return {None: "needed", True: "given", False: "refused"}[field.consent.given]
