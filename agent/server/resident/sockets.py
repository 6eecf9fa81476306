"""Loopback sockets and an HTTP server without its own signals and logs."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from store.errors import HomeUnavailable

LOOPBACK = "127.0.0.1"
_GRACE_S = 3
"""How long a request may take to its end when its server is told to end."""


def bind_tcp(port: int) -> socket.socket:
    """A socket on this machine's own address: no other is ever listened on. 0 takes a free port.

    :raises HomeUnavailable: if the port cannot be had.
    """
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        tcp.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise HomeUnavailable(f"Cannot listen on port {port}: {reason}. Choose another.") from error
    return tcp


class QuietServer(uvicorn.Server):
    """A server that leaves the signals to us: there are several in this process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def quiet_server(served: Callable[..., Any]) -> QuietServer:
    """A server for one ASGI application."""
    return QuietServer(
        uvicorn.Config(
            served,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
    )


class ServedPort:
    """A port of this machine that is opened and closed again, with one application at a time.

    Use it from one event loop.
    """

    def __init__(self) -> None:
        self._server: QuietServer | None = None
        self.serving: asyncio.Task[None] | None = None
        """What serves it; None while it is closed."""
        self.port = 0
        """The port that is listened on; 0 while it is closed."""

    def open(self, port: int, served: Callable[..., Any]) -> None:
        """:raises HomeUnavailable: if the port cannot be had. 0 takes a free one."""
        tcp = bind_tcp(port)
        tcp.listen(128)  # whoever connects from here on is answered, if a moment later
        self.port = int(tcp.getsockname()[1])
        self._server = quiet_server(served)
        self.serving = asyncio.create_task(self._server.serve(sockets=[tcp]))

    async def close(self) -> bool:
        """Stop listening; False if it was closed."""
        server, serving = self._server, self.serving
        if server is None or serving is None:
            return False
        self._server = self.serving = None
        self.port = 0
        server.should_exit = True
        await serving
        return True
