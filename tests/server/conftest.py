"""A home and a client of its MCP server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp_types import Implementation

from agent.config import load_config
from agent.server.mcp.memory import AgentMemory
from agent.server.mcp.server import Desk, build_server
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
from tests.conftest import NOW
from tests.support.mcp_client import CAT, Job, Person
from tests.support.mcp_work import LIGHT, open_light


@pytest.fixture
def cat(graph: MemoryGraph) -> MemoryGraph:
    """A home with one memory."""
    graph.apply([Insert(Draft(CAT, "relationship.relatives", NOW))], at=NOW, actor="user")
    return graph


@pytest.fixture
def talk(own_home: Path) -> Callable[..., Any]:
    """Be a client of a server on this home; ``agents`` are its permissions."""

    def call(
        job: Job,
        *agents: str,
        name: str = "tester",
        client: str | None = None,
        says: Person | None = None,
        mode: Literal["auto", "legacy"] = "auto",
    ) -> Any:
        config = replace(load_config(LIGHT, now=NOW), agents=agents)

        async def main() -> Any:
            desk = Desk(config, client, AgentMemory(config, open_light))
            try:
                async with Client(
                    build_server(desk),
                    client_info=Implementation(name=name, version="1"),
                    elicitation_callback=says,
                    mode=mode,
                ) as opened:
                    return await job(opened)
            finally:
                desk.close()

        return anyio.run(main)

    return call
