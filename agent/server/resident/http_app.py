"""HTTP application: request validation, dispatch and responses.

An answer is one JSON document, or for who accepts ``application/x-ndjson`` a line for each event,
so that words and files are seen as they are done. Invariant: whatever goes wrong is an answer too,
``{"error": {"kind", "message"}}``, and the log names only its kind.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.codec import decode, encode, parse
from agent.errors import ModelError, UnreadableSource, of_the_system
from agent.language.validation import checked_k, checked_time
from agent.results import Reply
from agent.server.resident.client import Hello, code_folder, settings_of
from agent.server.resident.openapi import description
from agent.server.resident.requests import CALLS, COMMAND, Call, CommandLine, Context, Printed, Say
from agent.server.resident.service import Desk, OnText
from agent.server.resident.workers import Stopped
from agent.session.session import Session
from agent.version import __version__
from store.database.connection import DATABASE_NAME
from store.database.encryption.keys import key_of
from store.database.notices import listening
from store.errors import EditConflict, InvalidInput, MemlaneError, StoreError, UnknownId

log = logging.getLogger("memlane.resident")
NDJSON = "application/x-ndjson"
LONGEST_BODY = 4_000_000
"""Bytes of a request: a form of 2,000 fields with all its words has room."""

Event = dict[str, Any]
Command = Callable[[CommandLine], Printed]
"""What works a command line out, in a thread of its own; it may ask this process."""
Method = Callable[..., Any]
"""What answers a call: ``(asked, context, stop, on_text)``; of a call with items without the last
one, and gives one after the other."""


def build_app(
    desk: Desk,
    socket: str,
    port: int | None,
    others: Mapping[str, Method],
    command: Command | None = None,
) -> Starlette:
    """The application; it needs no lifespan, the desk is opened and closed by ``server.serve``.

    ``others`` answer the calls of their names, the desk's methods all the rest. ``command`` works
    out the command lines that are handed over; none are where it is None.
    """

    async def hello(request: Request) -> Response:
        settings = settings_of(desk.config)
        return JSONResponse(encode(Hello(os.getpid(), __version__, code_folder(), settings)))

    async def status(request: Request) -> Response:
        return JSONResponse(encode(await desk.running(os.getpid(), socket, port)))

    async def openapi(request: Request) -> Response:
        return JSONResponse(description())

    async def key(request: Request) -> Response:
        held = await asyncio.to_thread(key_of, desk.config.home / DATABASE_NAME)
        return JSONResponse({"key": None if held is None else held.hex()})

    async def commanded(asked: CommandLine, *_: object) -> Printed:
        assert command is not None
        return await asyncio.to_thread(command, asked)

    def method_of(call: Call) -> Method:
        return others[call.name] if call.name in others else getattr(desk, call.name)

    routes = [
        Route("/v1/hello", hello),
        Route("/v1/status", status),
        Route("/v1/openapi.json", openapi),
        *(Route(f"/v1/{c.name}", endpoint(c, method_of(c)), methods=["POST"]) for c in CALLS),
    ]
    if command is not None:  # the socket in the home, which nobody else can open
        routes.append(Route("/v1/key", key))
        routes.append(Route("/v1/command", endpoint(COMMAND, commanded), methods=["POST"]))
    return Starlette(routes=routes)


class Guarded:
    """An application that asks everybody for the token: what a TCP port serves."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers") or ()).get(b"authorization", b"")
        if secrets.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        said = _error("Unauthorized", "Send the token of the home: Authorization: Bearer TOKEN")
        await JSONResponse(said, 401)(scope, receive, send)


