"""``memlane ingest``: notes, screenshots, documents, mail, calendars and contacts."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.paths import named_path
from cli.input.standard_streams import readable
from cli.output import json_output, render
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import FileReport


EVERY = 5.0
"""Seconds between two lines of progress where no bar can be drawn."""


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            parser=named_path,
            metavar="PATH",
            help="Notes, screenshots, documents, mail, calendars, contacts, folders; - is stdin.",
        ),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Retry sources whose extraction failed.")
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Also show where the time went.")
    ] = False,
) -> None:
    """Read notes, screenshots, documents, mail, calendars and contacts into memory.

    Notes are .md and .txt files, screenshots .png .jpg .jpeg .webp, documents .pdf .docx .epub
    .html, mail .eml .mbox, calendars .ics, contacts .vcf. Documents need an extra: pip install
    '.[documents]' from the checkout. Folders are read recursively, without hidden files and without
    files excluded by a .memlaneignore file or the setting ignore. An unchanged file is skipped. A
    changed file updates the memories made from it. Secrets (card numbers, passwords, keys, one-time
    codes) are not stored. The exit code is 1 if a file that you named could not be read.
    """
    if not paths and not retry:
        raise InvalidInput("Name a file or folder to ingest, or use --retry.")
    with ExitStack() as opened:
        files = [opened.enter_context(readable(path, "stdin.md")) for path in paths or ()]
        _ingest(context.obj, files, retry, timing)


def _ingest(run: Run, paths: list[Path], retry: bool, timing: bool) -> None:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from agent.io.ingest import newest_first

    reports: list[FileReport] = []
    with (
        run.assistant() as assistant,
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TimeRemainingColumn(),
            console=run.err,
            transient=True,
            disable=not run.err.is_terminal,
        ) as progress,
    ):
        listed = list(assistant.find(paths))
        found = newest_first(listed)
        task = progress.add_task("reading", total=len(found), pace="")
        begun = told = time.monotonic()

        def on_file(number: int, path: Path) -> None:
            nonlocal told
            now = time.monotonic()
            if not run.err.is_terminal and now - told >= EVERY:
                told = now
                run.note(_line(number, len(found), now - begun, path))
            pace = _pace(number, now - begun)
            progress.update(task, completed=number, description=path.name, pace=pace)

        if retry:
            from store.types import SourceStatus

            with run.graph() as graph:
                waiting = len(graph.sources.list(SourceStatus.PENDING, SourceStatus.FAILED))
            again = progress.add_task("extracting", total=waiting, pace="")
            for report in assistant.retry():
                reports.append(report)
                progress.advance(again)
        if paths:
            reports += assistant.ingest(paths, on_file, found=found)
        took = time.monotonic() - begun
    places = {str(file.path): number for number, file in enumerate(listed)}
    reports.sort(key=lambda report: places.get(report.path, -1))
    taken = next((report.run for report in reports if report.run and report.entries), None)

    def show(out: Console) -> None:
        render.file_reports(out, reports)
        read = [report for report in reports if report.status in ("new", "changed")]
        if len(read) > 1:
            made = sum(report.memories for report in read)
            done = f"{len(read)} files, {render.counted(made, 'memory')} in {took:.0f} s"
            out.print(f"  {done} ({_pace(len(read), took)})")
        if taken:
            out.print(f"  undo all of it with: memlane memories undo --run {taken}", style="dim")

    run.emit(
        {
            "sources": [json_output.file_report(report) for report in reports],
            "edits": json_output.edits(entry for report in reports for entry in report.entries),
            "run": taken,
        },
        show,
    )
    if timing:
        run.show_timing(report.timing_ms for report in reports)
    # A folder may hold anything, but a file that was named was meant to be read.
    named = {str(path) for path in paths}
    failed = [
        report
        for report in reports
        if report.status == "failed" or (report.status == "skipped" and report.path in named)
    ]
    if failed:
        first = failed[0]
        more = f" ({len(failed)} files not read)" if len(failed) > 1 else ""
        why = render.shown_name(f"{first.path}: {first.reason}{more}")
        typer.echo(f"memlane: {why}", err=True)
        raise typer.Exit(1)


def _line(number: int, total: int, seconds: float, path: Path) -> str:
    """'12 of 26 files, about 40 s left: Health.md'."""
    left = f", about {seconds / number * (total - number):.0f} s left" if number else ""
    return f"{number} of {total} files{left}: {path.name}"


def _pace(files: int, seconds: float) -> str:
    """'24 files a minute'; empty where there is too little to tell by."""
    return f"{files * 60 / seconds:.0f} files a minute" if files and seconds >= 0.1 else ""
