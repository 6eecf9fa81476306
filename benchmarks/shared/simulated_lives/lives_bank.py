"""What a bank of life templates holds; ``lives_test`` and ``lives_train`` share none.

In a template ``{v}`` is the value, ``{o}`` the value before it, ``{d}`` a day, ``{t}`` a time of
day and ``{when}`` the time that a question asks about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Topic:
    """A fact of one value at a time that changes: a home, an employer, a favourite."""

    name: str
    subclass: str
    head: str
    relation: str
    values: tuple[str, ...]
    tell: tuple[str, ...]
    change: tuple[str, ...]
    """Said on the day it changes."""
    dated: tuple[str, ...]
    """Said later, with the day ``{d}`` it changed."""
    planned: tuple[str, ...]
    """Said before, with the day ``{d}`` it will change; empty where nobody plans such a thing."""
    now: tuple[str, ...]
    before: tuple[str, ...]
    at: tuple[str, ...]
    changed: tuple[str, ...] = ()
    """Questions for the day of the last change."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A fact with an end ``{d}``: a voucher, a permit, a stay."""

    name: str
    subclass: str
    head: str
    relation: str
    values: tuple[str, ...]
    tell: tuple[str, ...]
    screen: tuple[str, ...]
    """The same as read off a screen; empty where it comes in words alone."""
    now: tuple[str, ...]
    at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Booking:
    """An appointment on ``{d}`` at ``{t}`` with ``{v}``; its time may move."""

    name: str
    head: str
    values: tuple[str, ...]
    tell: tuple[str, ...]
    moved: tuple[str, ...]
    now: tuple[str, ...]
    past: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Facts that stay, and a question that needs all; ``{a}`` ``{b}`` ``{c}`` are values."""

    name: str
    values: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    tell: tuple[tuple[str, str, tuple[str, str, str]], ...]
    """Each memory: its sentence, its subclass, its edge."""
    ask: tuple[str, ...]
    answer: str
    """Which of the values is the answer: a, b or c."""


Fact = tuple[str, str, tuple[str, str, str]]
"""A memory: its sentence, its subclass, its edge."""


@dataclass(frozen=True, slots=True)
class Link:
    """Facts that stay and a question that needs all of ``tell``, told apart.

    Slots such as ``{name1}`` are drawn from ``Bank.pools``, each value once in a life.
    """

    name: str
    kind: str
    """people, event, count or comparison."""
    tell: tuple[Fact, ...]
    beside: tuple[Fact, ...]
    """Facts of the same wording that the question does not need."""
    ask: tuple[str, ...]
    answer: Callable[[Mapping[str, str]], str]
    """The answer by the values of the slots."""


@dataclass(frozen=True, slots=True)
class Taste:
    """Something liked that is given up, beside others that are not."""

    values: tuple[str, ...]
    subclass: str
    tell: tuple[str, ...]
    drop: tuple[str, ...]
    now: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bank:
    """All templates of one kind of life."""

    name: str
    topics: tuple[Topic, ...]
    passing: tuple[Passing, ...]
    bookings: tuple[Booking, ...]
    chains: tuple[Chain, ...]
    tastes: tuple[Taste, ...]
    chatter: tuple[str, ...]
    """What is said around a fact in chat; ``{x}`` is the fact."""
    note: tuple[str, ...]
    """Headings of notes."""
    small_talk: tuple[str, ...]
    days: str
    """How days are written, in strftime's terms, parted by |."""
    fields: tuple[tuple[str, str], ...]
    """Labels of form fields and the topic that fills each."""
    links: tuple[Link, ...] = ()
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the slots of links are drawn from."""
