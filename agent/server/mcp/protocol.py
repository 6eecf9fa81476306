"""What memlane does otherwise than the SDK: errors in one line, and only tools that may be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import ValidationError

from agent.server.mcp.permissions import Action, named


class OneLineServer(MCPServer):
    """The SDK's server; wrong arguments are told in one line, without what was given."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = (
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
                for one in error.__cause__.errors(include_url=False, include_input=False)
            )
            raise ToolError(f"{name}: {'; '.join(wrong)}") from None


def only_allowed(
    may: Callable[[str], frozenset[Action]], actions: Mapping[str, Action]
) -> ServerMiddleware[Any]:
    """Lists to a client the tools that it may use: who it is is known when it asks."""

    async def middleware(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict):
            return result
        params = ctx.session.client_params
        allowed = may(named(params.client_info.name if params is not None else None))
        tools = [tool for tool in result["tools"] if actions[tool["name"]] in allowed]
        return {**result, "tools": tools}

    return middleware
