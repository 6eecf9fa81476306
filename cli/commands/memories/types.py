"""``memlane types``: memory types and subclasses (layers 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from cli.context import Run
from cli.input.confirm import interactive
from cli.output import json_output, render
from store.errors import InvalidInput, UnknownId

if TYPE_CHECKING:
    from rich.console import Console

    from agent.memory.vectors.reclassify import Move
    from agent.session.session import Session
    from store.journal import Entry
    from store.types import Subclass

app = typer.Typer(help="The types under which memories are kept.", no_args_is_help=True)

SHOWN = 30
"""Moves that are listed; the rest is counted."""
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Move memories without asking.")]


@app.command("list")
def list_(context: typer.Context) -> None:
    """List the four types and their subclasses."""
    run: Run = context.obj
    from store.types import Status

    with run.graph() as graph:
        subclasses = graph.subclasses()
        counts: dict[str, int] = {}
        for memory in graph.memories.list(Status.CURRENT):
            counts[memory.subclass] = counts.get(memory.subclass, 0) + 1

    def show(out: Console) -> None:
        last = None
        for subclass in subclasses:
            if subclass.type != last:
                out.print(subclass.type, style="bold")
                last = subclass.type
            example = f"  e.g. {subclass.examples[0]}" if subclass.examples else ""
            own = " (yours)" if _is_own(subclass) else ""
            out.print(
                f"  {subclass.id:<28} {counts.get(subclass.id, 0):>4}  "
                f"{subclass.name}{own}{example}"
            )

    run.emit(
        {
            "types": [
                {**_document(subclass), "memories": counts.get(subclass.id, 0)}
                for subclass in subclasses
            ]
        },
        show,
    )


@app.command("add")
def add(
    context: typer.Context,
    type_: Annotated[
        str,
        typer.Argument(metavar="TYPE", help="Relationship, Preference, Event or Attribute."),
    ],
    name: Annotated[str, typer.Argument(help="The name of the subclass, such as Music.")],
    example: Annotated[
        list[str] | None,
        typer.Option("--example", "-e", help="An example sentence; repeatable."),
    ] = None,
    single: Annotated[
        bool,
        typer.Option("--single", help="A new value replaces the old one, as with an address."),
    ] = False,
    yes: Yes = False,
    fit: Annotated[
        bool,
        typer.Option("--fit/--no-fit", help="Look for memories that fit the new subclass better."),
    ] = True,
) -> None:
    """Add a subclass and move memories that fit it better.

    Memories are assigned by their similarity to the examples. Give three or more different examples
    for good results. The moves are shown first. Memories whose subclass you set yourself stay.

    \b
    Examples:
      memlane types add Attribute Money -e 'My rent is 900 euros.'
        -e 'I earn 3000 euros a month.' -e 'I owe Tom 50 euros.'
    """
    run: Run = context.obj
    from agent.memory.vectors.reclassify import moves_into, new_subclass
    from store.tables.taxonomy import TYPES

    added = new_subclass(type_, name, example or [], single=single, types=TYPES)
    with run.session() as session:
        known = session.graph.subclasses()
        if any(subclass.id == added.id for subclass in known):
            raise InvalidInput(f"The subclass {added.id} already exists. Choose another name.")
        moves: tuple[Move, ...] = ()
        if fit:
            moves = moves_into(session.graph, (*known, added), added.id, session.embedder)
        if not run.json:
            _show_moves(run.out, moves)
        moving = bool(moves) and _wants(run, len(moves), added.id, yes)
        with session.graph.writing():
            session.graph.add_subclass(added)
            entries = _apply(session, moves) if moving else ()

    def show(out: Console) -> None:
        out.print(f"Added {added.id} to {added.type}.")
        _show_result(out, entries, moves, added.id)

    run.emit(
        {
            "added": _document(added),
            "moves": [_move(move) for move in moves],
            "edits": json_output.edits(entries),
        },
        show,
    )


@app.command("fit")
def fit_(
    context: typer.Context,
    subclass: Annotated[str, typer.Argument(help="A subclass; see: memlane types list")],
    yes: Yes = False,
) -> None:
    """Move memories to a subclass that fits them better.

    The moves are shown first. Memories whose subclass you set yourself stay.

    \b
    Examples:
      memlane types fit attribute.money
    """
    run: Run = context.obj
    from agent.memory.vectors.reclassify import moves_into

    with run.session() as session:
        known = session.graph.subclasses()
        if all(one.id != subclass for one in known):
            raise UnknownId(_unknown(subclass, known))
        moves = moves_into(session.graph, known, subclass, session.embedder)
        if not run.json:
            _show_moves(run.out, moves)
        moving = bool(moves) and _wants(run, len(moves), subclass, yes)
        entries = _apply(session, moves) if moving else ()

    def show(out: Console) -> None:
        if not moves:
            out.print(f"Nothing fits {subclass} better than its current subclass.")
        _show_result(out, entries, moves, subclass)

    run.emit(
        {"moves": [_move(move) for move in moves], "edits": json_output.edits(entries)},
        show,
    )


@app.command("remove")
def remove(
    context: typer.Context,
    subclass: Annotated[str, typer.Argument(help="A subclass; see: memlane types list")],
    move_to: Annotated[
        str | None,
        typer.Option("--move-to", metavar="SUBCLASS", help="Move its memories to this subclass."),
    ] = None,
) -> None:
    """Remove an empty subclass.

    With --move-to its memories are moved first. The history keeps its name, and undoing an edit in
    it restores the subclass.

    \b
    Examples:
      memlane types remove attribute.money --move-to attribute.identity
    """
    run: Run = context.obj
    from store.journal import Amend
    from store.types import Status

    with run.graph() as graph:
        known = graph.subclasses()
        for one in (subclass, move_to):
            if one is not None and all(other.id != one for other in known):
                raise UnknownId(_unknown(one, known))
        if move_to == subclass:
            raise InvalidInput(f"{subclass} cannot move to itself. Name another --move-to.")
        with graph.writing():
            living = [m for m in graph.memories.list(Status.CURRENT) if m.subclass == subclass]
            edits = [Amend(memory.id, subclass=move_to) for memory in living] if move_to else []
            entries = graph.apply(edits, at=run.config.now(), actor="user") if edits else ()
            graph.remove_subclass(subclass)

    def show(out: Console) -> None:
        out.print(f"Removed {subclass}.")
        if entries:
            out.print(
                f"  {len(entries)} memories moved to {move_to}; undo with: memlane memories "
                f"undo {entries[0].id} --batch",
                style="dim",
            )

    run.emit({"removed": subclass, "edits": json_output.edits(entries)}, show)


def _wants(run: Run, count: int, into: str, yes: bool) -> bool:
    if yes or not interactive(run):
        return yes
    noun = "this memory" if count == 1 else f"these {count} memories"
    return typer.confirm(f"Move {noun} to {into}?", default=True, err=True)


def _apply(session: Session, moves: Sequence[Move]) -> tuple[Entry, ...]:
    # By memlane, not by the person: a later, better subclass may move them again.
    return session.graph.apply([move.edit for move in moves], at=session.config.now())


def _show_moves(out: Console, moves: Sequence[Move]) -> None:
    for move in moves[:SHOWN]:
        out.print(
            f"  {move.memory.id} {escape(move.memory.text)}\n"
            f"    [dim]{move.memory.subclass} {move.score_now:.2f} -> "
            f"{escape(move.to)} {move.score:.2f}[/dim]",
            markup=True,
        )
    if (rest := len(moves) - SHOWN) > 0:
        out.print(f"  and {rest} more")


def _show_result(out: Console, entries: Sequence[Entry], moves: Sequence[Move], into: str) -> None:
    if entries:
        if len(entries) <= SHOWN:
            render.edits(out, entries)
        out.print(
            f"  moved {len(entries)}; undo with: memlane memories undo {entries[0].id} --batch",
            style="dim",
        )
    elif moves:
        out.print(
            f"{len(moves)} would fit there better but were not moved. To move them: memlane types "
            f"fit {into} --yes"
        )


def _is_own(subclass: Subclass) -> bool:
    from store.tables.taxonomy import SUBCLASSES

    return all(known.id != subclass.id for known in SUBCLASSES)


def _document(subclass: Subclass) -> dict[str, Any]:
    return {
        "id": subclass.id,
        "type": subclass.type,
        "name": subclass.name,
        "single": subclass.single,
        "examples": list(subclass.examples),
        "own": _is_own(subclass),
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "memory": move.memory.id,
        "text": move.memory.text,
        "from": move.memory.subclass,
        "to": move.to,
        "score": round(move.score, 4),
        "score_now": round(move.score_now, 4),
    }


def _unknown(subclass: str, known: Sequence[Subclass]) -> str:
    import difflib

    near = difflib.get_close_matches(subclass, [one.id for one in known], 1)
    hint = f"Did you mean {near[0]}?" if near else "`memlane types list` shows them."
    return f"There is no subclass {subclass!r}. {hint}"
