"""memlane memories ...: look at and change the graph by hand. Every change can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import render, shapes
from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console

    from store.journal import Edit, Entry
    from store.types import Draft, Memory, Subclass

app = typer.Typer(help="Look at and change what is remembered.", no_args_is_help=True)

MemoryId = Annotated[str, typer.Argument(help="The memory, such as m12.")]
SubclassId = Annotated[
    str | None, typer.Option("--subclass", help="Where it belongs; see: memlane types list")
]


@app.command("list")
def list_(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what was replaced, expired or forgotten.")
    ] = False,
    type_: Annotated[str | None, typer.Option("--type", help="Only this type or subclass.")] = None,
    search: Annotated[str | None, typer.Option(help="Only memories with these words.")] = None,
) -> None:
    """List the memories that hold now."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        found = graph.memories.search(search, 1000) if search else graph.memories.list()
    chosen = [
        m
        for m in found
        if (everything or m.holds_at(now))
        and (type_ is None or type_.casefold() in (m.type.casefold(), m.subclass.casefold()))
    ]
    run.emit(
        {"memories": [shapes.memory(m, now) for m in chosen]},
        lambda out: render.memory_table(out, chosen, now),
    )


@app.command()
def show(context: typer.Context, memory: MemoryId) -> None:
    """Show one memory with source and edits."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        found = graph.memories.get(memory)
        entries = graph.journal.of_memory(memory)
        text = graph.sources.get(found.source).text if found.source else None

    def render_it(out: Console) -> None:
        render.memory_card(out, found, now, text)
        render.edits(out, entries)

    run.emit(
        {
            **shapes.memory(found, now),
            "raw": text,
            "edits": [shapes.journal_entry(entry) for entry in entries],
        },
        render_it,
    )


@app.command()
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The memory, one sentence.")],
    subclass: SubclassId = None,
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="When it ends.")] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
) -> None:
    """Add a memory as it stands."""
    from store.journal import Insert

    run: Run = context.obj
    _apply_draft(run, text, lambda draft: Insert(draft), subclass, expires, place)


@app.command()
def replace(
    context: typer.Context,
    memory: MemoryId,
    text: Annotated[str, typer.Argument(help="What is true now.")],
    subclass: SubclassId = None,
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="When it ends.")] = None,
) -> None:
    """Put a new memory in the place of an old one.

    For what has changed; the old one is kept as history.
    """
    from store.journal import Replace

    run: Run = context.obj
    _apply_draft(run, text, lambda draft: Replace(memory, draft), subclass, expires, None)


def _apply_draft(
    run: Run,
    text: str,
    make: Callable[[Draft], Edit],
    subclass: str | None,
    expires: str | None,
    place: str | None,
) -> None:
    from agent.dates import parse_when

    now = run.config.now()
    until = parse_when(expires, now, end=True) if expires else None
    with run.session() as session:
        entries = session.edit_by_hand(text, make, subclass=subclass, expires=until, place=place)
    _emit_edits(run, entries)


@app.command()
def edit(
    context: typer.Context,
    memory: MemoryId,
    text: Annotated[str | None, typer.Option(help="The corrected text.")] = None,
    subclass: SubclassId = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="WHEN", help="When it begins to be true.")
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="When it ends.")] = None,
) -> None:
    """Correct a memory in place.

    For what was wrong from the start; for what has changed there is replace.
    """
    from agent.dates import parse_when
    from agent.triples import triples_for
    from store.errors import InvalidInput
    from store.journal import Amend

    run: Run = context.obj
    now = run.config.now()
    amend = Amend(
        memory,
        text=text,
        subclass=subclass,
        place=place,
        valid_from=parse_when(since, now) if since else None,
        valid_until=parse_when(expires, now, end=True) if expires else None,
        triples=triples_for([text], None)[0] if text and text.strip() else None,
    )
    if not amend.given():
        raise InvalidInput("Say what to correct: --text, --subclass, --place, --from or --expires.")
    with run.graph() as graph:
        entries = graph.apply([amend], at=now, actor="user")
    _emit_edits(run, entries)


@app.command()
def forget(
    context: typer.Context,
    memories: Annotated[list[str], typer.Argument(help="Memories such as m12.")],
) -> None:
    """Take memories out of every answer.

    They stay in the history, and undo brings them back.
    """
    from store.journal import Forget

    run: Run = context.obj
    with run.graph() as graph:
        entries = graph.apply(
            [Forget(memory) for memory in dict.fromkeys(memories)],
            at=run.config.now(),
            actor="user",
        )
    _emit_edits(run, entries)


@app.command()
def undo(
    context: typer.Context,
    edit: Annotated[
        str | None, typer.Argument(help="The edit, such as e12; the last one if left out.")
    ] = None,
) -> None:
    """Take back an edit, memlane's or yours."""
    run: Run = context.obj
    with run.graph() as graph:
        entry = graph.undo(edit, at=run.config.now())
    _emit_edits(run, [entry])


@app.command()
def history(
    context: typer.Context,
    memory: Annotated[str | None, typer.Argument(help="One memory; all edits if left out.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many edits at most.")] = 50,
) -> None:
    """Show the edits of one memory or of all."""
    run: Run = context.obj
    with run.graph() as graph:
        entries = graph.journal.of_memory(memory) if memory else graph.journal.list(limit)

    def show(out: Console) -> None:
        for entry in entries:
            out.print(f"{entry.at:%Y-%m-%d %H:%M} {render.edit_line(entry)}", markup=False)

    run.emit({"edits": [shapes.journal_entry(entry) for entry in entries]}, show)


@app.command()
def tree(context: typer.Context) -> None:
    """Show types, subclasses and their memories."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        subclasses = graph.subclasses()
        holding = [m for m in graph.memories.list() if m.holds_at(now)]
    run.emit(
        {"types": _layers(subclasses, holding, now)},
        lambda out: render.tree(out, subclasses, holding),
    )


def _layers(
    subclasses: Sequence[Subclass], memories: Sequence[Memory], now: datetime
) -> list[dict[str, Any]]:
    layers: dict[str, dict[str, Any]] = {}
    for subclass in subclasses:
        layer = layers.setdefault(subclass.type, {"type": subclass.type, "subclasses": []})
        members = [shapes.memory(m, now) for m in memories if m.subclass == subclass.id]
        layer["subclasses"].append({"id": subclass.id, "name": subclass.name, "memories": members})
    return list(layers.values())


def _emit_edits(run: Run, entries: Sequence[Entry]) -> None:
    run.emit({"edits": shapes.edits(entries)}, lambda out: render.edits(out, entries))
