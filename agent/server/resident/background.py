"""Jobs of the resident process that nobody asked for: unfinished texts, missing vectors, watched
folders, persona lines, reminders, idle models. They give way to requests (``service``).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from agent.applications.personas.refresh import refresh
from agent.applications.services.desktop_notifications import keep_showing
from agent.config import load_config
from agent.io.watch import Watcher, only_watcher
from agent.memory.home import forget_due
from agent.memory.vectors.encoder_move import EncoderMove, arrive
from agent.memory.vectors.waiting import Waiting
from agent.models.lazy import LocalEmbedder
from agent.results import FileReport
from agent.server.resident.service import Desk
from agent.server.resident.shared_models import give_back_freed
from agent.server.resident.workers import Stopped
from store.errors import MemlaneError
from store.types import Source, SourceStatus

log = logging.getLogger("memlane.resident")

TURNS_GIVEN = 3
"""How often a text that waits in the background gives way before it is worked out whole."""
AGAIN_S = 60.0
"""When to try to watch again after another process did."""
REFINE_S = 60.0
"""How often is looked for what the persona lacks."""
ENCODE_S = 30.0
"""How often is looked for memories without a vector."""
ENCODED = 100
"""Memories that are encoded before a request gets its turn: at most half a second."""
_DAY_S = 24 * 3600.0


async def take_up(desk: Desk) -> None:
    """Make memories of what was stored before this process began, and not worked out."""
    for source in await _waiting(desk):
        # Each time that somebody asks something meanwhile it gives way, but not for ever.
        for turn in range(TURNS_GIVEN + 1):
            with suppress(Stopped):
                await _finish(desk, source, gives_way=turn < TURNS_GIVEN)
                break


async def _finish(desk: Desk, source: Source, *, gives_way: bool) -> None:
    lane = desk.slow
    session = desk.sessions[lane]

    def job() -> None:
        session.config = desk.config
        for report in session.retry(only={source.id}):
            if report.status == "failed":
                log.warning("extraction of %s failed", source.id)

    stop = threading.Event()
    desk.stops.add(stop)
    try:
        await lane.do(job, stop, gives_way=gives_way)
    except MemlaneError as error:
        log.warning("extraction of %s failed: %s", source.id, type(error).__name__)
    finally:
        desk.stops.discard(stop)


async def _waiting(desk: Desk) -> tuple[Source, ...]:
    return await desk.raw.do(
        lambda: desk.graph.sources.list(SourceStatus.PENDING), threading.Event()
    )


async def watch(desk: Desk) -> None:
    """Take in watched folders (``agent.io.watch``) until this is cancelled."""
    stop, session = threading.Event(), desk.sessions[desk.watching]
    desk.stops.add(stop)

    def told(report: FileReport) -> None:
        log.info("watched: a file is %s, %d memories", report.status, report.memories)

    def job() -> None:
        while not stop.is_set():
            try:
                with only_watcher(desk.config.home):
                    Watcher(session, wait=desk.why_wait).run(stop, told)
            except MemlaneError as error:  # such as `memlane watch --foreground` beside us
                log.warning("not watching now: %s", type(error).__name__)
            stop.wait(AGAIN_S)

    await desk.watching.do(job, stop)


async def refine(desk: Desk) -> None:
    """Make the persona's lines that are due, one at a time and when nobody waits.

    To look loads the encoder, so nothing is looked at twice: only a change, or a new day on
    which something may have expired, can make more of them due.
    """
    session = desk.sessions[desk.slow]
    seen: tuple[object, ...] | None = None

    def state() -> tuple[object, ...]:
        newest = desk.graph.journal.newest(1)
        day = desk.config.now().date()
        return [entry.id for entry in newest], desk.graph.count_forgotten(), day

    def job() -> bool:
        session.config = desk.config
        done = refresh(session, limit=1)
        return bool(done.waiting) and not done.reason

    while True:
        await asyncio.sleep(REFINE_S)
        if desk.why_wait():
            continue
        with suppress(Stopped, MemlaneError):  # somebody asked something: later, then
            now = await desk.raw.do(state, threading.Event())
            while now != seen:
                if not await desk.slow.do(job, threading.Event(), gives_way=True):
                    seen = now


async def encode(desk: Desk) -> None:
    """Make the vectors that memories wait for after an import, a few at a time."""
    session, waiting = desk.sessions[desk.quick], Waiting()
    made = 0

    def job() -> int:
        return waiting.encode(ENCODED, session.graph, session.embedder)

    while True:
        with suppress(Stopped, MemlaneError):  # somebody asked something: after that, then
            if made or await desk.raw.do(desk.graph.vectors.count_bare, threading.Event()):
                made = await desk.quick.do(job, threading.Event(), gives_way=True)
        desk.encoding = made > 0
        await asyncio.sleep(0.0 if made else ENCODE_S)


async def move_encoder(desk: Desk, end: Callable[[], None]) -> None:
    """Make the vectors of the encoder that the home moves to (``memory.vectors.encoder_move``).

    The process ends when all are made: the next command leaves one behind that searches by them.
    """
    session, waiting = desk.sessions[desk.quick], ENCODE_S
    move: tuple[str, EncoderMove] | None = None
    while True:
        await asyncio.sleep(waiting)
        waiting = ENCODE_S
        with suppress(Stopped, MemlaneError):
            aim = load_config({"home": str(desk.config.root)}).next_embedder
            if not aim or desk.encoding:
                continue
            if move is None or move[0] != aim:
                new = LocalEmbedder(replace(desk.config, embedder=aim))
                move = (aim, EncoderMove(session.graph, new))
            step = partial(move[1].step, ENCODED)
            if await desk.quick.do(step, threading.Event(), gives_way=True):
                waiting = 0.0
            else:
                arrive(aim)
                log.info("the home searches with another encoder from now on")
                end()
                return


async def remind(desk: Desk) -> None:
    """Show reminders and the day's digest on the desktop, where the person turned that on
    (``services.desktop_notifications``)."""
    if desk.config.notify or desk.config.notify_today:
        stop = threading.Event()
        desk.stops.add(stop)
        try:
            await desk.reminding.do(lambda: keep_showing(desk.config, stop), stop)
        except MemlaneError as error:
            log.warning("no reminders are shown: %s", type(error).__name__)


async def tidy(desk: Desk) -> None:
    """Free models that nobody uses, give freed memory back, and once a day forget what is due."""
    idle_s = desk.config.idle_minutes * 60.0
    forgotten = time.monotonic()
    while True:
        await asyncio.sleep(min(30.0, idle_s / 2))
        for name, keeper in desk.kept.items():
            if await asyncio.to_thread(keeper.free, idle_s):
                log.info("freed the %s", name)
        await asyncio.to_thread(give_back_freed)  # what the models took for the last texts
        if time.monotonic() - forgotten > _DAY_S:
            forgotten = time.monotonic()
            with suppress(MemlaneError):
                await desk.raw.do(
                    lambda: forget_due(desk.graph, desk.config.now()), threading.Event()
                )
