"""``memlane web``: the web page served by the resident process."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cli.commands.processes.resident import resident_of
from cli.context import Run


def web(
    context: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The local port. Default: any free port."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only print the address; do not open a browser.")
    ] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Close the page that is open.")] = False,
) -> None:
    """Open your memory in the browser.

    The page shows the graph, search, a timeline, each memory with its source and history, edits and
    undo, and the trace of each answer. It is served on this machine only, and its link works once.
    Ctrl-C closes the page; with --json it stays open until memlane web --stop.
    """
    run: Run = context.obj
    run.only_main("web")
    if stop:
        _stop(run)
        return
    pages = resident_of(run, "memlane web").web(port=port, hold=not run.json)
    page = next(pages)
    if run.json:
        run.print_json({"open": True, "port": page.port, "address": page.link})
        return
    try:  # from the first word on: whoever sees the address may press Ctrl-C
        run.out.print(f"Your memory: {page.link}", style=None)
        if not no_open and _has_browser():
            import webbrowser

            webbrowser.open(page.link or "")
        run.err.print("The link opens the page once. Ctrl-C closes the page.")
        for _ in pages:  # lasts as long as the page does
            pass
    except KeyboardInterrupt:
        run.err.print()
    run.err.print("The page is closed.")


def _stop(run: Run) -> None:
    from agent.server.resident.client import Client
    from agent.server.resident.paths import Place
    from cli.commands.processes.resident import running_of

    # Whatever its settings: the page of a process that no command would use is closed too.
    if running_of(run.config) is not None:
        list(Client(run.config, Place(run.config.home).socket).web(stop=True))
    run.emit(
        {"open": False, "port": None, "address": None},
        lambda out: out.print("The page is closed."),
    )


def _has_browser() -> bool:
    """Whether somebody sits here: a terminal, and a display that a browser can open on."""
    display = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return display and sys.stdout.isatty()
