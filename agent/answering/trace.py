"""Decision trace of an answer, stored with its turn for ``memlane why``.

Invariant: a kept trace holds ids, names and numbers, never the text of a memory. Texts are looked
up when it is read, so that what is forgotten since is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policies.selection import Selection, Step
from store.errors import UnknownId
from store.graph import MemoryGraph
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
    return TracedStep(step, memory, step.memory in used)
