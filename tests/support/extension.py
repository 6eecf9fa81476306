"""The extension in a headless Chromium: really clicked in the toolbar, its real popup driven.

Playwright shows no popups of extensions as pages; they are driven over the browser's own protocol.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent.config import load_config
from agent.server.browser.packing import write_extension
from agent.server.resident.client import Client
from agent.server.resident.paths import Place
from store.graph import MemoryGraph
from tests.support.browsers import ALONE, chromium
from tests.support.form_pages import PAGES, fill_home
from tests.support.residents import started

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, CDPSession, Page, Worker

WAIT_S = 60.0


@contextmanager
def served(pages: Mapping[str, str]) -> Iterator[int]:
    """Pages by their path, for every host name; the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.split("?")[0])
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((page or "").encode())

        do_POST = do_GET

        def log_message(self, format: str, *_: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Popup:
    """The open popup of the extension."""

    page: Page
    session: CDPSession
    id: str
    target: str
    answers: dict[int, Any] = field(default_factory=dict)
    asked: int = 0

    def call(self, method: str, **given: object) -> Any:
        self.asked += 1
        number = self.asked
        message = json.dumps({"id": number, "method": method, "params": given})
        self.session.send("Target.sendMessageToTarget", {"sessionId": self.id, "message": message})
        self._until(lambda: number in self.answers, method)
        assert "result" in self.answers[number], (method, self.answers[number])
        return self.answers[number]["result"]

    def _until(self, holds: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not holds():
            assert time.monotonic() < deadline, what
            self.page.wait_for_timeout(20)

    def run(self, script: str) -> Any:
        """What an expression of the popup gives."""
        said = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        try:
            self._until(lambda: self.run(script), script)
        except AssertionError:
            raise AssertionError(f"never: {script}\n{self.text()}") from None

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def ready(self) -> None:
        """Wait until it has shown the values, or what is wrong."""
        self.until("document.body.ariaBusy === 'false' && !note.textContent.includes('…')")

    def click(self, text: str, within: str = "body") -> None:
        """Press the first button that says this."""
        found = (
            f"[...document.querySelector({json.dumps(within)}).querySelectorAll('button')]"
            f".find(b => b.textContent.startsWith({json.dumps(text)}) && !b.disabled)"
        )
        self.until(f"Boolean({found})")
        self.run(f"{found}.click()")

    def rows(self) -> dict[str, str]:
        """What is shown for each field: the text of its row."""
        read = """Object.fromEntries([...document.querySelectorAll('#fields .row')]
            .map(row => [row.querySelector('.label').textContent, row.innerText]))"""
        return dict(self.run(read))

    def screenshot(self, path: Path) -> None:
        """As it stands in the browser's window."""
        shot = self.call("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self.session.send("Target.closeTarget", {"targetId": self.target})
        deadline = time.monotonic() + WAIT_S
        while any(one["targetId"] == self.target for one in _targets(self.session)):
            assert time.monotonic() < deadline, "the popup stays"
            self.page.wait_for_timeout(50)


def _targets(session: CDPSession) -> list[dict[str, Any]]:
    """What is open in the browser."""
    return list(session.send("Target.getTargets")["targetInfos"])


@dataclass
class Browser:
    """A browser with the extension, and the tab that is looked at."""

    context: BrowserContext
    page: Page
    worker: Worker
    port: int
    """Where the pages are served."""

    @property
    def extension(self) -> str:
        return self.worker.url.split("/")[2]

    def goto(self, host: str, path: str) -> None:
        self.page.goto(f"http://{host}:{self.port}{path}")

    def popup(self) -> Popup:
        """Click the extension in the toolbar."""
        assert self.context.browser
        session = self.context.browser.new_browser_cdp_session()
        tabs = session.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
        (tab,) = (
            one
            for one in tabs
            if one.get("embedderData", {}).get("tabActive") and one["url"].startswith("http")
        )
        clicked = {"id": self.extension, "targetId": tab["targetId"]}
        session.send("Extensions.triggerAction", clicked)
        found: list[Any] = []
        deadline = time.monotonic() + WAIT_S
        while not found:
            assert time.monotonic() < deadline, "no popup"
            self.page.wait_for_timeout(50)
            found = [one for one in _targets(session) if one["url"].endswith("/popup.html")]
        target = str(found[0]["targetId"])
        attached = session.send("Target.attachToTarget", {"targetId": target, "flatten": False})
        popup = Popup(self.page, session, attached["sessionId"], target)

        def answered(event: dict[str, str]) -> None:
            said = json.loads(event["message"])
            if "id" in said:
                popup.answers[said["id"]] = said

        session.on("Target.receivedMessageFromTarget", answered)
        popup.until("document.readyState === 'complete'")
        return popup


@contextmanager
def browser_with_extension(
    folder: Path, pages: Mapping[str, str], size: dict[str, int] | None = None
) -> Iterator[Browser]:
    """A headless Chromium with the extension; every name under ``.example`` is this machine."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the page")
    write_extension(folder / "extension", "chromium")
    arguments = [
        *ALONE,
        "--headless=new",
        f"--disable-extensions-except={folder / 'extension'}",
        f"--load-extension={folder / 'extension'}",
        "--enable-unsafe-extension-debugging",
        "--host-resolver-rules=MAP *.example 127.0.0.1",
    ]
    with served(pages) as port, playwright.sync_playwright() as player:
        context = player.chromium.launch_persistent_context(
            str(folder / "profile"),
            executable_path=chromium(),
            headless=False,  # the old headless mode has no extensions; the new one is an argument
            args=arguments,
            viewport=size or {"width": 1280, "height": 800},
        )
        try:
            workers = context.service_workers
            worker = workers[0] if workers else context.wait_for_event("serviceworker")
            yield Browser(context, context.pages[0], worker, port)
        finally:
            context.close()


@dataclass
class Paired:
    """A browser that is paired with a home."""

    browser: Browser
    home: Path
    popup: Popup | None = None

    def on(self, path: str, host: str = "") -> Popup:
        """The popup on a page, when it has shown what there is."""
        self.browser.goto(host or f"{path.strip('/')}.example", path)
        return self.again()

    def again(self) -> Popup:
        self.close()
        self.popup = self.browser.popup()
        self.popup.ready()
        return self.popup

    def close(self) -> None:
        if self.popup is not None:
            self.popup.close()
            self.popup = None

    def page(self, script: str) -> Any:
        return self.browser.page.evaluate(script)

    def graph(self) -> MemoryGraph:
        return MemoryGraph.open(self.home)

    def badge(self) -> str:
        return str(
            self.browser.worker.evaluate(
                """chrome.tabs.query({active: true}).then(
                    ([tab]) => chrome.action.getBadgeText({tabId: tab.id}))"""
            )
        )


def code_for(home: Path) -> str:
    client = Client(load_config({"home": str(home)}), Place(home).socket)
    (answer,) = client.browser(pair=True)
    assert answer.code
    return answer.code


@contextmanager
def paired_with(home: Path, folder: Path) -> Iterator[Paired]:
    fill_home(home)
    with browser_with_extension(folder, PAGES) as browser, started(home):
        browser.goto("story.example", "/story")
        popup = browser.popup()
        popup.run(f"code.value = '{code_for(home)}'")
        popup.click("Pair")
        popup.ready()
        popup.close()
        yield Paired(browser, home)


def filled(popup: Popup) -> None:
    popup.click("Fill", "#actions")
    popup.until("note.textContent.startsWith('Filled')")
    assert "did not take" not in popup.text()


VALUES = """Object.fromEntries([...document.querySelectorAll('input, select, textarea')]
    .map(e => [e.name, e.value]))"""
"""What the fields of a page hold, by name."""
