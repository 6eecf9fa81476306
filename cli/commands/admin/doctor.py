"""``memlane doctor``: whether all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run

if TYPE_CHECKING:
    from rich.console import Console


def doctor(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Do not load and run the models.")] = False,
    forgotten: Annotated[
        bool,
        typer.Option(
            "--forgotten",
            help="Search every byte of the home for forgotten text; implies --quick.",
        ),
    ] = False,
) -> None:
    """Check the home, the models and the configuration.

    Checks the database, the data derived from it, file permissions and the models, and that no
    connection leaves this machine.
    """
    run: Run = context.obj
    from agent.session.doctor import examine

    with run.assembling() as progress:
        checks = examine(
            run.config,
            try_models=not (quick or forgotten),
            search_forgotten=forgotten,
            on_progress=progress,
        )

    def show(out: Console) -> None:
        for check in checks:
            mark = "[green]ok[/green]  " if check.ok else "[red]FAIL[/red]"
            out.print(f"{mark} {check.name}: ", end="", markup=True)
            out.print(check.detail)

    run.emit({"checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in checks]}, show)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
