"""What the commands do that are used all day. How they are spelt is said in ``talk`` and ``files``.

Importing this is quick, so that with the resident process up an answer takes no longer than it has
to (``cli.quick``): what draws for people is imported when there is something to draw.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli import shapes
from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console

    from agent.forms.fields import FormField


def say(run: Run, text: str) -> None:
    with run.assistant() as assistant:
        reply = assistant.respond(text)

    def show(out: Console) -> None:
        from cli import render

        render.reply(out, reply)

    run.emit(shapes.reply(reply), show)


def ask(
    run: Run,
    question: str,
    policy: str | None = None,
    k: int | None = None,
    no_llm: bool = False,
) -> None:
    with run.assistant() as assistant:
        reply = assistant.ask(question, policy=policy, k=k, use_llm=not no_llm)

    def show(out: Console) -> None:
        from cli import render

        render.reply(out, reply)

    run.emit(shapes.reply(reply), show)


def remember(
    run: Run,
    text: str,
    at: str | None = None,
    place: str | None = None,
    expires: str | None = None,
    keep_secrets: bool = False,
    wait: bool = False,
) -> None:
    said = until = None
    if at or expires:
        from agent.dates import parse_when

        now = run.config.now()
        said = parse_when(at, now) if at else None
        until = parse_when(expires, said or now, end=True) if expires else None
    with run.assistant() as assistant:
        done = assistant.remember(
            text, at=said, place=place, expires=until, keep_secrets=keep_secrets, wait=wait
        )

    def show(out: Console) -> None:
        from cli import render

        render.remembered(out, done)

    document: dict[str, object] = {
        "edits": shapes.edits(done.entries),
        "unchanged": list(done.unchanged),
        "open": [[old.id, new.id] for old, new in done.open],
    }
    if done.queued:
        document["queued"] = done.source.id
    run.emit(document, show)


def fill(
    run: Run, form: Path | None = None, field: Sequence[str] | None = None, no_llm: bool = False
) -> None:
    fields = _form_fields(form, list(field or []))
    with run.assistant() as assistant:
        values = assistant.fill(fields, use_llm=not no_llm)

    def show(out: Console) -> None:
        from cli import render

        render.filled(out, values)

    run.emit({"fields": [shapes.filled(value) for value in values]}, show)


def _form_fields(form: Path | None, labels: list[str]) -> tuple[FormField, ...]:
    from agent.forms import fields_from_labels, read_form
    from store.errors import InvalidInput

    if form is not None and labels:
        raise InvalidInput("Give a form or --field, not both.")
    if labels:
        return fields_from_labels(labels)
    if form is None:
        raise InvalidInput("Name a form file (HTML, JSON Schema, CSV), or use --field LABEL.")
    if str(form) == "-":
        return read_form(sys.stdin.buffer.read().decode("utf-8", "replace"))
    return read_form(form)
