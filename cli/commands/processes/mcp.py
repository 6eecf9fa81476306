"""``memlane mcp``: Model Context Protocol server for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output import json_output
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console


def mcp(
    context: typer.Context,
    client: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The name of the program. Its permissions depend on this name, not on the name "
            "it reports.",
        ),
    ] = None,
    codes: Annotated[
        bool,
        typer.Option("--codes", help="Only show the codes of changes that wait for your approval."),
    ] = False,
) -> None:
    """Give other programs access over the Model Context Protocol.

    A program may search. The setting agents lists what else it may do. The program starts this
    command itself; docs/agents.md shows how.

    \b
    Examples:
      memlane config set agents "claude-code: search why remember"
      memlane mcp --client claude-code
      memlane mcp --codes
    """
    run: Run = context.obj
    if codes:
        _codes(run)
        return
    try:
        from agent.server.mcp.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "mcp_types"):
            raise
        raise InvalidInput(
            "The Model Context Protocol needs one more package. Install it from the checkout: "
            "pip install '.[mcp]'"
        ) from error
    serve(run.config, client)


def _codes(run: Run) -> None:
    from agent.server.mcp.confirming import question

    with run.graph() as graph:
        waiting = [
            (one, question(one.client, one.action, graph.memories.get(one.memory), one.text))
            for one in graph.confirmations.waiting(run.config.now())
        ]

    def show(out: Console) -> None:
        for one, asked in waiting:
            out.print(f"{one.code}  {asked}")
        if waiting:
            out.print("Give a code to the program only if you want that change.")
        else:
            out.print("No changes wait for your approval.")

    run.emit(
        {
            "codes": [
                {
                    "code": one.code,
                    "client": one.client,
                    "action": one.action,
                    "memory": one.memory,
                    "text": one.text or None,
                    "until": json_output.iso(one.until),
                }
                for one, _ in waiting
            ]
        },
        show,
    )
