"""Commands on files: ``ingest`` and ``fill``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output import json_output, render
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import FileReport


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Notes, screenshots, calendars, contacts, folders.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Retry sources whose extraction failed.")
    ] = False,
) -> None:
    """Read notes, screenshots, calendars and contacts into memory.

    Notes are .md and .txt files, screenshots .png .jpg .jpeg .webp, calendars .ics, contacts .vcf;
    folders are read recursively, without hidden files and without files excluded by a
    .memlaneignore file or the setting ignore. An unchanged file is skipped. A changed file updates
    the memories made from it. Secrets (card numbers, passwords, keys, one-time codes) are not
    stored.
    """
    run: Run = context.obj
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from store.errors import InvalidInput

    if not paths and not retry:
        raise InvalidInput("Name a file or folder to ingest, or use --retry.")
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
        found = list(assistant.find(paths or []))
        task = progress.add_task("reading", total=len(found), pace="")
        begun = time.monotonic()

        def on_file(number: int, path: Path) -> None:
            pace = _pace(number, time.monotonic() - begun)
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
    taken = next((report.run for report in reports if report.run and report.entries), None)

    def show(out: Console) -> None:
        render.file_reports(out, reports)
        read = [report for report in reports if report.status in ("new", "changed")]
        if len(read) > 1:
            made = sum(report.memories for report in read)
            out.print(
                f"  {len(read)} files, {made} memories in {took:.0f} s ({_pace(len(read), took)})"
            )
        if taken:
            out.print(f"  [dim]undo all of it with: memlane memories undo --run {taken}[/dim]")

    run.emit(
        {
            "sources": [json_output.file_report(report) for report in reports],
            "edits": json_output.edits(entry for report in reports for entry in report.entries),
            "run": taken,
        },
        show,
    )
    failed = [report for report in reports if report.status == "failed"]
    if failed:
        first = failed[0]
        more = f" ({len(failed)} files failed)" if len(failed) > 1 else ""
        typer.echo(f"memlane: {first.path}: {first.reason}{more}", err=True)
        raise typer.Exit(1)


def _pace(files: int, seconds: float) -> str:
    """'24 files a minute'; empty where there is too little to tell by."""
    return f"{files * 60 / seconds:.0f} files a minute" if files and seconds >= 0.1 else ""


def fill(
    context: typer.Context,
    form: Annotated[
        Path | None,
        typer.Argument(help="An HTML page, a JSON Schema or a CSV header; - reads stdin."),
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option("--field", help="The label of a field; repeatable.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Use exact rules only, without the language model.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the filled page to stdout.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the filled page to this file instead."
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Overwrite FILE if it exists. FILE may be the form itself."
        ),
    ] = False,
    consent: Annotated[
        bool,
        typer.Option(
            "--consent", help="Agree to every sensitive field of this form. The consent is stored."
        ),
    ] = False,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="HOST", help="The site the form is sent to, if the page does not name it."
        ),
    ] = None,
) -> None:
    """Fill a form from memory.

    Every value lists its evidence. A field without evidence stays empty. Passwords, one-time codes
    and card security codes are never filled. Identity numbers, card numbers and health details are
    filled only after you agree, once for each field and site (memlane consent).
    """
    from cli.commands.files.fill import FilledPageTarget
    from cli.commands.files.fill import fill as fill_form

    run: Run = context.obj
    if not apply and (output is not None or overwrite):
        raise InvalidInput("-o and --overwrite need --apply.")
    fill_form(
        run,
        form and run.located(form),
        field or (),
        use_llm=not no_llm,
        applying=FilledPageTarget(output, overwrite) if apply else None,
        consent=consent,
        site=site,
    )
