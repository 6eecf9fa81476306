"""Dispatcher of requests to worker threads, with background jobs.

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
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from agent.applications.personas.refresh import refresh
from agent.applications.services.desktop_notifications import keep_showing
from agent.config import Config
from agent.io.watch import Watcher, only_watcher
from agent.language.validation import checked_message
from agent.memory.home import forget_due, open_graph
from agent.memory.remember import keep, remember_as_said
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, LocalReader
from agent.results import FileReport, FilledField, Remembered, Reply
from agent.server.resident.client import Running
from agent.server.resident.requests import Ask, Context, Fill, Ingest, Remember, Retry, Say
from agent.server.resident.shared_models import (
    FreeableEmbedder,
    FreeableModel,
    FreeableReader,
    Keeper,
    SharedEmbedder,
    SharedModel,
    SharedReader,
    memory_mb,
)
from agent.server.resident.workers import Lane, Stopped
from agent.session.session import Session
from store.errors import MemlaneError
from store.types import Source, SourceStatus

log = logging.getLogger("memlane.resident")
T = TypeVar("T")

ACKNOWLEDGE_S = 0.06
"""How long ``remember`` waits for the memory to be made before it says that it is stored."""
TURNS_GIVEN = 3
"""How often a text that waits in the background gives way before it is worked out whole."""
CLOSING_S = 3.0
"""How long a job may take to its next word when the process is told to end."""
AGAIN_S = 60.0
"""When to try to watch again after another process did."""
REFINE_S = 60.0
"""How often is looked for what the persona lacks."""
_DAY_S = 24 * 3600.0


class Desk:
    """One home, its models, and everything that is asked of them. Use it from one event loop."""

    def __init__(
        self,
        config: Config,
        *,
        llm: FreeableModel | None = None,
        embedder: FreeableEmbedder | None = None,
        reader: FreeableReader | None = None,
        why_wait: Callable[[], str] | None = None,
    ) -> None:
        self.config = config
        self.until_idle = False
        """Whether the process ends when nobody needs it."""
        self._raw, self._quick, self._slow = Lane("raw"), Lane("quick"), Lane("slow")
        self._watching, self._looking = Lane("watching"), Lane("looking")
        self._reminding = Lane("reminding")
        self._llm = Keeper[FreeableModel](llm or LocalLanguageModel(config))
        self._embedder = Keeper[FreeableEmbedder](embedder or LocalEmbedder(config))
        self._reader = Keeper[FreeableReader](reader or LocalReader(config))
        encoder = SharedEmbedder(self._embedder)
        self._graph = open_graph(config)
        self._sessions = {
            lane: Session(
                config,
                open_graph(config),
                llm=SharedModel(self._llm, check),
                embedder=encoder,
                reader=SharedReader(self._reader),
            )
            for lane, check in (
                (self._quick, self._quick.check),
                (self._slow, self._slow.check),
                (self._watching, lambda: None),  # a file is worked out whole
                (self._looking, self._looking.check),
            )
        }
        self._why_wait = why_wait
        self._placing: set[asyncio.Task[Remembered]] = set()
        self._stops: set[threading.Event] = set()
        self._opened = self._used = time.monotonic()
        self._asked = 0

    # ---- requests -------------------------------------------------------------------------

    async def say(
        self, asked: Say, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> Reply:
        return await self._on(
            self._slow,
            context,
            stop,
            lambda session: session.respond(asked.text, on_text, private=asked.private),
        )

    async def ask(
        self, asked: Ask, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> Reply:
        def answer(session: Session) -> Reply:
            return session.ask(
                asked.question,
                policy=asked.policy,
                k=asked.k,
                use_llm=asked.use_llm,
                private=asked.private,
                on_text=on_text,
            )

        return await self._on(self._slow if asked.use_llm else self._quick, context, stop, answer)

    async def fill(
        self, asked: Fill, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> tuple[FilledField, ...]:
        return await self._on(
            self._slow if asked.use_llm else self._quick,
            context,
            stop,
            lambda session: session.fill(asked.fields, use_llm=asked.use_llm),
        )

    async def remember(
        self,
        asked: Remember,
        context: Context,
        stop: threading.Event,
        on_text: Callable[[str], None],
    ) -> Remembered:
        text = checked_message(asked.text)
        now = self._as(context).now()
        said = asked.at or now
        source = await self._raw.do(
            lambda: keep(
                self._graph,
                text,
                said=said,
                place=asked.place,
                expires=asked.expires,
                keep_secrets=asked.keep_secrets or self.config.keep_secrets,
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
        session, now = self._sessions[self._quick], self._as(context).now()
        return await self._quick.do(
            lambda: remember_as_said(source, session.graph, session, now), threading.Event()
        )

    def _placed(self, task: asyncio.Task[Remembered]) -> None:
        self._placing.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("extraction of a stored text failed: %s", type(error).__name__)

    async def ingest(
        self, asked: Ingest, context: Context, stop: threading.Event
    ) -> AsyncIterator[FileReport]:
        async for report in self._each(context, stop, lambda session: session.ingest(asked.paths)):
            yield report

    async def retry(
        self, asked: Retry, context: Context, stop: threading.Event
    ) -> AsyncIterator[FileReport]:
        async for report in self._each(context, stop, lambda session: session.retry()):
            yield report

    async def looked(
        self, context: Context, stop: threading.Event, work: Callable[[Session], T]
    ) -> T:
        """What the page reads and edits: in a lane of its own, so that it waits for nothing."""
        return await self._on(self._looking, context, stop, work)

    async def _each(
        self,
        context: Context,
        stop: threading.Event,
        begin: Callable[[Session], Iterator[FileReport]],
    ) -> AsyncIterator[FileReport]:
        """File by file, so that who asks something meanwhile waits for one file at most."""
        reports: list[Iterator[FileReport]] = []

        def step(session: Session) -> FileReport | None:
            if not reports:
                reports.append(begin(session))
            return next(reports[0], None)

        while (report := await self._on(self._slow, context, stop, step)) is not None:
            yield report

    async def _on(
        self,
        lane: Lane,
        context: Context,
        stop: threading.Event,
        work: Callable[[Session], T],
    ) -> T:
        if lane is self._slow and self._placing:
            # What was told before is known to what is asked after; in the quick lane it is anyway.
            await asyncio.wait(set(self._placing))
        session = self._sessions[lane]

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

    # ---- without being asked --------------------------------------------------------------

    async def take_up(self) -> None:
        """Make memories of what was stored before this process began, and not worked out."""
        for source in await self._waiting():
            # Each time that somebody asks something meanwhile it gives way, but not for ever.
            for turn in range(TURNS_GIVEN + 1):
                with suppress(Stopped):
                    await self._finish(source, gives_way=turn < TURNS_GIVEN)
                    break

    async def _finish(self, source: Source, *, gives_way: bool) -> None:
        lane = self._slow
        session = self._sessions[lane]

        def job() -> None:
            session.config = self.config
            for report in session.retry(only={source.id}):
                if report.status == "failed":
                    log.warning("extraction of %s failed", source.id)

        stop = threading.Event()
        self._stops.add(stop)
        try:
            await lane.do(job, stop, gives_way=gives_way)
        except MemlaneError as error:
            log.warning("extraction of %s failed: %s", source.id, type(error).__name__)
        finally:
            self._stops.discard(stop)

    async def _waiting(self) -> tuple[Source, ...]:
        return await self._raw.do(
            lambda: self._graph.sources.list(SourceStatus.PENDING), threading.Event()
        )

    async def watch(self) -> None:
        """Take in watched folders (``agent.io.watch``) until this is cancelled."""
        stop, session = threading.Event(), self._sessions[self._watching]
        self._stops.add(stop)

        def told(report: FileReport) -> None:
            log.info("watched: a file is %s, %d memories", report.status, report.memories)

        def job() -> None:
            while not stop.is_set():
                try:
                    with only_watcher(self.config.home):
                        Watcher(session, wait=self._why_wait).run(stop, told)
                except MemlaneError as error:  # such as `memlane watch --foreground` beside us
                    log.warning("not watching now: %s", type(error).__name__)
                stop.wait(AGAIN_S)

        await self._watching.do(job, stop)

    async def refine(self) -> None:
        """Make the persona's lines that are due, one at a time and when nobody waits.

        To look loads the encoder, so nothing is looked at twice: only a change, or a new day on
        which something may have expired, can make more of them due.
        """
        session = self._sessions[self._slow]
        seen: tuple[object, ...] | None = None

        def state() -> tuple[object, ...]:
            newest = self._graph.journal.newest(1)
            day = self.config.now().date()
            return [entry.id for entry in newest], self._graph.count_forgotten(), day

        def job() -> bool:
            session.config = self.config
            done = refresh(session, limit=1)
            return bool(done.waiting) and not done.reason

        while True:
            await asyncio.sleep(REFINE_S)
            if self._why_wait and self._why_wait():
                continue
            with suppress(Stopped, MemlaneError):  # somebody asked something: later, then
                now = await self._raw.do(state, threading.Event())
                while now != seen:
                    if not await self._slow.do(job, threading.Event(), gives_way=True):
                        seen = now

    async def remind(self) -> None:
        """Show reminders on the desktop, where the person turned that on
        (``services.desktop_notifications``)."""
        if self.config.notify:
            stop = threading.Event()
            self._stops.add(stop)
            try:
                await self._reminding.do(lambda: keep_showing(self.config, stop), stop)
            except MemlaneError as error:
                log.warning("no reminders are shown: %s", type(error).__name__)

    async def tidy(self) -> None:
        """Free models that nobody has used for a while, and once a day forget what is due."""
        idle_s = self.config.idle_minutes * 60.0
        forgotten = time.monotonic()
        while True:
            await asyncio.sleep(min(30.0, idle_s / 2))
            for name, keeper in self._kept.items():
                if await asyncio.to_thread(keeper.free, idle_s):
                    log.info("freed the %s", name)
            if time.monotonic() - forgotten > _DAY_S:
                forgotten = time.monotonic()
                with suppress(MemlaneError):
                    await self._raw.do(
                        lambda: forget_due(self._graph, self.config.now()), threading.Event()
                    )

    @property
    def _kept(self) -> dict[str, Keeper[Any]]:
        return {"llm": self._llm, "embedder": self._embedder, "reader": self._reader}

    async def warm_up(self) -> None:
        """Load what nearly every message needs, before the first one asks for it."""
        session = self._sessions[self._quick]
        with suppress(MemlaneError):  # whoever asks is told
            await self._quick.do(session.warm_up, threading.Event())

    async def watches(self) -> bool:
        """Whether folders are watched in this home."""
        return bool(await self._raw.do(self._graph.watched.folders, threading.Event()))

    async def running(self, pid: int, socket: str, port: int | None) -> Running:
        """How this process is doing; answers whatever the lanes are busy with."""
        counts = await self._raw.do(self._graph.sources.counts, threading.Event())
        return Running(
            pid=pid,
            socket=socket,
            uptime_s=round(time.monotonic() - self._opened, 1),
            queue=counts.get(SourceStatus.PENDING, 0),
            loaded=tuple(name for name, keeper in self._kept.items() if keeper.loaded),
            port=port,
            ends_after_minutes=self.config.idle_minutes if self.until_idle else None,
            memory_mb=memory_mb(),
        )

    @contextmanager
    def stoppable(self, stop: threading.Event) -> Iterator[None]:
        """Let ``stop_all`` reach what goes on outside of the lanes."""
        self._stops.add(stop)
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1
            self._used = time.monotonic()
            self._stops.discard(stop)

    def idle_s(self) -> float:
        """Seconds since the last request ended; 0 while one is worked on."""
        return 0.0 if self._asked or self._placing else time.monotonic() - self._used

    def stop_all(self) -> None:
        """End every request at its next word; whoever waits is told."""
        for stop in self._stops:
            stop.set()

    def close(self) -> bool:
        """Close the database; False if a job did not end in time and still has it open."""
        self.stop_all()
        aside = (self._watching, self._looking, self._reminding)
        lanes = (*aside, self._slow, self._quick, self._raw)
        if not all([lane.close(CLOSING_S) for lane in lanes]):
            return False
        for session in self._sessions.values():
            session.graph.close()
        self._graph.close()
        return True
