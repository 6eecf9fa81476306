"""``memlane remind`` and ``travel``: reminders and addresses, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.standard_streams import STREAM, writable
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
            "--ics",
            metavar="FILE",
            help="Also write the list as a calendar (iCalendar); - is stdout.",
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
        reminders = coming(graph, now, days)
    document: dict[str, object] = {"reminders": [reminder(one) for one in reminders]}
    if ics is not None:
        from agent.applications.services.ical_export import write_calendar

        with writable(run, ics, "memlane.ics") as file:
            write_calendar(file, reminders, now)
        if ics == STREAM:
            return
        document["ics"] = str(ics)

    def show(out: Console) -> None:
        for one in reminders:
            out.print(reminder_line(one))
        if not reminders:
            last = "today" if days == 1 else f"in the next {days} days"
            out.print(f"No events that I know of {last}.")
        if ics is not None:
            out.print(f"Written: {ics}")

    run.emit(document, show)


def reminder(reminder: Reminder) -> dict[str, object]:
    """The JSON of a reminder."""
    return {
        "when": json_output.iso(reminder.when),
        "all_day": reminder.all_day,
        "kind": reminder.kind.value,
        "text": reminder.text,
        "years": reminder.years,
        "repeats": reminder.rule,
        "memory": reminder.memory.id,
        "changed_by": reminder.changed_by and reminder.changed_by.id,
    }


def reminder_line(reminder: Reminder) -> str:
    """A reminder for people, with the memory that says so."""
    from agent.results import phrase

    when = f"{reminder.when:%a %Y-%m-%d}" + (
        "      " if reminder.all_day else f" {reminder.when:%H:%M}"
    )
    years = f" ({reminder.years} years)" if reminder.years else ""
    trust = reminder.memory.trust
    origin = "" if trust is None or trust == "told" else f", {phrase(trust)}"
    mark = _MARKS[reminder.kind.value]
    newer = reminder.changed_by
    changed = "" if newer is None else f", probably changed by {newer.id}"
    return f"{when}  {reminder.text}{years}{mark}  [{reminder.memory.id}{origin}{changed}]"


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
        place = find(graph, to, run.config.now())
    run.emit(destination(place), lambda out: _show_destination(out, place))


def destination(place: Destination) -> dict[str, object]:
    """The JSON of a destination."""
    return {
        "destination": place.destination,
        "address": place.address,
        "link": place.link,
        "map": place.map,
        "memories": list(place.memories),
        "others": list(place.others),
    }


def _show_destination(out: Console, place: Destination) -> None:
    out.print(f"{place.destination}: {place.address}  [{', '.join(place.memories)}]")
    for other in place.others:
        out.print(f"    or {other}")
    out.print(f"  {place.link}")
    out.print(f"  {place.map}")
