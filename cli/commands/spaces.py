"""``memlane spaces``: named spaces in one home, and what each may see of the others."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output.render import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from store.spaces import Space

app = typer.Typer(
    help="Keep parts of your memory apart, such as work.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The space, such as work.")]


@app.callback()
def list_(context: typer.Context) -> None:
    """Keep parts of your memory apart.

    Each space has its own memories, sources, watched folders, permissions of programs and backups.
    Without a command this lists the spaces. The space 'main' is always there; every command works
    in it unless you give --space NAME (or set MEMLANE_SPACE).

    \b
    Examples:
      memlane spaces add work
      memlane --space work say "My manager is called Rosa."
      memlane spaces allow work --see main
    """
    if context.invoked_subcommand:
        return
    run: Run = context.obj
    rows = [_row(space) for space in _known(run)]

    def show(out: Console) -> None:
        for row in rows:
            out.print(f"{row['name']:<12} {_in_words(row)}")
        if len(rows) == 1:
            out.print("Add another: memlane spaces add NAME")

    run.emit({"spaces": rows}, show)


def _known(run: Run) -> tuple[Space, ...]:
    from store.spaces import spaces

    return spaces(run.config.root)


def _row(space: Space) -> dict[str, object]:
    """A space with what is stored in it; numbers are null where its database is not there."""
    from store.database.connection import DATABASE_NAME
    from store.errors import StoreError
    from store.graph import MemoryGraph

    memories: int | None = None
    folders: list[str] | None = None
    problem = None
    if (space.home / DATABASE_NAME).exists():
        try:
            with MemoryGraph.open(space.home) as graph:
                memories = graph.memories.counts().get("current", 0)
                folders = [str(one.path) for one in graph.watched.folders()]
        except StoreError as error:
            problem = str(error)
    else:
        memories, folders = 0, []
    return {
        "name": space.name,
        "home": str(space.home),
        "memories": memories,
        "sees": list(space.sees),
        "trust": None if space.trust is None else space.trust.value,
        "folders": folders,
        "problem": problem,
    }


def _in_words(row: dict[str, object]) -> str:
    if row["problem"]:
        return str(row["problem"])
    sees, folders, count = row["sees"], row["folders"], row["memories"]
    assert isinstance(sees, list) and isinstance(folders, list) and isinstance(count, int)
    parts = [counted(count, "memory"), f"sees {', '.join(sees) or 'no other space'}"]
    if row["trust"]:
        parts.append(f"trusted at most as {row['trust']}")
    if folders:
        parts.append(f"watches {', '.join(folders)}")
    return "; ".join(parts)


@app.command()
def add(context: typer.Context, name: Name) -> None:
    """Add an empty space.

    It sees no other space, and no other space sees it, until you allow that.
    """
    from agent.io.spaces.carry import add_space

    run: Run = context.obj
    space = add_space(run.config.root, name)
    run.emit(
        {"name": space.name, "home": str(space.home)},
        lambda out: out.print(
            f"Added the space {name}. Work in it: memlane --space {name} say TEXT"
        ),
    )


@app.command()
def allow(
    context: typer.Context,
    name: Name,
    see: Annotated[
        list[str], typer.Option("--see", metavar="OTHER", help="The space it may see; repeatable.")
    ],
) -> None:
    """Let the questions of a space use the memories of another.

    That holds for ask, chat, fill and for programs that work in the space. Lists, searches by
    words, exports and everything else stay with the space itself. OTHER sees nothing in return.

    Example: memlane spaces allow work --see main
    """
    run: Run = context.obj
    from store.errors import InvalidInput
    from store.spaces import ensure_exists

    root = run.config.root
    for other in (name, *see):
        ensure_exists(root, other)
    if name in see:
        raise InvalidInput("A space sees itself. Name another one.")
    _change(run, name, lambda seen: tuple(dict.fromkeys((*seen, *see))))


@app.command()
def deny(
    context: typer.Context,
    name: Name,
    see: Annotated[
        list[str],
        typer.Option("--see", metavar="OTHER", help="The space it may not see; repeatable."),
    ],
) -> None:
    """Take that permission back. It holds from the next question on.

    Nothing that OTHER holds was stored in the space meanwhile, so nothing stays behind.
    """
    run: Run = context.obj
    from store.spaces import ensure_exists

    ensure_exists(run.config.root, name)
    _change(run, name, lambda seen: tuple(one for one in seen if one not in see))


def _change(run: Run, name: str, make: Callable[[tuple[str, ...]], tuple[str, ...]]) -> None:
    from store.spaces import keep

    (space,) = (one for one in _known(run) if one.name == name)
    space = replace(space, sees=make(space.sees))
    keep(space, run.config.root)
    _say_rules(run, space)


def _say_rules(run: Run, space: Space) -> None:
    run.emit(
        {
            "name": space.name,
            "sees": list(space.sees),
            "trust": None if space.trust is None else space.trust.value,
        },
        lambda out: out.print(
            f"{space.name} sees {', '.join(space.sees) or 'no other space'}."
            + (f" It is trusted at most as {space.trust}." if space.trust else "")
        ),
    )


class Level(StrEnum):
    """How far the memories of a space are trusted by the spaces that see it."""

    TOLD = "told"
    NOTED = "noted"
    RECORDED = "recorded"
    READ = "read"


@app.command()
def trust(
    context: typer.Context,
    name: Name,
    level: Annotated[Level, typer.Argument(help="The most that its memories count for.")],
) -> None:
    """Say how far other spaces trust the memories of a space.

    'told' trusts each memory as far as its own space does. Below that no memory counts for more
    than the level, wherever another space sees it or a copy of it goes (docs/trust.md).

    Example: memlane spaces trust agents read
    """
    run: Run = context.obj
    from store.spaces import ensure_exists, keep
    from store.types import Trust

    ensure_exists(run.config.root, name)
    (space,) = (one for one in _known(run) if one.name == name)
    most = None if level is Level.TOLD else Trust(level.value)
    space = replace(space, trust=most)
    keep(space, run.config.root)
    _say_rules(run, space)


@app.command()
def remove(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Keep no backup: what is in it is lost.")
    ] = False,
) -> None:
    """Remove a space with everything in it.

    A backup of it is kept in the home first, so it can be brought back; with --for-good it is
    final.
    """
    run: Run = context.obj

    from agent.io.encryption import open_in
    from agent.io.spaces.carry import remove_space
    from agent.io.transfer.backup import FOLDER, backup, free_path
    from cli.commands.processes.resident import stop
    from cli.input.confirm import confirmed
    from store.database.connection import DATABASE_NAME, ensure_home
    from store.errors import InvalidInput, StoreBusy
    from store.spaces import MAIN, ensure_exists, home_of

    config = run.config
    ensure_exists(config.root, name)
    if name == MAIN:
        raise InvalidInput("main is the home itself and cannot be removed.")
    home = home_of(config.root, name)
    (row,) = (_row(one) for one in _known(run) if one.name == name)
    held = counted(int(str(row["memories"] or 0)), "memory")
    final = "This cannot be undone." if for_good else "A backup of it is kept in the home."
    if not confirmed(
        run,
        f"Remove the space {name} ({held})? {final}",
        yes=yes,
        otherwise=f"That would remove the space {name}. Add --yes to confirm.",
    ):
        run.err.print("Nothing was removed.")
        raise typer.Exit(1)
    stop(replace(config, home=home, space=name))
    if others := open_in(home / DATABASE_NAME):
        numbers = ", ".join(map(str, others))
        raise StoreBusy(f"The space {name} is still open in process {numbers}. End that first.")
    kept = None
    if not for_good and (home / DATABASE_NAME).exists():
        kept = free_path(config.root / FOLDER, config.now(), f"space-{name}")
        ensure_home(kept.parent)
        backup(home, kept, config.now())
    remove_space(config.root, name)

    def show(out: Console) -> None:
        out.print(f"Removed the space {name}.")
        if kept:
            out.print(
                f"To bring it back: memlane spaces add {name} && memlane --space {name} restore "
                f"{kept}"
            )

    run.emit({"name": name, "removed": True, "backup": None if kept is None else str(kept)}, show)
