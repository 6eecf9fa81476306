"""``memlane fill``: the command and its options; ``fill_form`` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.context import Run
from cli.input.standard_streams import STREAM
from store.errors import InvalidInput


def fill(
    context: typer.Context,
    form: Annotated[
        Path | None,
        typer.Argument(help="An HTML page, a JSON Schema or a CSV header; - reads stdin."),
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option("--field", help="The label of a field; repeatable.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Use exact rules only, without the language model.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the filled page to stdout.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the filled page to this file; - is stdout.",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Overwrite FILE if it exists. FILE may be the form itself."
        ),
    ] = False,
    consent: Annotated[
        bool,
        typer.Option(
            "--consent", help="Agree to every sensitive field of this form. The consent is stored."
        ),
    ] = False,
    site: Annotated[
        str | None,
        typer.Option(
            metavar="HOST", help="The site the form is sent to, if the page does not name it."
        ),
    ] = None,
) -> None:
    """Fill a form from memory.

    Every value lists its evidence. A field without evidence stays empty. Passwords, one-time codes
    and card security codes are never filled. Identity numbers, card numbers and health details are
    filled only after you agree, once for each field and site (memlane consent).
    """
    from cli.commands.files.fill_form import FilledPageTarget, fill_form

    run: Run = context.obj
    if not apply and (output is not None or overwrite):
        raise InvalidInput("-o and --overwrite need --apply.")
    output = None if output == STREAM else output
    fill_form(
        run,
        form and run.located(form),
        field or (),
        use_llm=not no_llm,
        applying=FilledPageTarget(output, overwrite) if apply else None,
        consent=consent,
        site=site,
    )
