"""Web application: static files, API and authentication."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from threading import Event
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.results import Reply
from agent.server.resident.http_app import Method, endpoint, looked
from agent.server.resident.requests import Ask, Call, Context, Remember
from agent.server.resident.service import Desk, OnText
from agent.server.web import edits, requests, today, views
from agent.server.web.access import API, Guarded, HasPort, Keys, page_door
from agent.server.web.requests import Done, Enter, Key, Tell
from agent.session.session import Session

FILES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""The kinds of files that the page is made of. None of them holds anything of the person."""

WORK: tuple[tuple[Call, Callable[[Session, Any], object]], ...] = (
    (Call("start", requests.Start, requests.Overview), views.start),
    (Call("around", requests.Around, requests.Neighbourhood), views.around),
    (Call("at", requests.At, requests.Cards), views.at),
    (Call("today", today.Today, today.Day), today.today),
    (Call("in_time", requests.InTime, requests.Months), views.in_time),
    (Call("search", requests.Search, requests.Hits), views.search),
    (Call("look", requests.Look, requests.MemoryPage), views.look),
    (Call("journal", requests.Journal, requests.Lines), views.journal),
    (Call("answers", requests.Answers, requests.AnswerList), views.answers),
    (Call("why", requests.Why, requests.Reasons), views.why),
    (Call("edit", requests.Edit, Done), edits.edit),
    (Call("supersede", requests.Supersede, Done), edits.supersede),
    (Call("leave", requests.Leave, Done), edits.leave),
    (Call("pin", requests.Pin, Done), edits.pin),
    (Call("undo", requests.Undo, Done), edits.undo),
    (Call("undo_run", requests.UndoRun, Done), edits.undo_run),
    (Call("decide", requests.Decide, Done), edits.decide),
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
    return Guarded(Starlette(routes=routes), page_door(keys, page))


def _methods(desk: Desk, keys: Keys) -> list[tuple[Call, Method]]:
    async def enter(asked: Enter, context: Context, stop: Event, on_text: OnText) -> Key:
        return Key(keys.enter(asked.code))

    async def tell(asked: Tell, context: Context, stop: Event, on_text: OnText) -> Done:
        return edits.told(
            await desk.remember(Remember(asked.text, wait=True), context, stop, on_text)
        )

    return [
        (Call("enter", Enter, Key), enter),
        (Call("tell", Tell, Done), tell),
        (Call("ask", Ask, Reply), desk.ask),
        *((call, looked(desk, work)) for call, work in WORK),
    ]


def _files() -> dict[str, bytes]:
    """The files of the page by name; read once, so nothing else of the disk can be asked for."""
    folder = files("agent.server.web") / "static"
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
