"""``memlane memories move`` and ``copy``: memories for another space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from store.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from agent.io.spaces.carry import Carried
    from store.journal import Entry

Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Memories such as m12.")]
To = Annotated[str, typer.Option("--to", metavar="SPACE", help="The space to bring them to.")]


def copy(context: typer.Context, memories: Ids, to: To) -> None:
    """Copy memories into another space.

    The copy has the dates and the words that the memory was read from, and nothing else of its
    source. From then on the two are independent.

    Example: memlane memories copy m12 --to work
    """
    _carry(context.obj, memories, to, moving=False)


def move(context: typer.Context, memories: Ids, to: To) -> None:
    """Move memories into another space.

    They are copied there first; here they are softly forgotten, so undo brings them back for 30
    days, and after that they are erased with the raw text they were read from.

    \b
    Examples:
      memlane memories move m12 m13 --to work
      memlane --space work memories move m3 --to main
    """
    _carry(context.obj, memories, to, moving=True)


def _carry(run: Run, memories: Sequence[str], to: str, *, moving: bool) -> None:
    from dataclasses import replace

    from agent.io.spaces.carry import carry
    from agent.session.session import open_session
    from store.journal import Forget
    from store.spaces import ensure_exists, home_of, spaces

    config = run.config
    ensure_exists(config.root, to)
    if to == config.space:
        raise InvalidInput(f"{', '.join(memories)} is in the space {to} already.")
    (space,) = (one for one in spaces(config.root) if one.name == config.space)
    there = replace(config, home=home_of(config.root, to), space=to)
    with run.graph() as graph, open_session(there) as other:
        now = config.now()
        done = carry(memories, space, graph, other.graph, other, now)
        gone: tuple[Entry, ...] = ()
        if moving:  # last: killed before, the memory is in both, and the command can be repeated
            gone = graph.apply([Forget(one.memory.id) for one in done], at=now, actor="user")
    undo = _undo(config.space, gone, to, done)
    run.emit(
        {
            "space": config.space,
            "to": to,
            "memories": [_document(one) for one in done],
            "forgotten_here": [entry.id for entry in gone],
            "undo": undo,
        },
        lambda out: _show(out, done, to, undo, moving),
    )


def _document(one: Carried) -> dict[str, Any]:
    return {
        "id": one.memory.id,
        "there": one.there,
        "edit": None if one.entry is None else one.entry.id,
        "text": one.memory.text,
    }


def _undo(here: str, gone: Sequence[Entry], to: str, done: Sequence[Carried]) -> list[str]:
    """The commands that take it back, each in its space."""
    from cli.output.render import undo_of

    stored = [one.entry for one in done if one.entry is not None]
    return [
        f"memlane {'' if space == 'main' else f'--space {space} '}undo {undo_of(entries)}"
        for space, entries in ((here, gone), (to, stored))
        if entries
    ]


def _show(
    out: Console, done: Sequence[Carried], to: str, undo: Sequence[str], moving: bool
) -> None:
    what = "Moved" if moving else "Copied"
    for one in done:
        was = "" if one.entry else " (it was there already)"
        out.print(f"{what} {one.memory.id} to {to} as {one.there}{was}: {one.memory.text}")
    if undo:
        out.print(f"To take it back: {' && '.join(undo)}", style="dim")
