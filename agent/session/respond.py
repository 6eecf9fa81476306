"""Answers to questions and small talk in a session.

Functions that take the home with what decides on a message: a ``Session``, which imports this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Protocol

from agent.answering.agenda import agenda
from agent.answering.answer import Answer, answer, converse
from agent.answering.notes.answer import answer_from_notes
from agent.answering.notes.gather import Note, gather, selected
from agent.answering.question.parts import questions_in
from agent.answering.question.question_time import About
from agent.answering.question.references import in_context
from agent.answering.replies import unknown, without_excerpts
from agent.answering.retrieve import OF_NOW, Retrieved
from agent.answering.routing import Router
from agent.answering.told_or_asked import question_beside
from agent.applications.personas.persona_in_answers import told_apart
from agent.applications.ratings.recommend import recommended
from agent.language.identify import common_language
from agent.language.redaction import with_gaps
from agent.memory.home import Home
from agent.memory.time.changed import CHANGED, possibly_newer
from agent.models.readers.note_reader import note_reader
from agent.models.timing import Stopwatch
from agent.ports import Embedder
from agent.results import Exchange, Reply, Route, Standing
from agent.session.several_questions import combined
from policies.selection import Choice
from store.errors import MemlaneError
from store.types import Status

ABOUT_THIS = 0.45
"""Cosine similarity from which a memory is about a message, whatever the router says of it; set on
development data as docs/why.md tells."""
SURELY = 0.7
"""Relevance from which a note is about a message that the router takes for small talk."""

OnText = Callable[[str], None]


class Responder(Home, Protocol):
    """A home with what decides on a message and what answers it."""

    @property
    def router(self) -> Router: ...
    @property
    def trained(self) -> Embedder: ...
    def tells(self, message: str, likely: Mapping[Route, float]) -> bool: ...
    def retrieve(
        self,
        question: str,
        *,
        policy: str | None = None,
        k: int | None = None,
        use_llm: bool = True,
    ) -> Retrieved: ...


def answer_message(
    home: Responder,
    message: str,
    route: Route,
    clock: Stopwatch,
    *,
    policy: str | None = None,
    k: int | None = None,
    use_llm: bool = True,
    on_text: OnText | None = None,
    before: Sequence[Exchange] = (),
    context: Sequence[Exchange] = (),
) -> Reply:
    """The reply to a message that tells nothing.

    ``before`` is the small talk it goes on with, ``context`` the conversation that its words may
    lean on. What asks several things is answered one by one, and told when all are known. A
    question may lean on the one before it: 'when is my essay due n how long is it'.
    """
    questions: tuple[str, ...] = (message,)
    if use_llm and route is Route.RETRIEVE:
        with clock.measure("detect"):
            questions = questions_in(message, home.trained, home.statements, home.llm)
    if len(questions) > 1:
        on_text = None
    replies: list[Reply] = []
    asked: list[Exchange] = []
    for question in questions:
        meant = in_context(question, (*context, *asked))
        readings = tuple(dict.fromkeys((meant, question)))
        reply = _reply(home, readings, route, clock, policy, k, use_llm, on_text, before)
        told = "" if reply.abstained else without_excerpts(reply.text)
        asked.append(Exchange(question, told))
        replies.append(reply)
    reply = replies[0] if len(replies) == 1 else combined(questions, replies)
    return replace(reply, text=with_gaps(reply.text))


def answered_beside(
    home: Responder,
    message: str,
    context: Sequence[Exchange],
    likely: Mapping[Route, float],
    clock: Stopwatch,
) -> Reply | None:
    """The answer to what a message asks that tells something; None where nothing known is near.

    It is sought before the message is remembered, whose own words would be nearest to its question.
    A failure to answer is told and keeps nothing from being remembered.
    """
    question = question_beside(message, likely, home.router, home.statements)
    if not question:
        return None
    if question != message:  # its words lean on what stands before it
        context = [Exchange(message[: message.rindex(question)].strip())]
    try:
        said = answer_message(home, question, Route.RETRIEVE, clock, context=context)
    except MemlaneError as error:
        return Reply(Route.RETRIEVE, f"“{question}” is not answered. {error}", abstained=True)
    return said if said.memories or not said.abstained else None


def with_answer(told: Reply, said: Reply) -> Reply:
    """The reply to what a message told, with the answer to what it asks before it."""
    return replace(
        said,
        route=Route.UPDATE,
        text=f"{said.text}\n{told.text}",
        answer=said.text,
        entries=told.entries,
        open=told.open,
        questions=told.questions,
        read_as=told.read_as or said.read_as,
    )


def _reply(
    home: Responder,
    readings: Sequence[str],
    route: Route,
    clock: Stopwatch,
    policy: str | None,
    k: int | None,
    use_llm: bool,
    on_text: OnText | None,
    before: Sequence[Exchange],
) -> Reply:
    """The reply to a question; ``readings`` are what it means by rule and, last, what it says."""
    if use_llm:
        with clock.measure("recommend"):
            if (advice := recommended(readings[0], home, on_text)) is not None:
                return advice
    with clock.measure("select"):
        sought = [_sought(home, text, route, policy, k, use_llm) for text in readings]
    message, found, notes = max(sought, key=_surely_answered)  # of equals the first
    if notes is not None:
        found = replace(found, selection=selected(found.selection, notes))
    reply = Reply(
        route, "", selection=found.selection, marks=found.marks, likely=found.likely,
        inferred=found.inferred, read_as=leaned(readings[-1], message),
    )  # fmt: skip
    chosen = found.selection.chosen
    if route is Route.NEITHER:
        # Trigger: the wording needs no memory, but a stored one is about just that.
        # Why: 'until when is the voucher valid' is general until one has a voucher.
        # Outcome: answered from memory if that gives an answer, else as small talk.
        if _about_this(found, notes):
            with clock.measure("answer"):
                said = _answered(home, message, found, notes)
            if not said.abstained:
                return told_apart(
                    replace(reply, route=Route.RETRIEVE, text=said.text, memories=said.evidence)
                )
        with clock.measure("answer"):
            talk = [(one.said, one.answered) for one in before]
            text = converse(message, llm=home.llm, on_text=on_text, before=talk)
        return Reply(route, text, read_as=reply.read_as)
    if not use_llm:
        text = "" if chosen else unknown(message)
        return told_apart(replace(reply, text=text, memories=chosen, abstained=not chosen))
    with clock.measure("answer"):
        said = _answered(home, message, found, notes, on_text)
    if said.abstained and (notes is None or found.asked.about is About.PAST):
        said, found = _from_past_notes(home, message, found, said)
        reply = replace(reply, selection=found.selection)
    return told_apart(
        replace(reply, text=said.text, memories=said.evidence, abstained=said.abstained)
    )


class _Sought(NamedTuple):
    """A question, and what memory holds for it."""

    question: str
    found: Retrieved
    notes: tuple[Note, ...] | None


def _sought(
    home: Responder, question: str, route: Route, policy: str | None, k: int | None, use_llm: bool
) -> _Sought:
    found = home.retrieve(question, policy=policy, k=k, use_llm=use_llm)
    idle = route is Route.NEITHER and _is_idle(home, question, found)
    return _Sought(question, found, () if idle else _notes(home, question, found, use_llm))


def _surely_answered(sought: _Sought) -> float:
    """How likely memory answers the question, by which its readings are told apart.

    Of the questions of people who never saw the rules of ``references``, six in ten that these
    change mean what they say ('what am I allergic to, what is it called?').
    """
    if sought.notes is None:
        return 1.0  # the timeline answers: times tell nothing of what was meant
    return max((min(note.answered, note.relevance) for note in sought.notes), default=0.0)


def _notes(
    home: Responder, message: str, found: Retrieved, use_llm: bool
) -> tuple[Note, ...] | None:
    """The notes of a question about what holds; None where the timeline answers it."""
    now, asked = home.config.now(), found.asked
    ahead = asked.about is About.AT and asked.start is not None and asked.start >= now
    of_now = asked.about in OF_NOW or (asked.about is About.PAST and _holds_today(home, found, now))
    if home.statements is None or found.inferred or not (of_now or ahead):
        return None
    notes = gather(message, found, home, home.statements, use_llm=use_llm)
    # Where something is planned, its times decide what holds at the time asked for.
    return None if ahead and _planned(found, notes, now) else notes


def _holds_today(home: Responder, found: Retrieved, now: datetime) -> bool:
    """Whether nothing that was chosen was replaced: 'Who mended the boiler?' is about no change."""
    chosen = [choice.memory for choice in found.selection.chosen]
    if any(memory.status is not Status.CURRENT for memory in chosen):
        return False
    return bool(found.parts) or not possibly_newer(chosen, home.graph, least=CHANGED, by=now)


def _planned(found: Retrieved, notes: Sequence[Note], now: datetime) -> bool:
    if not notes and found.listed:  # 'What do I have on 4 December?' is answered by the days alone
        return True
    starts = [note.memory.valid_from for note in notes]
    return any(start is not None and start > now for start in starts) or any(
        mark.lasts and mark.standing is Standing.PLANNED for mark in found.marks.values()
    )


def _from_past_notes(
    home: Responder, message: str, found: Retrieved, before: Answer
) -> tuple[Answer, Retrieved]:
    """What notes say of a question about the past that the timeline does not answer.

    Only where the language model reads notes: words alone do not tell which note was meant.
    """
    if home.statements is None or found.inferred or note_reader(home.llm) is None:
        return before, found
    notes = gather(message, found, home, home.statements, past=True)
    said = answer_from_notes(message, notes, now=home.config.now(), llm=home.llm, past=True)
    if said.abstained:
        return before, found
    return said, replace(found, selection=selected(found.selection, notes, past=True))


def _is_idle(home: Responder, message: str, found: Retrieved) -> bool:
    """Whether nothing that is stored is about a message that the router takes for small talk.

    By nearness and the statement reader alone, as 'thanks!' should not wait for the language model
    to read notes. They know English only.
    """
    chosen = [choice.memory.text for choice in found.selection.chosen]
    if common_language(message, chosen) != "en":
        return False
    return not _about_this(found, _notes(home, message, found, use_llm=False))


def _about_this(found: Retrieved, notes: tuple[Note, ...] | None) -> bool:
    near = max(found.near.values(), default=0.0) >= ABOUT_THIS
    return near or any(note.relevance >= SURELY for note in notes or ())


def _answered(
    home: Responder,
    message: str,
    found: Retrieved,
    notes: tuple[Note, ...] | None,
    on_text: OnText | None = None,
) -> Answer:
    now = home.config.now()
    if (listed := agenda(found, notes or ())) is not None:
        return listed
    if notes is not None:
        return answer_from_notes(message, notes, now=now, llm=home.llm, on_text=on_text)
    return answer(
        message,
        _unchanged_by_then(home, found),
        now=now,
        llm=home.llm,
        on_text=on_text,
        asked=found.asked,
        marks=found.marks,
        near=found.near,
    )


def _unchanged_by_then(home: Responder, found: Retrieved) -> tuple[Choice, ...]:
    """What was chosen, without what will probably have changed by the time asked about."""
    chosen, then = found.selection.chosen, found.asked.start
    if found.asked.about is not About.AT or then is None or found.parts:
        return chosen
    newer = possibly_newer([one.memory for one in chosen], home.graph, least=CHANGED, by=then)
    return tuple(one for one in chosen if one.memory.id not in newer)


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
