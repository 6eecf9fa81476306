"""Reply to a message, and what is stored of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from agent.answering.trace import record
from agent.memory.uncertain.pending_questions import next_question
from agent.results import Remembered, Reply, Route
from store.graph import MemoryGraph
from store.spaces import space_of
from store.tables.side_tables.pending_questions import QuestionKind


def told(done: Remembered) -> Reply:
    """The reply to something told; an undecided contradiction is asked about."""
    pairs = tuple((old.id, new.id) for old, new in done.open)
    return Reply(
        Route.UPDATE, describe(done), entries=done.entries, open=pairs, questions=done.questions
    )


def describe(done: Remembered) -> str:
    """What was remembered or changed, in one line a thing."""
    lines = []
    for entry in done.entries:
        last = entry.changes[-1].after
        if entry.kind == "amend":
            lines.append(f"Corrected: {entry.before} -> {entry.after} ({entry.id})")
        elif entry.kind == "expire" and entry.before is not None:
            lines.append(f"No longer holds: {entry.before} ({entry.id})")
        elif entry.kind == "replace":
            lines.append(f"Changed: {entry.before} -> {entry.after} ({entry.id})")
        elif last is not None and last.valid_until is not None and entry.kind == "expire":
            lines.append(
                f"Noted until {last.valid_until:%Y-%m-%d %H:%M}: {entry.after} ({entry.id})"
            )
        elif entry.kind == "forget":
            lines.append(f"No longer stated: {entry.before} ({entry.id})")
        else:
            lines.append(f"Noted: {entry.after} ({entry.id})")
    lines += [f"I knew that already ({memory})." for memory in done.unchanged]
    lines += [done.note] if done.note else []
    lines += done.questions
    return (
        "\n".join(lines)
        or f"I found nothing to remember in that; stored as raw text {done.source.id}."
    )


def one_after_another(replies: Sequence[Reply]) -> Reply:
    """What became of the parts of one message, as one reply."""
    return replace(
        replies[-1],
        text="\n".join(reply.text for reply in replies),
        entries=tuple(entry for reply in replies for entry in reply.entries),
    )


def with_question(
    reply: Reply, graph: MemoryGraph, model: str, now: datetime, *, suggests: bool
) -> Reply:
    """The reply with a question that waits to be asked, unless it asks one itself.

    With ``suggests`` names may be asked about, where the person is not waiting for an answer.
    """
    if reply.open:
        for pair in reply.open:
            graph.questions.mark_asked(QuestionKind.HOLDS, pair, now)
        return reply
    quiet = suggests and reply.route is not Route.RETRIEVE
    found = next_question(graph, model, now, quiet=quiet)
    if found is None:
        return reply
    graph.questions.mark_asked(found.ask, found.pair, now)
    reply = replace(reply, questions=(*reply.questions, found.text))
    if found.ask is QuestionKind.HOLDS:
        return replace(reply, open=(found.pair,))
    return replace(reply, suggested=(found.ask, *found.pair))


def kept(reply: Reply) -> Reply:
    """The reply as it is stored with its turn: with nothing of another space but ids.

    An answer that other spaces may have a part in is not kept in words: what they forget must be
    gone, and what they no longer show must not come back.
    """
    selection = reply.selection
    chosen = [] if selection is None else [choice.memory.id for choice in selection.chosen]
    if selection is None or not any(map(space_of, chosen)):
        return reply
    trace = tuple(step for step in selection.trace if not space_of(step.memory))
    return replace(reply, text="", selection=replace(selection, trace=trace))


def trace_of(reply: Reply) -> dict[str, Any]:
    """What is kept of a reply beside its words: ids and numbers, see ``agent.answering.trace``."""
    trace: dict[str, Any] = {
        # What a persona line rests on counts too: the words of the answer go with it.
        "memories": list(
            dict.fromkeys(
                [
                    *(choice.memory.id for choice in reply.memories),
                    *(memory for line in reply.inferred for memory in line.evidence),
                ]
            )
        ),
        "edits": [entry.id for entry in reply.entries],
    }
    if reply.read_as:
        trace["leans"] = True  # not on what: a trace holds no text
    if reply.inferred:
        trace["inferred"] = [line.id for line in reply.inferred]
    if reply.open:
        trace["open"] = [list(pair) for pair in reply.open]
    if reply.suggested is not None:
        trace["suggested"] = list(reply.suggested)
    if reply.selection is not None:
        trace |= record(reply.selection, reply.likely)
    return trace
