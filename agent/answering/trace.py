"""Decision trace of an answer, stored with its turn for ``memlane why``.

Invariant: a kept trace holds ids, names and numbers, never the text of a memory. Texts are looked
up when it is read, so that what is forgotten since is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from agent.answering.grounding import about, content_words
from agent.extraction.documents.sections import part_of
from policies.selection import Selection, Step
from store.errors import UnknownId
from store.graph import MemoryGraph
from store.spaces import space_of
from store.tables.sources import Turn, steps_of
from store.types import Memory, Status

MOST = 200
"""Steps kept of one answer: a policy that takes everything has one for each memory."""


@dataclass(frozen=True, slots=True)
class TracedStep:
    """A decision about a memory, and the memory as it stands now."""

    step: Step
    memory: Memory | None
    """None where it is forgotten since."""
    used: bool
    """Whether the answer rests on it."""
    where: str | None = None
    """The page, paragraph or message of the file that it was read from, where there is one."""


@dataclass(frozen=True, slots=True)
class Trace:
    """How the memories behind an answer were chosen."""

    turn: Turn
    policy: str | None
    """None where nothing was selected, or the steps are forgotten."""
    steps: tuple[TracedStep, ...]
    cut: int
    """Steps that were not kept, because there were more than ``MOST``."""
    likely: float | None
    """Probability that memory holds the answer, as estimated then."""
    redacted: bool
    """Whether the steps went with a memory that was forgotten."""
    elsewhere: tuple[str, ...] = ()
    """Ids of memories of other spaces that the answer rests on."""


def record(selection: Selection, likely: float | None = None) -> dict[str, Any]:
    """What is kept of a selection, chosen memories first where not all are kept."""
    steps = selection.trace
    if len(steps) > MOST:
        steps = (*(s for s in steps if s.chosen), *(s for s in steps if not s.chosen))[:MOST]
    kept: dict[str, Any] = {"policy": selection.policy, "steps": [_kept(step) for step in steps]}
    if len(steps) < len(selection.trace):
        kept["cut"] = len(selection.trace) - len(steps)
    if likely is not None:
        kept["likely"] = round(likely, 4)
    return kept


def _kept(step: Step) -> dict[str, Any]:
    row: dict[str, Any] = {
        "memory": step.memory,
        "score": round(step.score, 4),
        "chosen": step.chosen,
        "why": step.reason,
    }
    # What most policies do not say is left out: a turn is kept for as long as the home.
    if step.activated:
        row["activated"] = True
    if step.via is not None:
        row["via"] = step.via
    if step.probability is not None:
        row["probability"] = round(step.probability, 4)
    if step.state:
        row["state"] = {name: round(value, 4) for name, value in step.state}
    return row


def read_trace(graph: MemoryGraph, turn: str | None = None) -> Trace:
    """The trace of a turn, by default of the last one.

    :raises UnknownId: if there is no such turn, or none yet.
    """
    found = graph.turns.get(turn) if turn else next(iter(graph.turns.last(1)), None)
    if found is None:
        raise UnknownId("There is no answer yet. Ask something: memlane ask QUESTION")
    used = frozenset(map(str, found.trace.get("memories", ())))
    return Trace(
        found,
        found.trace.get("policy"),
        tuple(_read(row, graph, used) for row in steps_of(found.trace)),
        int(found.trace.get("cut", 0)),
        found.trace.get("likely"),
        bool(found.trace.get("redacted")),
        tuple(sorted(filter(space_of, used))),
    )


def _read(row: Mapping[str, Any], graph: MemoryGraph, used: Iterable[str]) -> TracedStep:
    state = row.get("state")
    step = Step(
        memory=row["memory"],
        score=float(row.get("score", 0.0)),
        chosen=bool(row.get("chosen")),
        reason=str(row.get("why", "")),
        activated=bool(row.get("activated")),
        via=row.get("via"),
        state=tuple(state.items()) if isinstance(state, dict) else (),
        probability=row.get("probability"),
    )
    try:
        memory = graph.memories.get(step.memory)
    except UnknownId:
        memory = None
    if memory is not None and memory.status is Status.FORGOTTEN:
        memory = None
    where = _where(memory, graph) if memory is not None and step.memory in used else None
    return TracedStep(step, memory, step.memory in used, where)


def _where(memory: Memory, graph: MemoryGraph) -> str | None:
    """'page 3 of lease.pdf'."""
    if memory.source is None or memory.span is None:
        return None
    source = graph.sources.get(memory.source)
    part = part_of(source, memory.span)
    return part and f"{part} of {PurePath(source.locator or source.id).name}"


# ---- for people ---------------------------------------------------------------------------

NAMED = 3
"""Words of a question that a reason names, and memories that a sentence tells of."""
_BECAUSE = {
    "exact match for the question": "it is exactly what you asked for",
    "says who is who": "it says who is meant",
    "said who is who": "it said who was meant",
    "about the same event": "it is about the same event",
}
"""Reasons of steps that no policy made, in words."""


def in_words(trace: Trace) -> str:
    """What was looked at, what the answer is based on and why, and what was left out."""
    if trace.elsewhere:
        rests = f"It rests on memories of other spaces: {', '.join(trace.elsewhere)}."
        return f"{rests} Of these only the ids are kept here."
    if not trace.steps:
        if trace.redacted:
            return "What this was based on has been forgotten since."
        if trace.policy is None:
            return "No memory was needed for this."
        return "There was no memory to look at."
    count = len(trace.steps) + trace.cut
    looked = f"I looked at {'1 memory' if count == 1 else f'{count:,} memories'}"
    used = [one for one in trace.steps if one.used]
    if used:
        reasons = [f"{one.step.memory}, because {_because(one, trace)}" for one in used]
        said = f"{looked} and used {_listed(reasons, ', and ')}"
    else:
        chance = "" if trace.likely is None else f" (chance {trace.likely:.0%})"
        said = f"{looked}, and none seemed to answer that{chance}"
    left = sorted(
        (one for one in trace.steps if not one.used and one.memory is not None),
        key=lambda one: (-one.step.chosen, -one.step.score),
    )[: NAMED - 1]
    rest = [f"{one.step.memory} was {_fate(one, used, trace)}" for one in left]
    return f"{'; '.join([said, *rest])}."


def _because(traced: TracedStep, trace: Trace) -> str:
    """Why a memory was used."""
    step, memory = traced.step, traced.memory
    if step.reason in _BECAUSE:
        return _BECAUSE[step.reason]
    if memory is None:
        return "it answered that (it is forgotten now)"
    asked = content_words(trace.turn.text)
    shared = [asked[word] for word in asked if word in about(memory)]
    if shared:
        return f"it is about {_listed([repr(word) for word in shared[:NAMED]])}"
    return f"it goes with {step.via}" if step.via else "it is close to the question in meaning"


def _fate(traced: TracedStep, used: Sequence[TracedStep], trace: Trace) -> str:
    """What became of a memory that was not used, and why."""
    memory = traced.memory
    assert memory is not None
    if traced.step.chosen:
        return "read too, but not needed"
    if memory.status is Status.REPLACED:
        return f"left out, because {memory.replaced_by or 'another'} replaced it"
    if not memory.holds_at(trace.turn.at):
        return "left out, because it is over"
    asked = content_words(trace.turn.text)
    told = {word for one in used if one.memory for word in about(one.memory)}
    missing = [asked[word] for word in asked if word in told and word not in about(memory)]
    if missing:
        return f"left out, because it is not about {_listed([repr(w) for w in missing[:NAMED]])}"
    if used:
        return "left out, because the others answer it better"
    return "the nearest" if asked.keys() & about(memory) else "near, but about something else"


def _listed(parts: Sequence[str], last: str = " and ") -> str:
    """'a', 'a and b', 'a, b and c'."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])}{last}{parts[-1]}"