def endpoint(
    call: Call, method: Method, fixed: Context | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """What serves a call; ``fixed`` settings go before those that the request's headers say."""

    async def answer(request: Request) -> Response:
        began = time.monotonic()
        try:
            asked, context = await _read(request, call)
        except ClientDisconnect:
            return Response(status_code=499)
        except InvalidInput as error:
            return _failed(error)
        events = _events(call, method, asked, fixed or context, request, began)
        if NDJSON in request.headers.get("accept", ""):
            return StreamingResponse((_line(event) async for event in events), media_type=NDJSON)
        return await _whole(call, events)

    return answer


def looked(desk: Desk, work: Callable[[Session, Any], object]) -> Method:
    """What answers a call by ``work`` in the lane of the page."""

    async def method(
        asked: object, context: Context, stop: threading.Event, on_text: OnText
    ) -> object:
        return await desk.looked(context, stop, lambda session: work(session, asked))

    return method


async def _read(request: Request, call: Call) -> tuple[object, Context]:
    """:raises InvalidInput: if it is too long, no JSON, or not what the call takes."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_BODY:
            raise InvalidInput(f"The body is longer than {LONGEST_BODY:,} bytes.")
    said = parse(body or b"{}")
    headers = request.headers
    k = headers.get("memlane-k")
    if k is not None and not (k.isdecimal() and len(k) < 10):
        raise InvalidInput(f"Memlane-K must be a whole number of at least 1, not {k[:40]!r}.")
    now = headers.get("memlane-now")
    return decode(call.asked, said), Context(
        checked_time(decode(datetime, now, "Memlane-Now")) if now else None,
        headers.get("memlane-policy"),
        checked_k(int(k)) if k else None,
    )


async def _events(
    call: Call, method: Method, asked: object, context: Context, request: Request, began: float
) -> AsyncIterator[Event]:
    """What happens while a request is worked on; the last event is a result or an error."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event] = asyncio.Queue()
    stop = threading.Event()
    private = isinstance(asked, Say) and asked.private is not None

    def on_text(piece: str) -> None:  # called in the thread of a lane
        loop.call_soon_threadsafe(queue.put_nowait, {"text": piece})

    def on_notice(line: str) -> None:  # likewise
        loop.call_soon_threadsafe(queue.put_nowait, {"notice": line})

    async def work() -> None:
        try:
            with listening(on_notice):
                if call.items:
                    async for item in method(asked, context, stop):
                        queue.put_nowait({"item": encode(item)})
                    last: Event = {"result": None}
                else:
                    given = await method(asked, context, stop, on_text)
                    last = {"result": encode(_without_trace(given))}
        except Stopped:
            last = _error("ResidentGone", "The resident process is shutting down. Try again.")
        except MemlaneError as error:
            last = _error(type(error).__name__, str(error))
        except OSError as error:
            last = _error(UnreadableSource.__name__, str(of_the_system(error)))
        except Exception as error:
            # Nobody foresaw it: who asked still gets an answer, and the process goes on.
            last = _unexpected(call, error, private)
        problem = last["error"]["kind"] if "error" in last else "ok"
        if not private:
            log.info("%s %s %.0f ms", call.name, problem, 1000 * (time.monotonic() - began))
        queue.put_nowait(last)

    async def hang_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        stop.set()

    tasks = [asyncio.create_task(work()), asyncio.create_task(hang_up())]
    try:
        while True:
            event = await queue.get()
            yield event
            if "result" in event or "error" in event:
                return
    finally:
        stop.set()
        tasks[1].cancel()
        with suppress(asyncio.CancelledError):
            await tasks[1]


def _without_trace(given: object) -> object:
    """A reply without its steps: ``memlane why`` reads what was kept of them."""
    return replace(given, selection=None) if isinstance(given, Reply) else given


def _unexpected(call: Call, error: Exception, private: bool) -> Event:
    # A message or a traceback may quote what somebody told us; with --debug the log has both.
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_name}:{frame.tb_lineno}" if frame else "?"
    log.error("%s: unexpected %s at %s", call.name, type(error).__name__, where)
    if not private:
        log.debug("%s failed", call.name, exc_info=error)
    return _error(
        "MemlaneError",
        f"unexpected {type(error).__name__} in the resident process (nothing stored is lost; "
        "memlane down && memlane up --debug writes into its log where)",
    )


async def _whole(call: Call, events: AsyncIterator[Event]) -> Response:
    items: list[Any] = []
    async for event in events:
        if "item" in event:
            items.append(event["item"])
        elif "error" in event:
            return JSONResponse(event, _status(event["error"]["kind"]))
        elif "result" in event:
            return JSONResponse(items if call.items else event["result"])
    return Response(status_code=499)


_STATUS = {
    InvalidInput.__name__: 400,
    UnknownId.__name__: 404,
    EditConflict.__name__: 409,
    "ResidentGone": 503,
    "NotForwardable": 409,
    "Refused": 403,
    **{kind.__name__: 503 for kind in (*StoreError.__subclasses__(), *ModelError.__subclasses__())},
}


def _failed(error: MemlaneError) -> Response:
    kind = type(error).__name__
    return JSONResponse(_error(kind, str(error)), _status(kind))


def _status(kind: str) -> int:
    """The HTTP status of an error; 500 is only what nobody foresaw."""
    return 500 if kind == MemlaneError.__name__ else _STATUS.get(kind, 400)


def _error(kind: str, message: str) -> Event:
    return {"error": {"kind": kind, "message": message}}


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
