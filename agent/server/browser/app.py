"""The application of the extension's port: routes behind the door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from threading import Event

from starlette.applications import Starlette
from starlette.routing import Route

from agent.errors import Refused
from agent.server.browser import forms, memories
from agent.server.browser.pairing import ROUTE, asking, extension_door, proof
from agent.server.browser.requests import (
    Accept,
    Agree,
    Correct,
    FillPage,
    Hello,
    PageForm,
    Pair,
    Proof,
    Proposals,
    Select,
    Token,
)
from agent.server.resident.http_app import Method, endpoint, looked
from agent.server.resident.requests import Call, Context, Fill, Remember
from agent.server.resident.service import Desk, OnText
from agent.server.web.access import Guarded, HasPort
from agent.server.web.edits import supersede, told
from agent.server.web.requests import Done, Supersede
from store.tables.side_tables.programs.paired_browsers import PairedBrowser

Pairing = Callable[[str, str, str], Awaitable[str]]
"""``(code, name, origin)`` -> the token."""


def build_browser_app(desk: Desk, port: HasPort, pairing: Pairing) -> Guarded:
    """The application; ``pairing`` makes a token of a code."""

    async def paired(origin: str) -> PairedBrowser | None:
        return await desk.looked(
            Context(), Event(), lambda session: session.graph.browsers.of(origin)
        )

    async def pair(asked: Pair, context: Context, stop: Event, on_text: OnText) -> Token:
        return Token(await pairing(asked.code, asked.name, asking.get()))

    async def hello(asked: Hello, context: Context, stop: Event, on_text: OnText) -> Proof:
        browser = await paired(asking.get())
        if browser is None:
            raise Refused("This browser is not paired. Pair it: memlane browser pair")
        return Proof(proof(browser, asked.nonce))

    async def fill(asked: FillPage, context: Context, stop: Event, on_text: OnText) -> PageForm:
        site = forms.site_of(asked.address)
        page, notes = forms.read_form(asked.page, site)
        results = await desk.fill(Fill(page.fields, asked.use_llm), context, stop, on_text)
        return await desk.looked(
            context, stop, lambda session: forms.shown(session, page, site, results, notes)
        )

    async def accept(asked: Accept, context: Context, stop: Event, on_text: OnText) -> Done:
        if asked.replaces is None:
            return told(
                await desk.remember(Remember(asked.text, wait=True), context, stop, on_text)
            )
        edit = Supersede(asked.replaces, asked.seen, asked.text)
        return await desk.looked(context, stop, lambda session: supersede(session, edit))

    methods: list[tuple[Call, Method]] = [
        (Call("pair", Pair, Token), pair),
        (Call("hello", Hello, Proof), hello),
        (Call("fill", FillPage, PageForm), fill),
        (Call("agree", Agree, Done), looked(desk, forms.agree)),
        (Call("correct", Correct, Proposals), looked(desk, memories.proposals)),
        (Call("accept", Accept, Done), accept),
        (Call("select", Select, Done), looked(desk, memories.select)),
    ]
    routes = [
        Route(ROUTE + call.name, endpoint(call, method, Context()), methods=["POST"])
        for call, method in methods
    ]
    return Guarded(Starlette(routes=routes), extension_door(paired, port))
