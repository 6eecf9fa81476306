"""``memlane hook review``: what was told in sessions of coding agents, to accept or to drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.confirm import interactive
from cli.output import json_output
from store.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from agent.results import Remembered
    from agent.server.hooks.review import Offer


def review(
    context: typer.Context,
    accept: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Remember this sentence; repeatable.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Never offer it again; repeatable.")
    ] = None,
    drop_all: Annotated[bool, typer.Option("--drop-all", help="Drop all the others.")] = False,
) -> None:
    """Accept or drop what you told in sessions of coding agents.

    Shows the sentences of ended sessions that surely tell something, without secrets. Nothing of
    them is stored before you accept it; then it is remembered as by 'memlane remember', with its
    time and the project's folder, and 'memlane undo' takes it back. On a terminal it asks for each.

    \b
    Examples:
      memlane hook review
      memlane hook review --accept 3f9a02c1 --drop-all
    """
    from agent.server.hooks.ended import EndedSessions
    from agent.server.hooks.review import accept as remember
    from agent.server.hooks.review import close, offers

    run: Run = context.obj
    sessions = EndedSessions(run.config.home)
    ended = sessions.all()
    if not ended:
        run.emit(_document([], [], []), lambda out: out.print(_NOTHING))
        return
    with run.session() as session:
        with run.status("reading transcripts"):
            found = offers(session, ended, sessions.decided())
        if found and interactive(run) and not (accept or drop or drop_all):
            accepted, dropped = _asked(run, found)
        else:
            accepted, dropped = _chosen(found, accept or [], drop or [], drop_all)
        done = []
        for offer in accepted:
            done.append(remember(session, offer))
            sessions.decide([offer.key])
        if dropped:
            sessions.decide([offer.key for offer in dropped])
    waiting = [offer for offer in found if offer not in accepted and offer not in dropped]
    if not waiting:
        close(sessions, ended)
    run.emit(_document(waiting, done, dropped), lambda out: _show(out, waiting, done, dropped))


_NOTHING = "Nothing to review: no session of a coding agent has ended with something new."


def _asked(run: Run, found: Sequence[Offer]) -> tuple[list[Offer], list[Offer]]:
    """What the person says of each; what they leave for later is in neither list."""
    accepted: list[Offer] = []
    dropped: list[Offer] = []
    for number, offer in enumerate(found, 1):
        run.err.print(f"{number} of {len(found)}: {offer.text}")
        run.err.print(f"  {_told(offer)}", style="dim")
        said = ""
        while said not in ("y", "n", "l", "q"):
            answer = typer.prompt(
                "Remember it? y = yes, n = no, never, l = later, q = quit", default="l", err=True
            )
            said = answer.strip().lower()[:1]
        if said == "q":
            break
        if said != "l":
            (accepted if said == "y" else dropped).append(offer)
    return accepted, dropped


def _chosen(
    found: Sequence[Offer], accept: Sequence[str], drop: Sequence[str], drop_all: bool
) -> tuple[list[Offer], list[Offer]]:
    """:raises InvalidInput: if no such sentence is offered."""
    keys = {offer.key for offer in found}
    if unknown := [key for key in (*accept, *drop) if key not in keys]:
        raise InvalidInput(f"No sentence {unknown[0]} is offered. See: memlane hook review")
    accepted = [offer for offer in found if offer.key in accept]
    rest = [offer for offer in found if offer.key not in accept]
    return accepted, [offer for offer in rest if drop_all or offer.key in drop]


def _document(
    waiting: Sequence[Offer], done: Sequence[Remembered], dropped: Sequence[Offer]
) -> dict[str, object]:
    return {
        "waiting": [
            {
                "id": offer.key,
                "text": offer.text,
                "said": offer.said.isoformat(),
                "tool": offer.tool,
                "project": offer.project,
            }
            for offer in waiting
        ],
        "edits": json_output.edits(entry for one in done for entry in one.entries),
        "dropped": [offer.key for offer in dropped],
    }


def _show(
    out: Console, waiting: Sequence[Offer], done: Sequence[Remembered], dropped: Sequence[Offer]
) -> None:
    from cli.output import render

    for one in done:
        render.remembered(out, one)
    if dropped:
        out.print(f"Dropped: {len(dropped)}.")
    for offer in waiting:
        out.print(f"{offer.key}  {offer.text}")
        out.print(f"          {_told(offer)}", style="dim")
    if waiting:
        out.print(
            f"Not stored. Remember one: memlane hook review --accept {waiting[0].key}; drop the "
            "others: --drop-all"
        )
    elif not done and not dropped:
        out.print(_NOTHING)


def _told(offer: Offer) -> str:
    return f"{offer.tool}, {offer.said:%Y-%m-%d %H:%M}, {offer.project}"
