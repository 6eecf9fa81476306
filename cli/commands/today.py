"""``memlane today``: the digest of a day, with the command for each decision; no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.commands.services import reminder, reminder_line
from cli.context import Run
from cli.output import json_output, render

if TYPE_CHECKING:
    from rich.console import Console

    from agent.applications.services.today import Digest, Doubt, JournalEdit
    from agent.memory.time.decay import Faded

_DAYS = 7
SHOWN = 10
"""Things of one kind that are printed unless ``--all`` is given."""


def today(
    context: typer.Context,
    days: Annotated[
        int, typer.Option(min=1, max=3660, help="How many days ahead, today included.")
    ] = _DAYS,
    since: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Changes at or after this time; default: yesterday."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help=f"More than {SHOWN} of each, and changes that are unlikely."),
    ] = False,
    notify: Annotated[
        bool, typer.Option("--notify", help="Also show the counts as a desktop notification.")
    ] = False,
) -> None:
    """Show what comes, what changed, what is in doubt and what could be forgotten.

    Each doubt and each proposal has the commands that decide it. This command changes nothing. What
    you told or noted, and what is pinned, is never proposed for forgetting.

    \b
    Examples:
      memlane today
      memlane today --days 30 --since 'last Monday'
    """
    run: Run = context.obj
    from agent.applications.services.today import LIKELY, digest
    from agent.language.dates import parse_when

    now = run.config.now()
    with run.graph() as graph:
        changes = parse_when(since, now) if since else None
        found = digest(graph, now, days, changes, least=0.0 if everything else LIKELY)
    run.emit(document(found), lambda out: _show(out, found, None if everything else SHOWN))
    if notify:
        _notify(found)


def _notify(found: Digest) -> None:
    from agent.applications.services.desktop_notifications import TODAY, notifier
    from agent.errors import NotShown

    show = notifier()
    if show is None:
        raise NotShown(
            "This machine cannot show a notification: it has neither notify-send nor osascript. "
            "On Linux, notify-send comes with libnotify (Debian, Ubuntu: libnotify-bin)."
        )
    if not show(TODAY, found.summary):
        raise NotShown("The notification was not shown: no desktop answers here.")


# ---- as JSON ---------------------------------------------------------------------------------


def document(found: Digest) -> dict[str, Any]:
    """The JSON of a digest."""
    return {
        "now": json_output.iso(found.now),
        "since": json_output.iso(found.since),
        "days": found.days,
        "coming": [reminder(one) for one in found.coming],
        "changed": [
            {**json_output.journal_entry(one.entry), "why": one.why or None}
            for one in found.changed
        ],
        "earlier": found.earlier,
        "ended": [json_output.memory(memory, found.now) for memory in found.ended],
        "doubts": [_doubt(one) for one in found.doubts],
        "unlikely": found.unlikely,
        "faded": [
            {
                **json_output.memory(one.memory, found.now),
                "half_life_days": one.half_life.days,
                "since": json_output.iso(one.since),
                "left": round(one.left, 3),
            }
            for one in found.faded
        ],
        "erased_soon": [
            {
                "memory": one.waiting.memory,
                "at": json_output.iso(one.waiting.until),
                "keep": one.keep,
            }
            for one in found.hidden
        ],
    }


def _doubt(one: Doubt) -> dict[str, Any]:
    return {
        "older": one.older.id,
        "newer": one.newer.id,
        "texts": [one.older.text, one.newer.text],
        "question": one.question,
        "change": None if one.edge is None else one.edge.change.value,
        "probability": one.probability and round(one.probability, 3),
        "commands": [{"if": when, "command": command} for when, command in one.commands],
    }


# ---- for people ------------------------------------------------------------------------------


def _show(out: Console, found: Digest, most: int | None) -> None:
    from agent.applications.services.today import NOTHING

    ahead = "today" if found.days == 1 else f"the next {found.days} days"
    _part(out, f"Coming, {ahead}", [[reminder_line(one)] for one in found.coming], most)
    changed = [_changed(one) for one in found.changed]
    changed += [[f"{m.id} is over since {m.valid_until:%a %H:%M}: {m.text}"] for m in found.ended]
    _part(out, f"Changed since {found.since:%a %Y-%m-%d}", changed, most, latest=True)
    if found.earlier:
        out.print(f"  and {found.earlier} before them: memlane memories history --since WHEN")
    _part(out, "In doubt", [_doubt_lines(one) for one in found.doubts], most)
    if found.unlikely and not found.doubts:
        out.print("In doubt", style="bold")
    if found.unlikely:
        out.print(f"  possible changes less likely than 50%: {found.unlikely} (--all shows them)")
    _part(out, "Faded: nobody told it, and no answer used it", [*map(_faded, found.faded)], most)
    if found.faded:
        ids = " ".join(one.memory.id for one in found.faded[:most])
        out.print(f"  forget, undo works for 30 days: memlane forget --soft {ids}")
        out.print("  keep: memlane memories pin ID")
    hidden = [
        [f"{one.waiting.memory} is erased on {one.waiting.until:%Y-%m-%d}; to keep it: {one.keep}"]
        for one in found.hidden
    ]
    _part(out, "You forgot these", hidden, most)
    if found.summary == NOTHING:
        out.print("Nothing comes, nothing changed, and nothing is to be decided.")


def _part(
    out: Console, title: str, blocks: list[list[str]], most: int | None, *, latest: bool = False
) -> None:
    """A heading with its things, each of one or more lines; nothing where there are none."""
    if not blocks:
        return
    out.print(title, style="bold")
    cut = 0 if most is None else max(len(blocks) - most, 0)
    for first, *rest in blocks[cut:] if latest else blocks[: len(blocks) - cut]:
        out.print(f"  {first}")
        for line in rest:
            out.print(f"      {line}")
    if cut:
        out.print(f"  and {cut} {'earlier' if latest else 'more'}: --all shows them")


def _changed(one: JournalEdit) -> list[str]:
    reason = f", because {one.why}" if one.why else ""
    return [render.edit_line(one.entry), render.by_whom(one.entry.actor, one.source) + reason]


def _doubt_lines(one: Doubt) -> list[str]:
    head = (
        f"{one.older.id} and {one.newer.id} contradict each other"
        if one.edge is None
        else json_output.change_in_words(one.edge)
    )
    wide = max(len(when) for when, _ in one.commands)
    return [
        head,
        *(f"{memory.id}: {memory.text}" for memory in (one.older, one.newer)),
        *(f"{when:<{wide}}  {command}" for when, command in one.commands),
    ]


def _faded(one: Faded) -> list[str]:
    from agent.results import phrase

    return [
        f"{one.memory.id}: {one.memory.text}",
        f"{phrase(one.memory.trust)}, {one.since:%Y-%m-%d}, half-life {one.half_life.days} days: "
        f"{one.left:.0%} left",
    ]
