"""``memlane spaces``: named spaces in one home, and what each may see of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run

if TYPE_CHECKING:
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
    from store.connection import DATABASE_NAME
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
    sees, folders = row["sees"], row["folders"]
    assert isinstance(sees, list) and isinstance(folders, list)
    parts = [f"{row['memories']:,} memories", f"sees {', '.join(sees) or 'no other space'}"]
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
    from agent.memory.spaces import add_space

    run: Run = context.obj
    space = add_space(run.config.root, name)
    run.emit(
        {"name": space.name, "home": str(space.home)},
        lambda out: out.print(
            f"Added the space {name}. Work in it: memlane --space {name} say TEXT"
        ),
    )
