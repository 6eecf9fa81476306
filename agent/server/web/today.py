"""The day's digest on the page, with the parts that the other views show too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agent.applications.services.today import digest
from agent.server.web.requests import Card, Line
from agent.server.web.views import card, line_of
from agent.session.session import Session
from store.types import Memory

SHOWN = 30
"""Edits and faded memories that are shown; the view of changes and ``memlane today`` show all."""


@dataclass(frozen=True, slots=True)
class Today:
    """What there is to know and to decide on this day."""


@dataclass(frozen=True, slots=True)
class Coming:
    """Something that comes, and the memory that says so."""

    when: datetime
    all_day: bool
    text: str
    memory: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """Two memories of which the newer may have changed the older."""

    older: Memory
    newer: Memory
    probability: float | None


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory that may be forgotten, if the person says so."""

    card: Card
    left: float
    half_life_days: int


@dataclass(frozen=True, slots=True)
class Day:
    """The digest of a day."""

    summary: str
    coming: tuple[Coming, ...]
    changed: tuple[Line, ...]
    """The latest first."""
    ended: tuple[Card, ...]
    doubts: tuple[Unsure, ...]
    faded: tuple[Fading, ...]


def today(session: Session, asked: Today) -> Day:
    """The digest of this day. It changes nothing."""
    graph, now = session.graph, session.config.now()
    found = digest(graph, now)
    return Day(
        found.summary,
        tuple(Coming(one.when, one.all_day, one.text, one.memory.id) for one in found.coming),
        tuple(line_of(graph, one.entry) for one in found.changed[: -SHOWN - 1 : -1]),
        tuple(card(memory, now) for memory in found.ended),
        tuple(Unsure(one.older, one.newer, one.probability) for one in found.doubts),
        tuple(
            Fading(card(one.memory, now), one.left, one.half_life.days)
            for one in found.faded[:SHOWN]
        ),
    )
