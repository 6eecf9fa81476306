"""``memlane memories history``: journal entries or the history of each fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from cli.context import Run
from cli.output import json_output
from cli.output.render import by_whom, edit_line
from store.errors import UnknownId

if TYPE_CHECKING:
    from rich.console import Console

    from agent.memory.time.history import Life
    from store.graph import MemoryGraph
    from store.journal import Entry


def history(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="ID|ENTITY", help="A memory such as m12, or a person or thing such as Anna."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Facts that changed at or after this time.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most this many edits or facts.")] = 50,
    runs: Annotated[bool, typer.Option("--runs", help="List the ingests, for: undo --run")] = False,
) -> None:
    """Show the history of each fact, or all edits.

    The history says when a fact was told, replaced, expired, corrected, forgotten or undone, by
    whom, and from which source. Without a memory, an entity or --since: the last edits in order.

    \b
    Examples:
      memlane memories history m12
      memlane memories history Anna
      memlane memories history --since 'last Monday'
      memlane memories history --runs
    """
    run: Run = context.obj
    from agent.language.dates import parse_when
    from agent.memory.time.history import lives

    now = run.config.now()
    with run.graph() as graph:
        if runs:
            _list_runs(run, graph)
            return
        from_then = parse_when(since, now) if since else None
        entries: Sequence[Entry]
        if what is not None:
            memories = _memories(graph, what)
            entries = _entries(graph, memories)
            if from_then is not None:
                entries = [entry for entry in entries if entry.at >= from_then]
                touched = {change.memory for entry in entries for change in entry.changes}
                memories = [memory for memory in memories if memory in touched]
        elif from_then is not None:
            entries = graph.journal.since(from_then)
            memories = _touched(entries)
        else:
            entries = graph.journal.list(limit)
            memories = _touched(entries)
        as_lives = what is not None or from_then is not None
        found = lives(graph, memories, now) if as_lives or run.json else ()
    shown, rest = found[-limit:], len(found) - limit

    def show(out: Console) -> None:
        if not as_lives:
            for entry in entries:
                _line(out, entry)
            return
        if not shown:
            out.print(f"Nothing has changed since {from_then:%Y-%m-%d %H:%M}.")
        for life in shown:
            _life(out, life)
        if rest > 0:
            out.print(f"and {rest} earlier facts; --limit shows more")

    run.emit(
        {
            "edits": [json_output.journal_entry(entry) for entry in entries],
            "facts": [_document(life) for life in shown],
        },
        show,
    )


def _memories(graph: MemoryGraph, what: str) -> list[str]:
    """The memories that an id or an entity names."""
    import re

    if re.fullmatch(r"[mM]\d+", what):
        return [what.lower()]
    found = list(dict.fromkeys(memory for _, memory in graph.memories.neighbours(what)))
    if not found:
        raise UnknownId(
            f"There is no memory and no entity {what!r}. `memlane memories tree` shows them."
        )
    return found


def _entries(graph: MemoryGraph, memories: Sequence[str]) -> list[Entry]:
    from store.row_codecs import row_id

    found = {entry.id: entry for m in memories for entry in graph.journal.of_memory(m)}
    return sorted(found.values(), key=lambda entry: row_id("e", entry.id, "edit"))


def _touched(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(change.memory for entry in entries for change in entry.changes))


# ---- shown -----------------------------------------------------------------------------------


def _line(out: Console, entry: Entry) -> None:
    by = "you" if entry.actor == "user" else "memlane"
    source = f", {entry.source}" if entry.source else ""
    out.print(
        f"{entry.at:%Y-%m-%d %H:%M} {escape(edit_line(entry))} [dim]({by}{source})[/dim]",
        markup=True,
    )


def _life(out: Console, life: Life) -> None:
    state = _state(life)
    text = life.now.text if life.now else "(no text left)"
    out.print(
        f"[bold]{' -> '.join(life.memories)}[/bold] {escape(text)} [dim]({state})[/dim]",
        markup=True,
    )
    for event in life.events:
        taken = f" [dim](undone by {event.undone_by})[/dim]" if event.undone_by else ""
        head = f"  {event.at:%Y-%m-%d %H:%M}  {event.what:<9} "
        out.print(f"{head} {escape(event.detail)}{taken}", markup=True)
        if event.entry:
            who = escape(by_whom(event.actor, event.source))
            out.print(f"  {'':<16}  [dim]{event.entry}, {who}[/dim]", markup=True)
        if event.why:
            out.print(f"  {'':<16}  [dim]because {escape(event.why)}[/dim]", markup=True)


def _state(life: Life) -> str:
    if life.now is None:
        return "erased" if life.events[-1].what == "erased" else "undone"
    if any(event.what == "expired" for event in life.events):
        return "expired"
    return life.now.status.value


def _document(life: Life) -> dict[str, Any]:
    return {
        "memories": list(life.memories),
        "text": life.now.text if life.now else None,
        "status": _state(life),
        "events": [
            {
                "at": json_output.iso(event.at),
                "what": event.what,
                "memory": event.memory,
                "detail": event.detail,
                "edit": event.entry,
                "actor": event.actor,
                "source": event.source.id if event.source else None,
                "undone_by": event.undone_by,
                "why": event.why or None,
            }
            for event in life.events
        ],
    }


def _list_runs(run: Run, graph: MemoryGraph) -> None:
    from store.maintenance.batch_undo import from_sources, tip

    listed = graph.runs.list()
    rows = []
    for one in listed:
        edits = from_sources(graph.journal, one.sources)
        standing = sum(tip(graph.journal, entry) is not None for entry in edits)
        rows.append(
            {
                "run": one.id,
                "at": json_output.iso(one.at),
                "what": one.what,
                "sources": list(one.sources),
                "edits": len(edits),
                "standing": standing,
            }
        )

    def show(out: Console) -> None:
        if not rows:
            out.print("Nothing has been ingested yet.")
        for row, one in zip(rows, listed, strict=True):
            out.print(
                f"{one.id}  {one.at:%Y-%m-%d %H:%M}  {len(one.sources)} sources, "
                f"{row['standing']} of {row['edits']} edits in effect  {one.what}"
            )

    run.emit({"runs": rows}, show)
