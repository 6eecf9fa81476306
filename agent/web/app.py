"""The page put together: its files, what it may ask, and the door in front of both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.resident.app import Method, endpoint
from agent.resident.calls import Ask, Call, Context, Remember
from agent.resident.desk import Desk
from agent.results import Reply
from agent.session.session import Session
from agent.web import calls, changing, looking
from agent.web.calls import Done, Enter, Key, Tell
from agent.web.door import API, Guarded, HasPort, Keys

FILES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""The kinds of files that the page is made of. None of them holds anything of the person."""

WORK: tuple[tuple[Call, Callable[[Session, Any], object]], ...] = (
    (Call("start", calls.Start, calls.Overview), looking.start),
    (Call("around", calls.Around, calls.Neighbourhood), looking.around),
    (Call("at", calls.At, calls.Cards), looking.at),
    (Call("in_time", calls.InTime, calls.Months), looking.in_time),
    (Call("search", calls.Search, calls.Hits), looking.search),
    (Call("look", calls.Look, calls.MemoryPage), looking.look),
    (Call("journal", calls.Journal, calls.Lines), looking.journal),
    (Call("answers", calls.Answers, calls.AnswerList), looking.answers),
    (Call("why", calls.Why, calls.Reasons), looking.why),
    (Call("edit", calls.Edit, Done), changing.edit),
    (Call("supersede", calls.Supersede, Done), changing.supersede),
    (Call("leave", calls.Leave, Done), changing.leave),
    (Call("undo", calls.Undo, Done), changing.undo),
)
"""What is read and changed in the page's own lane. A new thing to ask is a function and a line."""


def build_page(desk: Desk, keys: Keys, page: HasPort, context: Context) -> Guarded:
    """The application of the page's port; ``context`` are the settings of ``memlane web``."""
    routes = [
        *(_served(name, content) for name, content in _files().items()),
        *(
            Route(API + call.name, endpoint(call, method, context), methods=["POST"])
            for call, method in _methods(desk, keys)
        ),
    ]
    return Guarded(Starlette(routes=routes), keys, page)


def _methods(desk: Desk, keys: Keys) -> list[tuple[Call, Method]]:
    async def enter(
        asked: Enter, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> Key:
        return Key(keys.enter(asked.code))

    async def tell(
        asked: Tell, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> Done:
        return changing.told(
            await desk.remember(Remember(asked.text, wait=True), context, stop, on_text)
        )

    return [
        (Call("enter", Enter, Key), enter),
        (Call("tell", Tell, Done), tell),
        (Call("ask", Ask, Reply), desk.ask),
        *((call, _looked(desk, work)) for call, work in WORK),
    ]


def _looked(desk: Desk, work: Callable[[Session, Any], object]) -> Method:
    async def method(
        asked: object, context: Context, stop: threading.Event, on_text: Callable[[str], None]
    ) -> object:
        return await desk.looked(context, stop, lambda session: work(session, asked))

    return method


def _files() -> dict[str, bytes]:
    """The files of the page by name; read once, so nothing else of the disk can be asked for."""
    folder = files("agent.web") / "static"
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.name[path.name.rfind(".") :] in FILES
    }


def _served(name: str, content: bytes) -> Route:
    kind = FILES[name[name.rfind(".") :]]

    async def answer(request: Request) -> Response:
        return Response(content, media_type=kind)

    return Route("/" if name == "index.html" else f"/{name}", answer)
