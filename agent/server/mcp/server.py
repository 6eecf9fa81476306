"""MCP server: eight tools with the official SDK.

Invariants: standard output carries messages of the protocol alone; a failure of ours is a tool's
error in one line, and nothing unforeseen reaches the client or the log with anybody's words in it;
a change is made only when the program may and the person has said so.
"""

# No `from __future__ import annotations`: the SDK reads the annotations of the tools, and those
# name functions inside of build_server.

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeVar

import anyio
import anyio.to_thread
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import (
    CallToolResult,
    ClientCapabilities,
    ElicitationCapability,
    FormElicitationCapability,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

from agent.answering.trace import in_words
from agent.config import Config
from agent.errors import NotAllowed
from agent.server.mcp import shapes
from agent.server.mcp.confirming import ensure_confirmed, question
from agent.server.mcp.fence import NOTICE, fenced, shown, told
from agent.server.mcp.memory import MOST, AgentMemory
from agent.server.mcp.permissions import Action, allowed, check, named, read_permissions
from agent.server.mcp.protocol import OneLineServer, only_allowed
from agent.version import __version__
from store.errors import MemlaneError
from store.journal import Entry

log = logging.getLogger("memlane.mcp")
T = TypeVar("T")
INSTRUCTIONS = (
    "memlane holds what one person wants remembered. Search before you answer about the person. "
    f"{NOTICE} Changes need the person's consent each time."
)
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
_FORM = ClientCapabilities(elicitation=ElicitationCapability(form=FormElicitationCapability()))
MOST_STEPS = 30
"""Decisions of a search that ``why`` tells."""

Limit = Annotated[int, Field(description=f"How many, 1 to {MOST}.")]
Id = Annotated[str, Field(description="A memory's id from a search, such as m12.", max_length=20)]
Code = Annotated[
    str | None,
    Field(description="Only for a client that cannot ask the person: the code the person told."),
]


class Consent(BaseModel):
    """What the person answers."""

    agreed: bool = Field(description="Do it")


class Desk:
    """What the tools of one server share: which client asks, and what it may do."""

    def __init__(
        self, config: Config, client: str | None = None, memory: AgentMemory | None = None
    ) -> None:
        self._permissions = read_permissions(config.agents)
        self._pinned = named(client) if client else None
        self._memory = memory or AgentMemory(config)
        self._one = anyio.CapacityLimiter(1)

    def may(self, client: str) -> frozenset[Action]:
        """What a client may do that gives itself this name."""
        return allowed(self._permissions, self._pinned or client)

    def close(self) -> None:
        self._memory.close()

    def client(self, context: Context) -> str:
        """The name that permissions go by: the one on the command line, else what it says."""
        if self._pinned is not None:
            return self._pinned
        params = context.session.client_params
        return named(params.client_info.name if params is not None else None)

    async def work(
        self, context: Context, action: Action, job: Callable[[AgentMemory, str], T]
    ) -> T:
        """Do a job in a thread, if the program may; what goes wrong is the tool's error."""
        client = self.client(context)

        def checked() -> T:
            check(self._permissions, client, action)
            return job(self._memory, client)

        try:
            return await anyio.to_thread.run_sync(checked, limiter=self._one)
        except MemlaneError as error:
            raise ToolError(" ".join(str(error).split())) from None
        except Exception as error:
            # Nobody foresaw it: its message may quote a memory, so only its kind is told.
            log.error("%s: unexpected %s", action, type(error).__name__)
            raise ToolError(f"unexpected {type(error).__name__}; nothing stored is lost") from None

    async def asks(
        self, context: Context, action: Action, memory: str, text: str = ""
    ) -> Consent | Elicit[Consent]:
        """The question to the person where the client can show one; else agreed later by a code."""
        if not _can_ask(context):
            return Consent(agreed=False)

        def asked(known: AgentMemory, client: str) -> str:
            wanted = known.checked(text) if text else ""
            return question(client, action, known.current(memory), wanted)

        return Elicit(await self.work(context, action, asked), Consent)


def _can_ask(context: Context) -> bool:
    return bool(context.session.check_client_capability(_FORM))


def _agreed(context: Context, consent: ElicitationResult[Consent]) -> bool:
    """Whether the person agreed to the question that the client showed.

    :raises NotAllowed: if the person was asked and did not.
    """
    if not _can_ask(context):
        return False
    if isinstance(consent, AcceptedElicitation) and consent.data.agreed:
        return True
    raise NotAllowed("The person did not agree; nothing was changed.")


def _result(document: dict[str, object]) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=fenced(document))],
        structured_content={"notice": NOTICE, **document},
    )


@dataclass(frozen=True, slots=True)
class _Tool:
    """How a tool is shown, and the permission that it needs."""

    action: Action
    title: str
    annotations: ToolAnnotations


TOOLS = {
    "memory_search": _Tool("search", "Search memory", _READS),
    "memory_open": _Tool("search", "Open a memory", _READS),
    "memory_entity": _Tool("search", "Look around a person or thing", _READS),
    "memory_recent": _Tool("search", "Recent activity", _READS),
    "memory_why": _Tool("why", "Why these memories", _READS),
    "memory_remember": _Tool("remember", "Remember a fact", _ADDS),
    "memory_edit": _Tool("edit", "Edit a memory", _CHANGES),
    "memory_forget": _Tool("forget", "Forget a memory", _CHANGES),
}
"""Every tool; a name without the prefix would collide with those of other servers."""


