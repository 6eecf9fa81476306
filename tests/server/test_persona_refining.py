"""The resident process refines in the background: when nobody waits, and after a change alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.applications.personas.refresh import Refreshed
from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.server.resident.background import refine
from agent.server.resident.service import Desk
from agent.session.session import Session
from store.graph import MemoryGraph
from store.tables.side_tables.personas import PersonaLayer
from tests.conftest import NOW
from tests.support.refining import RUNNING, Refiner, tell


class Freeable(Refiner):
    """The scripted model as the resident process keeps one."""

    loaded = True

    def free(self) -> None:
        self.loaded = False


@pytest.mark.parametrize(("waits", "expected"), [("", True), ("on battery", False)])
def test_the_resident_process_refines_when_nobody_waits(
    own_home: Path,
    embedder: LocalEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    waits: str,
    expected: bool,
):
    monkeypatch.setattr("agent.server.resident.background.REFINE_S", 0.01)
    with MemoryGraph.open(own_home) as graph:
        tell(graph, *RUNNING)
    monkeypatch.setattr("agent.io.platform_events.why_wait", lambda on_battery: waits)
    desk = Desk(load_config(now=NOW), llm=Freeable(), embedder=embedder)

    async def work() -> bool:
        task = asyncio.create_task(refine(desk))
        try:
            for _ in range(400 if expected else 10):
                await asyncio.sleep(0.02)
                with MemoryGraph.open(own_home) as graph:
                    if graph.personas.lines(NOW, PersonaLayer.DISTILLED):
                        return True
            return False
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    try:
        assert asyncio.run(work()) is expected
    finally:
        assert desk.close()


def test_the_resident_process_looks_again_only_after_a_change(
    own_home: Path, embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.server.resident.background.REFINE_S", 0.01)
    looks: list[int] = []

    def look(session: Session, *, limit: int | None = None) -> Refreshed:
        looks.append(limit or 0)
        return Refreshed((), 0, 0, 0, "")

    monkeypatch.setattr("agent.server.resident.background.refresh", look)
    desk = Desk(load_config(now=NOW), llm=Freeable(), embedder=embedder, why_wait=lambda: "")

    async def work() -> None:
        task = asyncio.create_task(refine(desk))
        try:
            for expected in (1, 2):
                for _ in range(400):
                    await asyncio.sleep(0.02)
                    if len(looks) >= expected:
                        break
                await asyncio.sleep(0.2)  # twenty times as long as it lies between two looks
                assert len(looks) == expected
                with MemoryGraph.open(own_home) as graph:
                    tell(graph, RUNNING[0])
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    try:
        asyncio.run(work())
    finally:
        assert desk.close()
