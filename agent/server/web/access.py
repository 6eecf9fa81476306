"""Authentication middleware: Host and Origin checks, one-time codes, session keys.

Loopback alone keeps nobody out: any page in the browser can send a request to this machine, a name
can be made to point here (DNS rebinding), and other users of the machine reach the port too. So
each request has to name our own address (Host), must not come from another origin (Origin,
Sec-Fetch-Site), and whatever reads or changes memory needs the key of the page.

The key is a header that the page's script adds, kept in the tab's ``sessionStorage``. Not a cookie:
cookies of 127.0.0.1 go to every port of it, whoever listens there, and are sent with forms of other
sites. The link holds a code that is good once and for two minutes, so what stays of it in a history
or a list of processes opens nothing.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.errors import Refused

LINK_S = 120.0
"""How long a link may wait to be opened."""
API = "/api/"
ENTER = API + "enter"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # Text can only ever be text: no script may turn a string into markup.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_ALWAYS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Keys:
    """The codes of links that wait to be opened, and the keys that were given for them.

    They live as long as the port is open: closing the page locks everybody out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._keys: list[str] = []

    def link(self) -> str:
        """A new code, good once and for ``LINK_S``."""
        now = self._clock()
        self._codes = {code: until for code, until in self._codes.items() if until > now}
        code = secrets.token_urlsafe(24)
        self._codes[code] = now + LINK_S
        return code

    def enter(self, code: str) -> str:
        """The key for a code. :raises Refused: if it is wrong, spent or too old."""
        until = self._codes.pop(code, None)
        if until is None or until < self._clock():
            raise Refused("This link has been used or is too old. Get a new one: memlane web")
        key = secrets.token_urlsafe(32)
        self._keys.append(key)
        return key

    def void(self) -> None:
        """Let nobody in any more, also while the last requests are answered."""
        self._codes.clear()
        self._keys.clear()

    def opens(self, key: str) -> bool:
        """Whether a key was given out here; compared in constant time."""
        given = key.encode()
        return any([secrets.compare_digest(given, known.encode()) for known in self._keys])


class HasPort(Protocol):
    """What knows which port is listened on."""

    @property
    def port(self) -> int: ...


Refusal = Callable[[Scope], Awaitable[Response | None]]
"""What a request is refused with; None where it may come in."""


class Guarded:
    """An application behind its door: who may not come in is told so in one line."""

    def __init__(self, app: ASGIApp, refusal: Refusal) -> None:
        self._app, self._refusal = app, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_ALWAYS)
            await send(message)

        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        await (refusal or self._app)(scope, receive, sending)


def page_door(keys: Keys, page: HasPort) -> Refusal:
    """Who may not see the page: other sites, and whoever has no key."""

    async def refusal(scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        try:
            check_origin(headers, page.port)
        except Refused as error:
            return refused(str(error), 403, path.startswith(API))
        if not path.startswith(API):
            return None
        if said := no_json(scope, headers):
            return said
        if path == ENTER or keys.opens(bearer(headers)):
            return None
        return refused("You need a link to open this page. Get one: memlane web", 401)

    return refusal


def no_json(scope: Scope, headers: Headers) -> Response | None:
    """The refusal of what a form of another site could send too."""
    if scope["method"] != "POST":
        return refused("Ask with POST.", 405)
    if headers.get("content-type", "").split(";")[0].strip() != "application/json":
        return refused("Send JSON (Content-Type: application/json).", 415)
    return None


def bearer(headers: Headers) -> str:
    """The key or token that a request shows; empty where it shows none."""
    kind, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if kind.casefold() == "bearer" else ""


def check_host(headers: Headers, port: int) -> str:
    """The address that a request is for. :raises Refused: if it is not ours."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].casefold() not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        raise Refused(f"This page answers at http://127.0.0.1:{port} only.")
    return hosts[0].casefold()


def check_origin(headers: Headers, port: int) -> None:
    """:raises Refused: if a request is not for our address, or comes from another site."""
    host = check_host(headers, port)
    if any(origin.casefold() != f"http://{host}" for origin in headers.getlist("origin")):
        raise Refused("Other sites may not send requests to memlane.")
    # A browser says where a request comes from; 'none' is the person's own doing.
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Refused("Other sites may not open this page. Open its link: memlane web")


def refused(message: str, status: int, as_json: bool = True) -> Response:
    """An answer of one line that holds nothing of the person."""
    if as_json:
        said = {"error": {"kind": Refused.__name__, "message": message}}
        return JSONResponse(said, status)
    return PlainTextResponse(f"memlane: {message}\n", status)
