"""Commands that talk: say, ask, remember. The chat is ``cli.chat``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli import shapes
from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import Reply


def say(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The message.")],
) -> None:
    """Send one chat message.

    It is remembered if it tells something new, answered from memory if it asks for that, and
    just answered otherwise.
    """
    run: Run = context.obj
    with run.assistant() as assistant:
        reply = assistant.respond(text)
    _emit(run, reply)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How memories are chosen: walk, scout, purple, rums-binary or rums-multi "
            "(learned), top-k, fused-plain, bm25, rrf, fused, recency, random, partitioned, "
            "decomposed, picked or rums-direct (by the language model), all.",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="How many memories are chosen at most.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Show the chosen memories alone, without an answer.")
    ] = False,
) -> None:
    """Answer a question from your memories.

    The answer names the memories it rests on, and says so when nothing is known.
    """
    run: Run = context.obj
    with run.assistant() as assistant:
        reply = assistant.ask(question, policy=policy, k=k, use_llm=not no_llm)
    _emit(run, reply)


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What is to be kept, as it stands.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="WHEN", help="When it was said (ISO 8601).")
    ] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true (ISO 8601).")
    ] = None,
    keep_secrets: Annotated[
        bool,
        typer.Option("--keep-secrets", help="Keep a card number, password or code in it."),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait for the memory, not only until the text is stored."),
    ] = False,
) -> None:
    """Store a text as it stands.

    Relative dates become absolute, nothing else is rewritten. Sentences that stand by themselves
    become a memory each. The resident process may answer once the text is stored; its memories
    follow in a moment.
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


def _emit(run: Run, reply: Reply) -> None:
    def show(out: Console) -> None:
        from cli import render

        render.reply(out, reply)

    run.emit(shapes.reply(reply), show)
