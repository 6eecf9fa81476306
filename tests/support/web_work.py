"""The page of memlane web as a browser has it, over a home to look at or an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from agent.config import load_config
from agent.server.resident.requests import Context
from agent.server.resident.service import Desk
from agent.server.web.access import Keys
from agent.server.web.app import build_page
from store.graph import MemoryGraph
from tests.conftest import NOW
from tests.support.resident_work import Encoder, Talker
from tests.support.web_sample import fill

PORT = 8123
OWN = f"http://127.0.0.1:{PORT}"
FLIGHT = "The EK349 flight departs at 01:30 on 2024-05-12 now."
"""What the home says of it as it stands."""


@dataclass(frozen=True)
class Opened:
    """The page as a browser that came in by its link has it."""

    http: TestClient
    keys: Keys
    key: str
    port: int = PORT

    def post(self, name: str, said: object, **headers: str) -> Any:
        given = {"Authorization": f"Bearer {self.key}", "Origin": OWN} | headers
        return self.http.post(f"/api/{name}", json=said, headers=given)

    def ask(self, name: str, **said: object) -> Any:
        answer = self.post(name, said)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(frozen=True)
class At:
    port: int = PORT


def filled(home: Path) -> Path:
    with MemoryGraph.open(home) as graph:
        fill(graph)
    return home


def page_of(home: Path) -> Iterator[Opened]:
    config = load_config({"home": str(home)}, now=NOW)
    desk = Desk(config, llm=Talker(), embedder=Encoder(0), why_wait=lambda: "")
    keys = Keys()
    app = build_page(desk, keys, At(), Context())
    with TestClient(app, base_url=OWN) as http:
        key = http.post("/api/enter", json={"code": keys.link()}).json()["key"]
        yield Opened(http, keys, key)
    assert desk.close()


def id_of(page: Opened, text: str) -> str:
    (card,) = [c for c in page.ask("search", text=text)["cards"] if c["memory"]["text"] == text]
    return str(card["memory"]["id"])
