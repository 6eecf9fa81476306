"""What tests say to an MCP server as its client, and who answers for the person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from mcp import Client
from mcp_types import CallToolResult, ElicitResult

CAT = "My cat is called Zanzibar."
Job = Callable[[Client], Awaitable[Any]]


def tool(tool_name: str, /, **arguments: Any) -> Job:
    return lambda client: client.call_tool(tool_name, arguments)


def said(result: CallToolResult) -> str:
    (content,) = result.content
    return str(getattr(content, "text", ""))


class Person:
    """Somebody who answers the client's question, and keeps what was asked."""

    def __init__(self, action: Literal["accept", "decline", "cancel"], **content: bool) -> None:
        self._answer = ElicitResult(action=action, content=dict(content) or None)
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self._answer
