"""Private mode: messages that are answered and of which nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.answering.answer import answer
from agent.answering.grounding import supported
from agent.answering.question.references import in_context, recent
from agent.answering.told_or_asked import CHANCE
from agent.memory.passages import WHILE
from agent.models.timing import Stopwatch
from agent.results import Exchange, Reply, Route
from agent.session.respond import (
    OnText,
    Responder,
    answer_message,
    leaned,
    small_talk,
)
from policies.selection import Choice
from store.types import Memory

NOT_KEPT = "I remember nothing in private mode."


def whisper(
    home: Responder, message: str, before: Sequence[Exchange], on_text: OnText | None
) -> Reply:
    """Answer without storing anything: no source, turn, trace or edit, whatever the message is.

    ``before`` is what was said in private: only another private message may lean on that.
    """
    clock = Stopwatch()
    told = (*recent(home.graph, home.config.now(), within=WHILE), *before)
    meant = in_context(message, told)
    with clock.measure("detect"):
        likely = home.router.detect(meant).probabilities
    tells = home.tells(message, likely)
    if tells and likely[Route.RETRIEVE] < CHANCE:
        reply = Reply(Route.UPDATE, NOT_KEPT)
    elif (said := _from_private(home, meant, before, clock, on_text)) is not None:
        reply = replace(said, read_as=leaned(message, meant))
    else:
        asks = likely[Route.RETRIEVE] >= min(CHANCE, likely[Route.NEITHER])
        route = Route.RETRIEVE if asks else Route.NEITHER
        reply = answer_message(
            home, message, route, clock, on_text=on_text, before=small_talk(before), context=told
        )
        if tells and reply.abstained:
            reply = Reply(Route.UPDATE, NOT_KEPT)
    return replace(reply, timing_ms=clock.total())


def _from_private(
    home: Responder,
    message: str,
    before: Sequence[Exchange],
    clock: Stopwatch,
    on_text: OnText | None,
) -> Reply | None:
    """An answer that rests on what was told in private; None where that holds none."""
    now = home.config.now()
    told = [one.said for one in before if one.answered == NOT_KEPT]
    if not told:
        return None
    memories = [Memory(f"private {n}", said, "", "", now) for n, said in enumerate(told, 1)]
    asked, *vectors = home.embedder.encode([message, *told])
    near = {m.id: float(asked @ vector) for m, vector in zip(memories, vectors, strict=True)}
    chosen = [Choice(m, near[m.id]) for m in memories if supported(message, [Choice(m, 0)], near)]
    if not chosen:
        return None
    with clock.measure("answer"):
        said = answer(message, chosen, now=now, llm=home.llm, on_text=on_text, near=near)
    if said.abstained:
        return None
    return Reply(Route.RETRIEVE, said.text)
