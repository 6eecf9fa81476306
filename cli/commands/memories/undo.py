"""``memlane memories undo``: undo of edits, batches, sources and ingests."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.input.confirm import confirmed, interactive
from cli.output import json_output, render
from store.errors import InvalidInput, UnknownId
from store.types import SourceStatus

if TYPE_CHECKING:
    from rich.console import Console

    from store.graph import MemoryGraph
    from store.journal import Change, Entry
    from store.maintenance.batch_undo import UndoPlan
    from store.tables.side_tables.ingest_runs import IngestRun

SHOWN = 30
"""Lines of a preview; the rest is counted."""


def undo(
    context: typer.Context,
    edits: Annotated[
        list[str] | None,
        typer.Argument(metavar="EDIT|N", help="Edits such as e12, or a number of last edits."),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", min=1, metavar="N", help="The last N edits.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="All edits made together with this edit.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(metavar="ID-OR-PATH", help="All edits from a source, file or folder."),
    ] = None,
    ingest: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="All edits of one ingest, such as r3, or last."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be undone, without changing anything."),
    ] = False,
) -> None:
    """Undo edits, made by memlane or by you.

    Without arguments: the last edit that is not undone, after you confirm it in a terminal. Several
    edits are undone together or not at all. An undo can be undone too.

    \b
    Examples:
      memlane memories undo
      memlane memories undo e12
      memlane memories undo 5
      memlane memories undo --run last
      memlane memories undo --source notes/home.md
      memlane memories undo e40 --batch
    """
    run: Run = context.obj
    from store.maintenance.batch_undo import plan_undo, refuse, undo_all

    with run.graph() as graph:
        asked = _asked(graph, edits or [], last, batch, source, ingest)
        waiting = [] if ingest is None else _waiting(graph, ingest)
        plan = plan_undo(graph.journal, asked)
        if dry_run:
            run.emit(_preview_document(plan), lambda out: _preview(out, plan))
            return
        if plan.entries or not waiting:
            refuse(plan)
        count = len(plan.entries)
        if not (edits or last or batch or source or ingest):
            # Nobody named it, and it may be an older one, or another program's.
            if not run.json:
                run.err.print(_named(asked[0]))
            if (
                not yes
                and interactive(run)
                and not confirmed(run, "Undo it?", yes=yes, otherwise="")
            ):
                run.err.print("Nothing was changed.")
                return
        if count > 1 and not yes:
            if not run.json:
                _preview(run.err, plan)
            if not confirmed(
                run,
                f"Undo these {count} edits?",
                yes=yes,
                otherwise=f"That would undo {count} edits. Add --yes to confirm, or --dry-run to "
                "see them.",
            ):
                run.err.print("Nothing was changed.")
                return
        done = undo_all(graph, asked, at=run.config.now()) if plan.entries else ()
        for one in waiting:
            graph.sources.mark(one, SourceStatus.EXTRACTED)

    def show(out: Console) -> None:
        render.edits(out, done)
        if len(done) > 1:
            out.print(
                f"  {len(done)} edits undone; redo them with: "
                f"memlane memories undo {done[0].id} --batch",
                style="dim",
            )
        if waiting:
            out.print(f"{len(waiting):,} texts that waited for extraction will not be extracted.")

    document: dict[str, Any] = {"edits": json_output.edits(done)}
    document["batch"] = done[0].id if done else None
    run.emit(document | ({"not_extracted": waiting} if waiting else {}), show)


def _chosen(graph: MemoryGraph, ingest: str) -> IngestRun:
    return graph.runs.last() if ingest == "last" else graph.runs.get(ingest)


def _waiting(graph: MemoryGraph, ingest: str) -> list[str]:
    """The texts of an ingest or import that are stored and would still be extracted."""
    found = map(graph.sources.get, _chosen(graph, ingest).sources)
    return [s.id for s in found if s.status in (SourceStatus.PENDING, SourceStatus.FAILED)]


def _asked(
    graph: MemoryGraph,
    edits: Sequence[str],
    last: int | None,
    batch: bool,
    source: str | None,
    ingest: str | None,
) -> tuple[Entry, ...]:
    """The edits that the options name."""
    from store.maintenance.batch_undo import from_sources, last_edits

    count = last
    if len(edits) == 1 and edits[0].isdecimal():
        if last is not None:
            raise InvalidInput(f"Give {edits[0]} or --last {last}, not both.")
        count, edits = int(edits[0]), []
        if count < 1:
            raise InvalidInput("The number of edits to undo must be at least 1.")
    ways = [bool(edits), count is not None, source is not None, ingest is not None]
    if sum(ways) > 1:
        raise InvalidInput("Give only one of: edits, a number, --source, --run.")
    if batch and (source is not None or ingest is not None or (count or 1) > 1):
        raise InvalidInput("--batch works with one edit, or with the last one.")
    if ingest is not None:
        chosen = _chosen(graph, ingest)
        found = from_sources(graph.journal, chosen.sources)
        if not found and not _waiting(graph, ingest):
            raise UnknownId(f"The ingest {chosen.id} changed nothing: there is nothing to undo.")
        return found
    if source is not None:
        names = _sources(graph, source)
        found = from_sources(graph.journal, names)
        if not found:
            raise UnknownId(f"Nothing was made from {source}: there is nothing to undo.")
        return found
    first = (
        [graph.journal.get(edit) for edit in dict.fromkeys(edits)]
        if edits
        else last_edits(graph.journal, count or 1)
    )
    if batch:
        return tuple(entry for edit in first for entry in graph.journal.of_batch(edit.batch))
    return tuple(first)


def _sources(graph: MemoryGraph, given: str) -> list[str]:
    """The sources of an id, of a file (every version of it), or of a folder."""
    from agent.io.ingest import locator_of

    if re.fullmatch(r"[sS]\d+", given):
        return [graph.sources.get(given).id]
    # normpath and not resolve(): a link is stored as it was named.
    path = os.path.normpath(locator_of(Path(given).expanduser()))
    found = [
        source.id
        for source in graph.sources.list()
        if source.locator is not None
        and f"{os.path.normpath(source.locator)}/".startswith(f"{path.rstrip('/')}/")
    ]
    if not found:
        raise UnknownId(
            f"Nothing was ingested from {given}. `memlane memories history --runs` lists what was."
        )
    return found


def _preview_document(plan: UndoPlan) -> dict[str, Any]:
    return {
        "would_undo": [json_output.journal_entry(entry) for entry in plan.entries],
        "conflicts": [
            {"edit": c.entry, "memory": c.memory, "later": c.later} for c in plan.conflicts
        ],
        "already": [entry.id for entry in plan.already],
        "erased": [entry.id for entry in plan.erased],
    }


def _preview(out: Console, plan: UndoPlan) -> None:
    if not plan.entries:
        out.print("Nothing is left to undo there.")
    for entry in plan.entries[:SHOWN]:
        out.print(f"  {entry.id} {entry.kind.value}: {undone_as(entry)}")
    if (rest := len(plan.entries) - SHOWN) > 0:
        out.print(f"  and {rest} more")
    for entry in plan.erased:
        out.print(f"  {entry.id} stays: its memory is forgotten for good")
    for conflict in plan.conflicts:
        out.print(
            f"  conflict: {conflict.later} changed {conflict.memory} after {conflict.entry}; "
            f"undo {conflict.later} first"
        )


def _named(entry: Entry) -> str:
    """The edit that is the last one: whose it is, of when, and what undoing it does."""
    whose = {"user": "you", "auto": "memlane"}.get(entry.actor, entry.actor.removeprefix("agent "))
    return (
        f"The last edit is {entry.id} ({entry.kind.value} by {whose}, {entry.at:%Y-%m-%d %H:%M}). "
        f"Undoing it: {undone_as(entry)}"
    )


def undone_as(entry: Entry) -> str:
    """What taking ``entry`` back does, for people."""
    from store.journal import reversed_changes

    return "; ".join(_effect(change) for change in reversed_changes(entry.changes))


def _effect(change: Change) -> str:
    from agent.memory.time.history import field_changes

    before, after = change.before, change.after
    if after is None:
        return f"removes {change.memory} {before.text if before else ''}".rstrip()
    if before is None:
        return f"restores {change.memory} {after.text}"
    if before.status != after.status:
        return f"{change.memory} is {after.status.value} again: {after.text}"
    return f"{change.memory} {field_changes(before, after)}"
