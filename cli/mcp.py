"""memlane mcp: memory for other programs over the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli import shapes
from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console


def mcp(
    context: typer.Context,
    client: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The program this is for; its permissions go by this name, whatever it says.",
        ),
    ] = None,
    codes: Annotated[
        bool,
        typer.Option("--codes", help="Only show the codes for changes that wait for your word."),
    ] = False,
) -> None:
    """Serve other programs over the Model Context Protocol.

    A program may search; what else it may do stands in the configuration (agents). It is started by
    the program itself: docs/agents.md shows how.

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
    from store.errors import InvalidInput

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
            out.print(f"{one.code}  {asked}", markup=False)
        if waiting:
            out.print("Tell a code to the program only if you want that change.")
        else:
            out.print("Nothing waits for your word.")

    run.emit(
        {
            "codes": [
                {
                    "code": one.code,
                    "client": one.client,
                    "action": one.action,
                    "memory": one.memory,
                    "text": one.text or None,
                    "until": shapes.iso(one.until),
                }
                for one, _ in waiting
            ]
        },
        show,
    )
