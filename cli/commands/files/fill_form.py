"""Filling of one form by ``memlane fill``: form, consent, output.

Imported when the command runs (``cli.commands.files.fill``), as it loads the readers of forms.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.applications.forms.fields import FormField
from agent.applications.forms.formats.open_form import Form, fields_from_labels, open_form
from agent.applications.forms.formats.page import host_of
from agent.results import FilledField
from cli.context import Run
from cli.input.standard_streams import write_whole
from cli.output import json_output
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from store.tables.side_tables.form_consents import FormConsent


@dataclass(frozen=True, slots=True)
class FilledPageTarget:
    """Where the filled page goes."""

    output: Path | None = None
    """None for stdout."""
    overwrite: bool = False


def fill_form(
    run: Run,
    form: Path | None,
    labels: Sequence[str],
    *,
    use_llm: bool,
    applying: FilledPageTarget | None,
    consent: bool,
    site: str | None,
) -> None:
    read = _read(form, labels)
    if applying is not None:
        _check(read, applying, run)
    fields = read.fields if site is None else _going_to(read.fields, site)
    with run.assistant() as assistant:
        # The language model takes seconds for each field that nothing else fills.
        with run.err.status("looking for values ...") if run.err.is_terminal else nullcontext():
            values = assistant.fill(fields, use_llm=use_llm)
        if _settle_consent(run, values, agreed=consent):
            values = assistant.fill(fields, use_llm=use_llm)
    notes = [*read.notes, *dict.fromkeys(note for value in values for note in _notes_on(value))]
    for note in notes:
        run.note(note)
    document: dict[str, object] = {
        "fields": [json_output.filled(v) for v in values],
        "notes": notes,
    }
    if applying is not None:
        _write(read, values, applying)
        if applying.output is None:
            done = sum(value.value is not None for value in values)
            run.note(f"{done} of {len(values)} fields filled")
            return
        document["written"] = str(applying.output)

    def show(out: Console) -> None:
        from cli.output import render

        render.filled(out, values)
        if applying is not None:
            out.print(f"Written: {applying.output}")

    run.emit(document, show)


def _read(form: Path | None, labels: Sequence[str]) -> Form:
    if form is not None and labels:
        raise InvalidInput("Give a form or --field, not both.")
    if labels:
        return Form("the fields", "csv", fields_from_labels(labels), "")
    if form is None:
        raise InvalidInput("Name a form file (HTML, JSON Schema, CSV), or use --field LABEL.")
    return open_form(sys.stdin.buffer.read() if str(form) == "-" else form)


def _going_to(fields: Iterable[FormField], site: str) -> tuple[FormField, ...]:
    host = host_of(site if "//" in site else f"//{site}")
    if not host:
        raise InvalidInput(f"{site!r} is not a site; give a host such as example.org.")
    return tuple(replace(field, site=host) for field in fields)


# ---- consent --------------------------------------------------------------------------------


def _settle_consent(run: Run, values: Iterable[FilledField], *, agreed: bool) -> bool:
    """Keep what the person says to each sensitive field and site; whether they agreed to any."""
    open_ones: dict[tuple[str, str], tuple[FilledField, FormConsent]] = {}
    for value in values:
        said = value.consent
        if said is not None and (said.given is None or (agreed and not said.given)):
            open_ones.setdefault((said.field, said.site), (value, said))
    if not open_ones:
        return False
    from cli.input.confirm import confirmed, interactive

    if not agreed and not interactive(run):
        return False
    answers = {
        key: confirmed(run, _question(value, said), yes=agreed, otherwise="")
        for key, (value, said) in open_ones.items()
    }
    with run.graph() as graph:
        for (field, site), given in answers.items():
            graph.form_consents.put(field, site, given=given, at=run.config.now())
    return any(answers.values())


def _question(value: FilledField, said: FormConsent) -> str:
    return f"{_named(value)} is sensitive. Fill it from memory for {json_output.site(said.site)}?"


def _named(value: FilledField) -> str:
    return repr(" ".join((value.label or value.name).split()))


def _notes_on(value: FilledField) -> Iterable[str]:
    if value.note:
        yield value.note
    said = value.consent
    if said is None or said.given:
        return
    if said.given is None:
        yield (
            f"{_named(value)} is sensitive and stays empty until you agree to fill it for "
            f"{json_output.site(said.site)}: use --consent once."
        )
    else:
        yield (
            f"{_named(value)} stays empty because you refused to fill it for "
            f"{json_output.site(said.site)}: "
            "--consent changes that, memlane consent list shows it."
        )


# ---- the filled page ------------------------------------------------------------------------


def _check(form: Form, applying: FilledPageTarget, run: Run) -> None:
    """Refuse before anything is asked what could not be written in the end."""
    if form.kind != "html":
        raise InvalidInput(
            "--apply fills HTML pages only; use --json for the values of other forms."
        )
    if applying.output is None:
        if run.json:
            raise InvalidInput("--apply writes the page to stdout; with --json also give -o FILE.")
    elif applying.output.exists() and not applying.overwrite:
        raise InvalidInput(f"{applying.output} already exists; --overwrite replaces it.")


def _write(form: Form, values: Sequence[FilledField], applying: FilledPageTarget) -> None:
    """The page in its own encoding; a character that has no place in that as its number."""
    from agent.applications.forms.formats.fill_html import fill_page

    page = fill_page(form.text, values).encode(form.encoding, "xmlcharrefreplace")
    if applying.output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        sys.stdout.buffer.flush()
        return
    write_whole(page, applying.output, "-o FILE")
