"""The command ``rescue``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console


def rescue(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The new home; it must not be there yet.")],
) -> None:
    """Copy what can be read of a damaged home into a new one.

    The damaged home is only read and stays as it is. Rows that cannot be read, or that are not what
    they should be, are left out and counted. Look at the new home with --home FOLDER before you put
    it in the place of the old one.

    The new home is not encrypted: encrypt it with memlane lock.

    Example: memlane rescue ~/rescued.
    """
    run: Run = context.obj
    run.only_main("rescue")
    from agent.io.rescue import rescue as save
    from store.database.connection import is_encrypted

    config = run.config
    done = save(config.home, folder.absolute(), config.now())

    def show(console: Console) -> None:
        kept = ", ".join(f"{n:,} {kind}" for kind, n in sorted(done.kept.items()) if n)
        console.print(f"{done.home}: {kept or 'nothing'}")
        if is_encrypted(config.home):
            out = f"memlane --home {done.home} lock"
            console.print(f"The new home is not encrypted. To encrypt it: {out}")
        if done.refused:
            console.print(f"left out, not readable: {done.refused:,} rows")
        if done.log:
            console.print(f"the write-ahead log is damaged: {done.log}; memlane read what is whole")
        if not done.history:
            console.print("the journal is damaged: earlier edits cannot be undone in the new home")

    document = {
        "home": str(done.home),
        "kept": done.kept,
        "refused": done.refused,
        "history": done.history,
        "log": done.log or None,
    }
    run.emit(document, show)
