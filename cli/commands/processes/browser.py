"""``memlane browser``: the browser extension, and which browsers may ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.commands.processes.resident import resident_of, running_of
from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console

    from store.tables.side_tables.programs.paired_browsers import PairedBrowser

app = typer.Typer(help="Fill forms in the browser: the extension.", no_args_is_help=True)


@app.command()
def extension(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the extension.")],
    for_: Annotated[
        Literal["chromium", "firefox"], typer.Option("--for", help="The kind of browser.")
    ] = "chromium",
) -> None:
    """Write the extension into a folder that the browser can load.

    Chromium, Chrome, Edge, Brave: open chrome://extensions, turn on the developer mode, choose
    "Load unpacked". Firefox: open about:debugging, "This Firefox", "Load Temporary Add-on".
    """
    from agent.server.browser.packing import write_extension

    run: Run = context.obj
    run.only_main("browser")
    target = run.located(folder).expanduser().absolute()
    written = write_extension(target, for_)
    steps = {
        "chromium": 'Open chrome://extensions, turn on "Developer mode", choose "Load unpacked" '
        "and this folder.",
        "firefox": 'Open about:debugging, choose "This Firefox", "Load Temporary Add-on" and the '
        "manifest.json in this folder.",
    }[for_]
    run.emit(
        {"folder": str(target), "browser": for_, "files": list(written)},
        lambda out: out.print(f"Wrote {target}.\n{steps}\nThen pair it: memlane browser pair"),
    )


@app.command()
def pair(
    context: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="The local port. Default: 8766, or a free one."),
    ] = None,
) -> None:
    """Show a code that pairs the extension of one browser.

    The code works once and for five minutes. Ctrl-C ends it. With --json the command does not wait
    until the code is used.
    """
    run: Run = context.obj
    run.only_main("browser")
    answers = resident_of(run, "memlane browser pair").browser(
        pair=True, port=port, hold=not run.json
    )
    first = next(answers)
    if run.json:
        run.print_json({"port": first.port, "code": first.code})
        return
    try:
        run.out.print(f"Code: {first.code}", style=None)
        run.err.print("Click memlane in the browser's toolbar and type it. Ctrl-C ends it.")
        last = next(answers, None)  # when the code is used or too old
        paired = last and last.paired
    except KeyboardInterrupt:
        run.err.print()
        paired = None
    run.err.print(f"Paired: {paired}." if paired else "No browser was paired.")


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the browsers whose extension may ask."""
    run: Run = context.obj
    run.only_main("browser")
    with run.graph() as graph:
        browsers = graph.browsers.list()

    def show(out: Console) -> None:
        for one in browsers:
            out.print(_line(one))
        if not browsers:
            out.print("No browser is paired. To pair one: memlane browser pair")

    run.emit({"browsers": [_shape(one) for one in browsers]}, show)


@app.command()
def remove(
    context: typer.Context,
    browser: Annotated[
        str | None, typer.Argument(metavar="ID", help="The browser, as named by the list.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Remove all browsers.")] = False,
) -> None:
    """Let a browser ask no more, from this moment on."""
    from store.errors import InvalidInput

    run: Run = context.obj
    run.only_main("browser")
    if (browser is None) == (not all_):
        raise InvalidInput("Name a browser (memlane browser list), or use --all.")
    with run.graph() as graph:
        named = [one.id for one in graph.browsers.list()] if browser is None else [browser]
        gone = [graph.browsers.remove(one) for one in named]
    if running_of(run.config) is not None:
        from agent.server.resident.client import Client
        from agent.server.resident.paths import Place

        # Whatever its settings: it closes the port where nobody is left.
        list(Client(run.config, Place(run.config.home).socket).browser())

    def show(out: Console) -> None:
        for one in gone:
            out.print(f"Removed: {_line(one)}")
        if not gone:
            out.print("No browser was paired.")

    run.emit({"removed": [_shape(one) for one in gone]}, show)


def _line(one: PairedBrowser) -> str:
    return f"{one.id}: {one.name}, paired {one.paired:%Y-%m-%d}, port {one.port} ({one.origin})"


def _shape(one: PairedBrowser) -> dict[str, object]:
    at = one.paired.isoformat()
    return {"id": one.id, "name": one.name, "origin": one.origin, "port": one.port, "paired": at}
