"""The command ``sync``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.output.progress import progress
from store.errors import HomeUnavailable, InvalidInput
from store.spaces import names

if TYPE_CHECKING:
    from rich.console import Console

    from agent.io.sync.run import Synced
    from store.graph import MemoryGraph


def sync(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(help="The folder that all machines see. Default: that of the last time."),
    ] = None,
    pair: Annotated[
        bool,
        typer.Option("--pair", help="Begin: make the key, or ask for that of the first machine."),
    ] = False,
    key: Annotated[
        bool, typer.Option("--key", help="Show the key, to type it on another machine.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen, without changing anything.")
    ] = False,
) -> None:
    """Keep the same memories on several machines of yours.

    Each machine writes what it changed into the folder, encrypted, and takes in what the others
    changed. Any file sync may carry the folder. Where two machines changed the same memory
    differently, both versions are kept and chat asks which one holds. What is forgotten for good on
    one machine is forgotten on all. A space (--space NAME) has a folder and a key of its own.
    Needs: pip install '.[sync]' from the checkout.

    Examples: memlane sync ~/Sync/memlane --pair; memlane sync; memlane sync --key.
    """
    run: Run = context.obj
    if pair + key + dry_run > 1:
        raise InvalidInput("--pair, --key and --dry-run do not go together. Give one.")
    from agent.io.sync.run import synchronise
    from agent.io.transfer.import_ import home_to_use
    from store.graph import MemoryGraph

    if key:
        _show_key(run)
        return
    config = run.config
    if dry_run:
        with home_to_use(config.home, True) as home, MemoryGraph.open(home) as copy:
            done = synchronise(copy, _folder(copy, folder), config.now(), dry_run=True)
    else:
        with run.graph() as graph, progress(run.err) as advance:
            where = _folder(graph, folder)
            new_key = _pair(run, graph, where) if pair else None
            done = synchronise(graph, where, config.now(), advance)
        if new_key is not None and not run.json:
            run.out.print(
                f"The key, to type on your other machines (memlane sync --pair):\n{new_key}"
            )
    run.emit(_document(done), lambda out: _show(out, done))
    if others := [name for name in names(config.root) if name != config.space]:
        run.note(
            f"sync carries the space {config.space} alone, not: {', '.join(others)}. "
            "Each space has its own folder and key: memlane --space NAME sync FOLDER --pair"
        )
    if not done.swept:
        run.note(
            "another process uses the database, so old bytes of what was forgotten are not "
            "overwritten yet. Close that process and run: memlane doctor --forgotten"
        )
    if done.unreadable:
        name, reason = next(iter(done.unreadable.items()))
        more = f" and {len(done.unreadable) - 1} more" if len(done.unreadable) > 1 else ""
        run.note(f"{name}{more} could not be read ({reason}); tried again the next time")


def _folder(graph: MemoryGraph, given: Path | None) -> Path:
    from store.sync.names import FOLDER

    kept = graph.sync.state(FOLDER)
    if given is None and kept is None:
        raise InvalidInput("Name the shared folder: memlane sync FOLDER --pair")
    return Path(given or kept or "").expanduser().absolute()


def _show_key(run: Run) -> None:
    from store.sync.names import KEY

    with run.graph() as graph:
        kept = graph.sync.state(KEY)
    if kept is None:
        raise HomeUnavailable("This home has no key yet. Make one: memlane sync FOLDER --pair")
    run.emit({"key": kept}, lambda out: out.print(kept))


def _pair(run: Run, graph: MemoryGraph, folder: Path) -> str | None:
    """Pair the home; returns a key that was made for it."""
    from agent.io.sync.keys import checked_key, folder_key_id, new_key
    from agent.io.sync.run import pair
    from cli.input.passphrase import asked
    from store.sync.names import KEY

    kept, theirs = graph.sync.state(KEY), folder_key_id(folder)
    if theirs is not None and (space := _space_with_key(run, theirs)):
        raise InvalidInput(
            f"{folder} is the shared folder of the space {space}, and its memories would come into "
            f"{run.config.space}. Give each space a folder of its own."
        )
    if theirs is None:
        pair(graph, folder, kept or new_key())
        return graph.sync.state(KEY)
    if kept is None:
        kept = checked_key(asked(run, "The key (memlane sync --key shows it on the first machine)"))
    pair(graph, folder, kept)
    return None


def _space_with_key(run: Run, key_id: str) -> str | None:
    """Another space of this home that has the key of a folder."""
    from dataclasses import replace

    from agent.io.sync.keys import id_of
    from agent.memory.home import open_graph
    from store.database.connection import DATABASE_NAME
    from store.spaces import home_of
    from store.sync.names import KEY

    config = run.config
    for name in names(config.root):
        home = home_of(config.root, name)
        if name == config.space or not (home / DATABASE_NAME).exists():
            continue
        with open_graph(replace(config, home=home, space=name)) as other:
            key = other.sync.state(KEY)
        if key is not None and id_of(key) == key_id:
            return name
    return None


def _document(done: Synced) -> dict[str, Any]:
    applied = done.applied
    return {
        "folder": str(done.folder),
        "dry_run": done.dry_run,
        "read": done.read,
        "told": done.told,
        "added": applied.added,
        "changed": applied.changed,
        "removed": applied.removed,
        "forgotten": applied.forgotten,
        "asked": [list(pair) for pair in applied.asked],
        "purged": done.purged,
        "unreadable": done.unreadable,
        "swept": done.swept,
    }


def _show(out: Console, done: Synced) -> None:
    applied = done.applied
    would = "would be " if done.dry_run else ""
    counts = {
        "added": applied.added,
        "changed": applied.changed,
        "taken back": applied.removed,
        "forgotten": applied.forgotten,
    }
    parts = [f"{len(ids):,} {would}{what}" for what, ids in counts.items() if ids]
    out.print(f"from the others: {', '.join(parts) or 'nothing new'}")
    out.print(
        f"to the others: {done.told:,} {would}told" if done.told else "to the others: nothing"
    )
    if done.purged:
        out.print(f"{done.purged:,} segments with forgotten texts {would}deleted")
    if applied.asked:
        out.print(
            f"{len(applied.asked):,} changed on two machines: both are kept, and the next chat "
            "asks which one holds"
        )
