"""The port that extensions ask: open while a browser is paired, or a code waits.

Always the same one, which is why it is not that of the page: a page comes and goes at any free
port, and closing it locks everybody out.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator

from agent.server.browser.pairing import CODE_S, Codes, digest_of
from agent.server.resident.client import BrowserPort
from agent.server.resident.requests import Browser, Context
from agent.server.resident.service import Desk
from agent.server.resident.sockets import ServedPort
from store.errors import HomeUnavailable, InvalidInput
from store.tables.side_tables.programs.paired_browsers import PairedBrowser

log = logging.getLogger("memlane.resident")
PORT = 8766
"""The port of the first pairing, unless another is asked for or it is taken."""
_STEP_S = 0.1


class BrowserListener:
    """At most one port a process. Use it from one event loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._codes = Codes()
        self._served = ServedPort()
        self._last: PairedBrowser | None = None

    @property
    def port(self) -> int:
        """The port that is listened on; 0 while it is closed."""
        return self._served.port

    async def start(self) -> None:
        """Listen from the beginning where a browser is paired."""
        if browsers := await self._paired():
            try:
                self._open(browsers[-1].port)
            except HomeUnavailable:
                log.warning("the port of the browser extension is taken by another program")

    async def serve(
        self, asked: Browser, context: Context, stop: threading.Event
    ) -> AsyncIterator[BrowserPort]:
        """Give a pairing code, and held, say when it was used; or look who is still paired."""
        if asked.pair:
            with self._desk.stoppable(stop):
                await self._open_for_pairing(asked.port)
                self._last, code = None, f"{self.port}-{self._codes.new()}"
                asyncio.get_running_loop().call_later(CODE_S + 1, self._look_soon)
                yield BrowserPort(self.port, code)
                while asked.hold and self._codes.waits and not stop.is_set():
                    await asyncio.sleep(_STEP_S)
            if not asked.hold:
                return
            self._codes.void()
        await self._close_unused()
        name = None if self._last is None else self._last.name
        yield BrowserPort(self.port or None, None, name)

    async def _open_for_pairing(self, port: int | None) -> None:
        """:raises InvalidInput: if another port is open already."""
        if self.port:
            if port not in (None, self.port):
                raise InvalidInput(
                    f"The extension is answered at port {self.port}. To change that, remove the "
                    "paired browsers first: memlane browser list"
                )
        elif port is not None:
            self._open(port)
        else:
            browsers = await self._paired()
            try:
                self._open(browsers[-1].port if browsers else PORT)
            except HomeUnavailable:
                self._open(0)

    def _open(self, port: int) -> None:
        # Imported when it is opened: most processes never listen for a browser.
        from agent.server.browser.app import build_browser_app

        self._served.open(port, build_browser_app(self._desk, self, self._pair))
        log.info("the port of the browser extension is open")

    async def _pair(self, code: str, name: str, origin: str) -> str:
        """The token of a newly paired browser. :raises Refused: if the code is wrong or too old."""
        self._codes.take(code)
        token, port = secrets.token_urlsafe(32), self.port
        shown = " ".join(name.split())[:60] or "browser"
        self._last = await self._desk.looked(
            Context(),
            threading.Event(),
            lambda session: session.graph.browsers.put(
                shown, origin, digest_of(token), port, session.config.now()
            ),
        )
        log.info("a browser was paired")
        return token

    async def _paired(self) -> tuple[PairedBrowser, ...]:
        return await self._desk.looked(
            Context(), threading.Event(), lambda session: session.graph.browsers.list()
        )

    def _look_soon(self) -> None:
        self._closing = asyncio.ensure_future(self._close_unused())

    async def _close_unused(self) -> None:
        if self.port and not self._codes.waits and not await self._paired():
            await self.close()

    async def close(self) -> None:
        """Close the port; a code that waits is void."""
        self._codes.void()
        if await self._served.close():
            log.info("the port of the browser extension is closed")
