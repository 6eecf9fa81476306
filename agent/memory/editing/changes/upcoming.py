"""Next event: which upcoming event a message without a day means.

'My flight now leaves at 9:15' says nothing of the flight of last month, whose hour is history.
Where two are ahead nobody can tell which is meant: both stay, and the person is asked. What tells
of the same event in other words, a mail beside a boarding pass, changes with it. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from agent.language.dates import find_times
from agent.language.dates.date_literals import clock, values_of
from store.derived.partitions import NearMemory
from store.types import Draft, Memory


def ahead(
    draft: Draft, fits: Sequence[NearMemory]
) -> tuple[tuple[NearMemory, ...], NearMemory | None]:
    """The memories that the draft changes among those it fits, and the one to ask about.

    ``fits`` are in the order of likeness; the first of what changes is what the draft is compared
    with. Only a draft that names an hour and no day is in doubt.
    """
    told = values_of(draft.text)
    if not fits or told["date"] or len(told["time"]) != 1:
        return tuple(fits[:1]), None
    days = {match.memory.id: _day(match.memory) for match in fits}
    if days[fits[0].memory.id] is None:
        return tuple(fits[:1]), None
    # A flight that leaves late on one day is still spoken of after midnight.
    yesterday = draft.created.date() - timedelta(days=1)
    coming = [m for m in fits if (day := days[m.memory.id]) is not None and day >= yesterday]
    if len({days[match.memory.id] for match in coming}) > 1:
        return (), min(coming, key=lambda match: days[match.memory.id] or date.max)
    hours = {m.memory.id: list(map(clock, values_of(m.memory.text)["time"])) for m in coming}
    same = [m for m in coming[1:] if hours[m.memory.id] == hours[coming[0].memory.id]]
    return (*coming[:1], *same), None


def _day(memory: Memory) -> date | None:
    """The one day that a memory is about; None for what began then, or repeats."""
    spans = find_times(memory.text, memory.created)
    if any(span.kind == "recurring" or span.bound is not None for span in spans):
        return None
    days = {span.start.date() for span in spans if span.dated and span.start is not None}
    return days.pop() if len(days) == 1 else None
