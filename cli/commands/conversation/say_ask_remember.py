"""The commands ``say``, ``ask`` and ``remember``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output import json_output

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import Reply


def say(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The message.")],
    timing: Annotated[
        bool, typer.Option("--timing", help="Also show where the time went.")
    ] = False,
) -> None:
    """Send one chat message.

    New facts are remembered. Questions about them are answered from memory. One message may do
    both. Anything else gets an ordinary answer.
    """
    run: Run = context.obj
    with run.assistant() as assistant:
        reply = assistant.respond(text)
    _emit(run, reply, timing)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="Your question.")],
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Another way to choose memories, for experiments (docs/selection.md).",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Choose at most this many memories.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Show only the chosen memories, without an answer.")
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Also show where the time went.")
    ] = False,
) -> None:
    """Answer a question from your memories.

    The answer lists the memories it is based on, and quotes you where that says more. It says so
    when memlane does not know.
    """
    run: Run = context.obj
    with run.assistant() as assistant:
        reply = assistant.ask(question, policy=policy, k=k, use_llm=not no_llm)
    _emit(run, reply, timing)


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The text to store.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="WHEN", help="When it was said (ISO 8601).")
    ] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true (ISO 8601).")
    ] = None,
    keep_secrets: Annotated[
        bool,
        typer.Option(
            "--keep-secrets", help="Also store card numbers, passwords and codes in the text."
        ),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", help="Wait until the memories are made, not only until the text is stored."
        ),
    ] = False,
) -> None:
    """Store a text unchanged.

    No word is changed; the date of a relative time stands behind it in brackets. Each sentence that
    makes sense on its own becomes a memory. The resident process may reply as soon as the text is
    stored and add the memories a moment later.
    """
    run: Run = context.obj
    said = until = None
    if at or expires:
        from agent.language.dates import parse_when

        now = run.config.now()
        said = parse_when(at, now) if at else None
        until = parse_when(expires, said or now, end=True) if expires else None
    with run.assistant() as assistant:
        done = assistant.remember(
            text, at=said, place=place, expires=until, keep_secrets=keep_secrets, wait=wait
        )

    def show(out: Console) -> None:
        from cli.output import render

        render.remembered(out, done)

    document: dict[str, object] = {
        "edits": json_output.edits(done.entries),
        "unchanged": list(done.unchanged),
        "open": [[old.id, new.id] for old, new in done.open],
    }
    if done.queued:
        document["queued"] = done.source.id
    run.emit(document, show)


def _emit(run: Run, reply: Reply, timing: bool) -> None:
    def show(out: Console) -> None:
        from cli.output import render

        render.reply(out, reply)

    run.emit(json_output.reply(reply), show)
    if timing:
        run.show_timing([reply.timing_ms])