def build_server(desk: Desk) -> MCPServer:
    """The server. Its functions' names, types and first lines are what a client's model reads."""
    actions = {name: tool.action for name, tool in TOOLS.items()}
    server = OneLineServer(
        "memlane",
        title="memlane",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        subscriptions=False,
        middleware=[only_allowed(desk.may, actions)],
    )

    async def memory_search(
        context: Context,
        query: Annotated[str, Field(description="A question or words about the person.")],
        limit: Limit = 6,
        as_of: Annotated[
            str | None,
            Field(description="A date such as 2025-03-01, for what was true on that day."),
        ] = None,
    ) -> Annotated[CallToolResult, shapes.Found]:
        """Find what is remembered about the person."""
        found = await desk.work(
            context, "search", lambda memory, _: memory.search(query, limit, as_of)
        )
        memories = [told(one.memory, found.marks.get(one.memory.id)) for one in found.memories]
        return _result({"turn": found.turn, "memories": memories})

    async def memory_open(context: Context, memory: Id) -> Annotated[CallToolResult, shapes.Opened]:
        """Open one memory by its id: its time, origin, relations and what may have changed it."""
        found = await desk.work(context, "search", lambda known, _: known.open(memory))
        return _result(shapes.opened(*found))

    async def memory_entity(
        context: Context,
        name: Annotated[str, Field(description="A name such as Anna or my boss.")],
        limit: Limit = 10,
    ) -> Annotated[CallToolResult, shapes.Around]:
        """Show a person or thing: the memories about it, and who or what is related to it."""
        found = await desk.work(context, "search", lambda known, _: known.entity(name, limit))
        return _result(shapes.around(*found))

    async def memory_recent(
        context: Context, limit: Limit = 10
    ) -> Annotated[CallToolResult, shapes.Recent]:
        """List what was remembered or changed last."""
        found = await desk.work(context, "search", lambda known, _: known.recent(limit))
        return _result(shapes.recent(found))

    async def memory_why(
        context: Context,
        turn: Annotated[str, Field(description="The turn of an earlier search, such as t12.")],
    ) -> Annotated[CallToolResult, shapes.Reasons]:
        """Tell how the memories of an earlier search were chosen."""
        found = await desk.work(context, "why", lambda memory, _: memory.why(turn))
        steps = [
            {
                "memory": one.step.memory,
                "text": None if one.memory is None else shown(one.memory.text),
                "score": round(one.step.score, 4),
                "chosen": one.step.chosen,
                "reason": shown(one.step.reason),
            }
            for one in found.steps[:MOST_STEPS]
        ]
        words = shown(in_words(found))
        return _result({"turn": turn, "words": words, "policy": found.policy, "steps": steps})

    async def memory_remember(
        context: Context,
        text: Annotated[str, Field(description="One standalone fact, as the person would say it.")],
    ) -> Annotated[CallToolResult, shapes.Stored]:
        """Store one fact about the person. It is kept as your words, not as the person's."""

        def store(memory: AgentMemory, client: str) -> dict[str, object]:
            done = memory.remember(text, client)
            contradicts = [old.id for old, _ in done.open]
            made = [entry.memory for entry in done.entries]
            made += [new.id for _, new in done.open] + list(done.unchanged)
            return shapes.stored(memory.stored(made), done.entries, done.unchanged, contradicts)

        return _result(await desk.work(context, "remember", store))

    async def edit_consent(context: Context, memory: str, text: str) -> Consent | Elicit[Consent]:
        return await desk.asks(context, "edit", memory, text)

    async def forget_consent(context: Context, memory: str) -> Consent | Elicit[Consent]:
        return await desk.asks(context, "forget", memory)

    async def memory_edit(
        context: Context,
        memory: Id,
        text: Annotated[str, Field(description="What is true now, as one sentence.")],
        consent: Annotated[ElicitationResult[Consent], Resolve(edit_consent)],
        code: Code = None,
    ) -> Annotated[CallToolResult, shapes.Changed]:
        """Put a new text in the place of a memory. The person is asked; the old one is kept."""

        def change(known: AgentMemory, client: str) -> tuple[Entry, ...]:
            found, fact = known.current(memory), known.checked(text)
            if not _agreed(context, consent):
                ensure_confirmed(known.graph, known.config.now(), client=client, action="edit",
                                 memory=found, text=fact, code=code)  # fmt: skip
            return known.edit(found, fact, client)

        return _result({"edits": shapes.edits(await desk.work(context, "edit", change))})

    async def memory_forget(
        context: Context,
        memory: Id,
        consent: Annotated[ElicitationResult[Consent], Resolve(forget_consent)],
        code: Code = None,
    ) -> Annotated[CallToolResult, shapes.Changed]:
        """Leave a memory out of every answer. The person is asked, and can undo it."""

        def change(known: AgentMemory, client: str) -> tuple[Entry, ...]:
            found = known.current(memory)
            if not _agreed(context, consent):
                ensure_confirmed(known.graph, known.config.now(), client=client, action="forget",
                                 memory=found, code=code)  # fmt: skip
            return known.forget(found, client)

        return _result({"edits": shapes.edits(await desk.work(context, "forget", change))})

    functions = (
        memory_search, memory_open, memory_entity, memory_recent, memory_why, memory_remember,
        memory_edit, memory_forget,
    )  # fmt: skip
    for function in functions:
        tool = TOOLS[function.__name__]
        server.add_tool(function, title=tool.title, annotations=tool.annotations)
    return server


def serve(config: Config, client: str | None = None) -> None:
    """Serve one client until it closes its end.

    :raises InvalidInput: if the configured permissions cannot be read.
    """
    desk = Desk(config, client)
    try:
        anyio.run(partial(until_closed, build_server(desk)))
    finally:
        desk.close()


async def until_closed(server: MCPServer) -> None:
    """Serve standard input and output; a client that goes away in the middle is an end too."""
    try:
        await server.run_stdio_async()
    except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        log.info("the client closed in the middle")
