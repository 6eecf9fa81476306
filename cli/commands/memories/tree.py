"""``memlane memories tree``: types, subclasses, entities and their memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from cli.context import Run
from cli.output import json_output
from cli.output.render import counted
from store.errors import UnknownId

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console
    from rich.tree import Tree

    from store.types import Memory, Subclass, Triple

Heads = dict[str, list[tuple["Triple | None", "Memory"]]]
"""By head entity: each relation from it with its memory; under None-less '' what has none."""


def tree(
    context: typer.Context,
    only: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only this type or subclass.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="Only memories about this person or thing.")
    ] = None,
    depth: Annotated[
        int,
        typer.Option(
            min=1, max=4, help="1 types, 2 subclasses, 3 entities, 4 relations and memories."
        ),
    ] = 4,
    everything: Annotated[
        bool, typer.Option("--all", help="Include replaced, expired and forgotten memories.")
    ] = False,
) -> None:
    """Show your memories under their types, as a tree.

    Each type has subclasses. Each subclass lists the people and things that its memories are about,
    with their relations and memories.

    \b
    Examples:
      memlane memories tree
      memlane memories tree --depth 2
      memlane memories tree --type event.arrangement
      memlane memories tree --entity Anna
    """
    from store.row_codecs import entity_key

    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        subclasses = graph.subclasses()
        memories = [m for m in graph.memories.list() if everything or m.holds_at(now)]
    if only is not None:
        wanted = only.casefold()
        kept = [s for s in subclasses if wanted in (s.type.casefold(), s.id.casefold())]
        if not kept:
            raise UnknownId(f"There is no type or subclass {only!r}. See: memlane types list")
        subclasses = tuple(kept)
    if entity is not None:
        key = entity_key("me" if entity.casefold() in ("you", "i") else entity)
        memories = [
            m
            for m in memories
            if any(key in (entity_key(t.head), entity_key(t.tail)) for t in m.triples)
        ]
        if not memories:
            raise UnknownId(
                f"There is no person or thing {entity!r}. `memlane memories tree` shows them."
            )
    run.emit(
        {"types": _layers(subclasses, memories, now, depth)},
        lambda out: _show(out, subclasses, memories, now, depth),
    )


def _members(subclass: Subclass, memories: Iterable[Memory]) -> list[Memory]:
    return [memory for memory in memories if memory.subclass == subclass.id]


def _heads(memories: Iterable[Memory]) -> Heads:
    """The memories of a subclass by the entity that each relation starts at."""
    from store.row_codecs import entity_key

    names: dict[str, str] = {}
    found: Heads = {}
    for memory in memories:
        for triple in memory.triples or (None,):
            name = triple.head if triple else ""
            name = names.setdefault(entity_key(name), name)
            found.setdefault(name, []).append((triple, memory))
    return found


def _layers(
    subclasses: Sequence[Subclass], memories: Sequence[Memory], now: datetime, depth: int
) -> list[dict[str, Any]]:
    layers: dict[str, dict[str, Any]] = {}
    for subclass in subclasses:
        members = _members(subclass, memories)
        layer = layers.setdefault(
            subclass.type, {"type": subclass.type, "count": 0, "subclasses": []}
        )
        layer["count"] += len(members)
        row: dict[str, Any] = {"id": subclass.id, "name": subclass.name, "count": len(members)}
        if depth >= 3:
            row["entities"] = [
                {"entity": head, "relations": _relations(items, depth)}
                for head, items in _heads(members).items()
            ]
        if depth >= 4:
            row["memories"] = [json_output.memory(memory, now) for memory in members]
        layer["subclasses"].append(row)
    for layer in layers.values():
        if depth < 2:
            del layer["subclasses"]
    return list(layers.values())


def _relations(
    items: Sequence[tuple[Triple | None, Memory]], depth: int
) -> int | list[dict[str, str | None]]:
    """Their number, or each of them where the tree is asked for that deep."""
    if depth < 4:
        return len(items)
    return [
        {
            "relation": triple.relation if triple else None,
            "tail": triple.tail if triple else None,
            "memory": memory.id,
        }
        for triple, memory in items
    ]


def _show(
    out: Console,
    subclasses: Sequence[Subclass],
    memories: Sequence[Memory],
    now: datetime,
    depth: int,
) -> None:
    from rich.tree import Tree

    root = Tree("[bold]you[/bold]")
    types: dict[str, Tree] = {}
    counts: dict[str, int] = {}
    told: set[str] = set()
    for subclass in subclasses:
        members = _members(subclass, memories)
        if not members:
            continue
        counts[subclass.type] = counts.get(subclass.type, 0) + len(members)
        if subclass.type not in types:
            types[subclass.type] = root.add("")
        if depth >= 2:
            held = f"{escape(subclass.id)}, {counted(len(members), 'memory')}"
            branch = types[subclass.type].add(f"{escape(subclass.name)} [dim]{held}[/dim]")
            if depth >= 3:
                _entities(branch, members, now, depth, told)
    for name, branch in types.items():
        branch.label = f"[bold]{name}[/bold] [dim]{counted(counts[name], 'memory')}[/dim]"
    if not types:
        out.print("No memories here. Tell me something: memlane say 'My name is ...'")
        return
    out.print(root, soft_wrap=False, markup=True)


def _entities(
    branch: Tree, members: Sequence[Memory], now: datetime, depth: int, told: set[str]
) -> None:
    for head, items in _heads(members).items():
        name = {"me": "you", "": "(no relation)"}.get(head, head)
        number = len({memory.id for _, memory in items})
        node = branch.add(f"[cyan]{escape(name)}[/cyan] [dim]{counted(number, 'memory')}[/dim]")
        if depth < 4:
            continue
        for triple, memory in items:
            edge = f"-{triple.relation}-> {triple.tail}  " if triple else ""
            state = json_output.state(memory, now)
            mark = "" if state == "current" else f" ({state})"
            # A memory of several relations is told in full once.
            text = "" if memory.id in told else f" {memory.text}"
            told.add(memory.id)
            node.add(
                f"[green]{escape(edge)}[/green][dim]{memory.id}[/dim]{escape(text)}"
                f"[dim]{mark}[/dim]"
            )
