"""``memlane config``: settings shown and changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(help="Show or change settings.", invoke_without_command=True)


@app.callback()
def config_show(context: typer.Context) -> None:
    """Show each setting, its value and where it came from."""
    if context.invoked_subcommand:
        return
    run: Run = context.obj
    from agent.config import SETTINGS

    settings = run.config
    rows = [
        {
            "key": setting.key,
            "value": getattr(settings, setting.key),
            "origin": settings.origins[setting.key],
            "variable": setting.variable,
            "help": setting.help,
        }
        for setting in SETTINGS
    ]

    def show(out: Console) -> None:
        for row in rows:
            out.print(f"{row['key']:<15} {row['value'] or '-'}  ({row['origin']}) - {row['help']}")
        out.print(f"file: {settings.file}")

    run.emit(
        {
            "file": str(settings.file),
            "settings": [
                {**row, "value": str(v) if isinstance(v := row["value"], Path) else v}
                for row in rows
            ],
        },
        show,
    )


@app.command("set")
def config_set(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The setting, such as policy.")],
    value: Annotated[str, typer.Argument(help="Its value.")],
) -> None:
    """Write one setting into config.toml.

    In a space (--space NAME) it is a setting of that space alone: what programs may do there
    (agents), and those that 'memlane config' lists as yours for it (docs/spaces.md).
    """
    run: Run = context.obj
    from agent.config_edit import set_in_file, value_of

    file = set_in_file(key, value, _file_of_space(run))
    read = value_of(key, value)
    run.emit(
        {key: str(read) if isinstance(read, Path) else read, "file": str(file)},
        lambda out: out.print(f"{key} = {value}  (in {file})"),
    )


def _file_of_space(run: Run) -> Path | None:
    """The settings file of the space at hand; None for ``main``, whose file may be broken."""
    named = run.options.get("space") or os.environ.get("MEMLANE_SPACE") or "main"
    return None if named == "main" else run.config.file


@app.command("unset")
def config_unset(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The setting, such as policy.")],
) -> None:
    """Take one setting out of config.toml, so that its default holds again."""
    run: Run = context.obj
    from agent.config import load_config
    from agent.config_edit import unset_in_file

    file = unset_in_file(key, _file_of_space(run))
    settings = load_config(run.options)
    value, origin = getattr(settings, key), settings.origins[key]
    run.emit(
        {key: str(value) if isinstance(value, Path) else value, "file": str(file)},
        lambda out: out.print(f"{key} = {value or '-'}  ({origin})"),
    )
