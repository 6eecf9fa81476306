"""Who may ask: pairing codes, the extension's origin, the token.

A program of another user reaches the port too, and may even listen there while memlane does not.
So an extension shows a token, only from its own origin, and before that memlane proves that it
knows the token's hash: the token and the form go to nobody else.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from agent.errors import Refused
from agent.server.web.access import HasPort, Refusal, bearer, check_host, no_json, refused
from store.tables.side_tables.programs.paired_browsers import PairedBrowser

CODE_S = 300.0
"""How long a pairing code counts."""
MOST_WRONG = 5
"""Wrong codes after which the right one counts no more either."""
_DIGITS = 8
ROUTE = "/browser/"
OPEN = (ROUTE + "pair", ROUTE + "hello")
"""What is asked before there is a token, or before it is shown."""
OWN_NAME = "memlane-extension"
"""The header with an extension's own origin, for Firefox, which sends ``Origin: null``. A page may
send neither this nor JSON without asking first (CORS), and that is always refused."""
_ORIGIN = re.compile(r"(?:chrome|moz)-extension://[a-z0-9-]{1,64}")

asking: ContextVar[str] = ContextVar("asking")
"""The origin of the request that is answered."""
Paired = Callable[[str], Awaitable[PairedBrowser | None]]
"""The paired browser of an origin."""


class Codes:
    """The one code that may wait to be typed into an extension."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._code = ""
        self._until = 0.0
        self._wrong = 0

    @property
    def waits(self) -> bool:
        """Whether a code can still be used."""
        return bool(self._code) and self._clock() < self._until

    def new(self) -> str:
        """A new code; the one before counts no more."""
        self._code = "".join(secrets.choice("0123456789") for _ in range(_DIGITS))
        self._until, self._wrong = self._clock() + CODE_S, 0
        return f"{self._code[:4]}-{self._code[4:]}"

    def void(self) -> None:
        self._code = ""

    def take(self, code: str) -> None:
        """Use the code up. :raises Refused: if it is wrong, used, or too old."""
        given = "".join(filter(str.isdigit, code[:40]))
        right = self.waits and secrets.compare_digest(given.encode(), self._code.encode())
        self._wrong += not right
        if right or self._wrong >= MOST_WRONG:
            self.void()
        if not right:
            raise Refused("This code is wrong or too old. Get a new one: memlane browser pair")


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def proof(browser: PairedBrowser, nonce: str) -> str:
    """What only who knows the token, or its hash, can answer to a nonce."""
    return hmac.new(bytes.fromhex(browser.digest), nonce.encode(), hashlib.sha256).hexdigest()


def extension_door(paired: Paired, port: HasPort) -> Refusal:
    """Who may not ask: pages, other extensions, and whoever has no token."""

    async def refusal(scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        try:
            check_host(headers, port.port)
            origin = _origin(headers)
        except Refused as error:
            return refused(str(error), 403)
        if said := no_json(scope, headers):
            return said
        asking.set(origin)
        if scope["path"] in OPEN:
            return None
        browser = await paired(origin)
        if browser is not None and secrets.compare_digest(
            digest_of(bearer(headers)), browser.digest
        ):
            return None
        return refused("This browser is not paired. Pair it: memlane browser pair", 401)

    return refusal


def _origin(headers: Headers) -> str:
    """:raises Refused: if it is not an extension that asks."""
    origins = headers.getlist("origin")
    if origins == ["null"]:
        own = headers.get(OWN_NAME, "")
        origins = [own] if own.startswith("moz-") else []
    if len(origins) != 1 or not _ORIGIN.fullmatch(origins[0]):
        raise Refused("Only the memlane extension of a browser may ask here.")
    return origins[0]
