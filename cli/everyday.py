"""What the commands do that are used all day. How they are spelt is said in ``talk`` and ``files``.

Importing this is quick, so that with the resident process up an answer takes no longer than it has
to (``cli.quick``): what draws for people is imported when there is something to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli import shapes
from cli.run import Run

if TYPE_CHECKING:
    from rich.console import Console


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
    run: Run,
    form: Path | None = None,
    field: Sequence[str] | None = None,
    no_llm: bool = False,
    apply: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
    consent: bool = False,
    site: str | None = None,
) -> None:
    from cli.filling import Applying
    from cli.filling import fill as fill_form
    from store.errors import InvalidInput

    if not apply and (output is not None or overwrite):
        raise InvalidInput("-o and --overwrite say where the page of --apply goes; give that too.")
    fill_form(
        run,
        form,
        list(field or ()),
        use_llm=not no_llm,
        applying=Applying(output, overwrite) if apply else None,
        consent=consent,
        site=site,
    )
