"""Composition root: one user's graph, models and clock.

``open_session(config)`` gives a ``Session``; ``Session.respond(text)`` takes one message the whole
way: stored raw, detected, then remembered or answered, then logged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from agent.answering.question.references import in_context, recent, told_as
from agent.answering.retrieve import Part, Retrieved, retrieve
from agent.answering.selection.policy_factory import build_policy
from agent.answering.selection.several_spaces import joined
from agent.answering.told_or_asked import CHANCE, tells_something
from agent.applications.personas.persona_in_answers import with_persona
from agent.config import Config
from agent.language.validation import checked_k, checked_message
from agent.memory.home import open_graph
from agent.memory.passages import WHILE
from agent.memory.remember import keep, remember_as_said, remember_source, without_secrets
from agent.memory.uncertain.contradictions import doubted, trusted_first
from agent.memory.uncertain.settle import settle
from agent.models.timing import Stopwatch
from agent.results import Exchange, FileReport, FilledField, Remembered, Reply, Route
from agent.session.home_models import HomeModels, Models
from agent.session.orders import Order, carry_out, order_in
from agent.session.private import whisper
from agent.session.reply import kept, one_after_another, told, trace_of, with_question
from agent.session.respond import (
    answer_message,
    answered_beside,
    leaned,
    small_talk,
    with_answer,
)
from agent.session.seen import SeenSpaces
from policies.abstain import shipped
from policies.base import Policy
from policies.selection import Selection
from store.errors import MemlaneError, StoreFull
from store.graph import MemoryGraph
from store.spaces import Space
from store.types import Source, SourceKind, SourceStatus

if TYPE_CHECKING:
    from agent.applications.forms.fields import FormField
    from agent.io.ignore_rules import FoundFile

LAST = 8
"""Messages before a short question that tell its language."""


class Session(HomeModels):
    """Everything that one run of memlane works with."""

    def __init__(self, config: Config, graph: MemoryGraph, **models: Unpack[Models]) -> None:
        super().__init__(config, graph, **models)
        self._suggested = False
        self._seen = SeenSpaces()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._seen.close()
        self.graph.close()

    # ---- messages -------------------------------------------------------------------------

    def respond(
        self,
        text: str,
        on_text: Callable[[str], None] | None = None,
        *,
        private: Sequence[Exchange] | None = None,
    ) -> Reply:
        """One chat message through the router, as the conversation makes its words mean.

        ``on_text`` gets an answer as the model writes it; what comes back is what was left of it
        after it was checked. With ``private``, what was said in private before, nothing is stored.

        :raises InvalidInput: if the message is empty or longer than ``MAX_MESSAGE``.
        :raises ModelMissing: after the message is stored raw, to be taken up by a retry.
        """
        if private is not None:
            return whisper(self, checked_message(text), private, on_text)
        message = without_secrets(self, checked_message(text))
        now = self.config.now()
        clock = Stopwatch()
        with clock.measure("store"):
            before = recent(self.graph, now)
            context = recent(self.graph, now, within=WHILE)
            meant = in_context(message, context)
            # Stored before anything is made of it: no failure after this line loses the message.
            source = self.graph.sources.add(SourceKind.CHAT, message, now)
        with clock.measure("settle"), self._kept(source):
            settled = settle(source, self.graph, self, now)
        if settled is not None:
            return self._logged(message, self._asking(told(settled), now), clock, now)
        with clock.measure("order"), self._kept(source):
            order = order_in(message, self)
        if order is not None:
            return self._logged(message, self._ordered(order, source, clock, now), clock, now)
        with clock.measure("detect"), self._kept(source):
            last = [turn.text for turn in self.graph.turns.last(LAST)]
            likely = self.router.detect(meant, last).probabilities
        # What is told must not be lost and what is not known must not be made up, so both routes
        # are taken on less than an even chance: extraction finds nothing in a mere question, and
        # memory that holds no answer says so.
        reply: Reply | None = None
        with clock.measure("detect"):
            tells = self.tells(message, likely)
        if tells:
            reply = answered_beside(self, message, context, likely, clock)
            with clock.measure("remember"):
                own = told_as(message, meant)
                done = remember_source(source, self.graph, self, now, told=own)
            # A message in which nothing is told asks something, however the router takes it.
            if done.entries or done.unchanged or done.open or done.note:
                noted = replace(told(done), read_as=leaned(message, own))
                reply = noted if reply is None else with_answer(noted, reply)
        if reply is None:
            asks = likely[Route.RETRIEVE] >= min(CHANCE, likely[Route.NEITHER])
            route = Route.RETRIEVE if asks else Route.NEITHER
            talk = small_talk(before)
            # It told nothing, so an answer that the user stops leaves nothing to be made up.
            self.graph.sources.mark(source.id, SourceStatus.EXTRACTED)
            with self._kept(source):
                reply = answer_message(
                    self, message, route, clock, on_text=on_text, before=talk, context=context
                )
        return self._logged(message, self._asking(reply, now), clock, now)

    def _ordered(self, order: Order, source: Source, clock: Stopwatch, now: datetime) -> Reply:
        """What became of an order, and of what its message tells beside it."""
        replies = []
        if order.carried_out:
            with clock.measure("order"), self._kept(source):
                replies.append(carry_out(order, self, now))
        if order.rest:
            with clock.measure("remember"):
                done = remember_source(source, self.graph, self, now, told=order.rest)
            replies.append(self._asking(told(done), now))
        else:
            self.graph.sources.mark(source.id, SourceStatus.EXTRACTED)
        return one_after_another(replies)

    def tells(self, message: str, likely: Mapping[Route, float]) -> bool:
        """Whether it is worth trying to remember a message, by the router and the reader."""
        return tells_something(message, likely, self.router, self.statements)

    def ask(
        self,
        question: str,
        *,
        policy: str | None = None,
        k: int | None = None,
        use_llm: bool = True,
        private: bool = False,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Answer from memory, whatever the router would say of it; ``private`` stores no turn."""
        message = without_secrets(self, checked_message(question))
        clock = Stopwatch()
        reply = answer_message(
            self, message, Route.RETRIEVE, clock, policy=policy, k=k, use_llm=use_llm,
            on_text=on_text,
        )  # fmt: skip
        if private:
            return replace(reply, timing_ms=clock.total())
        return self._logged(message, reply, clock, self.config.now())

    def select(
        self, question: str, *, policy: str | None = None, k: int | None = None
    ) -> Selection:
        """The memories chosen for a question, without an answer."""
        return self.retrieve(question, policy=policy, k=k).selection

    def policy(self, name: str | None, k: int, *, use_llm: bool = True) -> Policy:
        """The policy of this name, by default the configured one, with what it needs.

        :raises InvalidInput: if there is no such policy, or it cannot do without what is missing.
        """
        llm = self.llm if use_llm else None
        rewards = self.rewards if use_llm else None
        chosen, embedder = name or self.config.policy, self.embedder
        return build_policy(chosen, self.graph, embedder, k=k, llm=llm, rewards=rewards)

    def retrieve(
        self,
        question: str,
        *,
        policy: str | None = None,
        k: int | None = None,
        use_llm: bool = True,
    ) -> Retrieved:
        """What ``select`` gives, with the time that is asked about and how likely it answers."""
        count = self.config.k if k is None else checked_k(k)
        chooser = self.policy(policy, count, use_llm=use_llm)
        now, embedder = self.config.now(), self.embedder
        found = retrieve(question, self.graph, chooser, embedder, now, k=count, judge=shipped())
        found = with_persona(found, question, self, count)
        parts = [Part(self, found)]
        for space, graph in self._seen.graphs(self.config):
            other = self._beside(space, graph)
            chooser = other.policy(policy, count, use_llm=use_llm)
            theirs = retrieve(question, graph, chooser, embedder, now, k=count, judge=shipped())
            parts.append(Part(other, theirs, space))
        return joined(parts, count) if len(parts) > 1 else found

    def _beside(self, space: Space, graph: MemoryGraph) -> Session:
        """A space that this one sees, with the models of this one."""
        config = replace(self.config, home=space.home, space=space.name)
        return Session(
            config, graph, llm=self.llm, embedder=self.embedder, reader=self.reader,
            rewards=self.rewards, statements=self.statements,
        )  # fmt: skip

    def _asking(self, reply: Reply, now: datetime) -> Reply:
        """The reply with a question that waits to be asked; about names once a session."""
        model, suggests = self.embedder.identity, not self._suggested
        asked = with_question(reply, self.graph, model, now, suggests=suggests)
        self._suggested |= asked.suggested is not None
        return asked

    def _logged(self, message: str, reply: Reply, clock: Stopwatch, now: datetime) -> Reply:
        turn = None
        with clock.measure("log"), suppress(StoreFull):  # what is known is told all the same
            own = kept(reply)
            turn = self.graph.turns.log(now, message, own.route, own.text, trace_of(own))
        doubts = doubted(reply.memories, reply.selection)
        memories = trusted_first(reply.memories, doubts)
        return replace(reply, memories=memories, timing_ms=clock.total(), turn=turn, doubts=doubts)

    # ---- remembering ----------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        at: datetime | None = None,
        place: str | None = None,
        expires: datetime | None = None,
        keep_secrets: bool = False,
        wait: bool = True,
    ) -> Remembered:
        """Store a text as it stands (the paper's passive remember): no model rewrites it.

        With ``keep_secrets`` even a card number or a password stays in it. A session always waits
        for the memory; ``wait`` is there because the resident process need not.

        :raises InvalidInput: if it is empty, too long, or expires before it was said.
        """
        message = checked_message(text)
        said = at or self.config.now()
        source = keep(
            self.graph,
            message,
            said=said,
            place=place,
            expires=expires,
            keep_secrets=keep_secrets or self.config.keep_secrets,
            secrets=self.secrets,
        )
        return remember_as_said(source, self.graph, self, self.config.now())

    @contextmanager
    def _kept(self, source: Source) -> Iterator[None]:
        """Mark the source FAILED when the block fails, so that a retry finds it."""
        try:
            yield
        except MemlaneError as error:
            self.graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
            raise

    def ingest(
        self,
        paths: Sequence[Path],
        on_file: Callable[[int, Path], None] | None = None,
        *,
        found: Iterable[FoundFile] | None = None,
    ) -> Iterator[FileReport]:
        """Take files of all kinds into memory, one by one; folders recursively.

        ``found`` are the files of ``paths`` where somebody has looked already (``find``).
        """
        from agent.io.ingest import ingest_into

        return ingest_into(self, paths, on_file, found=found)

    def find(self, paths: Sequence[Path]) -> Iterator[FoundFile]:
        """The files that ``ingest`` would look at, and those that the rules leave aside."""
        from agent.io.ingest import find

        return find(self, paths)

    def retry(self, only: Collection[str] | None = None) -> Iterator[FileReport]:
        """Take up what could not be extracted before, or ``only`` the sources with these ids."""
        from agent.io.ingest import retry

        def tells(text: str) -> bool:
            return self.tells(text, self.router.detect(text).probabilities)

        return retry(self.graph, self, self.config.now(), tells, only)

    # ---- forms ----------------------------------------------------------------------------

    def fill(self, fields: Sequence[FormField], *, use_llm: bool = True) -> tuple[FilledField, ...]:
        """Values for form fields, each with its evidence; None where there is none."""
        from agent.applications.forms.autofill import fill_from

        others = tuple(self._seen.graphs(self.config))
        return fill_from(self, fields, self.config.now(), use_llm=use_llm, others=others)


def open_session(config: Config, **models: Unpack[Models]) -> Session:
    """Open the home of ``config``. Close the session, or use it as a context manager.

    :raises StoreError: if the home or its database cannot be used.
    """
    return Session(config, open_graph(config), **models)
