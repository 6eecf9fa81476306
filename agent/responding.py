"""What a session says to a message that asks, from memory or as small talk; and all in private.

Functions that take the session, because they are a way through its parts and own nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.answering import UNKNOWN, Answer, answer, converse
from agent.context import Exchange, in_context, recent
from agent.personas.sharing import told_apart
from agent.ratings.recommending import recommended
from agent.replies import Reply
from agent.results import Route
from agent.retrieval import Retrieved
from agent.stating import CHANCE
from agent.stopwatch import Stopwatch

if TYPE_CHECKING:
    from agent.session import Session

ABOUT_THIS = 0.45
"""Cosine similarity from which a memory is about a message, whatever the router says of it; set on
development data as docs/why.md tells."""
NOT_KEPT = "That stays between us: in private I remember nothing."

OnText = Callable[[str], None]


def answer_message(
    session: Session,
    message: str,
    route: Route,
    clock: Stopwatch,
    *,
    policy: str | None = None,
    k: int | None = None,
    use_llm: bool = True,
    on_text: OnText | None = None,
    before: Sequence[Exchange] = (),
) -> Reply:
    """The reply to a message that tells nothing; ``before`` is the small talk it goes on with."""
    if use_llm:
        with clock.measure("recommend"):
            if (advice := recommended(message, session, on_text)) is not None:
                return advice
    with clock.measure("select"):
        found = session.retrieve(message, policy=policy, k=k, use_llm=use_llm)
    reply = Reply(
        route, "", selection=found.selection, marks=found.marks, likely=found.likely,
        inferred=found.inferred,
    )  # fmt: skip
    chosen = found.selection.chosen
    if route is Route.NEITHER:
        # Trigger: the wording needs no memory, but a stored one is about just that.
        # Why: 'until when is the voucher valid' is general until one has a voucher.
        # Outcome: answered from memory if that gives an answer, else as small talk.
        if max(found.near.values(), default=0.0) >= ABOUT_THIS:
            with clock.measure("answer"):
                said = _answered(session, message, found)
            if not said.abstained:
                return told_apart(
                    replace(reply, route=Route.RETRIEVE, text=said.text, memories=said.evidence)
                )
        with clock.measure("answer"):
            talk = [(one.said, one.answered) for one in before]
            return Reply(route, converse(message, llm=session.llm, on_text=on_text, before=talk))
    if not use_llm:
        text = "" if chosen else UNKNOWN
        return told_apart(replace(reply, text=text, memories=chosen, abstained=not chosen))
    with clock.measure("answer"):
        said = _answered(session, message, found, on_text)
    return told_apart(
        replace(reply, text=said.text, memories=said.evidence, abstained=said.abstained)
    )


def _answered(
    session: Session, message: str, found: Retrieved, on_text: OnText | None = None
) -> Answer:
    return answer(
        message,
        found.selection.chosen,
        now=session.config.now(),
        llm=session.llm,
        on_text=on_text,
        asked=found.asked,
        marks=found.marks,
        near=found.near,
    )


def whisper(
    session: Session, message: str, before: Sequence[Exchange], on_text: OnText | None
) -> Reply:
    """Answer without storing anything: no source, turn, trace or edit, whatever the message is.

    ``before`` is what was said in private: only another private message may lean on that.
    """
    clock = Stopwatch()
    told = (*recent(session.graph, session.config.now()), *before)
    meant = in_context(message, told)
    with clock.measure("detect"):
        likely = session.router.detect(meant).probabilities
    if likely[Route.UPDATE] >= 0.5:
        reply = Reply(Route.UPDATE, NOT_KEPT)
    else:
        asks = likely[Route.RETRIEVE] >= min(CHANCE, likely[Route.NEITHER])
        route = Route.RETRIEVE if asks else Route.NEITHER
        reply = answer_message(
            session, meant, route, clock, on_text=on_text, before=small_talk(before)
        )
    return replace(reply, timing_ms=clock.total(), read_as=leaned(message, meant))


def small_talk(before: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Of what was said before, the end that needed no memory: a model may go on with that.

    What was answered from memory was checked against it; repeated by a model it would not be.
    """
    talk: list[Exchange] = []
    for one in reversed(before):
        if not one.idle:
            break
        talk.insert(0, one)
    return tuple(talk)


def leaned(message: str, meant: str) -> str:
    """What to tell the person a message was read as; empty where it stood by itself."""
    return "" if meant == message else meant
