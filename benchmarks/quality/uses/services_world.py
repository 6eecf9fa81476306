"""Lives with what the services need, and what is right of it at any moment; see ``services``.

Pure: the same bank and seed give the same life. The product is never asked anything here.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from benchmarks.quality.uses.services_bank import BANKS, ServiceBank, Where
from benchmarks.shared.simulated_lives.lives import BANKS as LIVES
from benchmarks.shared.simulated_lives.lives_world import WEEKS, Told, write_life
from store.types import SourceKind, Triple

DAY = timedelta(days=1)
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


@dataclass(frozen=True, slots=True)
class Due:
    """A reminder that is right: its day and, where told, its hour, and what it must name."""

    at: str
    name: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a life's extra facts make right at a moment."""

    told: Told
    due: Callable[[datetime], str | None]
    """When it next is, as written in ``Due.at``; None where it is over."""
    name: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A destination, and the address that holds in each week (None: nobody told)."""

    to: str
    right: Callable[[datetime], str | None]


@dataclass(frozen=True, slots=True)
class World:
    """A life with its extra facts."""

    told: list[Told]
    plans: list[Plan]
    asked: list[Asked]
    ends: list[datetime]


def write_world(bank: str, seed: int) -> World:
    """The life of a seed, its extra facts, and what is right at the end of each week."""
    life = write_life(LIVES[bank], seed)
    ends = sorted({asked.at for asked in life.asked})[:WEEKS]
    start = (ends[0] - 6 * DAY).replace(hour=0, minute=0)
    extra = _Extra(BANKS[bank], random.Random(f"services {bank} {seed}"), start)
    extra.write()
    told = sorted([*life.told, *extra.told], key=lambda one: one.at)
    plans = [*extra.plans, *_booked(life.told), *_ending(life.told), *_planned(life.told)]
    return World(told, plans, [*extra.asked, *_reached(life.told)], ends)


class _Extra:
    def __init__(self, bank: ServiceBank, rng: random.Random, start: datetime) -> None:
        self.bank, self.rng, self.start = bank, rng, start
        self.told: list[Told] = []
        self.plans: list[Plan] = []
        self.asked: list[Asked] = []

    def write(self) -> None:
        for yearly in self.bank.yearly:
            day = self.start + self.rng.randint(8, 40) * DAY
            year = day.year - self.rng.randint(3, 40)
            text = self.rng.choice(yearly.tell).format(
                d=f"{day.day} {day:%B}", y=f"{year}-{day:%m-%d}"
            )
            told = self._tell(text, "attribute.birthday")
            self.plans.append(Plan(told, _yearly(day), yearly.names[0]))
        for weekly in self.bank.weekly:
            weekday, clock = self.rng.randrange(7), f"{self.rng.randint(7, 19):02}:30"
            text = self.rng.choice(weekly.tell).format(w=_WEEKDAYS[weekday], t=clock)
            told = self._tell(text, "preference.other")
            self.plans.append(Plan(told, _weekly(weekday, clock), weekly.name))
        for once in self.bank.once:
            day = self.start + self.rng.randint(8, 32) * DAY
            clock = f"{self.rng.randint(9, 20):02}:{self.rng.choice(('05', '20', '50'))}"
            template = self.rng.choice(once.tell)
            written = self.rng.choice((f"{day:%Y-%m-%d}", f"{day.day} {day:%B}"))
            # Of what expires the store knows the end, as of vouchers in lives.
            until = day + DAY if re.search(r"expires|until|runs out", template) else None
            told = self._tell(template.format(d=written, t=clock), "event.arrangement", until=until)
            at = f"{day:%Y-%m-%d}" + (f" {clock}" if "{t}" in template else "")
            self.plans.append(Plan(told, _once(at), once.name))
        addresses = self.rng.sample(self.bank.addresses, len(self.bank.addresses))
        for where in self.bank.where:
            self._where(where, addresses)
        self.asked += [Asked(name, lambda now: None) for name in self.bank.unknown]

    def _where(self, where: Where, addresses: list[str]) -> None:
        first = addresses.pop()
        if where.first:
            self._tell(where.first, "relationship.relatives", Triple(*where.relation))
        held = [(self._tell(self.rng.choice(where.tell).format(a=first), "attribute.address",
                            *_edge(where, first)).at, first)]  # fmt: skip
        if where.moved and self.rng.random() < 0.7:
            other = addresses.pop()
            text = self.rng.choice(where.moved).format(a=other)
            told = self._tell(text, "attribute.address", *_edge(where, other), days=(9, 20))
            held.append((told.at, other))

        def right(now: datetime) -> str | None:
            return next((a for at, a in reversed(held) if at < now), None)

        self.asked.append(Asked(where.asked, right))

    def _tell(
        self,
        text: str,
        subclass: str,
        *triples: Triple,
        until: datetime | None = None,
        days: tuple[int, int] = (0, 5),
    ) -> Told:
        at = self.start + self.rng.randint(*days) * DAY
        at += timedelta(hours=self.rng.randint(8, 18), minutes=self.rng.randint(0, 59))
        told = Told(f"x{len(self.told)}", at, text, text, SourceKind.CHAT, subclass, triples,
                    valid_until=until)  # fmt: skip
        self.told.append(told)
        return told


def _edge(where: Where, address: str) -> tuple[Triple, ...]:
    if where.first:
        return ()
    head, relation, tail = where.relation
    return (Triple(head, relation, tail.format(a=address)),) if head else ()


def _yearly(day: datetime) -> Callable[[datetime], str | None]:
    def due(now: datetime) -> str:
        held = day if day.date() >= now.date() else day.replace(year=day.year + 1)
        return f"{held:%Y-%m-%d}"

    return due


def _weekly(weekday: int, clock: str) -> Callable[[datetime], str | None]:
    def due(now: datetime) -> str:
        ahead = (weekday - now.weekday()) % 7
        if ahead == 0 and clock < f"{now:%H:%M}":
            ahead = 7
        return f"{now + ahead * DAY:%Y-%m-%d} {clock}"

    return due


def _once(at: str) -> Callable[[datetime], str | None]:
    def due(now: datetime) -> str | None:
        present = f"{now:%Y-%m-%d %H:%M}" if " " in at else f"{now:%Y-%m-%d}"
        return at if at >= present else None

    return due


def _booked(told: Sequence[Told]) -> Iterator[Plan]:
    """Appointments of a life; a later message may move the hour."""
    for one in told:
        (triple,) = one.triples
        if triple.relation != "is_at" or " " not in triple.tail:
            continue
        day = triple.tail.split()[0]
        moves = [o for o in told if o.triples[0].head == triple.head and o.at > one.at]

        def due(now: datetime, day: str = day, one: Told = one, moves: list[Told] = moves
                ) -> str | None:  # fmt: skip
            last = [one, *(move for move in moves if move.at < now)][-1]
            return _once(f"{day} {last.triples[0].tail.split()[-1]}")(now)

        yield Plan(one, due, triple.head)


def _ending(told: Sequence[Told]) -> Iterator[Plan]:
    """Last days of a life: vouchers, permits, medicines."""
    for one in told:
        (triple,) = one.triples
        if one.valid_until is not None and triple.relation != "is_at":
            yield Plan(one, _once(f"{one.valid_until - DAY:%Y-%m-%d}"), triple.tail)


def _planned(told: Sequence[Told]) -> Iterator[Plan]:
    """Changes told ahead of their day."""
    for one in told:
        if one.valid_from is not None and one.valid_from > one.at:
            yield Plan(one, _once(f"{one.valid_from:%Y-%m-%d}"), one.triples[0].tail)


def _reached(told: Sequence[Told]) -> Iterator[Asked]:
    """Destinations of a life itself: homes, events, and what two steps lead to."""
    homes = {t.head for one in told for t in one.triples if t.relation == "lives_in"}
    for head in sorted(homes):
        stays = [one for one in told if one.triples[0].head == head
                 and one.triples[0].relation == "lives_in"]  # fmt: skip

        def right(now: datetime, stays: list[Told] = stays) -> str | None:
            known = [one for one in stays if one.at < now]
            begun = [one for one in known if (one.valid_from or one.at) <= now]
            return begun[-1].triples[0].tail if begun else None

        yield Asked("home" if head == "me" else head, right)
    edges = {t.head: t for one in told for t in one.triples}
    for one in told:
        first = one.triples[0]
        second = edges.get(first.tail)
        third = edges.get(second.tail) if second else None
        if first.head == "me" and second and third and "address" in _subclass(told, third):
            to, tail = f"my {first.relation}'s {second.relation}", third.tail
            known = max(o.at for o in told if o.triples[0] in (first, second, third))
            yield Asked(to, partial(_known_from, tail, known))


def _known_from(value: str, told: datetime, now: datetime) -> str | None:
    """The value, once everything that leads to it was told."""
    return value if told < now else None


def _subclass(told: Sequence[Told], triple: Triple) -> str:
    return next(one.subclass for one in told if one.triples[0] == triple)
