"""``memlane remind`` and ``travel``: reminders and addresses, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.output import json_output

if TYPE_CHECKING:
    from rich.console import Console

    from agent.applications.services.reminders import Reminder
    from agent.applications.services.travel import Destination

_DAYS = 14
_MARKS = {"expiry": " (last day)", "birthday": "", "anniversary": "", "habit": "", "event": ""}


def remind(
    context: typer.Context,
    days: Annotated[
        int, typer.Option(min=1, max=3660, help="How many days ahead, today included.")
    ] = _DAYS,
    ics: Annotated[
        Path | None,
        typer.Option(
            "--ics", metavar="FILE", help="Also write the list as a calendar (iCalendar)."
        ),
    ] = None,
) -> None:
    """List upcoming events, birthdays, anniversaries, last days and habits.

    \b
    Examples:
      memlane remind
      memlane remind --days 60 --ics coming.ics
    """
    run: Run = context.obj
    from agent.applications.services.reminders import coming

    now = run.config.now()
    with run.graph() as graph:
        found = coming(graph, now, days)
    document: dict[str, object] = {"reminders": [reminder(one) for one in found]}
    if ics is not None:
        from agent.applications.services.ical_export import write_calendar

        write_calendar(ics, found, now)
        document["ics"] = str(ics)

    def show(out: Console) -> None:
        for one in found:
            out.print(_line(one), markup=False)
        if not found:
            last = "today" if days == 1 else f"in the next {days} days"
            out.print(f"No events that I know of {last}.")
        if ics is not None:
            out.print(f"Written: {ics}", markup=False)

    run.emit(document, show)


def reminder(one: Reminder) -> dict[str, object]:
    """The JSON of a reminder."""
    return {
        "when": json_output.iso(one.when),
        "all_day": one.all_day,
        "kind": one.kind.value,
        "text": one.text,
        "years": one.years,
        "repeats": one.rule,
        "memory": one.memory.id,
    }


def _line(one: Reminder) -> str:
    from agent.results import phrase

    when = f"{one.when:%a %Y-%m-%d}" + ("      " if one.all_day else f" {one.when:%H:%M}")
    years = f" ({one.years} years)" if one.years else ""
    trust = one.memory.trust
    origin = "" if trust is None or trust == "told" else f", {phrase(trust)}"
    return f"{when}  {one.text}{years}{_MARKS[one.kind.value]}  [{one.memory.id}{origin}]"


def travel(
    context: typer.Context,
    to: Annotated[
        str, typer.Argument(metavar="PLACE-OR-EVENT", help="A place, a person or an event.")
    ],
) -> None:
    """Show the address of a destination from memory, with map links.

    The links are only text: memlane contacts no map service.

    \b
    Examples:
      memlane travel dentist
      memlane travel "my sister"
    """
    run: Run = context.obj
    from agent.applications.services.travel import travel as find

    with run.graph() as graph:
        found = find(graph, to, run.config.now())
    run.emit(destination(found), lambda out: _show_destination(out, found))


def destination(found: Destination) -> dict[str, object]:
    """The JSON of a destination."""
    return {
        "destination": found.destination,
        "address": found.address,
        "link": found.link,
        "map": found.map,
        "memories": list(found.memories),
        "others": list(found.others),
    }


def _show_destination(out: Console, found: Destination) -> None:
    out.print(f"{found.destination}: {found.address}  [{', '.join(found.memories)}]", markup=False)
    for other in found.others:
        out.print(f"    or {other}", markup=False)
    out.print(f"  {found.link}", markup=False)
    out.print(f"  {found.map}", markup=False)
