"""A home on a morning on which there is something of every kind to know and to decide."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from store.graph import MemoryGraph
from store.journal import Forget, Insert
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Draft, Trust
from tests.conftest import NOW

YEARS_AGO = NOW - timedelta(days=3 * 365)
LAST_WEEK = NOW - timedelta(days=7)


def prepare_day(home: Path) -> None:
    """m1 comes; m2 and m3, m4 and m5 are in doubt; m6 has faded; m7 is over; m8 is forgotten."""
    told = (
        Draft("The dentist appointment is on 2024-05-14 at 10:00.", "event.arrangement", LAST_WEEK),
        Draft("I live in Bergen.", "attribute.address", LAST_WEEK),
        Draft("I live in Leeds.", "attribute.address", LAST_WEEK),
        Draft("I eat meat.", "preference.diet", LAST_WEEK),
        Draft("I eat no meat these days.", "preference.diet", NOW),
        Draft("I like ramen.", "preference.diet", YEARS_AGO, trust=Trust.READ),
        Draft("The sale is on.", "event.arrangement", LAST_WEEK, valid_until=NOW),
        Draft("I ski.", "preference.sports", LAST_WEEK),
    )
    with MemoryGraph.open(home) as graph:
        for draft in told:
            graph.apply([Insert(draft)], at=draft.created)
        graph.change_edges.put([ChangeEdge("m4", "m5", ChangeKind.ENDS, 0.62)], NOW)
        graph.questions.put(QuestionKind.HOLDS, ("m2", "m3"), NOW)
        graph.apply([Forget("m8")], at=LAST_WEEK, actor="user")
