"""Dispatcher of requests to worker threads; see ``background`` for jobs without a request.

Lanes, each with its own connection to the one database (SQLite lets one write at a time):
``raw`` stores a text before anything is made of it, ``quick`` needs no more than the encoder,
``slow`` may wait for the language model, ``watching`` takes in watched folders, ``looking`` is for
the page of ``memlane web``, ``reminding`` shows reminders. So a long answer holds up neither a
question for memories alone nor what is told meanwhile. Work that nobody waits for gives way to what
somebody does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event
from typing import Any, TypeVar

from agent.config import Config
from agent.io import platform_events
from agent.language.validation import checked_message
from agent.memory.home import open_graph
from agent.memory.remember import keep, remember_as_said
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, LocalReader
from agent.results import FileReport, FilledField, Remembered, Reply
from agent.server.resident.client import Running
from agent.server.resident.requests import (
    Ask,
    Context,
    Fill,
    Ingest,
    Prepare,
    Recall,
    Remember,
    Retry,
    Say,
)
from agent.server.resident.shared_models import (
    FreeableEmbedder,
    FreeableModel,
    Keeper,
    SharedEmbedder,
    SharedModel,
    SharedReader,
    memory_mb,
)
from agent.server.resident.workers import Lane
from agent.session.recall import recall
from agent.session.session import Session
from store.errors import MemlaneError
from store.types import Source, SourceStatus

log = logging.getLogger("memlane.resident")
T = TypeVar("T")
OnText = Callable[[str], None]
"""Called with each piece of an answer as it is written."""

ACKNOWLEDGE_S = 0.06
"""How long ``remember`` waits for the memory to be made before it says that it is stored."""
CLOSING_S = 3.0
"""How long a job may take to its next word when the process is told to end."""


class Desk:
    """One home, its models, and everything that is asked of them. Use it from one event loop."""

    def __init__(
        self,
        config: Config,
        *,
        llm: FreeableModel | None = None,
        embedder: FreeableEmbedder | None = None,
        why_wait: Callable[[], str] | None = None,
    ) -> None:
        self.config = config
        self.until_idle = False
        """Whether the process ends when nobody needs it."""
        self.forgets_key = False
        """Whether its end is what locks the home: then watched folders do not keep it."""
        self.encoding = False
        """Whether vectors are being made that memories wait for."""
        self.raw, self.quick, self.slow = Lane("raw"), Lane("quick"), Lane("slow")
        self.watching, self._looking = Lane("watching"), Lane("looking")
        self.reminding = Lane("reminding")
        self._llm = Keeper[FreeableModel](llm or LocalLanguageModel(config))
        self._embedder = Keeper[FreeableEmbedder](embedder or LocalEmbedder(config))
        self._reader = Keeper(LocalReader(config))
        encoder = SharedEmbedder(self._embedder)
        self.graph = open_graph(config)
        self.sessions = {
            lane: Session(
                config,
                open_graph(config),
                llm=SharedModel(self._llm, check, waits=lane is not self.quick),
                embedder=encoder,
                reader=SharedReader(self._reader),
            )
            for lane, check in (
                (self.quick, self.quick.check),
                (self.slow, self.slow.check),
                (self.watching, lambda: None),  # a file is worked out whole
                (self._looking, self._looking.check),
            )
        }
        self.why_wait = why_wait or (lambda: platform_events.why_wait(config.watch_on_battery))
        """Why what nobody asked for should wait now; empty where nothing speaks against it."""
        self._placing: set[asyncio.Task[Remembered]] = set()
        self.stops: set[Event] = set()
        self._opened = self._used = time.monotonic()
        self._asked = 0

    # ---- requests -------------------------------------------------------------------------

    async def say(self, asked: Say, context: Context, stop: Event, on_text: OnText) -> Reply:
        def respond(session: Session) -> Reply:
            return session.respond(asked.text, on_text, private=asked.private)

        return await self._on(self.slow, context, stop, respond)

    async def prepare(self, asked: Prepare, context: Context, stop: Event, on_text: OnText) -> None:
        """Not in a lane: a message that comes meanwhile is read until it needs the model."""
        session = self.sessions[self.watching]  # its model is not stopped with a request
        with self.stoppable(stop), suppress(MemlaneError):  # whoever asks is told
            await asyncio.to_thread(session.get_ready)

    async def ask(self, asked: Ask, context: Context, stop: Event, on_text: OnText) -> Reply:
        def answer(session: Session) -> Reply:
            return session.ask(
                asked.question,
                policy=asked.policy,
                k=asked.k,
                use_llm=asked.use_llm,
                private=asked.private,
                on_text=on_text,
            )  # fmt: skip

        return await self._on(self.slow if asked.use_llm else self.quick, context, stop, answer)

    async def recall(self, asked: Recall, context: Context, stop: Event, on_text: OnText) -> Reply:
        def chosen(session: Session) -> Reply:
            return recall(session, asked.text, asked.k)

        return await self._on(self.quick, context, stop, chosen)

    async def fill(
        self, asked: Fill, context: Context, stop: Event, on_text: OnText
    ) -> tuple[FilledField, ...]:
        return await self._on(
            self.slow if asked.use_llm else self.quick,
            context,
            stop,
            lambda session: session.fill(asked.fields, use_llm=asked.use_llm),
        )

    async def remember(
        self, asked: Remember, context: Context, stop: Event, on_text: OnText
    ) -> Remembered:
        text = checked_message(asked.text)
        now = self._as(context).now()
        said = asked.at or now
        source = await self.raw.do(
            lambda: keep(
                self.graph,
                text,
                said=said,
                place=asked.place,
                expires=asked.expires,
                keep_secrets=asked.keep_secrets or self.config.keep_secrets,
                secrets=self.sessions[self.quick].secrets,
            ),
            stop,
        )
        self._used = time.monotonic()
        # From here on nothing stops it: it is stored, and a restart would take it up.
        placing = asyncio.create_task(self._made(source, context))
        self._placing.add(placing)
        placing.add_done_callback(self._placed)
        done, _ = await asyncio.wait({placing}, timeout=None if asked.wait else ACKNOWLEDGE_S)
        return placing.result() if done else Remembered(source, (), (), queued=True)

    async def _made(self, source: Source, context: Context) -> Remembered:
        session, now = self.sessions[self.quick], self._as(context).now()
        return await self.quick.do(
            lambda: remember_as_said(source, session.graph, session, now), Event()
        )

    def _placed(self, task: asyncio.Task[Remembered]) -> None:
        self._placing.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("extraction of a stored text failed: %s", type(error).__name__)

    async def ingest(
        self, asked: Ingest, context: Context, stop: Event
    ) -> AsyncIterator[FileReport]:
        async for report in self._each(context, stop, lambda session: session.ingest(asked.paths)):
            yield report

    async def retry(self, asked: Retry, context: Context, stop: Event) -> AsyncIterator[FileReport]:
        async for report in self._each(context, stop, lambda session: session.retry()):
            yield report

    async def looked(self, context: Context, stop: Event, work: Callable[[Session], T]) -> T:
        """What the page reads and edits: in a lane of its own, so that it waits for nothing."""
        return await self._on(self._looking, context, stop, work)

    async def _each(
        self,
        context: Context,
        stop: Event,
        begin: Callable[[Session], Iterator[FileReport]],
    ) -> AsyncIterator[FileReport]:
        """File by file, so that who asks something meanwhile waits for one file at most."""
        reports: list[Iterator[FileReport]] = []

        def step(session: Session) -> FileReport | None:
            if not reports:
                reports.append(begin(session))
            return next(reports[0], None)

        while (report := await self._on(self.slow, context, stop, step)) is not None:
            yield report

    async def _on(
        self,
        lane: Lane,
        context: Context,
        stop: Event,
        work: Callable[[Session], T],
    ) -> T:
        if lane is self.slow and self._placing:
            # What was told before is known to what is asked after; in the quick lane it is anyway.
            await asyncio.wait(set(self._placing))
        session = self.sessions[lane]

        def job() -> T:
            session.config = self._as(context)
            return work(session)

        with self.stoppable(stop):
            return await lane.do(job, stop)

    def _as(self, context: Context) -> Config:
        """The settings of the process with those that a command brought along."""
        return replace(
            self.config,
            fixed_now=context.now or self.config.fixed_now,
            policy=context.policy or self.config.policy,
            k=context.k or self.config.k,
        )

    # ---- about the process ----------------------------------------------------------------

    @property
    def kept(self) -> dict[str, Keeper[Any]]:
        return {"llm": self._llm, "embedder": self._embedder, "reader": self._reader}

    async def warm_up(self) -> None:
        """Load what nearly every message needs, before the first one asks for it."""
        session = self.sessions[self.quick]
        with suppress(MemlaneError):  # whoever asks is told
            await self.quick.do(session.warm_up, Event())

    async def watches(self) -> bool:
        """Whether folders are watched in this home."""
        return bool(await self.raw.do(self.graph.watched.folders, Event()))

    async def running(self, pid: int, socket: str, port: int | None) -> Running:
        """How this process is doing; answers whatever the lanes are busy with."""
        counts = await self.raw.do(self.graph.sources.counts, Event())
        return Running(
            pid=pid,
            socket=socket,
            uptime_s=round(time.monotonic() - self._opened, 1),
            queue=counts.get(SourceStatus.PENDING, 0),
            loaded=tuple(name for name, keeper in self.kept.items() if keeper.loaded),
            port=port,
            ends_after_minutes=self.config.idle_minutes if self.until_idle else None,
            memory_mb=memory_mb(),
        )

    @contextmanager
    def stoppable(self, stop: Event) -> Iterator[None]:
        """Let ``stop_all`` reach what goes on outside of the lanes."""
        self.stops.add(stop)
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            self._used = time.monotonic()
            self.stops.discard(stop)

    def idle_s(self) -> float:
        """Seconds since the last request ended; 0 while one is worked on."""
        return 0.0 if self._asked or self._placing else time.monotonic() - self._used

    def stop_all(self) -> None:
        """End every request at its next word; whoever waits is told."""
        for stop in self.stops:
            stop.set()

    def close(self) -> bool:
        """Close the database; False if a job did not end in time and still has it open."""
        self.stop_all()
        aside = (self.watching, self._looking, self.reminding)
        lanes = (*aside, self.slow, self.quick, self.raw)
        if not all([lane.close(CLOSING_S) for lane in lanes]):
            return False
        for session in self.sessions.values():
            session.close()
        self.graph.close()
        return True
