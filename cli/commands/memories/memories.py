"""``memlane memories``: list, show, add and replace memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands.memories import carry, edit, forget, graph, history, tree, undo
from cli.context import Run
from cli.output import json_output, render
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from store.graph import MemoryGraph
    from store.journal import Edit, Entry
    from store.types import Draft, Memory

app = typer.Typer(help="List, add, change, undo and forget memories.", no_args_is_help=True)

LISTED = 10_000
"""Memories that a table for people shows."""
MemoryId = Annotated[str, typer.Argument(help="The memory, such as m12.")]
MemoryIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Memories such as m12.")]
SubclassId = Annotated[
    str | None, typer.Option("--subclass", help="Its subclass; see: memlane types list")
]


@app.command("list")
def list_(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Include replaced, expired and forgotten memories.")
    ] = False,
    type_: Annotated[str | None, typer.Option("--type", help="Only this type or subclass.")] = None,
    search: Annotated[
        str | None, typer.Option(help="Only memories that contain these words.")
    ] = None,
) -> None:
    """List the current memories, of very many the newest."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        found = graph.memories.search(search, 1000) if search else _listed(run, graph, type_)
    chosen = [
        m
        for m in found
        if (everything or m.holds_at(now)) and (type_ is None or _is(type_, m.type, m.subclass))
    ]
    run.emit(
        {"memories": [json_output.memory(m, now) for m in chosen]},
        lambda out: render.memory_table(out, chosen, now, searched=bool(search)),
    )


def _listed(run: Run, graph: MemoryGraph, type_: str | None) -> Sequence[Memory]:
    """All memories; for people the newest ``LISTED``, with a note where there are more."""
    count = sum(graph.memories.counts().values())
    if run.json or count <= LISTED:
        return graph.memories.list()
    run.note(
        f"the newest {LISTED:,} of {count:,} memories; all of them: --json, others: memlane search"
    )
    places = [one.id for one in graph.subclasses() if type_ is None or _is(type_, one.type, one.id)]
    return graph.memories.newest(LISTED, places)


def _is(named: str, *names: str) -> bool:
    return named.casefold() in map(str.casefold, names)


def search(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Words of the memories.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Include replaced, expired and forgotten memories.")
    ] = False,
) -> None:
    """List the memories that contain these words.

    The same as `memlane memories list --search`.
    """
    words = " ".join(text).strip()
    if not words:
        raise InvalidInput("The text is empty. Give the words to search for.")
    list_(context, everything=everything, search=words)


@app.command()
def show(context: typer.Context, memory: MemoryId) -> None:
    """Show one memory with its source and edits."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        found = graph.memories.get(memory)
        entries = graph.journal.of_memory(memory)
        source = graph.sources.get(found.source) if found.source else None
        changes = graph.change_edges.of([found.id])

    def render_it(out: Console) -> None:
        render.memory_card(out, found, now, source)
        for edge in changes:
            out.print(f"possible change: {json_output.change_in_words(edge)}")
        render.edits(out, entries)

    run.emit(
        {
            **json_output.memory(found, now),
            "origin": json_output.origin(source),
            "span": json_output.span(found, source),
            "raw": None if source is None else source.text,
            "edits": [json_output.journal_entry(entry) for entry in entries],
            "possible_changes": [json_output.change_edge(edge) for edge in changes],
        },
        render_it,
    )


@app.command()
def unlink(context: typer.Context, older: MemoryId, newer: MemoryId) -> None:
    """Say that a newer memory does not change an older one.

    A possible change between two memories is kept with its probability and shown by `memlane
    memories show`. After this command it is not taken into account, and chat no longer asks which
    of the two is true. If the older memory is no longer true, use `memlane memories replace` or
    `memlane memories forget` instead.
    """
    run: Run = context.obj
    from store.tables.side_tables.pending_questions import QuestionKind

    with run.graph() as graph:
        first, second = (graph.memories.get(name).id for name in (older, newer))
        now = run.config.now()
        done = graph.change_edges.dismiss(first, second, now)
        asked = (first, second) in graph.questions.undecided(QuestionKind.HOLDS)
        if asked:
            graph.questions.decide(QuestionKind.HOLDS, (first, second), now)
    text = f"Noted: {second} does not change {first}."
    if not (done or asked):
        text = f"There is no possible change from {first} to {second}."
    run.emit(
        {"older": first, "newer": second, "dismissed": done or asked}, lambda out: out.print(text)
    )


@app.command()
def pin(context: typer.Context, memories: MemoryIds) -> None:
    """Keep memories: memlane never proposes to forget them.

    A pin is an edit like any other, so undo takes it back. It stays with the fact: what replaces a
    pinned memory is pinned too. You can still change or forget a pinned memory yourself.
    """
    _set_pinned(context.obj, memories, True)


@app.command()
def unpin(context: typer.Context, memories: MemoryIds) -> None:
    """Take the pin off memories again."""
    _set_pinned(context.obj, memories, False)


def _set_pinned(run: Run, memories: Sequence[str], pinned: bool) -> None:
    from store.journal import Amend

    with run.graph() as graph:
        found = {memory.id: memory for memory in graph.memories.of(memories)}
        changed = [name for name, memory in found.items() if memory.pinned is not pinned]
        edits = [Amend(memory, pinned=pinned) for memory in changed]
        entries = graph.apply(edits, at=run.config.now(), actor="user")
    already = [name for name in found if name not in changed]
    state = "pinned already" if pinned else "not pinned"

    def show(out: Console) -> None:
        render.edits(out, entries)
        if already:
            out.print(f"{', '.join(already)}: {state}")

    run.emit({"edits": json_output.edits(entries), "unchanged": already}, show)


@app.command()
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The memory, as one sentence.")],
    subclass: SubclassId = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true.")
    ] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
) -> None:
    """Add a memory unchanged."""
    from store.journal import Insert

    run: Run = context.obj
    _apply_draft(run, text, lambda draft: Insert(draft), subclass, expires, place)


@app.command()
def replace(
    context: typer.Context,
    memory: MemoryId,
    text: Annotated[str, typer.Argument(help="What is true now.")],
    subclass: SubclassId = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true.")
    ] = None,
) -> None:
    """Replace a memory with a new one.

    Use this when something has changed. The old memory is kept as history.
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
    from agent.language.dates import parse_when
    from agent.memory.remember import edit_by_hand

    now = run.config.now()
    until = parse_when(expires, now, end=True) if expires else None
    with run.session() as session:
        entries = edit_by_hand(session, text, make, subclass=subclass, expires=until, place=place)
    _emit_edits(run, entries)


app.command()(edit.edit)


app.command()(carry.move)
app.command()(carry.copy)
app.command()(forget.forget)
app.command()(undo.undo)


app.command()(history.history)
app.command()(tree.tree)
app.command()(graph.graph)


def _emit_edits(run: Run, entries: Sequence[Entry]) -> None:
    run.emit({"edits": json_output.edits(entries)}, lambda out: render.edits(out, entries))
