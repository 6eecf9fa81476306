"""``memlane consent``: consents to fill sensitive form fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output import json_output
from store.errors import InvalidInput, UnknownId

if TYPE_CHECKING:
    from rich.console import Console

    from store.tables.side_tables.form_consents import FormConsent

app = typer.Typer(
    help="Show or withdraw consent to fill sensitive form fields.", no_args_is_help=True
)


@app.command("list")
def list_(context: typer.Context) -> None:
    """List what you agreed to and what you refused."""
    run: Run = context.obj
    with run.graph() as graph:
        said = graph.form_consents.list()

    def show(out: Console) -> None:
        for one in said:
            out.print(_line(one))
        if not said:
            out.print("No decisions yet. memlane fill asks once for each field and site.")

    run.emit({"consents": [_shape(one) for one in said]}, show)


@app.command()
def remove(
    context: typer.Context,
    field: Annotated[
        str | None, typer.Argument(help="The field, as named by the list. Default: all fields.")
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Only for this site; '' for forms that name no site."),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Withdraw all decisions.")] = False,
) -> None:
    """Withdraw your decision: the next form with this field asks you again."""
    run: Run = context.obj
    if field is None and site is None and not all_:
        raise InvalidInput("Name a field, a site with --site HOST, or use --all.")
    with run.graph() as graph:
        gone = graph.form_consents.remove(field, site)
    if not gone and not all_:
        raise UnknownId("There is no such decision. `memlane consent list` shows all of them.")

    def show(out: Console) -> None:
        for one in gone:
            out.print(f"Withdrawn: {_line(one)}")

    run.emit({"removed": [_shape(one) for one in gone]}, show)


def _line(one: FormConsent) -> str:
    said = "filled" if one.given else "never filled"
    since = f" since {one.at:%Y-%m-%d}" if one.at else ""
    return f"{one.field}: {said} for {json_output.site(one.site)}{since}"


def _shape(one: FormConsent) -> dict[str, object]:
    at = one.at.isoformat() if one.at else None
    return {"field": one.field, "site": one.site, "given": one.given, "at": at}
