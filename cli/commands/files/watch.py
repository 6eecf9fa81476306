"""``memlane watch``: ingest of folders when files change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.input.paths import named_path
from cli.output.render import counted
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import FileReport


def watch(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(parser=named_path, metavar="PATH", help="Folders to watch."),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List watched folders and the memories of deleted files.")
    ] = False,
    remove: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Stop watching this folder.")
    ] = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Watch in this terminal until Ctrl-C.")
    ] = False,
) -> None:
    """Watch folders and ingest files that change.

    The resident process (memlane up) watches the folders; with --foreground this command does.
    Deleting a file does not forget its memories; --list shows them.
    """
    run: Run = context.obj
    from agent.io.watch_status import add_folders, remove_folder, watch_status

    if not (paths or list_ or remove or foreground):
        raise InvalidInput("Name a folder to watch, or use --list, --remove PATH or --foreground.")
    with run.graph() as graph:
        if remove:
            remove_folder(graph, remove)
        add_folders(graph, paths or [], run.config)
        status = watch_status(graph, run.config)
    if foreground:
        _here(run)
        return
    run.emit(status, lambda out: _show(out, status))


def _here(run: Run) -> None:
    """Watch in this process until it is interrupted or told to end."""
    import signal
    from threading import Event

    from agent.io.watch import Watcher, only_watcher
    from agent.io.watch_status import watch_status
    from cli.output import render

    stop = Event()
    reports: list[FileReport] = []

    def told(report: FileReport) -> None:
        if run.json:
            reports.append(report)
        else:
            run.out.print(render.report_line(report))

    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        with run.session() as session, only_watcher(run.config.home):
            if not run.json:
                run.err.print("watching; Ctrl-C stops it and loses nothing")
            Watcher(session).run(stop, told)
            if run.json:
                from cli.output import json_output

                status = watch_status(session.graph, run.config)
                run.print_json(
                    status | {"sources": [json_output.file_report(report) for report in reports]}
                )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def folder_lines(status: dict[str, Any]) -> Iterator[str]:
    """Each watched folder with how many of its files wait, are done, or went wrong."""
    for folder in status["watching"]:
        away = "" if folder["exists"] else " (missing)"
        told = ", ".join(
            f"{folder[state]} {state}"
            for state in ("waiting", "done", "skipped", "failed", "gone")
            if folder[state]
        )
        yield f"{folder['path']}{away}: {told or 'nothing yet'}"


def waiting_line(status: dict[str, Any]) -> str:
    """What the watcher waits for; empty where nothing is in the way."""
    from agent.io.platform_events import BUSY
    from agent.io.watch import SLICE

    if not (status["queue"] and status["paused"]):
        return ""
    slow = f"; one is read every {SLICE:.0f} s" if status["paused"] == BUSY else ""
    return f"{status['queue']} files wait: {status['paused']}{slow}"


def _show(out: Console, status: dict[str, Any]) -> None:
    if not status["watching"]:
        out.print("No folder is watched. Name one: memlane watch FOLDER")
    for line in folder_lines(status):
        out.print(line)
    for done in status["recent"]:
        out.print(f"  {counted(done['memories'], 'memory'):>12} from {done['path']}")
    if waiting := waiting_line(status):
        out.print(waiting)
    for error in status["errors"]:
        again = ", tried again" if error["again"] else ""
        out.print(f"  failed: {error['path']}: {error['error']} ({error['tries']} tries{again})")
    for gone in status["gone"]:
        ids = " ".join(gone["memories"])
        out.print(
            f"  deleted: {gone['path']}; to forget its memories: memlane memories forget {ids}"
        )
