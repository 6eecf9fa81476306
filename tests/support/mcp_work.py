"""An MCP server with a hash for an encoder: ``python -m tests.support.mcp_work HOME``.

Protocol, pipes and store are real; only the model is not, so that it starts in a moment.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import anyio

from agent.config import Config, load_config
from agent.ports import Embedder, LanguageModel
from agent.server.mcp.memory import AgentMemory
from agent.server.mcp.server import Desk, build_server, until_closed
from agent.session.session import Session, open_session
from tests.support.crash_work import NOW, HashEncoder, SilentModel

LIGHT = {"policy": "bm25"}
"""Settings that go with vectors which mean nothing: memories are found by their words."""


def open_light(config: Config) -> Session:
    """A session that opens in a moment, after a word on standard output as a library might say."""
    print("this line must not reach the client", flush=True)
    embedder = cast(Embedder, HashEncoder())
    return open_session(config, llm=cast(LanguageModel, SilentModel()), embedder=embedder)


def main() -> None:
    config = load_config({"home": str(Path(sys.argv[1])), **LIGHT}, now=NOW)
    desk = Desk(config, memory=AgentMemory(config, open_light))
    try:
        anyio.run(until_closed, build_server(desk))
    finally:
        desk.close()


if __name__ == "__main__":
    main()
