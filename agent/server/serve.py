"""Main loop of the resident process: lock, listen, shut down."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable

from agent.config import Config
from agent.server.browser.listener import BrowserListener
from agent.server.resident.background import (
    encode,
    move_encoder,
    refine,
    remind,
    take_up,
    tidy,
    watch,
)
from agent.server.resident.http_app import Command, Guarded, Method, build_app
from agent.server.resident.log_file import open_log
from agent.server.resident.paths import Lock, Place, bind, ensure_token
from agent.server.resident.service import Desk
from agent.server.resident.sockets import LOOPBACK, bind_tcp, quiet_server
from agent.server.resident.starting.until_idle import end_when_idle
from agent.server.web.listener import Listener
from agent.version import __version__
from store.database.connection import DATABASE_NAME, ensure_home
from store.database.encryption.envelope import envelope_of

log = logging.getLogger("memlane.resident")
Ready = Callable[[str], None]


def serve(
    config: Config,
    *,
    port: int | None = None,
    debug: bool = False,
    on_ready: Ready | None = None,
    open_desk: Callable[[Config], Desk] = Desk,
    command: Command | None = None,
    until_idle: bool = False,
) -> None:
    """Be the resident process of a home until SIGTERM or Ctrl-C. ``on_ready`` gets its address.

    ``command`` works out whole command lines for whoever may open the socket in the home. With
    ``until_idle`` the process also ends as ``resident.until_idle`` says; so does every process that
    holds a key which a passphrase opened. In an encrypted home ``debug`` writes no texts either.

    :raises StoreBusy: if there is one already.
    :raises HomeUnavailable: if the home, its socket or the port cannot be used.
    :raises HomeLocked: if the home is encrypted and this process has no key.
    """
    envelope = envelope_of(config.home / DATABASE_NAME)
    os.umask(0o077)  # whatever is written from here on is the person's alone
    place = Place(config.home)
    lock = Lock(ensure_home(config.home) and place.lock)
    lock.take()
    handler = open_log(place.log, debug=debug and envelope is None)
    try:
        listening = bind(place)
        try:
            desk = open_desk(config)
            desk.forgets_key = envelope is not None and envelope.passphrase is not None
            desk.until_idle = until_idle or desk.forgets_key
            tcp = None if port is None else bind_tcp(port)
            token = "" if tcp is None else ensure_token(place)
            log.info("up: memlane %s, process %d", __version__, os.getpid())
            asyncio.run(_serve(desk, listening, str(place.socket), tcp, token, on_ready, command))
            if not desk.close():
                # A model that is reading a long prompt hears nothing. What is stored is whole.
                log.warning("shut down, one job still running")
                place.socket.unlink(missing_ok=True)
                os._exit(0)
            log.info("down")
        finally:
            listening.close()
            place.socket.unlink(missing_ok=True)  # while the lock is ours
    finally:
        lock.release()
        handler.close()


async def _serve(
    desk: Desk,
    listening: socket.socket,
    path: str,
    tcp: socket.socket | None,
    token: str,
    on_ready: Ready | None,
    command: Command | None,
) -> None:
    port = None if tcp is None else int(tcp.getsockname()[1])
    page, browser = Listener(desk), BrowserListener(desk)
    others: dict[str, Method] = {"web": page.serve, "browser": browser.serve}
    servers = [(quiet_server(build_app(desk, path, port, others, command)), listening)]
    if tcp is not None:
        app = build_app(desk, path, port, others)
        servers.append((quiet_server(Guarded(app, token)), tcp))

    def end() -> None:
        log.info("shutting down")
        desk.stop_all()
        for one, _ in servers:
            one.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)  # a terminal that closes
    listening.listen(128)  # whoever connects from here on is answered, if a moment later
    jobs = [browser.start(), *(job(desk) for job in (take_up, encode, tidy, watch, remind))]
    jobs.append(move_encoder(desk, end))
    if desk.until_idle:
        jobs += [desk.warm_up(), end_when_idle(desk, end)]
    else:
        jobs.append(refine(desk))  # loads the language model, which nobody asked for otherwise
    background = [asyncio.create_task(job) for job in jobs]
    if on_ready:
        on_ready(path if port is None else f"{path} and http://{LOOPBACK}:{port}")
    try:
        await asyncio.gather(*(one.serve(sockets=[sock]) for one, sock in servers))
    finally:
        await page.close()
        await browser.close()
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
