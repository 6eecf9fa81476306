"""``memlane entities``: list, merge and split entities and events."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.output import json_output, render
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.memory.entities.events import Event
    from agent.memory.entities.identity import Identities
    from agent.memory.entities.merge_split import EntityDecision
    from agent.memory.entities.suggestions import Suggestion
    from store.graph import MemoryGraph
    from store.types import Memory

MOST_WORDED = 20
"""Memories that are listed by their words, where no relation names an entity."""
app = typer.Typer(
    help="List, merge and split the names of people and things.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="A name or phrase, such as Kenji or 'my boss'.")]


@app.command("list")
def list_(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Include those with one name, and events mentioned once.")
    ] = False,
) -> None:
    """List people and things with several names, and events mentioned more than once."""
    run: Run = context.obj
    now = run.config.now()
    from agent.memory.entities.events import events
    from agent.memory.entities.identity import Identities
    from store.types import Status

    with run.graph() as graph:
        identities = Identities.of(graph, now)
        current = graph.memories.list(Status.CURRENT)
        chosen_events = [
            event for event in events(current, identities) if everything or len(event.memories) > 1
        ]
        spelt = {who: who for who in identities.entities()}
        for name in graph.memories.entity_names() if everything else ():
            spelt.setdefault(identities.who(name), name)
        rows = [_entity(who, identities, name) for who, name in spelt.items()]

    def show(out: Console) -> None:
        for row in rows:
            more = ", ".join([*row["names"][1:], *row["phrases"]])
            out.print(f"{row['name']}{': also ' + more if more else ''}")
        for event in chosen_events:
            ids = ", ".join(event.memories)
            out.print(f"{event.name}: {ids}")
        if not rows and not chosen_events:
            out.print(
                "No person or thing has two names yet. `memlane entities suggest` lists candidates."
            )

    run.emit({"entities": rows, "events": [_event(event) for event in chosen_events]}, show)


@app.command()
def show(context: typer.Context, name: Name) -> None:
    """Show one entity or event: its names, why they belong together, and its memories.

    \b
    Examples:
      memlane entities show Kenji
      memlane entities show "Tom's cousin"
      memlane entities show SQ318
    """
    run: Run = context.obj
    now = run.config.now()
    from agent.memory.entities.events import events
    from agent.memory.entities.identity import Identities
    from agent.memory.entities.merge_split import about, known_name
    from store.types import Status

    with run.graph() as graph:
        identities = Identities.of(graph, now)
        current = graph.memories.list(Status.CURRENT)
        told = [event for event in events(current, identities) if event.called(name)]
        spelt = known_name(name, identities, graph) if not told else identities.shown(name) or name
        who = identities.who(spelt)
        memories = about(who, identities, graph)
        why = graph.memories.of([m for m in identities.joined_by(who)])
        rows = _entity(who, identities, spelt)
        inside = {memory for event in told for memory in event.memories}
        mates = graph.memories.of(sorted(inside, key=lambda m: int(m[1:])))
        known = inside or why or memories
        worded = () if known else graph.memories.search(name, MOST_WORDED)

    def out_(out: Console) -> None:
        called = ", ".join([*rows["names"], *rows["phrases"]])
        out.print(f"{rows['name']}{'' if called == rows['name'] else ': ' + called}")
        _lines(out, "Why", why)
        for event in told:
            _lines(out, event.name, [m for m in mates if m.id in event.memories])
        _lines(out, "Memories", [m for m in memories if m.holds_at(now) and m.id not in inside])
        _lines(out, "Memories with these words", [m for m in worded if m.holds_at(now)])

    run.emit(
        {
            **rows,
            "why": [json_output.memory(m, now) for m in why],
            "memories": [json_output.memory(m, now) for m in memories],
            "events": [
                {
                    **_event(e),
                    "told": [json_output.memory(m, now) for m in mates if m.id in e.memories],
                }
                for e in told
            ],
        },
        out_,
    )


@app.command()
def merge(
    context: typer.Context,
    one: Name,
    other: Annotated[str, typer.Argument(help="Another name of the same person or thing.")],
) -> None:
    """Merge two names that mean the same person or thing."""
    from agent.memory.entities.merge_split import plan_merge

    _decide(context.obj, lambda identities, graph: plan_merge(one, other, identities, graph))


@app.command()
def split(
    context: typer.Context,
    name: Name,
    other: Annotated[
        str | None,
        typer.Argument(help="The name to split it from. Can be omitted if there is only one."),
    ] = None,
    memories: Annotated[
        list[str] | None,
        typer.Option(
            "--memory",
            "-m",
            metavar="ID",
            help="A memory about the second person or thing; repeatable.",
        ),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="A name for the second person or thing."),
    ] = None,
) -> None:
    """Split two names, or one name that means two people.

    \b
    Examples:
      memlane entities split Kenji "Mr Tan"
      memlane entities split Tom -m m7 -m m9 --as "Tom (work)"
    """
    from agent.memory.entities.merge_split import plan_part, plan_split

    def plan(identities: Identities, graph: MemoryGraph) -> EntityDecision:
        if memories or new:
            if other is not None or not memories or new is None:
                raise InvalidInput("With --memory and --as, give one name only.")
            return plan_part(name, memories, new, identities, graph)
        return plan_split(name, other, identities, graph)

    _decide(context.obj, plan)


@app.command()
def path(
    context: typer.Context,
    name: Name,
    other: Annotated[str, typer.Argument(help="Where to start. Default: you.")] = "me",
) -> None:
    """Show how you know a person or thing: the memories that connect it with you.

    It is the shortest path over the relations of memories that hold now.

    \b
    Examples:
      memlane entities path Kenji
      memlane entities path Kenji Anna
    """
    run: Run = context.obj
    now = run.config.now()
    from agent.memory.entities import relation_graph
    from agent.memory.entities.identity import Identities
    from agent.memory.entities.merge_split import known_name
    from store.types import Status

    with run.graph() as graph:
        identities = Identities.of(graph, now)
        ends = [known_name(end, identities, graph) for end in (other, name)]
        current = [m for m in graph.memories.list(Status.CURRENT) if m.holds_at(now)]
    relations = relation_graph.relation_graph(current, identities.who)
    start, end = map(identities.who, ends)
    hops = relation_graph.path(relations, start, end)
    joined = [] if hops else relation_graph.connected_with(relations, end)
    texts = {memory.id: memory.text for memory in current}

    def show(out: Console) -> None:
        for hop in hops or ():
            arrow = f"{hop.head} -{hop.relation}-> {hop.tail}"
            out.print(f"{arrow}: {hop.memory} {texts[hop.memory]}")
        if not hops:
            more = f" It is connected with {', '.join(joined[:5])}." if joined else ""
            out.print(f"No memory connects {ends[0]} and {ends[1]}.{more}")

    rows = None if hops is None else [{**asdict(hop), "text": texts[hop.memory]} for hop in hops]
    run.emit({"from": ends[0], "to": ends[1], "path": rows, "connected_with": joined}, show)


@app.command()
def suggest(context: typer.Context) -> None:
    """Suggest merges and splits, with the commands for them."""
    run: Run = context.obj
    now = run.config.now()
    from agent.memory.entities.identity import Identities
    from agent.memory.entities.suggestions import suggestions
    from store.types import Status

    with run.graph() as graph:
        memories = graph.memories.list(Status.CURRENT)
        open_suggestions = suggestions(memories, Identities.of(graph, now), now)

    def show(out: Console) -> None:
        for suggestion in open_suggestions:
            title = (
                suggestion.one
                if suggestion.other is None
                else f"{suggestion.one} and {suggestion.other}"
            )
            out.print(f"{title}: {suggestion.why} ({', '.join(suggestion.memories[:6])})")
            out.print(f"  yes: {_accept(suggestion)}")
            out.print(f"  no:  {_reject(suggestion)}")
        if not open_suggestions:
            out.print("Nothing to suggest.")

    run.emit({"suggestions": [_suggestion(suggestion) for suggestion in open_suggestions]}, show)


@app.command()
def reject(
    context: typer.Context,
    one: Name,
    other: Annotated[
        str | None,
        typer.Argument(help="Second name. Omit it to confirm that the name means one person."),
    ] = None,
) -> None:
    """Reject a suggestion. It is not made again."""
    from agent.memory.entities.merge_split import plan_reject

    _decide(context.obj, lambda identities, graph: plan_reject(one, other, identities, graph))


def _decide(run: Run, plan: Callable[[Identities, MemoryGraph], EntityDecision]) -> None:
    from agent.memory.entities.identity import Identities
    from agent.memory.entities.merge_split import decide

    now = run.config.now()
    with run.graph() as graph:
        entries = decide(plan(Identities.of(graph, now), graph), graph, now)

    def show(out: Console) -> None:
        render.edits(out, entries)
        if len(entries) > 1:
            out.print(f"  undo all: memlane memories undo {entries[0].id} --batch")

    run.emit({"edits": json_output.edits(entries), "batch": entries[0].id}, show)


# ---- what is printed ----------------------------------------------------------------------


def _entity(who: str, identities: Identities, name: str | None = None) -> dict[str, Any]:
    names = list(identities.names(who)) or [name or who]
    return {
        "key": who,
        "name": names[0],
        "names": names,
        "phrases": list(identities.phrases(who)),
        "joined_by": list(identities.joined_by(who)),
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "name": event.name,
        "kinds": sorted(event.kinds),
        "ids": [{"of": kind, "id": code} for kind, code in sorted(event.ids)],
        "days": [day.isoformat() for day in sorted(event.days)],
        "memories": list(event.memories),
    }


def _suggestion(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "kind": "split" if suggestion.other is None else "merge",
        "names": [suggestion.one]
        if suggestion.other is None
        else [suggestion.one, suggestion.other],
        "why": suggestion.why,
        "memories": list(suggestion.memories),
        "accept": _accept(suggestion),
        "reject": _reject(suggestion),
    }


def _accept(suggestion: Suggestion) -> str:
    if suggestion.other is None:
        marks = " ".join(f"-m {memory}" for memory in suggestion.apart)
        new = suggestion.suggested_name
        return f"memlane entities split {shlex.quote(suggestion.one)} {marks} --as '{new}'"
    return f"memlane entities merge {shlex.quote(suggestion.one)} {shlex.quote(suggestion.other)}"


def _reject(suggestion: Suggestion) -> str:
    names = " ".join(map(shlex.quote, filter(None, (suggestion.one, suggestion.other))))
    return f"memlane entities reject {names}"


def _lines(out: Console, title: str, memories: Sequence[Memory]) -> None:
    if memories:
        out.print(f"{title}:")
    for memory in memories:
        out.print(f"  {memory.id} {memory.text}")
