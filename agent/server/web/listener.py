"""Port of the web page: opened on request, closed when unused."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator

from agent.server.resident.client import WebPage
from agent.server.resident.requests import Context, Web
from agent.server.resident.service import Desk
from agent.server.resident.sockets import LOOPBACK, ServedPort
from agent.server.web.access import Keys
from store.errors import InvalidInput

log = logging.getLogger("memlane.resident")
_STEP_S = 0.1
"""How often it is looked whether whoever holds the page open is still there."""


class Listener:
    """At most one page a process. Use it from one event loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._keys = Keys()
        self._served = ServedPort()

    @property
    def port(self) -> int:
        """The port that is listened on; 0 while the page is closed."""
        return self._served.port

    async def serve(
        self, asked: Web, context: Context, stop: threading.Event
    ) -> AsyncIterator[WebPage]:
        """Say where the page is, or close it; held, go on until one of the two goes away."""
        if asked.stop:
            await self.close()
            yield WebPage()
            return
        with self._desk.stoppable(stop):
            yield self._open(asked.port, context)
            if not asked.hold:
                return
            serving = self._served.serving
            while self._served.serving is serving and not stop.is_set():
                await asyncio.sleep(_STEP_S)
            if self._served.serving is serving:
                await self.close()

    def _open(self, port: int | None, context: Context) -> WebPage:
        """:raises InvalidInput: if it is open at another port already."""
        if self._served.serving is None:
            self._start(port or 0, context)
        elif port not in (None, 0, self.port):
            raise InvalidInput(
                f"The page is already open at port {self.port}. Close it first: memlane web --stop"
            )
        return WebPage(self.port, f"http://{LOOPBACK}:{self.port}/#enter={self._keys.link()}")

    def _start(self, port: int, context: Context) -> None:
        # Imported when a page is opened: most processes never open one.
        from agent.server.web.app import build_page

        self._keys = Keys()
        self._served.open(port, build_page(self._desk, self._keys, self, context))
        log.info("the page is open")

    async def close(self) -> None:
        """Close the port; every key that was given out is void."""
        self._keys.void()
        if await self._served.close():
            log.info("the page is closed")
