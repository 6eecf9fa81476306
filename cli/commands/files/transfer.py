"""The commands ``export`` and ``import``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.input.paths import named_path
from cli.input.standard_streams import STREAM, readable
from cli.output import json_output, render
from cli.output.progress import progress
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.io.transfer.import_ import Imported
    from agent.results import FileReport


def export(
    context: typer.Context,
    form: Annotated[
        str,
        typer.Option(
            "--format", help="jsonl (everything), markdown (to read), notes or graphml (relations)."
        ),
    ] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--output",
            "-o",
            help="The file to write, for notes also a folder; - is stdout, the default.",
        ),
    ] = None,
) -> None:
    """Export everything that is stored.

    JSONL contains everything, with a manifest on the first line; a home can be rebuilt from it.
    Markdown is one document to read: the memories under headings, with their dates and files, and
    at the end what is no longer true. Notes are Markdown with one document per memory, its fields
    as front matter: in one file if --out ends in .md, otherwise one file each in a folder. JSONL
    and notes can be imported again. GraphML has people and things as nodes and the relations of
    memories as edges; Gephi opens it.

    Examples: memlane export --out all.jsonl; memlane export --format markdown --out memories.md;
    memlane export --format notes --out memories/; memlane export --format graphml --out
    memories.graphml.
    """
    run: Run = context.obj
    from agent.io.transfer.export import (
        export_graphml,
        export_jsonl,
        export_markdown,
        export_reading,
    )

    writers = {
        "jsonl": export_jsonl,
        "markdown": export_reading,
        "md": export_reading,
        "notes": export_markdown,
        "graphml": export_graphml,
    }
    if form not in writers:
        raise InvalidInput(f"--format must be jsonl, markdown, notes or graphml, not {form!r}.")
    config = run.config
    if output is None or output == STREAM:
        writers[form](config.home, sys.stdout, config.now(), None)
        return
    with progress(run.err) as advance:
        done = writers[form](
            config.home, output, config.now(), lambda n, total: advance("exporting", n, total)
        )
    lines = sum(done.counts.values()) + (done.format == "jsonl")

    def show(out: Console) -> None:
        counts = ", ".join(render.counted(n, kind) for kind, n in done.counts.items() if n)
        where = f"{done.files:,} files in {output}" if done.files > 1 else str(output)
        out.print(f"{where}: {counts}")

    document = {
        "path": str(output),
        "format": done.format,
        "lines": lines,
        "files": done.files,
        "counts": done.counts,
        "sha256": done.sha256,
    }
    run.emit(document, show)


def import_(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            parser=named_path,
            metavar="PATH",
            help="An export of memlane or of another program, or a folder of notes; - is stdin.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, markdown, mcp, chatgpt, claude, claude-code, codex, gemini-cli, ics or "
            "vcf. Default: detected from the content.",
        ),
    ] = None,
    extract: Annotated[
        bool,
        typer.Option("--extract", help="Extract memories from imported chats now (takes long)."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen, without changing anything.")
    ] = False,
) -> None:
    """Import an export of memlane or of another program.

    Into an empty home, an export is imported with its ids and history. Into a home with memories it
    is merged: existing memories are not duplicated, and 'memories undo --run' undoes the whole
    import. Other formats: memory.json of the MCP memory server, conversations.json (or its zip) of
    ChatGPT and Claude, transcripts of Claude Code, Codex and Gemini CLI (a file or a folder; only
    what you typed), calendars (.ics) and contacts (.vcf). Chats are stored as raw text and
    extracted by 'memlane ingest --retry', or at once with --extract. Lines that cannot be read are
    reported and kept in FILE.rejected; the rest is imported, and the exit code is 1.

    Examples: memlane import all.jsonl; memlane import all.jsonl --dry-run;
    memlane import chatgpt-export.zip --extract; memlane import memory.json.
    """
    run: Run = context.obj
    from agent.io.transfer.import_ import checked_format

    with readable(path) as file:
        _import(run, file, checked_format(file, form), extract, dry_run, path == STREAM)


def _import(
    run: Run, path: Path, form: str, extract: bool, dry_run: bool, from_stdin: bool
) -> None:
    from agent.io.transfer.import_ import import_file
    from agent.memory.vectors.waiting import AT_ONCE

    config = run.config
    if form in ("ics", "vcf"):
        _ingest(run, path, form, dry_run)
        return
    size = path.stat().st_size if path.is_file() else 0
    reports: list[FileReport] = []

    bare = 0
    with run.session() as session:
        with progress(run.err) as advance:
            done = import_file(
                path,
                form,
                config.home,
                config.now(),
                lambda texts: session.placer.place(texts),  # late: it may not be needed
                dry_run=dry_run,
                on_bytes=lambda read: advance("importing", read, max(size, read)),
                keep_secrets=config.keep_secrets,
                secrets=session.secrets,
                rejected=config.home / "stdin.rejected" if from_stdin else None,
            )
            if extract and not dry_run:
                for report in session.retry(frozenset(done.waiting)):
                    reports.append(report)
                    advance("extracting", len(reports), len(done.waiting))
        if not dry_run:
            bare = session.graph.vectors.count_bare()
    document = {**_document(done, reports), "vectors_waiting": bare}
    run.emit(document, lambda out: _show(out, done, reports, bare))
    if bare > AT_ONCE:
        run.keep_resident()  # it makes them
    failed = [report for report in reports if report.status == "failed"]
    problems = []
    if not done.complete:
        problems.append(_not_complete(done))
    problems += (
        [f"{len(failed)} chats could not be extracted: {failed[0].reason}"] if failed else []
    )
    for problem in problems:
        typer.echo(f"memlane: {problem}", err=True)
    if problems:
        raise typer.Exit(1)


def _ingest(run: Run, path: Path, form: str, dry_run: bool) -> None:
    from agent.io.ignore_rules import Ignore
    from agent.io.ingest import ingest_into, plan_change
    from store.types import SourceKind

    kind = SourceKind.CALENDAR if form == "ics" else SourceKind.CONTACT
    if dry_run:
        with run.graph() as graph:
            change = plan_change(path, graph, kind)
        document = {"sources": [{"path": str(path), "status": change.status}], "dry_run": True}
        run.emit(document, lambda out: out.print(f"{path}: {change.status}"))
        return
    with run.session() as session:
        found = Ignore(home=session.graph.path.parent).find([path])
        reports = list(ingest_into(session, [path], found=found, kind=kind))
    document = {
        "format": form,
        "sources": [json_output.file_report(report) for report in reports],
        "edits": json_output.edits(entry for report in reports for entry in report.entries),
        "run": next((report.run for report in reports if report.run), None),
    }
    run.emit(document, lambda out: render.file_reports(out, reports))
    wrong = [r for r in reports if r.status == "failed" or (r.reason or "").startswith("not read")]
    for report in wrong:
        why = render.shown_name(f"{report.path}: {report.reason}")
        typer.echo(f"memlane: {why}", err=True)
    if wrong:
        raise typer.Exit(1)


def _document(done: Imported, reports: list[FileReport]) -> dict[str, Any]:
    tally = done.tally
    new = {kind: n for kind, n in tally.new.items() if kind != "missing"}
    return {
        "path": str(done.path),
        "format": done.format,
        "mode": done.mode,
        "dry_run": done.dry_run,
        "new": new,
        "unchanged": dict(tally.unchanged),
        "left": dict(tally.left),
        "rejected": {
            "count": tally.rejected_count,
            "lines": [{"line": r.line, "reason": r.reason} for r in tally.rejected],
            "file": None if tally.kept is None else str(tally.kept),
        },
        "missing": tally.new["missing"],
        "waiting": list(done.waiting) if not reports else [],
        "extracted": sum(report.memories for report in reports),
        "run": done.run,
        "warnings": list(done.warnings),
    }


def _show(out: Console, done: Imported, reports: list[FileReport], bare: int) -> None:
    tally = done.tally
    would = "would be " if done.dry_run else ""

    def listed(counts: dict[str, int]) -> str:
        return ", ".join(render.counted(n, kind) for kind, n in sorted(counts.items()) if n)

    new = {kind: n for kind, n in tally.new.items() if kind != "missing"}
    out.print(f"{would}{done.mode}: {listed(new) or 'nothing new'}")
    if any(tally.unchanged.values()):
        out.print(f"unchanged: {listed(dict(tally.unchanged))}")
    if tally.left["edit"]:
        edits = render.counted(tally.left["edit"], "edit")
        out.print(f"not imported: the history of the other home ({edits})")
    for warning in done.warnings:
        out.print(f"note: {warning}")
    if reports:
        made = sum(report.memories for report in reports)
        told = f"{render.counted(made, 'memory')} from {render.counted(len(reports), 'message')}"
        out.print(f"extracted: {told}")
    elif done.waiting and not done.dry_run:
        out.print(f"{len(done.waiting):,} wait for extraction: memlane ingest --retry")
    if bare:
        out.print(f"{bare:,} memories have no vector yet; until then their words find them")
    if done.run and not done.dry_run:
        out.print(f"  undo all of it with: memlane memories undo --run {done.run}", style="dim")


def _not_complete(done: Imported) -> str:
    tally = done.tally
    parts = []
    if tally.rejected_count:
        first = tally.rejected[0]
        more = f" and {tally.rejected_count - 1:,} more" if tally.rejected_count > 1 else ""
        parts.append(f"line {first.line:,}{more} could not be read: {first.reason}")
        if tally.kept:
            parts.append(f"kept in {tally.kept}: fix that file and import it")
    if tally.new["missing"]:
        parts.append(f"{tally.new['missing']:,} exported lines are missing")
    return f"{done.path}: {'; '.join(parts)}. The rest is imported."
