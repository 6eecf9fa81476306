"""The commands ``backup`` and ``restore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.input.confirm import confirmed
from cli.input.standard_streams import STREAM, emit_beside, readable, writable
from cli.output.progress import progress
from cli.output.render import counted
from store.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from agent.io.transfer.backup import Backup


def backup(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; - is stdout. Default: in the home."),
    ] = None,
) -> None:
    """Back up the home into one verified file.

    Works while memlane is in use. The backup is verified before it gets its final name, and only
    you can read it. All spaces are in it; with --space NAME it is that space alone. It still
    contains what you forget later: to forget something for good, delete old backups too.

    Examples: memlane backup; memlane backup --out /media/stick/memlane.zip.
    """
    run: Run = context.obj
    from agent.io.spaces.backup import backup_all
    from agent.io.transfer.backup import FOLDER, free_path
    from agent.io.transfer.backup import backup as only_this

    config = run.config
    path = out or free_path(config.home / FOLDER, config.now())
    with writable(run, path, "memlane.zip") as file, progress(run.err) as advance:
        write = backup_all if config.space == "main" else only_this
        done = write(config.home, file, config.now(), advance)
    emit_beside(
        run,
        path,
        _backup_document(done),
        lambda console: console.print(f"{path}: {_in_words(done)}"),
    )


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file written by memlane backup; - is stdin.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Replace the current home with a backup.

    A file that fails verification is refused. The current home is backed up first. A running
    memlane continues with the restored home.

    Examples: memlane restore memlane.zip; memlane restore memlane.zip --yes.
    """
    run: Run = context.obj
    from agent.io.spaces.backup import inspect_all, restore_all, spaces_in
    from agent.io.transfer.backup import inspect

    config = run.config
    with readable(file, "memlane.zip") as path:
        _unlocked(run, path, from_stdin=file == STREAM)
        with progress(run.err) as advance:
            found = inspect(path, config.home, advance)
            if config.space != "main" and spaces_in(path):
                raise InvalidInput(
                    f"{file} is the backup of a whole home. Restore it without --space."
                )
            spaces = inspect_all(path, config.home, advance)
        home, what = config.home, f"{found.taken} ({_in_words(found)}{_with(spaces)})"
        if not confirmed(
            run,
            f"Replace the memories in {home} with those of {what}?",
            yes=yes,
            otherwise=f"That would replace the memories in {home}. Add --yes to confirm.",
        ):
            run.err.print("Nothing was changed.")
            return
        with progress(run.err) as advance:
            done, others = restore_all(home, path, config.now(), advance)

    def show(console: Console) -> None:
        restored = f"{_in_words(done.backup)}{_with(spaces)}"
        console.print(f"Restored {restored} of {done.backup.taken}.")
        if done.aside:
            what = "could not be read; its files are" if done.damaged else "is backed up as"
            console.print(f"The previous home {what} {done.aside}")

    document = {
        **_backup_document(done.backup),
        "aside": None if done.aside is None else str(done.aside),
        "damaged": done.damaged,
    }
    if others:
        document["spaces"] = {
            name: {
                **_backup_document(one.backup),
                "path": str(file),  # it lay in that; it was unpacked into a folder that is gone
                "aside": None if one.aside is None else str(one.aside),
                "damaged": one.damaged,
            }
            for name, one in others.items()
        }
    run.emit(document, show)


def _unlocked(run: Run, file: Path, *, from_stdin: bool) -> None:
    """Have the key of an encrypted backup: that of the home, else by its passphrase."""
    from agent.io.transfer.backup import envelope_in
    from cli.input.passphrase import asked
    from store.database.encryption.envelope import opened
    from store.database.encryption.keys import found, hold

    envelope = envelope_in(file)
    if envelope is None or found(envelope, run.config.home) is not None:
        return
    if from_stdin and not run.has_person():
        raise InvalidInput(
            "This backup is encrypted. Name its file, and write the passphrase to stdin."
        )
    hold(opened(envelope, asked(run, "Passphrase of the backup")))


def _backup_document(done: Backup) -> dict[str, Any]:
    return {
        "path": str(done.path),
        "size": done.size,
        "sha256": done.sha256,
        "taken": done.taken,
        "memories": done.memories,
    }


def _with(spaces: Mapping[str, Backup]) -> str:
    """The other spaces of a backup, in words; empty where there are none."""
    told = (f"{name} ({sum(one.memories.values()):,})" for name, one in spaces.items())
    return f", with the spaces {', '.join(told)}" if spaces else ""


def _in_words(done: Backup) -> str:
    return f"{counted(sum(done.memories.values()), 'memory')}, {done.size / 1e6:,.1f} MB"
