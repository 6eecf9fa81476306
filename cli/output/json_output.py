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


def reply(said: Reply) -> dict[str, Any]:
    return {
        "route": said.route.value,
        "text": said.text,
        "memories": [choice(one, said.marks.get(one.memory.id)) for one in said.memories],
        "inferred": [
            {"id": line.id, "text": line.text, "evidence": list(line.evidence)}
            for line in said.inferred
        ],
        "edits": edits(said.entries),
        "abstained": said.abstained,
        "likely": None if said.likely is None else round(said.likely, 4),
        "timing_ms": said.timing_ms or {},
        "turn": said.turn,
        "doubts": doubts(said),
        "open": [list(pair) for pair in said.open],
        "questions": list(said.questions),
        **({"read_as": said.read_as} if said.read_as else {}),
    }


def doubts(said: Reply) -> list[dict[str, Any]]:
    """Pairs among the memories that were read for an answer that cannot both hold."""
    return [
        {
            "memories": [doubt.first.id, doubt.second.id],
            "trust": [(m.trust or "told") for m in (doubt.first, doubt.second)],
        }
        for doubt in said.doubts
    ]


def trace(found: Trace) -> dict[str, Any]:
    """How the memories behind an answer were chosen; no text of what is forgotten since."""
    return {
        "turn": found.turn.id,
        "at": iso(found.turn.at),
        "question": found.turn.text,
        "policy": found.policy,
        "likely": found.likely,
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
            }
            for traced in found.steps
        ],
        "cut": found.cut,
        "redacted": found.redacted,
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


def span(found: Memory, source: Source | None) -> dict[str, Any] | None:
    """The stretch of the raw text that a memory was read from."""
    if source is None or found.span is None:
        return None
    return {
        "start": found.span.start,
        "end": found.span.end,
        "text": found.span.of(source.text),
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


def memory(found: Memory, now: datetime) -> dict[str, Any]:
    return {
        "id": found.id,
        "text": found.text,
        "type": found.type,
        "subclass": found.subclass,
        "status": state(found, now),
        "created": iso(found.created),
        "valid_from": iso(found.valid_from),
        "valid_until": iso(found.valid_until),
        "place": found.place,
        "source": found.source,
        "replaced_by": found.replaced_by,
        "triples": [[t.head, t.relation, t.tail] for t in found.triples],
        "trust": None if found.trust is None else found.trust.value,
    }


def state(found: Memory, now: datetime) -> str:
    """The status as people mean it: a current memory whose time is over is expired."""
    if found.status == "current" and not found.holds_at(now):
        return "expired"
    return found.status.value


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
